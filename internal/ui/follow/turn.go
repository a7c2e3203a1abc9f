package follow

import (
	"errors"
	"slices"

	"scorel/client"
	"scorel/protocol"
)

// ErrUnseen says that a turn has ended and nobody told how: the host was gone for so long
// that its state knows nothing of it.
var ErrUnseen = errors.New("the turn ended while its events could not be read")

// ErrTakenOut says that the message waits no longer, and was not seen to be handled.
var ErrTakenOut = errors.New("the message waits no longer, and its turn was not seen")

// Turn is the turn that handles one message. It is used by one goroutine.
type Turn struct {
	turn  protocol.TurnID
	item  protocol.ItemID  // the message waited in a queue as this item
	event protocol.EventID // the message is stored as this event
	begun bool
	all   bool
	waits bool // the message was seen in its queue
}

// NewTurn makes the turn of a message from the answer to its sending.
func NewTurn(sent *protocol.Sent) *Turn {
	return &Turn{turn: sent.TurnID, item: sent.ItemID, event: sent.EventID}
}

// All has the turn begin with whatever comes next, and end when nothing runs any more:
// for who is alone with a session.
func (t *Turn) All() *Turn {
	t.begun, t.all = true, true
	return t
}

// Ended is how a turn has ended: by an event that was among those of [Turn.Take], by End,
// which a state told, or, with neither, as what ran before another message began.
type Ended struct {
	Over bool
	End  *protocol.RuntimeEnd
}

// Take returns the events of an update that belong to the turn, up to its end, and whether
// it has ended. It fails with [ErrUnseen].
func (t *Turn) Take(u *client.Update) (events []protocol.Event, ended Ended, err error) {
	for _, e := range u.Events {
		if !t.ours(e) {
			continue
		}
		if !t.all && t.another(e) {
			return events, Ended{Over: true}, nil
		}
		events = append(events, e)
		if _, over := e.Body.(*protocol.RuntimeEnd); over {
			return events, Ended{Over: true}, nil
		}
	}
	if !u.Fresh {
		return events, Ended{}, nil
	}
	if end := u.Live.Ended; end != nil && end.TurnID == t.turn && t.turn != "" {
		return events, Ended{Over: true, End: &end.RuntimeEnd}, nil
	}
	if !u.Live.Running && t.begun {
		return events, Ended{}, ErrUnseen
	}
	return events, Ended{}, nil
}

// Stands takes an update after [Turn.Take], and the state after it. Paused says that the
// message waits, and that nothing is taken from its queue until somebody has that continue: the
// turn before did not come to its end. It fails with [ErrTakenOut].
func (t *Turn) Stands(u *client.Update, l *protocol.Live) (paused bool, err error) {
	if !t.Waits() {
		return false, nil
	}
	has := func(items []protocol.QueueItem) bool {
		return slices.ContainsFunc(items, func(it protocol.QueueItem) bool { return it.ID == t.item })
	}
	for _, e := range u.Events {
		if b, ok := e.Body.(*protocol.QueueUpdate); ok && b.Paused && has(b.Items) {
			paused = true
		}
	}
	for _, q := range l.Queues {
		if has(q.Items) {
			t.waits = true
			return paused || u.Fresh && q.Paused, nil
		}
	}
	if t.waits {
		return false, ErrTakenOut
	}
	return paused, nil
}

// Waits reports whether the message waits in a queue, as far as is known.
func (t *Turn) Waits() bool { return !t.begun && t.item != "" }

// ours reports whether an event belongs to the turn: from the message on, when it waited.
func (t *Turn) ours(e protocol.Event) bool {
	if t.begun {
		return true
	}
	switch b := e.Body.(type) {
	case *protocol.RuntimeStart:
		t.begun = t.item == "" && e.TurnID == t.turn
	case *protocol.MessageBody:
		t.begun = e.ID == t.event || t.item != "" && b.Message.Meta != nil && b.Message.Meta.QueueItemID == t.item
	}
	return t.begun
}

// another reports whether an event begins the turn of another message that waited: then
// the one before has come to its end.
func (t *Turn) another(e protocol.Event) bool {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok || b.Message.Role != protocol.RoleUser || b.Message.Meta == nil {
		return false
	}
	m := b.Message.Meta
	return m.Source == protocol.SourceFollowUp && m.QueueItemID != t.item && e.ID != t.event
}
