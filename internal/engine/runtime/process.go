package runtime

import (
	"context"
	"encoding/json"
	"errors"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// follow lets a call report its work.
func (l *loop) follow(j *job, call *tool.Call) {
	j.process = l.Processes.Begin(progress.Info{CallID: j.block.ID, Tool: j.name(), Asked: j.asked, Result: j.result}, func() {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	})
	if j.process != nil {
		call.Process, call.Stderr = j.process.Update, j.process.Stderr
	}
}

// tellProcess yields what a call has reported since.
func (l *loop) tellProcess(j *job) {
	for _, p := range j.process.Take() {
		l.emit(&p)
	}
}

// endProcess ends what a call reports when it has run, and returns the summary for its
// result. Nothing of it goes on: what did not say that it has ended does now.
func (l *loop) endProcess(ctx context.Context, j *job, res *tool.Result) json.RawMessage {
	end := progress.Ending{Status: protocol.ProcessCompleted}
	switch {
	case ctx.Err() != nil && !j.spec.Finishes:
		end = progress.Ending{Status: protocol.ProcessCancelled, Why: cancelledText}
		if errors.Is(context.Cause(ctx), ErrHostStops) {
			end.Why = "Cancelled, because the host stopped"
		} else if _, ok := timeIsUp(ctx); ok {
			end.Why = timeText
		}
	case res.IsError:
		end = progress.Ending{Status: protocol.ProcessFailed, Why: "Failed"}
	}
	summary := j.process.End(end)
	if summary == nil {
		summary = res.Process
	}
	if summary == nil {
		return nil
	}
	raw, err := json.Marshal(summary)
	if err != nil {
		l.Report("the process events of "+j.name()+": "+err.Error(), nil)
		return nil
	}
	return raw
}
