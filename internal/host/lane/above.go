package lane

import (
	"context"
	"errors"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/tool"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/lane/question"
	"scorel/protocol"
)

// Order is a call of Task in a turn of a lane: what a sub-agent is to do, and with
// what the turn runs that wants it.
type Order struct {
	tool.AgentCall
	Lane    *Lane
	Meta    protocol.Meta // of the session
	Options *protocol.TurnOptions
	Tools   []tool.Tool
	Agents  Agents

	turn *turn
	mode permission.Mode // of the turn when it called
	seq  protocol.Seq    // of the last change of the mode then
}

// order completes a call of Task; it is [tool.Agents].
func (h *turnHost) order(ctx context.Context, call tool.AgentCall) (tool.Result, error) {
	l, t := h.l, h.t
	policy, err := h.policy()
	if err != nil {
		return tool.Result{}, err
	}
	l.j.Lock()
	o := Order{AgentCall: call, Lane: l, Meta: l.j.Meta(), Options: t.options, Tools: t.config.Tools,
		Agents: t.config.Agents, turn: t, mode: policy.Mode(), seq: l.rights.modeSeq}
	l.j.Unlock()
	return l.cfg.Host.RunAgent(ctx, o)
}

// Above ties the turn of a sub-agent to the session that it works for: it is never
// more than that is allowed now, it asks the people there too, and what it spends
// counts there. Everything in it may be used by any number of goroutines at once. nil ties
// a turn to nothing.
type Above struct {
	order Order
	agent protocol.Subagent // without the call that waits
	mode  permission.Mode   // of the agent's definition
	next  *Above            // above the session itself, nil for none
	asked *question.Above
}

// NewAbove makes the tie of a turn of an agent in the session child.
func NewAbove(o Order, child protocol.SessionID, def *agent.Definition) *Above {
	a := &Above{order: o, mode: def.Mode, next: o.turn.config.Above,
		agent: protocol.Subagent{SessionID: child, Agent: def.Name, Color: def.Color, Description: o.Description}}
	a.asked = &question.Above{At: o.Lane.questions, CallID: o.CallID, Background: o.Background, Agent: a.agent, Next: a.next.asking()}
	return a
}

// asking is where the questions of the turn are shown, too.
func (a *Above) asking() *question.Above {
	if a == nil {
		return nil
	}
	return a.asked
}

// budget is what the turn may spend of, nil for its own alone.
func (a *Above) budget() *runtime.Budget {
	if a == nil {
		return nil
	}
	return a.order.turn.budget
}

// now returns the widest mode that is allowed, and the rules that people granted for
// the sessions above.
func (a *Above) now() (mode permission.Mode, granted []string) {
	for ; a != nil; a = a.next {
		own := a.order.mode
		set, rules, seq := a.order.Lane.now()
		if seq != a.order.seq && set != "" { // somebody has set another since
			own = set
		}
		granted = append(granted, rules...)
		mode = permission.Tighter(mode, permission.Tighter(own, a.mode))
	}
	return mode, granted
}

// keep records what people answered in a session above, where they did.
func (a *Above) keep(ctx context.Context, ans question.Answer, d protocol.PermissionDecision) error {
	for ; a != nil; a = a.next {
		l := a.order.Lane
		if l.questions != ans.At {
			continue
		}
		d.ToolCallID = a.order.CallID
		if err := l.j.Record(ctx, &d, journal.Author{Client: ans.Client, Cause: ans.Cause}); err != nil {
			return err
		}
		if d.Scope == "session" || d.Scope == "always" {
			l.grant(d.Rule)
		}
	}
	return nil
}

// Work begins a turn on an order: with a message of the host, what prepare makes
// ready, and options that prepare is given and that keep the turn to itself. It fails
// while another turn runs. The turn has ended when done is closed.
func (l *Lane) Work(ctx context.Context, content []protocol.Block, options protocol.TurnOptions, prepare Prepare) (*Work, error) {
	_, w, err := l.follow(ctx, Caller{Client: protocol.HostClient}, Message{Content: content, Busy: BusyReject, Options: &options}, prepare)
	return w, err
}

// Begin begins a turn with a message, which fails while another turn runs. The work is nil
// when a hook has done all there was to do. An error after the turn began comes with its work.
func (l *Lane) Begin(ctx context.Context, c Caller, m Message) (*protocol.Sent, *Work, error) {
	m.Busy = BusyReject
	return l.follow(ctx, c, m, nil)
}

// follow sends a message and returns the turn that it began.
func (l *Lane) follow(ctx context.Context, c Caller, m Message, prepare Prepare) (*protocol.Sent, *Work, error) {
	m.work = &work{prepare: prepare}
	sent, err := l.Send(ctx, c, m)
	switch {
	case m.work.began != nil:
		return sent, &Work{m.work.began}, nil
	case err != nil:
		return nil, nil, err
	}
	return sent, nil, nil
}

// Work is a turn that somebody follows.
type Work struct{ turn *turn }

// Done is closed when the turn has ended.
func (w *Work) Done() <-chan struct{} { return w.turn.Done }

// End returns how it ended; it is called after Done.
func (w *Work) End() *protocol.RuntimeEnd { return w.turn.end }

// Spent returns what the turn has used until now, with those that work for it.
func (w *Work) Spent() runtime.Spend { return w.turn.budget.Spent() }

// Denied returns how many of its calls were not permitted until now.
func (w *Work) Denied() int { return int(w.turn.mode.denied.Load()) }

// Stop ends the turn: as a cancel of a person does, or, when why is
// [runtime.ErrHostStops], as the end of the host. It does not wait.
func (w *Work) Stop(why error) {
	if errors.Is(why, runtime.ErrHostStops) {
		w.turn.cancel(errHostStops)
		return
	}
	w.turn.cancel(journal.ErrCancelled)
}
