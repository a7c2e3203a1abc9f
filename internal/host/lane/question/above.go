package question

import "scorel/protocol"

// Above ties the questions of a sub-agent's turn to those of the session that it works
// for. nil ties them to nothing.
type Above struct {
	At         *Questions
	CallID     string            // of Task
	Background bool              // nobody waits for the call
	Agent      protocol.Subagent // without the call that waits
	Next       *Above            // above the session itself, nil for none
}

// Attended reports whether somebody watches a session above who could answer.
func (a *Above) Attended() bool {
	for ; a != nil; a = a.Next {
		if a.At.Attended() {
			return true
		}
	}
	return false
}

// canAsk reports whether somebody could answer a question in a session above.
func (a *Above) canAsk(w *question) bool {
	for ; a != nil; a = a.Next {
		a.At.j.Lock()
		can := a.At.canAsk(w)
		a.At.j.Unlock()
		if can {
			return true
		}
	}
	return false
}

// unattended reports whether a turn above waits for nobody who could be asked.
func (a *Above) unattended() bool {
	for ; a != nil; a = a.Next {
		a.At.j.Lock()
		alone := a.At.run.Asking().Unattended
		a.At.j.Unlock()
		if alone {
			return true
		}
	}
	return false
}

// show puts a question to the people of the sessions above, too. The journal of the lane
// that asks is locked: that of a sub-agent's lane is taken before those above it.
func (a *Above) show(w *question) {
	callID := callOf(w.ask)
	for ; a != nil; a = a.Next {
		who := a.Agent
		who.ToolCallID = callID
		m := &question{id: w.id, answer: w.answer, stored: w.stored, won: w.won, shown: a}
		switch b := w.ask.(type) {
		case *protocol.PermissionRequest:
			c := *b
			c.ToolCallID, c.Subagent = a.CallID, &who
			m.ask = &c
		case *protocol.UIRequest:
			c := *b
			c.Data.ToolCallID, c.Data.Subagent = a.CallID, &who
			m.ask = &c
		default:
			continue
		}
		a.At.mirror(m)
	}
}

// mirror shows a question that is asked below.
func (q *Questions) mirror(m *question) {
	q.j.Lock()
	defer q.j.Unlock()
	if q.asked[m.id] == nil && q.j.Notify(m.ask) == nil {
		q.asked[m.id] = m
	}
}

// callOf is the call that waits for a question's answer.
func callOf(ask protocol.Body) string {
	switch b := ask.(type) {
	case *protocol.PermissionRequest:
		return b.ToolCallID
	case *protocol.UIRequest:
		return b.Data.ToolCallID
	}
	return ""
}

// close takes a question back that was resolved, wherever it is still shown.
func (a *Above) close(w *question, ans Answer) {
	for ; a != nil; a = a.Next {
		a.At.unshow(w.id, ans)
	}
}
