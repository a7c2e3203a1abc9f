package fold

import (
	"fmt"

	"scorel/protocol"
)

// Away counts the turns that began by themselves since somebody said something.
type Away struct {
	Turns   int
	Failed  int     // of these, those that failed or were cancelled
	CostUSD float64 // of all of them
}

// Absence counts the turns that began by themselves as events come, the oldest first. Its zero
// value has seen nothing.
type Absence struct {
	Away
	// Seen is the newest event that somebody has seen: what began no later is not counted.
	Seen protocol.Seq

	open   bool // a turn runs
	own    bool // and it is counted
	notice bool // something is there that may begin one
	// before is the cost of what was used between turns: an answer that was withdrawn comes
	// before the message that shows that a turn has begun.
	before float64
}

// AwayOf counts the turns that the events of a path tell of; see [Absence].
func AwayOf(events []protocol.Event, seen protocol.Seq) Away {
	a := Absence{Seen: seen}
	for _, e := range events {
		a.Take(e)
	}
	return a.Away
}

// Take takes the next event. A turn began by itself when a schedule, proactive mode or a channel sent its
// message, or when it has none: background work woke the session. A message of a person begins
// the count again.
func (a *Absence) Take(e protocol.Event) {
	if b, ok := e.Body.(*protocol.HarnessItem); ok {
		a.notice = a.notice || !a.open && !ofTurn(b.Item)
		return
	}
	m, ok := e.Message()
	switch {
	case !ok && !a.open && e.Usage() != nil:
		a.before += e.Usage().CostUSD
		return
	case !ok:
	case m.Role == protocol.RoleUser && notOfPerson(m.Meta):
		if !a.open {
			a.begin(e)
		}
		a.open, a.notice = true, false
	case m.Role == protocol.RoleUser:
		*a = Absence{Seen: a.Seen, open: true}
	case m.Role == protocol.RoleAssistant:
		if !a.open {
			if a.own = false; a.notice {
				a.begin(e)
			}
		}
		a.open, a.notice = m.StopReason == protocol.StopToolUse || m.StopReason == protocol.StopMaxTokens, false
		a.answered(&m)
	}
	if u := e.Usage(); u != nil && a.own {
		a.CostUSD += u.CostUSD
	}
}

// ofTurn reports whether a note is part of the turn whose answer it follows: it has the model
// continue after the output limit, or tells it what a stop hook says.
func ofTurn(it protocol.Item) bool {
	return it.Kind == protocol.ItemRuntimeNotice && it.Origin == protocol.OriginSystem && it.Visibility == protocol.VisibilityHidden
}

// Left notes that all events so far were seen.
func (a *Absence) Left(seen protocol.Seq) { a.Seen, a.Away, a.own = seen, Away{}, false }

// begin counts the turn that begins with e, unless it was seen.
func (a *Absence) begin(e protocol.Event) {
	if a.own = e.Seq > a.Seen; a.own {
		a.Turns++
		a.CostUSD += a.before
	}
	a.before = 0
}

// notOfPerson reports whether the host or a channel has sent a message.
func notOfPerson(m *protocol.MessageMeta) bool {
	return m.ByItself() || m != nil && m.Source == protocol.SourceChannel
}

// answered takes an answer of the turn.
func (a *Absence) answered(m *protocol.Message) {
	if !a.own {
		return
	}
	switch m.StopReason {
	case protocol.StopError, protocol.StopCancelled, protocol.StopRefusal:
		a.Failed++
	}
}

// Text returns the count as a line for people, "" where nothing ran.
func (a Away) Text() string {
	if a.Turns == 0 {
		return ""
	}
	text := "while you were away, 1 turn began by itself"
	if a.Turns > 1 {
		text = fmt.Sprintf("while you were away, %d turns began by themselves", a.Turns)
	}
	if a.Failed > 0 {
		text += fmt.Sprintf("; failed or cancelled: %d", a.Failed)
	}
	if a.CostUSD > 0 {
		text += fmt.Sprintf("; cost $%.4f", a.CostUSD)
	}
	return text
}
