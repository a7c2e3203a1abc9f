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

// handlerOf gives the handler of a type; an unknown type is skipped. It is a
// switch and not a map, so that starting the program allocates nothing.
func handlerOf(t protocol.EventType) handler {
	switch t {
	case protocol.TypeMessage:
		return messageToLLM
	case protocol.TypeCustomMessage:
		return customMessageToLLM
	case protocol.TypeCompact:
		return compactToLLM
	case protocol.TypeBranchSummary:
		return branchSummaryToLLM
	case protocol.TypeHarnessItem:
		return harnessItemToLLM
	}
	return skipToLLM
}

// skipToLLM is the handler of control events and of types of a later version.
func skipToLLM(protocol.Event, *answer) action { return skip }
