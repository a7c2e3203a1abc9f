package lane

import (
	"context"
	"fmt"
	"strings"
	"time"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/lane/question"
	"scorel/protocol"
)

// Permit judges a call, and asks people where the rules say so.
func (h *turnHost) Permit(ctx context.Context, q runtime.Question) (runtime.Permit, error) {
	p, err := h.permit(ctx, q)
	if err == nil && !p.Allowed {
		h.t.mode.denied.Add(1)
	}
	return p, err
}

func (h *turnHost) permit(ctx context.Context, q runtime.Question) (runtime.Permit, error) {
	policy, err := h.policy()
	if err != nil { // a mode that may not be used here: nothing is judged under another
		return runtime.Permit{Reason: "Not run: " + err.Error()}, nil
	}
	v := policy.JudgeHooked(q.Action, q.Hook.Decision, asks(q.Hook))
	switch v.Decision {
	case protocol.DecisionAllow:
		return h.allow(ctx, q, v, policy)
	case protocol.DecisionDeny:
		if v.Rule == "" {
			return runtime.Permit{Reason: v.Reason}, h.showDenied(q, v)
		}
		return runtime.Permit{Reason: v.Reason, Denied: &protocol.Denial{Rule: v.Rule}}, h.record(ctx, &protocol.PermissionDecision{ToolCallID: q.CallID,
			Decision: protocol.DecisionDeny, Rule: v.Rule, Scope: "rule", Reason: v.Reason}, journal.ByHost())
	}
	if h.t.foreign {
		return runtime.Permit{Reason: unasked(v)}, h.showDenied(q, v)
	}
	return h.ask(ctx, q, v)
}

// allow records why a call may run that nobody is asked about.
func (h *turnHost) allow(ctx context.Context, q runtime.Question, v permission.Verdict, policy *permission.Policy) (runtime.Permit, error) {
	if v.Rule != "" {
		return runtime.Permit{Allowed: true, Git: v.Git}, h.record(ctx, &protocol.PermissionDecision{ToolCallID: q.CallID,
			Decision: protocol.DecisionAllow, Rule: v.Rule, Scope: "rule"}, journal.ByHost())
	}
	if q.Hook.Decision == protocol.DecisionAllow && policy.Judge(q.Action).Decision != protocol.DecisionAllow {
		return runtime.Permit{Allowed: true}, h.record(ctx, &protocol.PermissionDecision{ToolCallID: q.CallID,
			Decision: protocol.DecisionAllow, Scope: "hook", By: q.Hook.By}, journal.ByHost())
	}
	return runtime.Permit{Allowed: true}, nil
}

// Waited implements [runtime.Host].
func (h *turnHost) Waited(callID string) time.Duration { return h.l.questions.Waited(callID) }

// asks says that a hook asks, and why.
func asks(v runtime.HookVerdict) string {
	if v.Reason == "" {
		return v.By + " asks."
	}
	return v.By + " asks: " + v.Reason
}

// request is what people are asked about a call.
func (h *turnHost) request(q runtime.Question, v permission.Verdict) *protocol.PermissionRequest {
	r := &protocol.PermissionRequest{PermissionID: protocol.NewPermissionID(h.l.cfg.Rand),
		ToolCallID: q.CallID, ToolName: q.Tool.Name, Args: q.Input, Reason: v.Reason, Suggestions: v.Suggestions}
	if q.Caution != "" {
		r.Reason = strings.TrimSpace(r.Reason + " " + q.Caution)
	}
	if q.Preview != nil {
		r.Preview = q.Preview()
	}
	return r
}

// showDenied shows clients a refusal that no rule and no person made.
func (h *turnHost) showDenied(q runtime.Question, v permission.Verdict) error {
	ask := h.request(q, v)
	ask.Suggestions = []protocol.Suggestion{}
	return h.l.questions.ShowDenied(ask)
}

// record stores a decision; it is durable on return.
func (h *turnHost) record(ctx context.Context, d *protocol.PermissionDecision, a journal.Author) error {
	return h.l.j.Force(ctx, d, a)
}

// ask puts a call to the attached people and acts on the first answer.
func (h *turnHost) ask(ctx context.Context, q runtime.Question, v permission.Verdict) (runtime.Permit, error) {
	a, err := h.l.questions.Ask(ctx, h.request(q, v), h.t.config.AskTimeout)
	if err != nil || a.Nobody {
		return runtime.Permit{Reason: "Not run: " + v.Reason + " Nobody can be asked here, so it was refused. Do without it, or say in your answer what is needed."}, err
	}
	switch a.Decision {
	case protocol.DecisionCancelled:
		if err := ctx.Err(); err != nil {
			return runtime.Permit{}, err
		}
		return runtime.Permit{Reason: "Not run: the question was withdrawn."}, nil
	case protocol.DecisionExpired:
		return runtime.Permit{Reason: "Not run: nobody answered in time. Do without it, or say what is needed."}, nil
	}
	d, err := h.keepAnswer(ctx, q, a)
	a.Stored(err)
	if err != nil {
		return runtime.Permit{}, err
	}
	if a.Decision == protocol.DecisionDeny {
		reason := "Not run: a person refused it."
		if a.Reason != "" {
			reason = fmt.Sprintf("Not run: a person refused it and says: %s", a.Reason)
		}
		return runtime.Permit{Reason: reason, Denied: &protocol.Denial{Reason: a.Reason}}, nil
	}
	h.remember(d)
	return runtime.Permit{Allowed: true}, nil
}

// keepAnswer stores what a person has decided about a call, also in the session above in
// which they did.
func (h *turnHost) keepAnswer(ctx context.Context, q runtime.Question, a question.Answer) (*protocol.PermissionDecision, error) {
	d := &protocol.PermissionDecision{ToolCallID: q.CallID, Decision: a.Decision, Rule: a.Suggestion.Rule, Scope: a.Suggestion.Scope, Reason: a.Reason}
	if d.Scope == "" {
		d.Scope = "once"
	}
	own := journal.Author{Client: a.Client, Cause: a.Cause}
	if a.At != h.l.questions { // it was asked for there, so the request belongs to that log
		if err := h.t.config.Above.keep(ctx, a, *d); err != nil {
			return d, err
		}
		own.Cause = nil
	}
	return d, h.record(ctx, d, own)
}

// remember has a decision count for later calls, too, when its scope says so.
func (h *turnHost) remember(d *protocol.PermissionDecision) {
	l := h.l
	switch d.Scope {
	case "always":
		if err := l.cfg.Host.RememberRule(l.Meta(), d.Rule); err != nil {
			l.j.Report("remember a rule: " + err.Error())
		}
	case "session":
	default:
		return
	}
	l.grant(d.Rule)
}
