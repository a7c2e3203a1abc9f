package follow

import "scorel/protocol"

// Ending tells the end of each turn once: by its event, or by the state of the session when
// the event was missed. The zero value is ready; it is used by one goroutine.
type Ending struct{ running protocol.TurnID }

// Event takes in an event that is shown.
func (n *Ending) Event(e protocol.Event) {
	switch e.Body.(type) {
	case *protocol.RuntimeStart:
		n.running = e.TurnID
	case *protocol.RuntimeEnd:
		n.running = ""
	}
}

// Missed takes in a fresh state, and reports whether the turn that ran before has ended
// without an event that said so. End is how, where the state knows it: a host that was
// killed does not.
func (n *Ending) Missed(l *protocol.Live) (end *protocol.RuntimeEnd, missed bool) {
	was := n.running
	n.running = l.TurnID
	if was == "" || was == l.TurnID {
		return nil, false
	}
	if l.Ended != nil && l.Ended.TurnID == was {
		end = &l.Ended.RuntimeEnd
	}
	return end, true
}
