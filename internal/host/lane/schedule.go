package lane

import (
	"context"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
	"scorel/protocol"
	"scorel/protocol/display"
)

// schedules are those of the host, as the tools of a turn use them. It implements
// [tool.Schedules].
type schedules struct{ h *turnHost }

// schedulesOf returns them, nil where a turn has none: a sub-agent ends with its work.
func (h *turnHost) schedulesOf() tool.Schedules {
	if h.l.cfg.Schedules == nil || h.t.config.Above != nil || h.t.config.Subagent {
		return nil
	}
	return schedules{h}
}

// Arm implements [tool.Schedules]. What is armed may do no more than the turn that wants it.
func (s schedules) Arm(ctx context.Context, callID string, r protocol.CreateSchedule) (*protocol.Schedule, error) {
	l := s.h.l
	policy, err := s.h.policy()
	if err != nil {
		return nil, err
	}
	r.Options, r.OnQuestion = s.h.t.armed(policy.Mode()), "deny"
	plan, err := l.cfg.Schedules.Plan(ctx, l.ID(), &r)
	if err != nil {
		return nil, err
	}
	message := strings.Join(display.ScheduleText(plan, l.cfg.Now())[1:], "\n") // without its id, which it has not yet
	by, yes, err := s.h.confirm(ctx, protocol.Dialog{ToolCallID: callID, Title: "Have the host send this by itself?", Message: message, Control: true}, "nothing is armed")
	if err != nil || !yes {
		return nil, err
	}
	if by.Request == "" {
		by.Request = protocol.NewRequestID(l.cfg.Rand)
	}
	return l.cfg.Schedules.Create(ctx, by, protocol.ScheduleModel, l.ID(), &r)
}

// armed returns the options of what a turn in a mode arms: what holds it back holds that back,
// too, and nothing that it was allowed goes along.
func (t *turn) armed(mode permission.Mode) *protocol.TurnOptions {
	o := &protocol.TurnOptions{Mode: string(permission.DontAsk)}
	if mode == permission.Plan {
		o.Mode = string(mode)
	}
	if by := t.options; by != nil {
		o.Model, o.Thinking, o.Deny, o.Tools, o.Sandbox, o.NoNetwork = by.Model, by.Thinking, by.Deny, by.Tools, by.Sandbox, by.NoNetwork
		o.MaxSteps, o.MaxBudgetUSD = by.MaxSteps, by.MaxBudgetUSD
	}
	return o
}

// Schedules implements [tool.Schedules].
func (s schedules) Schedules() ([]protocol.Schedule, error) { return s.h.l.cfg.Schedules.List("") }

// Disarm implements [tool.Schedules].
func (s schedules) Disarm(id protocol.ScheduleID) error { return s.h.l.cfg.Schedules.Delete(id, false) }
