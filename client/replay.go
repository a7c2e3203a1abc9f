package client

import (
	"scorel/protocol"
)

// replay is where the reader of a subscription stands: what it was given, and what
// follows from that for the frames that come.
type replay struct {
	at protocol.Anchors // of what the caller was given; no epoch while only persistent events are
	// begun says that a resync frame has come: what came before belongs to an earlier
	// subscription. resync is the one that no update has told of yet.
	begun  bool
	resync protocol.Resync
	// partial is a catching up from where the caller stood, which leaves nothing
	// out; streaming says that events come as they happen, transient ones too.
	partial, streaming bool
	// ignoring says that nothing of the connection's subscription counts any more.
	ignoring bool
}

// begin begins again on a connection to a device.
func (r *replay) begin(device protocol.DeviceID) {
	r.begun, r.resync, r.ignoring, r.streaming = false, "", false, false
	if r.at.DeviceID == "" {
		r.at.DeviceID = device
	}
}

// anchors returns where the caller is, nil when it holds nothing.
func (r *replay) anchors() *protocol.Anchors {
	if r.at.StreamEpoch == "" && r.at.PersistentLastSeq == 0 {
		return nil
	}
	at := r.at
	return &at
}

// take applies a frame. It returns no update when there is nothing to tell, and a gap
// when the host has left out what the caller lacks.
func (s *Session) take(frame protocol.Frame) (u Update, ok, gap bool) {
	r := &s.replay
	if r.ignoring {
		return u, false, false
	}
	if f, is := frame.(*protocol.ResyncFrame); is {
		// It counts with what follows: one that nothing follows belongs to a
		// subscription that has ended before it began.
		r.begun, r.resync = true, f.Mode
		return u, false, false
	}
	if !r.begun {
		return u, false, false
	}
	if r.resync != "" {
		u.Resync, r.resync = r.resync, ""
		s.restart(u.Resync)
	}
	switch f := frame.(type) {
	case *protocol.EventsFrame:
		u.Events = s.unseen(f.Events)
		ok = len(u.Events) > 0 || u.Resync != ""
	case *protocol.LiveFrame:
		if r.partial && f.Live.PersistentLastSeq > r.at.PersistentLastSeq {
			return u, false, true
		}
		u.Fresh, u.Live = true, &f.Live
		r.at, r.partial, r.streaming = f.Live.Anchors(), false, true
		ok = true
	default:
		return u, false, false
	}
	u.Fold(&s.Live, nil)
	if u.Resync == protocol.FullReload && !u.Fresh {
		s.Live.DeviceID = r.at.DeviceID
	}
	return u, ok, false
}

// restart voids what the way of catching up voids.
func (s *Session) restart(mode protocol.Resync) {
	r := &s.replay
	r.partial, r.streaming = true, false
	switch mode {
	case protocol.StreamResume:
		r.streaming = true
	case protocol.PersistentFallback:
		r.at.StreamEpoch, r.at.StreamLastSeq = "", 0
	default:
		r.at = protocol.Anchors{DeviceID: r.at.DeviceID}
		r.partial = false
	}
}

// unseen returns those of the events that the caller was not given yet. Transient ones
// count only in the stream: while persistent ones are caught up, none is sent.
func (s *Session) unseen(events []protocol.Event) []protocol.Event {
	r := &s.replay
	var kept []protocol.Event
	all := true
	for i, e := range events {
		known := e.Seq <= r.at.PersistentLastSeq
		if e.IsTransient() {
			known = !r.streaming || e.Seq <= r.at.StreamLastSeq
		}
		switch {
		case known && all:
			all, kept = false, append(kept, events[:i]...)
			continue
		case known:
			continue
		case !all:
			kept = append(kept, e)
		}
		if !e.IsTransient() {
			r.at.PersistentLastSeq, r.at.PersistentLastID = e.Seq, e.ID
		}
		if r.streaming {
			r.at.StreamLastSeq = e.Seq
		}
	}
	if all {
		return events
	}
	return kept
}
