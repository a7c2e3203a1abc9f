package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// visibility reports whether an answer is shown while it streams.
type visibility bool

const (
	shown visibility = true
	quiet visibility = false
)

// ask calls the model for a step; what was shown of an answer that failed for
// good is stored.
func (l *loop) ask(ctx context.Context, t *turnState, prompt Prompt, limit int, longest *answer) (answer, error) {
	req := model.Request{Kind: model.KindStep, System: prompt.System, Messages: prompt.Messages, Tools: l.specs,
		MaxTokens: limit, Thinking: cmp.Or(prompt.Thinking, l.Thinking), SessionID: l.Session, Blob: l.Blob}
	return l.try(ctx, t, req, shown, longest)
}

// try sends a request until it is answered or the recovery table gives up.
// longest is the longest answer of the step that was shown and taken back. A
// request that is too long is not given up here: the caller can shorten it.
func (l *loop) try(ctx context.Context, t *turnState, req model.Request, show visibility, longest *answer) (answer, error) {
	for attempt := 1; ; attempt++ {
		ans, err := l.stream(ctx, req, show)
		if err == nil {
			t.overloads = 0
			return ans, nil
		}
		if ctx.Err() != nil {
			l.giveUp(ans, *longest, stopOf(ctx, ctx.Err()), context.Cause(ctx))
			return answer{}, ctx.Err()
		}
		var me *model.Error
		if !errors.As(err, &me) {
			me = &model.Error{Class: model.ClassTransient, Message: err.Error(), Err: err}
		}
		wait, again := l.retryDelay(me, attempt)
		if me.Class == model.ClassOverloaded {
			t.overloads++
		} else {
			t.overloads = 0
		}
		note := me.Message
		if t.overloads >= overloadsToFall && l.mayFall() {
			l.model, t.overloads, wait, again = l.Fallback, 0, 0, true
			if most := l.model.Info().MaxTokens; most > 0 {
				req.MaxTokens = min(req.MaxTokens, most)
			}
			note = fmt.Sprintf("%s Switching to %s for the rest of this turn.", me.Message, l.Fallback.Info().Ref)
		}
		if !again && me.Class != model.ClassTooLong {
			if attempt > 1 {
				all := *me
				all.Message = fmt.Sprintf("gave up after %d tries: %s", attempt, me.Message)
				me = &all
			}
			l.giveUp(ans, *longest, protocol.StopError, me)
			return answer{}, me
		}
		l.takeBack(ans, longest, protocol.CancelRetry)
		if !again {
			return answer{}, me
		}
		l.emit(&protocol.Retry{Attempt: attempt, MaxAttempts: l.tries, DelayMS: wait.Milliseconds(), Error: note})
		if err := l.Sleep(ctx, wait); err != nil {
			l.giveUp(answer{}, *longest, stopOf(ctx, err), context.Cause(ctx))
			return answer{}, err
		}
	}
}

// takeBack tells that an announced answer does not come, and keeps it in longest
// when it is longer.
func (l *loop) takeBack(ans answer, longest *answer, reason protocol.CancelReason) {
	if !ans.announced {
		return
	}
	l.emit(&protocol.MessageCancelled{EventID: ans.id, Reason: reason})
	if ans.shownLength() > longest.shownLength() {
		*longest = ans
	}
}

// retryDelay reports whether a failure is tried again and how long to wait first.
func (l *loop) retryDelay(e *model.Error, attempt int) (time.Duration, bool) {
	if (e.Class != model.ClassTransient && e.Class != model.ClassOverloaded) || attempt >= l.tries {
		return 0, false
	}
	if e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	d := min(firstDelay<<(attempt-1), maxDelay)
	return time.Duration(float64(d) * (0.75 + 0.5*l.Jitter())), true
}

// giveUp stores the longest text that was shown, when no further try follows:
// the answer that broke off now under its announced id, an earlier one that was
// taken back under a new id.
func (l *loop) giveUp(now, earlier answer, stop protocol.StopReason, cause error) {
	reason := protocol.CancelError
	if stop == protocol.StopCancelled {
		reason = protocol.CancelUser
	}
	keep, usage := now, now.usage
	if earlier.shownLength() > now.shownLength() {
		keep, usage = earlier, protocol.Usage{} // it was recorded when the answer was taken back
		keep.id = protocol.NewEventID(l.Rand)
	}
	if !keep.announced {
		return // nothing was shown: a summary, or an answer that had not begun
	}
	content := keep.content(true)
	if now.announced && (keep.id != now.id || len(content) == 0) {
		l.emit(&protocol.MessageCancelled{EventID: now.id, Reason: reason})
	}
	if len(content) == 0 {
		return
	}
	l.take(usage)
	m := protocol.Message{Role: protocol.RoleAssistant, Content: content, Provider: keep.info.Provider,
		Model: keep.info.ID, StopReason: stop, Usage: &usage, Partial: true}
	if stop == protocol.StopError && cause != nil {
		m.ErrorMessage, l.failure = shortReason(cause.Error()), true
	}
	var err error
	if m.Content, err = l.fit(&keep, content); err != nil {
		l.Report("keep the whole of an answer: "+err.Error(), nil)
	}
	l.emitAs(keep.id, &protocol.MessageBody{Message: m})
	why := ended(cause)
	if _, ok := timeOf(cause); stop == protocol.StopError && !ok {
		why = notRun("the model's answer broke off.")
	}
	l.refuseCalls(callSet{message: keep.id, blocks: m.Calls()}, why)
}

// errSilent ends a stream that has said nothing for too long.
var errSilent = errors.New("the stream is silent")

// stream plays one answer. With an error the answer holds what came before it.
func (l *loop) stream(ctx context.Context, req model.Request, show visibility) (answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(l.Silence, func() { cancel(errSilent) })
	defer watchdog.Stop()

	ans := answer{id: protocol.NewEventID(l.Rand), info: l.model.Info()}
	var failure error
	for delta, err := range l.model.Stream(ctx, req) {
		if err != nil {
			failure = err
			break
		}
		watchdog.Reset(l.Silence)
		for piece := range pieces(ans.own(delta, l.Rand)) {
			if ans.length+length(piece) > maxAnswer {
				return ans, errLong()
			}
			if show == shown {
				l.show(&ans, piece)
			}
			if ans.add(piece) {
				if done, ok := piece.(model.Done); ok && done.Unlisted != "" {
					l.Report(fmt.Sprintf("%s ended an answer for a reason that its list does not have: %s; what came is complete, so it counts", ans.info.Provider, done.Unlisted), nil)
				}
				return ans, nil
			}
			if l.gone {
				return ans, context.Canceled
			}
		}
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent):
		failure = &model.Error{Class: model.ClassTransient, Message: fmt.Sprintf("The model sent nothing for %v.", l.Silence), Err: cause}
	case failure == nil:
		failure = &model.Error{Class: model.ClassTransient, Message: "The model's answer ended without its end mark."}
	}
	return ans, failure
}

// show yields what clients see of a delta.
func (l *loop) show(ans *answer, delta model.Delta) {
	if start, ok := delta.(model.BlockStart); ok {
		if !ans.announced {
			ans.announced = true
			l.emit(&protocol.MessageStart{EventID: ans.id, Role: protocol.RoleAssistant, Model: ans.info.Ref})
		}
		if start.Type == protocol.BlockToolUse {
			l.emit(&protocol.ToolCallDelta{EventID: ans.id, BlockIndex: start.Index, ToolCallID: start.CallID, ToolName: start.Name})
		}
		return
	}
	switch d := delta.(type) {
	case model.TextDelta:
		l.emit(&protocol.TextDelta{EventID: ans.id, BlockIndex: d.Index, Delta: d.Text})
	case model.ThinkingDelta:
		l.emit(&protocol.ThinkingDelta{EventID: ans.id, BlockIndex: d.Index, Delta: d.Text})
	case model.CallDelta:
		l.emit(&protocol.ToolCallDelta{EventID: ans.id, BlockIndex: d.Index, ToolCallID: ans.callID(d.Index), Delta: d.JSON})
	}
}
