package client

import (
	"scorel/protocol"
	"scorel/protocol/fold"
)

// Fold takes an update into a state: what the new subscription voids is dropped, events
// are applied in their order, and the state of a [Update.Fresh] update replaces all.
// After each event that changed the state, each is called with it, unless each is nil;
// what was folded in before is skipped. It is how a [Session] and a [Projection] fold.
func (u *Update) Fold(live *protocol.Live, each func(protocol.Event)) {
	switch u.Resync {
	case protocol.PersistentFallback:
		voidRunning(live)
	case protocol.FullReload:
		*live = protocol.Live{}
	}
	for _, e := range u.Events {
		if e.Seq <= live.ThroughSeq {
			continue
		}
		fold.Apply(live, e)
		if each != nil {
			each(e)
		}
	}
	if u.Fresh && u.Live != nil {
		*live = u.Live.Clone()
	}
}

// voidRunning drops what was running before a new epoch, or while the client could not
// see it. Numbers of transient events may come again.
func voidRunning(l *protocol.Live) {
	l.Running, l.TurnID, l.TurnIndex = false, "", 0
	l.Messages, l.Tools, l.Permissions, l.UI, l.Retry = nil, nil, nil, nil, nil
	l.ThroughSeq = l.PersistentLastSeq
}
