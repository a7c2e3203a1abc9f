package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/background"
	"scorel/internal/engine/config"
	"scorel/internal/engine/progress"
	engine "scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/host/lane"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	// maxAgentDepth is how many sub-agents may stand below each other.
	maxAgentDepth = 3
	// maxAgentAnswer is how many characters of a sub-agent's answer its result holds;
	// the whole is kept beside it.
	maxAgentAnswer = 30_000
	// generalAgent works when a call names none.
	generalAgent = "general"
)

// agents gives the agents of a project and of the user.
func (h *Host) agents(root string) *agent.Set {
	return agent.Find(agent.Config{UserDir: filepath.Join(h.cfg.Dir, "agents"), Root: root, Read: h.readAgent})
}

// choices gives the agents that Task offers.
func choices(set *agent.Set) (out []tool.AgentChoice) {
	for _, d := range set.Usable() {
		out = append(out, tool.AgentChoice{Name: d.Name, Description: d.Description})
	}
	return out
}

// subagent is a call of Task on its way.
type subagent struct {
	h     *Host
	order lane.Order
	def   *agent.Definition
	model string // that the definition names, "" for that of the session above
	id    protocol.SessionID
	depth int
	fresh bool // the session is still to be made

	mu     sync.Mutex // guards all below
	ref    string     // the model of its turn
	steps  int
	answer string // the text of the newest answer
	usage  protocol.Usage
}

// startAgent carries out a call of Task; it is [lane.Config.Agents].
func (h *Host) startAgent(ctx context.Context, o lane.Order) (tool.Result, error) {
	s, err := h.newSubagent(ctx, o)
	if err != nil {
		return tool.Result{}, err
	}
	if o.Background {
		return s.inBackground()
	}
	text, end, err := s.run(ctx, s.tell)
	if err != nil {
		return tool.Result{}, err
	}
	return s.result(text, end), nil
}

// newSubagent finds the agent that a call wants, or the session that it resumes.
func (h *Host) newSubagent(ctx context.Context, o lane.Order) (*subagent, error) {
	s := &subagent{h: h, order: o, id: o.Resume, depth: 1}
	if p := o.Lane.Log().Index().Header().Parent; p != nil {
		s.depth = p.Depth + 1
	}
	if s.depth > maxAgentDepth {
		return nil, fmt.Errorf("sub-agents can stand at most %d below each other; do the work yourself", maxAgentDepth)
	}
	name := cmp.Or(o.Agent, generalAgent)
	if o.Resume != "" {
		was, err := h.resumable(ctx, o)
		if err != nil {
			return nil, err
		}
		if o.Agent != "" && o.Agent != was {
			return nil, fmt.Errorf("the session %s is one of the agent %s, not of %s; leave agent out to resume it", o.Resume, was, o.Agent)
		}
		name = was
	} else {
		s.id, s.fresh = protocol.NewSessionID(h.cfg.Now(), h.cfg.Rand), true
	}
	var err error
	if s.def, err = o.Agents.Named(name); err != nil {
		return nil, err
	}
	s.model, err = h.modelOf(s.def)
	return s, err
}

// resumable gives the agent of a session that a call wants to go on with.
func (h *Host) resumable(ctx context.Context, o lane.Order) (agent string, err error) {
	index, _, done, err := h.view(ctx, o.Resume)
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

// run has the agent work and gives its answer and how its turn ended. It returns when
// nothing of it runs any more; when ctx ends, the agent is ended first.
func (s *subagent) run(ctx context.Context, tell func(protocol.ProcessUpdate)) (text string, end *protocol.RuntimeEnd, err error) {
	o := s.order
	leave, err := o.Lane.Enter(ctx, o.Parallel, func() {
		tell(protocol.ProcessUpdate{Status: protocol.ProcessQueued, Message: fmt.Sprintf("%s waits: %d agents work already", s.def.Name, o.Parallel)})
	})
	if err != nil {
		return "", nil, errors.New("the agent had not begun")
	}
	defer leave()
	slot, err := s.open(ctx)
	if err != nil {
		return "", nil, err
	}
	defer s.h.release(slot)
	if slot.lane.Working() { // what is recorded of the run there stays
		return "", nil, fmt.Errorf("the agent of the session %s works already; wait for its end, then resume it", s.id)
	}
	kept := context.WithoutCancel(ctx) // what has begun is recorded to its end
	run := lane.SubagentRun{SessionID: s.id, ToolCallID: o.CallID, Agent: s.def.Name, Description: o.Description, Background: o.Background, State: lane.SubagentStarted}
	if err := o.Lane.RecordRun(kept, run); err != nil {
		return "", nil, err
	}
	tell(protocol.ProcessUpdate{Status: protocol.ProcessStarted, Message: s.def.Name + ": " + o.Description})
	work, err := slot.lane.Work(ctx, []protocol.Block{protocol.Text(o.Prompt)}, s.options(), s.prepare(tell))
	if err != nil {
		run.State, run.Terminal = lane.SubagentEnded, protocol.TerminalModelError
		return "", nil, errors.Join(fmt.Errorf("the agent %s could not begin: %w", s.def.Name, err), o.Lane.RecordRun(kept, run))
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
	run.State, run.Terminal, run.Steps, run.Model, run.Usage = lane.SubagentEnded, end.Terminal, s.steps, s.ref, &usage
	text = s.answer
	s.mu.Unlock()
	if !o.Background { // else the end of the task says it
		s.tellEnd(tell, end)
	}
	return text, end, o.Lane.RecordRun(kept, run)
}

// stopCause says whether the agent ends because its host does.
func stopCause(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, engine.ErrHostStops) || errors.Is(cause, background.ErrClosed) {
		return engine.ErrHostStops
	}
	return context.Canceled
}

// open makes the agent's session, or opens the one that is resumed.
func (s *subagent) open(ctx context.Context) (*slot, error) {
	if !s.fresh {
		return s.h.acquire(ctx, s.id)
	}
	o := s.order
	meta := o.Meta
	meta.Name, meta.Model = o.Description, cmp.Or(s.model, meta.Model)
	slot, err := s.h.create(ctx, protocol.Header{Version: protocol.HeaderVersion, SessionID: s.id, DeviceID: s.h.device, CreatedAt: s.h.cfg.Now().UnixMilli(),
		Parent: &protocol.Parent{SessionID: o.Lane.ID(), ToolCallID: o.CallID, Agent: s.def.Name, Depth: s.depth}, Meta: meta})
	if err == nil {
		s.fresh = false
		s.h.sessionChanged(slot)
	}
	return slot, err
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

// modelOf gives the model that a definition names, "" for that of the session above. A
// project names only models that the user has; what a file of another program calls
// its models may not exist here.
func (h *Host) modelOf(d *agent.Definition) (string, error) {
	if d.Model == "" || d.Scope != agent.Project {
		return d.Model, nil
	}
	user, err := config.Load(filepath.Join(h.cfg.Dir, "config.toml"))
	switch {
	case err != nil:
		return "", err
	case h.usable(user, d.Model):
		return d.Model, nil
	case d.Foreign:
		return "", nil
	}
	return "", fmt.Errorf("the agent %s cannot be used: its file names the model %.80q, which you have not set up", d.Name, d.Model)
}

// prepare makes a turn of the agent ready.
func (s *subagent) prepare(tell func(protocol.ProcessUpdate)) func(context.Context, protocol.Meta, *protocol.TurnOptions) (*lane.Setup, error) {
	return func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.Setup, error) {
		o := s.order
		setup, err := s.h.setup(s.id, &asAgent{s.def, o.Tools, s.depth < maxAgentDepth})(ctx, meta, options)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.ref = setup.Model.Info().Ref
		s.mu.Unlock()
		setup.Agents, setup.MaxAgents = o.Agents, o.Parallel
		setup.Above = lane.NewAbove(o, s.id, s.def.Name, s.def.Mode)
		setup.Observe = func(b protocol.Body) { s.observe(b, tell) }
		return setup, nil
	}
}

// observe follows what the agent does. It runs on the goroutine of the agent's turn.
func (s *subagent) observe(body protocol.Body, tell func(protocol.ProcessUpdate)) {
	switch b := body.(type) {
	case *protocol.MessageBody:
		m := b.Message
		if m.Role != protocol.RoleAssistant {
			return
		}
		if m.IsCut() {
			m, _ = m.Whole(s.h.cutText(s.h.beside, new(session.Lost))) // what is lost stays cut and says so
		}
		s.mu.Lock()
		s.steps++
		if text := m.PlainText(); strings.TrimSpace(text) != "" {
			s.answer = text
		}
		steps := s.steps
		s.mu.Unlock()
		tokens := 0
		if m.Usage != nil {
			tokens = m.Usage.ContextTokens()
		}
		for _, c := range m.Calls() {
			tell(protocol.ProcessUpdate{Stage: c.Name, Status: protocol.ProcessRunning, Message: strings.TrimSpace(c.Name + " " + display.Summary(c.Name, c.Input)),
				Payload: s.payload(steps, tokens)})
		}
	case *protocol.TurnEnd:
		if b.Usage != nil {
			s.mu.Lock()
			s.usage.Add(*b.Usage)
			s.mu.Unlock()
		}
	}
}

func (s *subagent) payload(steps, tokens int) []byte {
	return fmt.Appendf(nil, `{"agent":%q,"sessionId":%q,"steps":%d,"contextTokens":%d}`, s.def.Name, s.id, steps, tokens)
}

// tell reports progress as part of the call's operation.
func (s *subagent) tell(u protocol.ProcessUpdate) {
	if s.order.Process == nil {
		return
	}
	u.OperationID, u.ParentOperationID = "subagent-"+string(s.id), progress.OperationID(s.order.CallID)
	u.TargetType, u.Source = protocol.ProcessOfSubagent, protocol.ProcessBySubagent
	s.order.Process(u)
}

func (s *subagent) tellEnd(tell func(protocol.ProcessUpdate), end *protocol.RuntimeEnd) {
	s.mu.Lock()
	steps := s.steps
	s.mu.Unlock()
	u := protocol.ProcessUpdate{Status: protocol.ProcessCompleted, Message: fmt.Sprintf("%s has ended (%s)", s.def.Name, count(steps, "step")), Payload: s.payload(steps, 0)}
	switch {
	case end.Terminal == protocol.TerminalCancelled:
		u.Status, u.Message = protocol.ProcessCancelled, fmt.Sprintf("%s was ended (%s)", s.def.Name, count(steps, "step"))
	case end.Terminal != protocol.TerminalCompleted:
		u.Status, u.Level, u.Message = protocol.ProcessFailed, protocol.ProcessError, s.def.Name+" did not finish: "+why(end)
	}
	tell(u)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// why says how a turn ended that is not complete, without a full stop.
func why(end *protocol.RuntimeEnd) string {
	if end.Terminal == protocol.TerminalCancelled {
		return "it was ended"
	}
	if end.Error != nil {
		return strings.TrimRight(end.Error.Message, ".")
	}
	return string(end.Terminal)
}

// result is what the model gets for a call that waited.
func (s *subagent) result(text string, end *protocol.RuntimeEnd) tool.Result {
	whole := s.report(text, end)
	r := tool.Result{IsError: end.Terminal != protocol.TerminalCompleted}
	shown := whole
	if cutText, is := middle(whole, maxAgentAnswer); is {
		shown, r.Full = cutText, io.NopCloser(bytes.NewReader([]byte(whole)))
	}
	note := s.note()
	s.mu.Lock()
	usage := s.usage
	r.Usage = &usage
	r.Details = protocol.ToolDetails{Shown: &protocol.ShownText{Tail: len(note), Whole: len(shown) + len(note)}, Agent: &protocol.AgentState{SessionID: s.id, Agent: s.def.Name, Steps: s.steps, Terminal: end.Terminal}}
	s.mu.Unlock()
	r.Content = []protocol.Block{protocol.Text(shown + note)}
	return r
}

// report is the agent's answer, or what there is of it with the reason why it ended.
func (s *subagent) report(text string, end *protocol.RuntimeEnd) string {
	if strings.TrimSpace(text) == "" {
		text = "(The agent gave no answer.)"
	}
	if end.Terminal != protocol.TerminalCompleted {
		text += "\n[The agent did not finish: " + why(end) + ".]"
	}
	return text
}

// note names the session, for going on with it.
func (s *subagent) note() string {
	return fmt.Sprintf("\n[agent %s, session %s]", s.def.Name, s.id)
}

// middle cuts the middle out of a text of more than most characters.
func middle(text string, most int) (string, bool) {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text, false
	}
	r := []rune(text)
	return fmt.Sprintf("%s\n[... %d characters are left out ...]\n%s", string(r[:most*2/3]), len(r)-most, string(r[len(r)-most/3:])), true
}

// inBackground starts the agent as a background task of the session.
func (s *subagent) inBackground() (tool.Result, error) {
	o := s.order
	ended := ""
	id, err := o.Lane.StartTask(background.Spec{Command: s.def.Name + ": " + o.Description, CallID: o.CallID, Tool: tool.TaskName, Session: s.id, Agent: s.def.Name,
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
		After: func() string { return ended }})
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Content: []protocol.Block{protocol.Text(fmt.Sprintf("The agent %s works in the background as %s, session %s. You are told when it has ended; TaskOutput with wait_seconds waits for it.",
		s.def.Name, id, s.id))}, Details: protocol.ToolDetails{TaskID: id, Agent: &protocol.AgentState{SessionID: s.id, Agent: s.def.Name}}}, nil
}
