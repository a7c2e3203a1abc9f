package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// stepResult is what one model call gave.
type stepResult struct {
	stop     protocol.StopReason
	message  protocol.Message // what is stored of the answer
	calls    callSet
	terminal protocol.Terminal // set when the run ends here
	err      error
	limit    *protocol.LimitUse
}

// step pulls the context, calls the model with all its recoveries, and stores
// the answer.
func (l *loop) step(ctx context.Context, t *turnState) (stepResult, error) {
	prompt, err := l.context(ctx)
	if err != nil {
		return stepResult{}, err
	}
	if prompt.News {
		t.repeats = repeats{} // the model may wait for it
	}
	full := l.model.Info().MaxTokens
	limit := full
	if limit == 0 || limit > defaultOutput && t.continuations == 0 { // what goes on is known to be long
		limit = defaultOutput
	}
	var longest answer
	for {
		if end, may := l.mayStep(); !may { // after a compaction, or an answer that was cut
			l.giveUp(answer{}, longest, protocol.StopError, end.err)
			return stepResult{stop: protocol.StopEndTurn, terminal: end.terminal, err: end.err, limit: end.limit}, nil
		}
		ans, err := l.ask(ctx, t, prompt, limit, &longest)
		var me *model.Error
		switch {
		case err == nil:
		case errors.As(err, &me) && me.Class == model.ClassTooLong && ctx.Err() == nil:
			if err := l.Host.Compact(ctx, Refused, l.summarise); err != nil {
				l.giveUp(answer{}, longest, stopOf(ctx, err), cmp.Or(context.Cause(ctx), err))
				return stepResult{}, err
			}
			if prompt, err = l.Host.Context(ctx); err != nil {
				return stepResult{}, err
			}
			continue
		default:
			return stepResult{}, err
		}
		if ans.stop == protocol.StopMaxTokens && full > limit {
			l.pay(ans)
			l.takeBack(ans, &longest, protocol.CancelMaxTokens)
			limit = full
			continue
		}
		return l.store(ans), nil
	}
}

// context pulls the context and compacts it first while that is due. The host
// ends that: what does not get smaller is sent as it is.
func (l *loop) context(ctx context.Context) (Prompt, error) {
	for {
		prompt, err := l.Host.Context(ctx)
		if err != nil || prompt.Compact == NotDue {
			return prompt, err
		}
		if err := l.Host.Compact(ctx, prompt.Compact, l.summarise); err != nil {
			return Prompt{}, err
		}
	}
}

// store records a complete answer.
func (l *loop) store(ans answer) stepResult {
	usage := ans.usage
	info := l.model.Info()
	m := protocol.Message{Role: protocol.RoleAssistant, Content: wholeCalls(&ans), Provider: info.Provider,
		Model: info.ID, StopReason: ans.stop, Usage: &usage}
	res := stepResult{stop: ans.stop, message: m}
	if ans.stop == protocol.StopRefusal {
		res.terminal = protocol.TerminalRefused
		res.err = protocol.Errorf(protocol.CodeProviderError, "%s", protocol.ModelRefused)
	}
	if len(m.Content) == 0 { // nothing but what it has used is recorded
		l.pay(ans)
		if ans.announced {
			l.emit(&protocol.MessageCancelled{EventID: ans.id, Reason: protocol.CancelError})
		}
		return res
	}
	l.take(usage)
	var failure error
	m.Content, failure = l.fit(&ans, m.Content)
	res.calls = callSet{message: ans.id, blocks: m.Calls(), invalid: ans.invalid}
	l.emitAs(ans.id, &protocol.MessageBody{Message: m})
	switch {
	case failure != nil:
		res.terminal, res.err = protocol.TerminalStorageError, failure
		l.refuseCalls(res.calls, notRun("the whole of the answer could not be stored."))
	case res.terminal != "":
		l.failure = true // the answer says that the model refused
		l.refuseCalls(res.calls, notRun("the model refused to go on."))
	}
	return res
}

// wholeCalls returns the content of a complete answer without a call that the
// output limit truncated: what is left of its input may be valid JSON by chance.
func wholeCalls(ans *answer) []protocol.Block {
	content := ans.content(false)
	if n := len(content); ans.stop == protocol.StopMaxTokens && n > 0 {
		last := content[n-1]
		_, invalid := ans.invalid[last.ID]
		if last.Type == protocol.BlockToolUse && (invalid || string(last.Input) == "{}" || len(last.Input) == 0) {
			content = content[:n-1]
		}
	}
	return content
}

// take counts what an answer has used that is recorded with it.
func (l *loop) take(u protocol.Usage) {
	l.turnUsage.Add(u)
	l.Budget.spend(SpendOf(u))
}

// pay counts and records what an answer has used that is not recorded itself.
func (l *loop) pay(ans answer) {
	l.take(ans.usage)
	if u := ans.usage; u != (protocol.Usage{}) {
		l.emit(&protocol.SessionInfo{Asked: ans.info.Ref, Usage: &u})
	}
}

// errEmpty reports that an answer has no text.
var errEmpty = errors.New("the answer was empty")

// summarise is the [Summarise] of the run.
func (l *loop) summarise(ctx context.Context, req model.Request) (string, protocol.Usage, error) {
	req.SessionID, req.Blob = l.Session, l.Blob
	var lost protocol.Usage // of a summary without a text
	if l.Summary != nil {
		m, err := l.Summary(ctx, req, l.Budget.limitsCost())
		if err == nil {
			l.take(*m.Usage)
			if strings.TrimSpace(m.PlainText()) != "" {
				return m.PlainText(), *m.Usage, nil
			}
			lost = *m.Usage
		}
		if ctx.Err() != nil {
			return "", protocol.Usage{}, ctx.Err()
		}
		l.Report(fmt.Sprintf("the auxiliary model made no summary, the session's model makes it: %v", cmp.Or(err, errEmpty)), nil)
	}
	t := turnState{}
	ans, err := l.try(ctx, &t, req, quiet, &answer{})
	if err != nil {
		return "", protocol.Usage{}, err
	}
	l.take(ans.usage)
	lost.Add(ans.usage) // the compaction records both
	return protocol.Message{Content: ans.content(false)}.PlainText(), lost, nil
}
