package subagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/background"
	engine "scorel/internal/engine/runtime"
	"scorel/internal/engine/tool"
	"scorel/internal/host/lane"
	"scorel/internal/host/lane/subagents"
	"scorel/internal/host/registry"
	"scorel/internal/host/turnconfig"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

const (
	// maxAgentAnswer is how many characters of a sub-agent's answer its result holds;
	// the whole is kept beside it.
	maxAgentAnswer = 30_000
	// generalAgent works when a call names none.
	generalAgent = "general"
)

// subagent is a call of Task on its way.
type subagent struct {
	starter *Starter
	order   lane.Order
	def     *agent.Definition
	model   string // that the definition names, "" for that of the session above
	id      protocol.SessionID
	depth   int
	fresh   bool             // the session is still to be made
	first   []protocol.Block // what a fresh one is told before its task

	mu     sync.Mutex // guards all below
	ref    string     // the model of its turn
	steps  int
	said   protocol.ModelAnswer // the newest answer
	answer string               // the text of the newest one that has a text
	usage  protocol.Usage
	tokens int // of its answers
}

// Run handles a call of Task; it is [lane.Host.RunAgent].
func (st *Starter) Run(ctx context.Context, o lane.Order) (tool.Result, error) {
	s, err := st.newSubagent(ctx, o)
	if err != nil {
		return tool.Result{}, err
	}
	if s.order.Background {
		return s.inBackground()
	}
	text, end, err := s.run(ctx, s.tell)
	if err != nil {
		return tool.Result{}, err
	}
	return s.result(text, end), nil
}

// newSubagent finds the agent that a call wants, or the session that it resumes.
func (st *Starter) newSubagent(ctx context.Context, o lane.Order) (*subagent, error) {
	s := &subagent{starter: st, order: o, id: o.Resume, depth: 1}
	if p := o.Lane.Log().Index().Header().Parent; p != nil {
		s.depth = p.Depth + 1
	}
	if s.depth > registry.MaxDepth {
		return nil, fmt.Errorf("sub-agents can stand at most %d below each other; do the work yourself", registry.MaxDepth)
	}
	name := cmp.Or(o.Agent, generalAgent)
	if o.Resume != "" {
		was, err := st.resumable(ctx, o)
		if err != nil {
			return nil, err
		}
		if o.Agent != "" && o.Agent != was {
			return nil, fmt.Errorf("the session %s is one of the agent %s, not of %s; leave agent out to resume it", o.Resume, was, o.Agent)
		}
		name = was
	} else {
		s.id, s.fresh = protocol.NewSessionID(st.settings.Now(), st.settings.Rand), true
	}
	var err error
	if s.def, err = o.Agents.Set.Named(name); err != nil {
		return nil, err
	}
	if s.model, err = st.settings.AgentModel(s.def); err != nil {
		return nil, err
	}
	s.order.Background = o.Background || s.def.Background
	if s.fresh {
		s.first, err = st.firstTold(ctx, s.def, o.Meta.WorkDir)
	}
	return s, err
}

// resumable returns the agent of a session that a call wants to go on with.
func (st *Starter) resumable(ctx context.Context, o lane.Order) (agent string, err error) {
	index, _, done, err := st.views.View(ctx, o.Resume)
	if err != nil {
		return "", fmt.Errorf("the session %s cannot be resumed: %w", o.Resume, err)
	}
	defer done()
	p := index.Header().Parent
	if p == nil || p.SessionID != o.Lane.ID() {
		return "", fmt.Errorf("the session %s is none of a sub-agent of this session; resume takes one that an earlier result of Task here names", o.Resume)
	}
	return p.Agent, nil
}

// run has the agent work and returns its answer and how its turn ended. It returns when
// nothing of it runs any more; when ctx ends, the agent is ended first.
func (s *subagent) run(ctx context.Context, tell func(protocol.ProcessUpdate)) (text string, end *protocol.RuntimeEnd, err error) {
	o := s.order
	leave, err := o.Lane.Places().Enter(ctx, o.Agents.Max, func() {
		tell(protocol.ProcessUpdate{Status: protocol.ProcessQueued, Message: fmt.Sprintf("%s waits: %d agents work already", s.def.Name, o.Agents.Max)})
	})
	if err != nil {
		return "", nil, errors.New("the agent had not begun")
	}
	defer leave()
	opened, err := s.open(ctx)
	if err != nil {
		return "", nil, err
	}
	defer s.starter.sessions.Release(opened)
	defer s.starter.turns.EndAgent(s.id)
	if opened.Lane().Working() { // what is recorded of the run there stays
		return "", nil, fmt.Errorf("the agent of the session %s works already; wait for its end, then resume it", s.id)
	}
	kept := context.WithoutCancel(ctx) // what has begun is recorded to its end
	run := subagents.Run{SessionID: s.id, ToolCallID: o.CallID, Agent: s.def.Name, Description: o.Description, Background: o.Background, State: subagents.Started}
	if err := o.Lane.Agents().Record(kept, run); err != nil {
		return "", nil, err
	}
	tell(protocol.ProcessUpdate{Status: protocol.ProcessStarted, Message: s.def.Name + ": " + o.Description})
	work, err := opened.Lane().Work(ctx, append(s.first, protocol.Text(o.Prompt)), s.options(), s.prepare(tell))
	if err != nil {
		run.State, run.Terminal = subagents.Ended, protocol.TerminalModelError
		return "", nil, errors.Join(fmt.Errorf("the agent %s could not begin: %w", s.def.Name, err), o.Lane.Agents().Record(kept, run))
	}
	select {
	case <-work.Done():
	case <-ctx.Done():
		work.Stop(stopCause(ctx))
		<-work.Done()
	}
	end = work.End()
	s.mu.Lock()
	usage := s.usage
	run.State, run.Terminal, run.Steps, run.Model, run.Usage = subagents.Ended, end.Terminal, s.steps, s.ref, &usage
	text = s.answer
	s.mu.Unlock()
	if !o.Background { // else the end of the task says it
		s.tellEnd(tell, end)
	}
	return text, end, o.Lane.Agents().Record(kept, run)
}

// stopCause reports whether the agent ends because its host does.
func stopCause(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, engine.ErrHostStops) || errors.Is(cause, background.ErrClosed) {
		return engine.ErrHostStops
	}
	return context.Canceled
}

// open makes the agent's session, or opens the one that is resumed.
func (s *subagent) open(ctx context.Context) (*registry.Session, error) {
	if !s.fresh {
		return s.starter.sessions.Acquire(ctx, s.id)
	}
	o := s.order
	meta := o.Meta
	meta.Name, meta.Model, meta.Job = o.Description, cmp.Or(s.model, meta.Model), nil
	opened, err := s.starter.sessions.Create(ctx, protocol.Header{Version: protocol.HeaderVersion, SessionID: s.id, DeviceID: s.starter.device, CreatedAt: s.starter.settings.Now().UnixMilli(),
		Parent: &protocol.Parent{SessionID: o.Lane.ID(), ToolCallID: o.CallID, Agent: s.def.Name, Depth: s.depth}, Meta: meta})
	if err == nil {
		s.fresh = false
		s.starter.announcer.SessionChanged(opened)
	}
	return opened, err
}

// options are those of the turn that wants the work, with what the agent has of its
// own.
func (s *subagent) options() protocol.TurnOptions {
	var t protocol.TurnOptions
	if s.order.Options != nil {
		t = *s.order.Options
	}
	t.Model = cmp.Or(s.model, t.Model)
	return t
}

// prepare makes a turn of the agent ready.
func (s *subagent) prepare(tell func(protocol.ProcessUpdate)) func(context.Context, protocol.Meta, *protocol.TurnOptions) (*lane.TurnConfig, error) {
	return func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.TurnConfig, error) {
		o := s.order
		cfg, err := s.starter.turns.For(s.id, &turnconfig.Agent{Def: s.def, From: o.Tools, Deeper: s.depth < registry.MaxDepth})(ctx, meta, options)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.ref = cfg.Models.Main.Info().Ref
		s.mu.Unlock()
		cfg.Agents = o.Agents
		cfg.Above = lane.NewAbove(o, s.id, s.def)
		cfg.Observe = func(b protocol.Body) { s.observe(b, tell) }
		return cfg, nil
	}
}

// inBackground starts the agent as a background task of the session.
func (s *subagent) inBackground() (tool.Result, error) {
	o := s.order
	ended := ""
	id, err := o.Lane.Tasks().Start(background.Spec{Command: s.def.Name + ": " + o.Description, CallID: o.CallID, Tool: tool.TaskName, Session: s.id, Agent: s.def.Name,
		Run: func(ctx context.Context, out io.Writer, tell func(protocol.ProcessUpdate)) sandbox.Exit {
			text, end, err := s.run(ctx, tell)
			exit := sandbox.Exit{}
			switch {
			case err != nil:
				exit.Code, ended = 1, err.Error()
			case end.Terminal != protocol.TerminalCompleted:
				exit.Code = 1
				fallthrough
			default:
				_, _ = io.WriteString(out, s.report(text, end)+"\n") // a task takes everything
				ended = "its session is " + string(s.id)
			}
			return exit
		},
		Usage: func() *protocol.Usage {
			s.mu.Lock()
			defer s.mu.Unlock()
			u := s.usage
			return &u
		},
		Tokens: func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.tokens
		},
		After: func() string { return ended }})
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Content: []protocol.Block{protocol.Text(fmt.Sprintf("The agent %s works in the background as %s, session %s. You are told when it has ended; TaskOutput with wait_seconds waits for it.",
		s.def.Name, id, s.id))}, Details: protocol.ToolDetails{TaskID: id, Agent: &protocol.AgentState{SessionID: s.id, Agent: s.def.Name, Color: s.def.Color}}}, nil
}
