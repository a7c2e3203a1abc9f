package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// Execute runs until the queues are empty or something ends the run. The user
// message that begins it must already are in the log.
func Execute(ctx context.Context, run Run) iter.Seq[RawEvent] {
	return func(yield func(RawEvent) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		l := newLoop(run, cancel, yield)
		l.emit(&protocol.RuntimeStart{})
		end := l.turns(ctx)
		l.emit(end.event())
	}
}

// Compact runs one compaction and nothing else, as a run of its own.
func Compact(ctx context.Context, run Run) iter.Seq[RawEvent] {
	return func(yield func(RawEvent) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		l := newLoop(run, cancel, yield)
		l.emit(&protocol.RuntimeStart{})
		end := outcome{terminal: protocol.TerminalCompleted}
		if err := run.Host.Compact(ctx, Asked, l.summarise); err != nil {
			end = l.failed(ctx, err)
		}
		l.emit(end.event())
	}
}

func newLoop(run Run, cancel context.CancelFunc, yield func(RawEvent) bool) *loop {
	run.defaults()
	l := &loop{Run: run, cancel: cancel, yield: yield, tries: maxTries, model: run.Model, schemas: map[string]*jsonschema.Resolved{}, wake: make(chan struct{}, 1)}
	for _, t := range run.Tools {
		spec := t.Spec()
		l.specs = append(l.specs, model.ToolSpec{Name: spec.Name, Description: tool.Described(t), Schema: spec.Schema})
	}
	return l
}

// outcome is how a run ended.
type outcome struct {
	terminal protocol.Terminal
	err      error
	limit    *protocol.LimitUse // that was reached, nil for none
}

func (o outcome) event() *protocol.RuntimeEnd {
	e := &protocol.RuntimeEnd{Terminal: o.terminal, Reason: protocol.EndError, Limit: o.limit}
	switch o.terminal {
	case protocol.TerminalCompleted, protocol.TerminalMaxSteps, protocol.TerminalMaxTokens, protocol.TerminalLoop,
		protocol.TerminalBudget, protocol.TerminalRefused, protocol.TerminalHookStopped:
		e.Reason = protocol.EndCompleted
	case protocol.TerminalCancelled:
		e.Reason = protocol.EndCancelled
	}
	if o.err != nil && o.terminal != protocol.TerminalCancelled {
		err := *runError(o.terminal, o.err)
		err.Message = shortReason(err.Message)
		e.Error = &err
	}
	return e
}

// maxReason bounds why a turn has failed, in bytes: a server may answer with a page.
const maxReason = 4 << 10

func shortReason(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + "…"
}

func runError(t protocol.Terminal, err error) *protocol.Error {
	var pe *protocol.Error
	if errors.As(err, &pe) {
		return pe
	}
	code := protocol.CodeInternalError
	switch t {
	case protocol.TerminalModelError, protocol.TerminalPromptTooLong:
		code = protocol.CodeProviderError
	case protocol.TerminalStorageError:
		code = protocol.CodeStorageError
	}
	return &protocol.Error{Code: code, Message: err.Error()}
}

// loop is the state of one run. It belongs to the goroutine that ranges over
// the run.
type loop struct {
	Run
	cancel context.CancelFunc
	yield  func(RawEvent) bool
	gone   bool // the consumer has stopped ranging
	tries  int  // of one request, at most

	model     model.Model // the one in use this turn
	specs     []model.ToolSpec
	schemas   map[string]*jsonschema.Resolved // by tool name, made at first use
	wake      chan struct{}                   // capacity 1: running calls have something to tell
	steps     int
	turnUsage protocol.Usage
	failure   bool // why the turn has failed is in the log: with what was shown of an answer
	complete  bool // the turn has its answer, which reached a limit
}

// storeFailure puts into the log why a turn has ended without an answer, as an answer of
// which nothing came: who opens the session later has to see it too. No model is sent it.
func (l *loop) storeFailure(end outcome) {
	switch end.terminal {
	case protocol.TerminalCancelled, protocol.TerminalStorageError: // nobody wonders, and nothing can be stored
		return
	}
	if end.err == nil || l.failure || l.complete {
		return
	}
	info, stop := l.model.Info(), protocol.StopError
	if end.terminal == protocol.TerminalRefused {
		stop = protocol.StopRefusal
	}
	l.emit(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{}, Provider: info.Provider,
		Model: info.ID, StopReason: stop, Partial: true, ErrorMessage: shortReason(end.err.Error())}})
}

// emit yields a body, unless the consumer is gone. A consumer that goes ends
// the run's context.
func (l *loop) emit(body protocol.Body) { l.emitAs("", body) }

func (l *loop) emitAs(id protocol.EventID, body protocol.Body) {
	if l.gone {
		return
	}
	if !l.yield(RawEvent{ID: id, Body: body}) {
		l.gone = true
		l.cancel()
	}
}

func (l *loop) turns(ctx context.Context) outcome {
	for index := 0; ; index++ {
		l.emit(&protocol.TurnStart{TurnIndex: index})
		l.turnUsage, l.steps, l.failure, l.complete = protocol.Usage{}, 0, false, false
		l.Budget.begin(l.Limits.Spend, l.Now)
		l.model = l.Model
		stop, end := l.turn(ctx)
		l.Budget.end()
		if lost, ok := notStored(ctx); ok {
			stop, end = protocol.StopError, lost
		} else {
			l.storeFailure(end)
		}
		usage := l.turnUsage
		l.emit(&protocol.TurnEnd{TurnIndex: index, Usage: &usage, StopReason: stop})
		if end.terminal != protocol.TerminalCompleted {
			return end
		}
		more, err := l.Host.FollowUp(ctx)
		if err != nil {
			return l.failed(ctx, err)
		}
		if !more {
			return end
		}
	}
}

// notStored reports whether the run was ended because something of it could not be
// stored. It may be the last thing that the run yielded, with nothing after it that
// would look at the context.
func notStored(ctx context.Context) (outcome, bool) {
	var pe *protocol.Error
	cause := context.Cause(ctx)
	if cause == nil || !errors.As(cause, &pe) || pe.Code != protocol.CodeStorageError {
		return outcome{}, false
	}
	return outcome{terminal: protocol.TerminalStorageError, err: cause}, true
}

// turn takes one user message to the end of its answer.
func (l *loop) turn(ctx context.Context) (protocol.StopReason, outcome) {
	ctx, done := l.bound(ctx)
	defer done()
	t := turnState{}
	for {
		if err := ctx.Err(); err != nil {
			return stopOf(ctx, err), l.failed(ctx, err)
		}
		if l.steps >= l.Limits.MaxSteps {
			steps := "steps"
			if l.steps == 1 {
				steps = "step"
			}
			return protocol.StopEndTurn, outcome{terminal: protocol.TerminalMaxSteps,
				err: protocol.Errorf(protocol.CodeStepLimit, "The run stopped after %d %s; raise it with --max-turns, options.maxSteps of a request or limits.maxSteps, or send another message to go on.", l.steps, steps)}
		}
		if end, may := l.mayStep(); !may { // what sub-agents used counts too
			return protocol.StopEndTurn, end
		}
		l.steps++
		step, err := l.step(ctx, &t)
		if err != nil {
			return stopOf(ctx, err), l.failed(ctx, err)
		}
		t.answer.Add(step.message)
		if step.terminal != "" {
			return step.stop, outcome{step.terminal, step.err, step.limit}
		}
		l.complete = len(step.calls.blocks) == 0 && step.stop != protocol.StopMaxTokens
		end, over := l.reached()
		if over && (!l.complete || end.limit == nil) {
			l.refuseCalls(step.calls, refusedFor(end))
			return step.stop, end
		}
		if len(step.calls.blocks) > 0 {
			jobs, err := l.runCalls(ctx, step.calls)
			if !allEnd(jobs) {
				t.stopBlocks = 0
			}
			if err != nil {
				return stopOf(ctx, err), l.failed(ctx, err)
			}
			steered, err := l.Host.Steer(ctx)
			if err != nil {
				return step.stop, l.failed(ctx, err)
			}
			if steered > 0 {
				t.repeats = repeats{} // a person sees what it does
				continue
			}
			if allEnd(jobs) {
				resume, err := l.resume(ctx, &t, stepResult{stop: protocol.StopEndTurn, message: step.message})
				if err != nil {
					return step.stop, l.failed(ctx, err)
				}
				if !resume {
					return protocol.StopEndTurn, outcome{terminal: protocol.TerminalCompleted}
				}
				continue
			}
			if end, resume, err := l.repeated(ctx, &t, l.footprintOf(jobs)); err != nil {
				return step.stop, l.failed(ctx, err)
			} else if !resume {
				return step.stop, end
			}
			continue
		}
		resume, err := l.resume(ctx, &t, step)
		if err != nil {
			if end = l.failed(ctx, err); l.complete && end.limit != nil { // its time has ended after the answer
				return step.stop, outcome{terminal: protocol.TerminalCompleted, limit: end.limit}
			}
			return step.stop, end
		}
		if !resume {
			if step.stop == protocol.StopMaxTokens {
				return step.stop, outcome{terminal: protocol.TerminalMaxTokens,
					err: protocol.Errorf(protocol.CodeOutputLimit, "The answer is cut: it hit the model's output limit %d times in a row. Ask for the rest, or for the answer in smaller parts.", maxContinuations+1)}
			}
			return step.stop, outcome{terminal: protocol.TerminalCompleted, limit: end.limit}
		}
		t.repeats.note(said(step.message.PlainText()))
	}
}

// turnState counts what a turn may do only so often.
type turnState struct {
	continuations int
	stopBlocks    int
	overloads     int // in a row
	repeats       repeats
	answer        protocol.ModelAnswer // the newest, for stop hooks
}

// resume reports whether a turn continues after an answer without calls.
func (l *loop) resume(ctx context.Context, t *turnState, step stepResult) (bool, error) {
	if step.stop == protocol.StopMaxTokens && t.continuations < maxContinuations {
		t.continuations++
		return true, l.Host.Notice(ctx, "Your answer was cut at the output limit. Continue exactly where it stopped, without repeating anything.")
	}
	if n, err := l.Host.Steer(ctx); err != nil || n > 0 {
		t.answer.End()
		return n > 0, err
	}
	if l.Hooks == nil || step.stop != protocol.StopEndTurn {
		return false, nil
	}
	text, err := l.Hooks.Stop(ctx, Ending{Blocked: t.stopBlocks, Text: t.answer.Text})
	if err != nil || text == "" {
		return false, ctx.Err() // a stop hook that fails does not hold the turn
	}
	if t.stopBlocks++; t.stopBlocks >= MaxStopBlocks {
		l.Report(fmt.Sprintf("stop hooks let the turn go on %d times in a row; it has been ended", t.stopBlocks), nil)
		return false, nil
	}
	return true, l.Host.Notice(ctx, text)
}

// failed maps the error that ended a run to its terminal reason.
func (l *loop) failed(ctx context.Context, err error) outcome {
	var me *model.Error
	var pe *protocol.Error
	switch {
	case errors.As(err, &pe) && pe.Code == protocol.CodeStorageError:
		return outcome{terminal: protocol.TerminalStorageError, err: err}
	case errors.As(err, &pe) && pe.Code == protocol.CodePermissionDenied: // a hook's
		return outcome{terminal: protocol.TerminalHookStopped, err: err}
	case ctx.Err() != nil:
		if lost, ok := notStored(ctx); ok {
			return lost
		}
		if end, ok := timeIsUp(ctx); ok {
			return end
		}
		return outcome{terminal: protocol.TerminalCancelled, err: err}
	case errors.As(err, &me) && me.Class == model.ClassTooLong:
		return outcome{terminal: protocol.TerminalPromptTooLong, err: err}
	case errors.As(err, &me):
		return outcome{terminal: protocol.TerminalModelError, err: err}
	default: // the host's: what it needs is in the log
		return outcome{terminal: protocol.TerminalStorageError, err: err}
	}
}

// stopOf returns why an answer has not come to its end, from the error and the context of
// the turn.
func stopOf(ctx context.Context, err error) protocol.StopReason {
	if _, ok := timeIsUp(ctx); ok || !errors.Is(err, context.Canceled) {
		return protocol.StopError
	}
	return protocol.StopCancelled
}
