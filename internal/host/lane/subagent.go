package lane

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/background"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
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
	Agents  *agent.Set
	// Parallel is how many sub-agents of the session may work at once.
	Parallel int

	turn *turn
	mode permission.Mode // of the turn when it called
	seq  protocol.Seq    // of the last change of the mode then
}

// order completes a call of Task; it is [tool.Env.Agent].
func (h *turnHost) order(ctx context.Context, call tool.AgentCall) (tool.Result, error) {
	l, t := h.l, h.t
	if l.cfg.Agents == nil {
		return tool.Result{}, errors.New("there are no sub-agents here; do the work yourself")
	}
	policy, err := h.policy()
	if err != nil {
		return tool.Result{}, err
	}
	l.mu.Lock()
	o := Order{AgentCall: call, Lane: l, Meta: l.meta, Options: t.options, Tools: t.setup.Tools,
		Agents: t.setup.Agents, Parallel: t.setup.MaxAgents, turn: t, mode: policy.Mode(), seq: l.modeSeq}
	l.mu.Unlock()
	return l.cfg.Agents(ctx, o)
}

// Above ties the turn of a sub-agent to the session that it works for: it is never
// more than that is allowed now, it asks the people there too, and what it spends
// counts there. Everything in it may be used by any number of goroutines at once.
type Above struct {
	order Order
	agent protocol.Subagent // without the call that waits
	mode  permission.Mode   // of the agent's definition
	next  *Above            // above the session itself, nil for none
}

// NewAbove makes the tie of a turn in the session child. mode is that of the agent's
// definition, "" for none.
func NewAbove(o Order, child protocol.SessionID, name string, mode permission.Mode) *Above {
	return &Above{order: o, mode: mode, next: o.turn.setup.Above,
		agent: protocol.Subagent{SessionID: child, Agent: name, Description: o.Description}}
}

// now gives the widest mode that is allowed, and the rules that people granted for
// the sessions above.
func (a *Above) now() (mode permission.Mode, granted []string) {
	for ; a != nil; a = a.next {
		l, own := a.order.Lane, a.order.mode
		l.mu.Lock()
		if l.modeSeq != a.order.seq && l.mode != "" { // somebody has set another since
			own = l.mode
		}
		granted = append(granted, l.granted...)
		l.mu.Unlock()
		mode = permission.Tighter(mode, permission.Tighter(own, a.mode))
	}
	return mode, granted
}

// attended says whether somebody watches a session above who could answer.
func (a *Above) attended() bool {
	for ; a != nil; a = a.next {
		l := a.order.Lane
		l.mu.Lock()
		n := l.attended
		l.mu.Unlock()
		if n > 0 {
			return true
		}
	}
	return false
}

// show puts a question to the people of the sessions above, too. The lock of the lane
// that asks is held: that of a sub-agent's lane is taken before those above it.
func (a *Above) show(w *question) {
	callID := callOf(w.ask)
	for ; a != nil; a = a.next {
		who := a.agent
		who.ToolCallID = callID
		m := &question{id: w.id, answer: w.answer, stored: w.stored, won: w.won, shown: a}
		switch b := w.ask.(type) {
		case *protocol.PermissionRequest:
			c := *b
			c.ToolCallID, c.Subagent = a.order.CallID, &who
			m.ask = &c
		case *protocol.UIRequest:
			c := *b
			c.Data.ToolCallID, c.Data.Subagent = a.order.CallID, &who
			m.ask = &c
		default:
			continue
		}
		l := a.order.Lane
		l.mu.Lock()
		if l.questions[m.id] == nil && l.tell(m.ask) == nil {
			l.questions[m.id] = m
		}
		l.mu.Unlock()
	}
}

// callOf is the call that waits for a question's answer.
func callOf(ask protocol.Body) string {
	switch b := ask.(type) {
	case *protocol.PermissionRequest:
		return b.ToolCallID
	case *protocol.UIRequest:
		return b.Data.ToolCallID
	}
	return ""
}

// close takes a question back that was resolved, wherever it is still shown.
func (a *Above) close(w *question, ans answer) {
	for ; a != nil; a = a.next {
		a.order.Lane.unshow(w.id, ans)
	}
}

func (l *Lane) unshow(id string, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.questions[id]
	if w == nil {
		return
	}
	delete(l.questions, id)
	l.tellResolved(w, a)
}

// keep records what people answered in a session above, where they did.
func (a *Above) keep(ctx context.Context, ans answer, d protocol.PermissionDecision) error {
	for ; a != nil; a = a.next {
		l := a.order.Lane
		if l != ans.lane {
			continue
		}
		d.ToolCallID = a.order.CallID
		if err := l.record(ctx, &d, author{client: ans.client, cause: ans.cause}); err != nil {
			return err
		}
		if d.Scope == "session" || d.Scope == "always" {
			l.mu.Lock()
			l.granted = append(l.granted, d.Rule)
			l.mu.Unlock()
		}
	}
	return nil
}

// record appends a control event and returns when it is durable; also while the lane
// is being closed, until its background commands have ended.
func (l *Lane) record(ctx context.Context, body protocol.Body, a author) error {
	if err := l.lock(ctx); err != nil {
		return err
	}
	if err := l.readOnly(); err != nil {
		l.mu.Unlock()
		return err
	}
	_, ticket, err := l.append(ctx, body, a)
	l.mu.Unlock()
	return waitFor(ctx, ticket, err)
}

// SubagentKind is the kind of the custom events that tell of a session's sub-agents.
const SubagentKind = protocol.OwnKind + "subagent"

// SubagentRun is the data of such an event: that a sub-agent begins to work, before
// it does, or how it ended.
type SubagentRun struct {
	SessionID   protocol.SessionID `json:"sessionId"`
	ParentID    protocol.SessionID `json:"parentId"` // for which it works: a clone of that session has the event, too
	ToolCallID  string             `json:"toolCallId"`
	Agent       string             `json:"agent"`
	Description string             `json:"description,omitempty"`
	Background  bool               `json:"background,omitempty"`
	State       string             `json:"state"` // started, ended or interrupted
	Terminal    protocol.Terminal  `json:"terminal,omitempty"`
	Steps       int                `json:"steps,omitempty"`
	Model       string             `json:"model,omitempty"` // of its last turn
	Usage       *protocol.Usage    `json:"usage,omitempty"`
}

// The states of a [SubagentRun].
const (
	SubagentStarted     = "started"
	SubagentEnded       = "ended"
	SubagentInterrupted = "interrupted" // its host died
)

// RecordRun stores how a sub-agent stands; it is durable on return. What one in the
// background has used is counted with it: that of another stands in its result.
func (l *Lane) RecordRun(ctx context.Context, run SubagentRun) error {
	run.ParentID = l.ID()
	body, err := run.body()
	if err != nil {
		return err
	}
	if err := l.record(ctx, body, byHost()); err != nil || !run.Background || run.Usage == nil {
		return err
	}
	return l.record(ctx, &protocol.SessionInfo{Asked: run.Model, Usage: run.Usage}, byHost())
}

func (run SubagentRun) body() (*protocol.Custom, error) {
	data, err := json.Marshal(run)
	return &protocol.Custom{Kind: SubagentKind, Data: data}, err
}

// maxCut bounds the interrupted sub-agents that a model is told of, the newest.
const maxCut = 16

// foldRuns gives the sub-agents that a host which died has left in the middle.
func foldRuns(ctx context.Context, index *session.Index) ([]SubagentRun, error) {
	var open []SubagentRun
	for e, err := range index.OfType(ctx, protocol.TypeCustom) {
		if err != nil {
			return nil, err
		}
		b, ok := e.Body.(*protocol.Custom)
		var run SubagentRun
		if !ok || b.Kind != SubagentKind || json.Unmarshal(b.Data, &run) != nil || run.ParentID != index.SessionID() {
			continue
		}
		kept := open[:0]
		for _, o := range open {
			if o.SessionID != run.SessionID {
				kept = append(kept, o)
			}
		}
		if open = kept; run.State == SubagentStarted {
			open = append(open, run)
		}
	}
	return open[max(0, len(open)-maxCut):], nil
}

// appendCut tells the model of the sub-agents that the end of an earlier host has
// interrupted. mu is held.
func (l *Lane) appendCut(ctx context.Context) error {
	for len(l.cut) > 0 {
		run := l.cut[0]
		text := "The host stopped while the sub-agent " + run.Agent + " (" + run.Description + ") worked. What it did until then may have taken effect. " +
			"Its session is " + string(run.SessionID) + "; Task with resume goes on with it."
		data, err := json.Marshal(protocol.TaskNotice{SessionID: run.SessionID, Agent: run.Agent})
		if err != nil {
			return err
		}
		if _, _, err := l.append(ctx, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem,
			Content: text, Visibility: protocol.VisibilityCompact, Data: data}}, byHost()); err != nil {
			return err
		}
		run.State = SubagentInterrupted
		body, err := run.body()
		if err != nil {
			return err
		}
		if _, _, err := l.append(ctx, body, byHost()); err != nil {
			return err
		}
		l.cut = l.cut[1:]
	}
	return nil
}

// Work begins a turn on an order: with a message of the host, what prepare makes
// ready, and options that prepare is given and that keep the turn to itself. It fails
// while another turn runs. The turn has ended when done is closed.
func (l *Lane) Work(ctx context.Context, content []protocol.Block, options protocol.TurnOptions, prepare func(context.Context, protocol.Meta, *protocol.TurnOptions) (*Setup, error)) (w *Work, err error) {
	w = &Work{}
	_, err = l.Send(ctx, Caller{Client: protocol.HostClient}, Message{Content: content, Busy: BusyReject, Options: &options, prepare: prepare,
		began: func(t *turn) { w.turn = t }})
	if err != nil && w.turn == nil {
		return nil, err
	}
	w.lane = l
	return w, nil
}

// Work is a turn that runs on an order.
type Work struct {
	lane *Lane
	turn *turn
}

// Done is closed when the turn has ended.
func (w *Work) Done() <-chan struct{} { return w.turn.done }

// End says how it ended; it is called behind Done.
func (w *Work) End() *protocol.RuntimeEnd { return w.turn.end }

// Stop ends the turn: as a cancel of a person does, or, when why is
// [runtime.ErrHostStops], as the end of the host. It does not wait.
func (w *Work) Stop(why error) {
	if errors.Is(why, runtime.ErrHostStops) {
		w.turn.cancel(errHostStops)
		return
	}
	w.turn.cancel(errCancelled)
}

// StartTask starts spec.Run as a background command of the session is started.
func (l *Lane) StartTask(spec background.Spec) (id string, err error) {
	return l.tasks.Start(nil, spec)
}

// places are the sub-agents of a session that may work at once. Who comes first is
// let in first.
type places struct {
	mu      sync.Mutex
	taken   int
	waiting []chan struct{}
}

// Enter waits for a place among most; leave gives it back. waits is told, once, that
// there is none yet.
func (l *Lane) Enter(ctx context.Context, most int, waits func()) (leave func(), err error) {
	p := &l.places
	p.mu.Lock()
	if p.taken < most && len(p.waiting) == 0 {
		p.taken++
		p.mu.Unlock()
		return p.leave, nil
	}
	turn := make(chan struct{}, 1)
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	waits()
	select {
	case <-turn:
		return p.leave, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	for i, other := range p.waiting {
		if other == turn {
			p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
			p.mu.Unlock()
			return nil, ctx.Err()
		}
	}
	p.mu.Unlock()
	p.leave() // it was let in at the same moment
	return nil, ctx.Err()
}

func (p *places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		p.waiting[0] <- struct{}{}
		p.waiting = p.waiting[1:]
		return
	}
	p.taken--
}
