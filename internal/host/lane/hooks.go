package lane

import (
	"context"

	"scorel/internal/engine/hook"
	"scorel/internal/host/lane/notice"
	"scorel/protocol"
)

// askPrompt asks the hooks of a message before it is stored.
func (l *Lane) askPrompt(ctx context.Context, chain *hook.Chain, p hook.Prompt) (hook.PromptAnswer, error) {
	if !chain.AsksPrompts() {
		return hook.PromptAnswer{Content: p.Content}, nil
	}
	ctx, cancel := l.life.bounded(ctx)
	defer cancel()
	a, err := chain.Prompt(ctx, p)
	if err != nil {
		return a, protocol.Errorf(protocol.CodeRuntimeBusy, "The message was not sent, because its hooks were cancelled.")
	}
	if a.Denied {
		reason := a.Reason
		if reason == "" {
			reason = "it gives no reason"
		}
		return a, protocol.Errorf(protocol.CodePermissionDenied, "%s refused the message: %s", a.From, reason)
	}
	if a.Handled {
		return a, nil
	}
	if err := l.payloads.check("content", a.Content); err != nil { // a hook may have put another in its place
		return a, err
	}
	return a, nil
}

// chainNow returns the hooks of the running turn, or those of the configuration.
func (l *Lane) chainNow(ctx context.Context) *hook.Chain {
	l.j.Lock()
	t, meta := l.course.turn, l.j.Meta()
	l.j.Unlock()
	if t != nil && !t.command {
		return t.config.Hooks
	}
	chain, err := l.cfg.Turns.Hooks(ctx, meta)
	if err != nil {
		l.j.Report("the hooks: " + err.Error())
		return nil
	}
	return chain
}

// CommandHooks returns the hooks that are asked of commands of people, nil for none.
func (l *Lane) CommandHooks(ctx context.Context) *hook.Chain {
	if chain := l.chainNow(ctx); chain.AsksUserCommands() {
		return chain
	}
	return nil
}

// AskClone asks the hooks before the session is copied up to an event.
func (l *Lane) AskClone(ctx context.Context, target protocol.EventID) error {
	_, err := l.askMove(ctx, hook.Move{Kind: hook.MoveClone, Target: target, Leaf: l.cfg.Log.Index().Leaf()})
	return err
}

// AskSwitch asks the hooks before a person goes to another session.
func (l *Lane) AskSwitch(ctx context.Context, reason string, to protocol.SessionID) error {
	_, err := l.askMove(ctx, hook.Move{Kind: hook.MoveSwitch, Leaf: l.cfg.Log.Index().Leaf(), Reason: reason, Session: to})
	return err
}

// askMove asks the hooks before the leaf moves, and returns a name for the target.
func (l *Lane) askMove(ctx context.Context, m hook.Move) (label string, err error) {
	chain := l.chainNow(ctx)
	ctx, cancel := l.life.bounded(ctx)
	defer cancel()
	a, err := chain.BeforeMove(ctx, m)
	switch {
	case err != nil:
		return "", err
	case a.Cancelled && a.Reason == "":
		return "", protocol.Errorf(protocol.CodePermissionDenied, "%s refused the %s.", a.From, m.Kind)
	case a.Cancelled:
		return "", protocol.Errorf(protocol.CodePermissionDenied, "%s refused the %s: %s", a.From, m.Kind, a.Reason)
	}
	return notice.Cut(a.Label, protocol.MaxLabel), nil
}
