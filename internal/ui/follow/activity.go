package follow

import (
	"slices"

	"scorel/client"
	"scorel/protocol"
)

// Activity knows what of a session runs, or is about to, from its updates. It is used by
// one goroutine.
type Activity struct {
	// Turn is the turn that runs; "" is none.
	Turn protocol.TurnID
	// Runs is how many turns have begun.
	Runs int

	ended    protocol.TurnID // the turn that ended last
	starting bool            // the message of a turn is stored, its begin was not seen
	seen     protocol.Seq    // the newest persistent event
}

// NewActivity makes the activity of a session of which everything up to a persistent event
// is known.
func NewActivity(seen protocol.Seq) *Activity { return &Activity{seen: seen} }

// Take takes in an update.
func (a *Activity) Take(u *client.Update) {
	if u.Fresh {
		a.Turn, a.seen, a.starting = u.Live.TurnID, max(a.seen, u.Live.PersistentLastSeq), false
		return
	}
	for _, e := range u.Events {
		a.event(e)
	}
}

func (a *Activity) event(e protocol.Event) {
	if !e.IsTransient() {
		a.seen = max(a.seen, e.Seq)
	}
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		// A turn begins with its message; what steers is inside one.
		if b.Message.Role == protocol.RoleUser && a.Turn == "" {
			a.starting = true
		}
	case *protocol.RuntimeStart:
		a.Turn, a.starting = e.TurnID, false
		a.Runs++
	case *protocol.RuntimeEnd:
		a.Turn, a.ended, a.starting = "", e.TurnID, false
	case *protocol.QueueUpdate:
		if b.Paused && a.Turn == "" {
			a.starting = false // what waits, waits for a person
		}
	}
}

// Join takes in a state that was looked up elsewhere, which may be ahead of the updates: a
// turn that runs in it and whose end was not seen runs.
func (a *Activity) Join(l *protocol.Live) {
	if l.Running && l.TurnID != a.ended {
		a.Turn = l.TurnID
	}
}

// Expect takes in that a message waits which begins a turn by itself, as a state says.
func (a *Activity) Expect(l *protocol.Live) {
	waits := slices.ContainsFunc(l.Queues, func(q protocol.LiveQueue) bool { return len(q.Items) > 0 && !q.Paused })
	a.starting = a.starting || a.Turn == "" && waits
}

// Idle reports whether nothing runs or is about to, with everything seen that a state has.
func (a *Activity) Idle(through *protocol.Live) bool {
	return a.Turn == "" && !a.starting && a.seen >= through.PersistentLastSeq
}
