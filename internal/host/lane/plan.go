package lane

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// What a model is told when plan mode begins, and when it has ended otherwise than by
// its own plan.
const (
	planBegins = "Plan mode is on: only reading is possible, and nobody is asked. Find out what you need, then present what you would do with ExitPlanMode, or, where there is no such tool, as your answer. A person decides about it."
	planEnds   = "Plan mode is over: what the permission mode allows can be done again."
)

// modeNow is the permission mode in which calls of a turn are judged. The journal is locked.
func (l *Lane) modeNow(t *turn) permission.Mode {
	mode := l.rights.mode
	if o := t.options; o != nil && o.Mode != "" && l.rights.modeSeq == t.mode.seq {
		mode = "" // the message's, which the policy has
	} else if t.mode.ceiling != "" {
		mode = tickMode(mode, t.mode.ceiling)
	}
	if mode == "" && t.config.Policy != nil {
		mode = t.config.Policy.Mode()
	}
	return mode
}

// plans reports whether a turn is in plan mode and may present a plan: a sub-agent answers
// with its own to whom it works for. The journal is not locked.
func (l *Lane) plans(t *turn) bool {
	l.j.Lock()
	defer l.j.Unlock()
	return t.config.Above == nil && !t.config.Subagent && l.modeNow(t) == permission.Plan
}

// modeItems returns what a model must be told of plan mode, by what it has been told.
func (h *turnHost) modeItems(told history.Told) []protocol.Item {
	text := ""
	last, known := told.Get(protocol.ItemMode)
	switch plans := h.l.plans(h.t); {
	case plans && (!known || last.Content != planBegins):
		text = planBegins
	case !plans && known && last.Content == planBegins:
		text = planEnds
	default:
		return nil
	}
	return []protocol.Item{{Kind: protocol.ItemMode, Origin: protocol.OriginSystem, Content: text, Visibility: protocol.VisibilityHidden}}
}

// askPlan puts a plan to the attached people; it is [tool.People]. With their approval
// plan mode is over, durably, when it returns.
func (h *turnHost) askPlan(ctx context.Context, callID, plan string) (tool.PlanVerdict, error) {
	l := h.l
	if !l.plans(h.t) {
		l.j.Lock()
		defer l.j.Unlock()
		return tool.PlanVerdict{Over: true, Mode: string(l.modeNow(h.t))}, nil
	}
	id := protocol.NewUIID(l.cfg.Rand)
	a, err := l.questions.Ask(ctx, &protocol.UIRequest{UIID: id, Data: protocol.Dialog{Kind: protocol.DialogPlan, ToolCallID: callID, Title: "Approve this plan?", Text: plan}}, h.t.config.AskTimeout)
	switch {
	case err != nil:
		return tool.PlanVerdict{}, err
	case a.Nobody:
		return tool.PlanVerdict{}, errors.New("there is nobody here who could approve the plan: end your turn with the plan as your answer, and say that it is carried out when the person goes on in another mode, such as with --permission-mode acceptEdits")
	}
	switch a.Decision {
	case protocol.DecisionCancelled:
		return tool.PlanVerdict{}, errors.New("the plan was withdrawn, because the turn was ended")
	case protocol.DecisionExpired:
		return tool.PlanVerdict{}, errors.New("nobody decided about the plan in time; end your turn with it as your answer")
	}
	v := tool.PlanVerdict{Mode: string(permission.Plan)}
	if err := json.Unmarshal(a.Value, &v.Answer); err != nil { // it has been checked
		return tool.PlanVerdict{}, err
	}
	switch v.Answer.Decision {
	case protocol.PlanApprove:
		v.Mode = string(h.modeBefore())
	case protocol.PlanAcceptEdits:
		v.Mode = string(permission.AcceptEdits)
	default:
		return v, nil
	}
	c := Caller{Client: a.Client}
	if a.Cause != nil {
		c.Request = a.Cause.RequestID
	}
	return v, l.SetMode(ctx, c, permission.Mode(v.Mode))
}

// proposePlan asks the attached people whether the session should be in plan mode; it is
// [tool.People]. With a yes it is, durably, when it returns.
func (h *turnHost) proposePlan(ctx context.Context, callID, reason string) (tool.PlanProposal, error) {
	l := h.l
	if h.t.config.Above != nil || h.t.config.Subagent {
		return tool.PlanProposal{}, errors.New("a sub-agent cannot change the permission mode; answer with what you would propose")
	}
	if l.plans(h.t) {
		return tool.PlanProposal{On: true}, nil
	}
	by, yes, err := h.confirm(ctx, protocol.Dialog{ToolCallID: callID, Title: "Make a plan first?",
		Message: reason + "\n\nYes turns plan mode on: nothing is changed until you have approved a plan."}, "plan mode stays off")
	if err != nil || !yes {
		return tool.PlanProposal{}, err
	}
	return tool.PlanProposal{Accepted: true}, l.SetMode(ctx, by, permission.Plan)
}

// confirm puts what a call proposes to people, and returns whether they say yes, and who did.
// Undone is what follows when nobody says so, for the model.
func (h *turnHost) confirm(ctx context.Context, d protocol.Dialog, undone string) (by Caller, yes bool, err error) {
	l := h.l
	d.Kind = protocol.DialogConfirm
	a, err := l.questions.Ask(ctx, &protocol.UIRequest{UIID: protocol.NewUIID(l.cfg.Rand), Data: d}, h.t.config.AskTimeout)
	switch {
	case err != nil:
		return by, false, err
	case a.Nobody:
		return by, false, fmt.Errorf("there is nobody here who could be asked, so %s; go on without it", undone)
	case a.Decision == protocol.DecisionCancelled:
		return by, false, errors.New("the proposal was withdrawn, because the turn was ended")
	case a.Decision == protocol.DecisionExpired:
		return by, false, fmt.Errorf("nobody answered in time, so %s; go on without it", undone)
	}
	if json.Unmarshal(a.Value, &yes) != nil { // null closes the question
		yes = false
	}
	by.Client = a.Client
	if a.Cause != nil {
		by.Request = a.Cause.RequestID
	}
	return by, yes, nil
}

// modeBefore is the permission mode from before plan mode: the last other one that
// people set, else the configuration's, else the default.
func (h *turnHost) modeBefore() permission.Mode {
	h.l.j.Lock()
	mode := h.l.rights.unplanned
	h.l.j.Unlock()
	if own := h.t.config.Policy.Mode(); mode == "" && own != permission.Plan {
		mode = own
	}
	return cmp.Or(mode, permission.Default)
}
