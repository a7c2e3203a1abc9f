package history

import "scorel/protocol"

// action is what a handler answers about its event.
type action uint8

const (
	// skip: the event gives nothing.
	skip action = iota
	// include: the message takes its place in the list.
	include
	// mergePrev: the note is merged into what stands before it.
	mergePrev
	// barrier: the event stands for what is older.
	barrier
)

// The handler of a type of event is the function whose name is that of the event's spec with
// ToLLM, such as compactToLLM; the switch handlerOf is generated from the specs.

// handler says how the events of one type take part in the context. For include
// and for the mergePrev of a steer it sets w.message and w.kind, for that of a
// harness item w.item, for barrier w.compact.
type handler func(ev protocol.Event, w *answer) action

// answer is what a handler says besides its action.
type answer struct {
	message *protocol.Message
	kind    elementKind
	item    *protocol.Item
	compact *protocol.Compact
}

// skipToLLM is the handler of control events and of types of a later version.
func skipToLLM(protocol.Event, *answer) action { return skip }
