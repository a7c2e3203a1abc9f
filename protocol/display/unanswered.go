package display

import (
	"slices"

	"scorel/protocol"
)

// NoResult is what is shown of a call that has no result and gets none: the host was killed
// while it ran, or the result is lost.
const NoResult = "no result: it may have taken effect"

// GoesOn reports whether a turn has gone past the calls before an event: their results come
// first.
func GoesOn(b protocol.Body) bool {
	m, ok := b.(*protocol.MessageBody)
	return ok && m.Message.Role != protocol.RoleToolResult
}

// Unanswered follows the events of a path, oldest first, and knows the calls that have no
// result. The zero value is ready; it is for one goroutine.
type Unanswered struct{ open []protocol.Block }

// Add takes the next event in, and returns the calls before it that get no result.
func (u *Unanswered) Add(e protocol.Event) (lost []protocol.Block) {
	m, ok := e.Message()
	if !ok {
		return nil
	}
	if GoesOn(e.Body) {
		lost, u.open = u.open, slices.Clone(m.Calls())
	} else if m.Role == protocol.RoleToolResult {
		u.open = slices.DeleteFunc(u.open, func(c protocol.Block) bool { return c.ID == m.ToolCallID })
	}
	return lost
}

// Open returns the calls that have no result yet.
func (u *Unanswered) Open() []protocol.Block { return u.open }
