package history

import (
	"math"

	"scorel/protocol"
)

// Element is one message on its way to the model, with the event that it came
// from. An element without an event was made on the way: by a hook, or as the
// result of a call that has none.
type Element struct {
	Event   protocol.EventID
	Message *protocol.Message // shared with the log and never written to

	pos    int              // place on the path; only the order counts
	prev   protocol.EventID // the conversation event before it on the path
	seq    protocol.Seq
	origin int32 // 1 + index in the list that the hooks were given
	kind   elementKind
	harmed bool // events after it are lost: results of its calls may be among them
}

type elementKind uint8

const (
	kindMessage elementKind = iota
	kindCustom              // of a custom_message
	kindSummary             // of the newest compact
	kindTurn                // the user message of the turn that a compact cut
	kindBranch              // of a branch_summary
)

// posFront is the place of what stands for a part of the path that is not sent.
const posFront = math.MinInt

// With returns the element with another message. It has no event: a message that
// was changed counts as a new one.
func (e Element) With(m protocol.Message) Element { return Element{Message: &m} }

// steer reports whether the element is a steering message.
func (e *Element) steer() bool {
	m := e.Message
	return m.Role == protocol.RoleUser && m.Meta != nil && m.Meta.Source == protocol.SourceSteer
}

// opensTurn reports whether the element is a user message that a turn began with.
func (e *Element) opensTurn() bool {
	return e.Message.Role == protocol.RoleUser && !e.steer() && e.Event != "" &&
		(e.kind == kindMessage || e.kind == kindTurn)
}

func (e *Element) isResult() bool { return e.Message.Role == protocol.RoleToolResult }

// note is a harness item: it follows the path events before pos.
type note struct {
	pos  int
	item protocol.Item
}
