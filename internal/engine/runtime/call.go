package runtime

import (
	"context"
	"iter"

	"scorel/protocol"
)

// Foreign is a call that no model has made: its block, and the id of its result to come.
type Foreign struct {
	Block  protocol.Block
	Result protocol.EventID
}

// Call runs one call that no model has made, and nothing else, as a run of its own: it
// enters as an answer without a model, and is judged, asked about, recorded and run as any
// call is. Of the run's models none is asked.
func Call(call Foreign) func(context.Context, Run) iter.Seq[RawEvent] {
	return func(ctx context.Context, run Run) iter.Seq[RawEvent] {
		return func(yield func(RawEvent) bool) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			l := newLoop(run, cancel, yield)
			l.emit(&protocol.RuntimeStart{})
			l.emit(&protocol.TurnStart{})
			set := callSet{message: protocol.NewEventID(l.Rand), blocks: []protocol.Block{call.Block}, result: call.Result}
			l.emitAs(set.message, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: set.blocks, StopReason: protocol.StopToolUse}})
			end, stop := outcome{terminal: protocol.TerminalCompleted}, protocol.StopEndTurn
			if _, err := l.runCalls(ctx, set); err != nil {
				end, stop = l.failed(ctx, err), stopOf(ctx, err)
			}
			if lost, ok := notStored(ctx); ok {
				end, stop = lost, protocol.StopError
			}
			l.emit(&protocol.TurnEnd{StopReason: stop})
			l.emit(end.event())
		}
	}
}
