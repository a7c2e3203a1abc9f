package lane

import (
	"context"
	"errors"
	"fmt"
	"os"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/protocol"
)

// foldGrants gives the rules that people granted for the session. Those that came
// with an import do not count: nobody on this device granted them.
func foldGrants(ctx context.Context, index *session.Index) ([]string, error) {
	var rules []string
	for e, err := range index.OfType(ctx, protocol.TypePermissionDecision) {
		if err != nil {
			return nil, err
		}
		if e.Seq <= index.Header().ImportedThrough {
			continue
		}
		if b, ok := e.Body.(*protocol.PermissionDecision); ok && b.Scope == "session" && b.Decision == protocol.DecisionAllow {
			rules = append(rules, b.Rule)
		}
	}
	return rules, nil
}

// foldMode gives the permission mode that was set last. One that came with an import
// does not count: nobody on this device set it.
//
// Unplanned is the last one that is not plan mode.
func foldMode(ctx context.Context, index *session.Index) (mode, unplanned permission.Mode, err error) {
	for e, err := range index.OfType(ctx, protocol.TypeSessionInfo) {
		if err != nil {
			return "", "", err
		}
		if b, ok := e.Body.(*protocol.SessionInfo); ok && b.Mode != "" && e.Seq > index.Header().ImportedThrough {
			if mode = permission.Mode(b.Mode); mode != permission.Plan {
				unplanned = mode
			}
		}
	}
	return mode, unplanned, nil
}

// SetMode sets the permission mode of the next calls. It is durable, and counts, on
// return; calls that are judged before are judged under the old one.
func (l *Lane) SetMode(ctx context.Context, c Caller, mode permission.Mode) error {
	e, err := l.appendWait(ctx, &protocol.SessionInfo{Mode: string(mode)}, c.author())
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Seq > l.modeSeq { // of two that are set at once the later counts
		l.mode, l.modeSeq = mode, e.Seq
		if mode != permission.Plan {
			l.unplanned = mode
		}
	}
	return nil
}

// Mode is the permission mode that people have set in this session, "" for none.
func (l *Lane) Mode() permission.Mode {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mode
}

// policy is the turn's with the session's own mode and rules. mu is not held.
func (h *turnHost) policy() (*permission.Policy, error) {
	h.l.mu.Lock()
	mode, granted := h.l.mode, append([]string(nil), h.l.granted...)
	if o := h.t.options; o != nil && o.Mode != "" && h.l.modeSeq == h.t.modeSeq {
		mode = "" // the message's, until somebody sets another
	}
	h.l.mu.Unlock()
	if a := h.t.setup.Above; a != nil {
		own := mode
		allowed, more := a.now()
		mode, granted = permission.Tighter(own, allowed), append(more, granted...)
	}
	return sessionPolicy(h.t.setup.Policy, mode, granted)
}

// sessionPolicy is a policy with the mode that people set, "" for none, and with the
// rules that they granted for the session.
func sessionPolicy(p *permission.Policy, mode permission.Mode, granted []string) (*permission.Policy, error) {
	var err error
	if mode != "" {
		if p, err = p.WithMode(mode, os.Getuid()); err != nil {
			return nil, err
		}
	}
	if len(granted) > 0 {
		return p.With(permission.Layer{Name: "session", Scope: permission.ScopeSession, Allow: granted})
	}
	return p, nil
}

// Permit judges a call, and asks people where the rules say so.
func (h *turnHost) Permit(ctx context.Context, q runtime.Question) (runtime.Permit, error) {
	policy, err := h.policy()
	if err != nil { // a mode that may not be used here: nothing is judged under another
		return runtime.Permit{Reason: "Not run: " + err.Error()}, nil
	}
	v := policy.JudgeHooked(q.Action, q.Hook.Decision, asks(q.Hook))
	switch v.Decision {
	case protocol.DecisionAllow:
		if v.Rule == "" && q.Hook.Decision == protocol.DecisionAllow && policy.Judge(q.Action).Decision != protocol.DecisionAllow {
			return runtime.Permit{Allowed: true}, h.record(ctx, &protocol.PermissionDecision{ToolCallID: q.CallID,
				Decision: protocol.DecisionAllow, Scope: "hook", Reason: q.Hook.By}, byHost())
		}
		if v.Rule == "" {
			return runtime.Permit{Allowed: true}, nil
		}
		return runtime.Permit{Allowed: true, Git: v.Git}, h.record(ctx, &protocol.PermissionDecision{ToolCallID: q.CallID,
			Decision: protocol.DecisionAllow, Rule: v.Rule, Scope: "rule"}, byHost())
	case protocol.DecisionDeny:
		if v.Rule == "" {
			return runtime.Permit{Reason: v.Reason}, h.tellDenied(q, v)
		}
		return runtime.Permit{Reason: v.Reason}, h.record(ctx, &protocol.PermissionDecision{ToolCallID: q.CallID,
			Decision: protocol.DecisionDeny, Rule: v.Rule, Scope: "rule", Reason: v.Reason}, byHost())
	}
	return h.ask(ctx, q, v)
}

// asks says that a hook asks, and why.
func asks(v runtime.HookVerdict) string {
	if v.Reason == "" {
		return v.By + " asks."
	}
	return v.By + " asks: " + v.Reason
}

// tellDenied shows clients a refusal that no rule and no person made.
func (h *turnHost) tellDenied(q runtime.Question, v permission.Verdict) error {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	id := protocol.NewPermissionID(h.l.cfg.Rand)
	w := &question{id: string(id), ask: &protocol.PermissionRequest{PermissionID: id, ToolCallID: q.CallID, ToolName: q.Tool.Name, Args: q.Input, Reason: v.Reason,
		Suggestions: []protocol.Suggestion{}}}
	denied := answer{decision: protocol.DecisionDeny, client: protocol.HostClient}
	if err := h.l.tell(w.ask); err != nil {
		return err
	}
	h.t.setup.Above.show(w)
	h.t.setup.Above.close(w, denied)
	return h.l.tell(w.resolved(denied))
}

// record stores a decision; it is durable on return.
func (h *turnHost) record(ctx context.Context, d *protocol.PermissionDecision, a author) error {
	h.l.mu.Lock()
	_, ticket, err := h.l.append(ctx, d, a)
	h.l.mu.Unlock()
	if err != nil {
		return err
	}
	return ticket.Wait(ctx)
}

// ask puts a call to the attached people and acts on the first answer.
func (h *turnHost) ask(ctx context.Context, q runtime.Question, v permission.Verdict) (runtime.Permit, error) {
	l := h.l
	id := protocol.NewPermissionID(l.cfg.Rand)
	w := &question{id: string(id), ask: &protocol.PermissionRequest{PermissionID: id,
		ToolCallID: q.CallID, ToolName: q.Tool.Name, Args: q.Input, Reason: v.Reason, Suggestions: v.Suggestions}}
	nobody, err := l.put(w)
	if err != nil || nobody {
		return runtime.Permit{Reason: "Not run: " + v.Reason + " Nobody can be asked here, so it was refused. Do without it, or say in your answer what is needed."}, err
	}
	a := l.await(ctx, w, h.t.setup.AskTimeout)
	switch a.decision {
	case protocol.DecisionCancelled:
		if err := ctx.Err(); err != nil {
			return runtime.Permit{}, err
		}
		return runtime.Permit{Reason: "Not run: the question was withdrawn."}, nil
	case protocol.DecisionExpired:
		return runtime.Permit{Reason: "Not run: nobody answered in time. Do without it, or say what is needed."}, nil
	}
	d := &protocol.PermissionDecision{ToolCallID: q.CallID, Decision: a.decision, Rule: a.suggestion.Rule, Scope: a.suggestion.Scope, Reason: a.reason}
	if d.Scope == "" {
		d.Scope = "once"
	}
	own := author{client: a.client, cause: a.cause}
	if a.lane != l { // it was asked for there, so the request belongs to that log
		err = h.t.setup.Above.keep(ctx, a, *d)
		own.cause = nil
	}
	if err == nil {
		err = h.record(ctx, d, own)
	}
	w.stored <- err
	if err != nil {
		return runtime.Permit{}, err
	}
	if a.decision == protocol.DecisionDeny {
		reason := "Not run: a person refused it."
		if a.reason != "" {
			reason = fmt.Sprintf("Not run: a person refused it and says: %s", a.reason)
		}
		return runtime.Permit{Reason: reason}, nil
	}
	switch d.Scope {
	case "session":
		l.mu.Lock()
		l.granted = append(l.granted, d.Rule)
		l.mu.Unlock()
	case "always":
		if err := l.cfg.Remember(l.Meta(), d.Rule); err != nil {
			l.cfg.Report("remember a rule: "+err.Error(), nil)
		}
		l.mu.Lock()
		l.granted = append(l.granted, d.Rule)
		l.mu.Unlock()
	}
	return runtime.Permit{Allowed: true}, nil
}

// AnswerPermission answers a question: choice is the index of a suggestion, -1
// denies. Only the first answer counts; a later one fails with conflict. It returns when
// the answer is durable.
func (l *Lane) AnswerPermission(ctx context.Context, c Caller, id protocol.PermissionID, choice int, reason string) error {
	w, err := l.answerPermission(c, id, choice, reason)
	if err != nil {
		return err
	}
	select {
	case err = <-w.stored:
	case <-ctx.Done():
		return ctx.Err()
	}
	if errors.Is(err, context.Canceled) {
		return errNotOpen() // the turn was ended at the same moment
	}
	return err
}

func (l *Lane) answerPermission(c Caller, id protocol.PermissionID, choice int, reason string) (*question, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.questions[string(id)]
	if w == nil {
		return nil, errNotOpen()
	}
	request, ok := w.ask.(*protocol.PermissionRequest)
	if !ok {
		return nil, protocol.About("permissionId", "", protocol.CodeInvalidRequest, "%s is a dialog; answer it with answer_ui.", id)
	}
	a := answer{decision: protocol.DecisionDeny, client: c.Client, cause: c.author().cause, reason: reason}
	if choice >= len(request.Suggestions) || choice < -1 {
		return nil, protocol.About("choice", "", protocol.CodeInvalidRequest, "There is no choice %d; the question offers %d.", choice, len(request.Suggestions))
	}
	if choice >= 0 && c.OnceOnly && request.Suggestions[choice].Scope != "once" {
		return nil, protocol.Errorf(protocol.CodeForbidden, "This entry may allow a call once or refuse it; the owner of the device can allow more.")
	}
	if choice >= 0 {
		a.decision, a.suggestion = protocol.DecisionAllow, request.Suggestions[choice]
	}
	if !l.settle(w, a) {
		return nil, errNotOpen()
	}
	return w, nil
}
