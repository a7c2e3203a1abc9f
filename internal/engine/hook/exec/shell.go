package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/hook"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Config is what hooks run with.
type Config struct {
	Hooks   []config.Hook
	Session protocol.SessionID
	Dir     string        // where the session works
	Root    string        // the project, where hooks run
	Mode    func() string // the permission mode
	Env     []string      // scrubbed
	Spawn   sandbox.Spawner
	// Changed returns a file that the command of a project's hook names and that is not
	// as it was trusted, "" when there is none.
	Changed func(command string) (string, error)
	// Log takes a line for the diagnostics about each hook that has run.
	Log func(string)
	// Tell takes a sentence of a hook for people; nil: nobody is told.
	Tell func(string)
	Now  func() time.Time
}

// Subscribers returns a subscriber for each hook.
func Subscribers(c Config) []hook.Subscriber {
	out := make([]hook.Subscriber, 0, len(c.Hooks))
	for _, h := range c.Hooks {
		out = append(out, (&runner{Config: &c, hook: h}).subscriber())
	}
	return out
}

// runner runs one hook.
type runner struct {
	*Config
	hook config.Hook
}

// name is the hook for people.
func (r *runner) name() string {
	return fmt.Sprintf("hook %d of %s", r.hook.Number, r.hook.Source.File)
}

// event is what every hook is told; see docs/hooks.md for what belongs to which event.
type event struct {
	Name       string             `json:"hook_event_name"`
	Session    protocol.SessionID `json:"session_id"`
	Dir        string             `json:"cwd"`
	Root       string             `json:"project_root"`
	Mode       string             `json:"permission_mode"`
	ToolName   string             `json:"tool_name,omitempty"`
	ToolInput  json.RawMessage    `json:"tool_input,omitempty"`
	ToolCall   string             `json:"tool_call_id,omitempty"`
	Response   *response          `json:"tool_response,omitempty"`
	Prompt     *string            `json:"prompt,omitempty"`
	Source     string             `json:"source,omitempty"`
	Reason     string             `json:"reason,omitempty"`
	StopActive *bool              `json:"stop_hook_active,omitempty"`
	Last       *string            `json:"last_message,omitempty"`
	Trigger    string             `json:"trigger,omitempty"`
	Asked      *string            `json:"custom_instructions,omitempty"`
	Message    string             `json:"message,omitempty"`
	About      string             `json:"about,omitempty"`
}

// response is the result of a call.
type response struct {
	Content string          `json:"content"`
	IsError bool            `json:"isError"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (r *runner) subscriber() hook.Subscriber {
	s := hook.Subscriber{Name: r.name(), Scope: hook.ScopeUser, At: r.hook.Event}
	if r.hook.Source.Kind == config.SourceProject {
		s.Scope = hook.ScopeProject
	}
	switch r.hook.Event {
	case "PreToolUse":
		s.BeforeTool, s.FailOpen = r.beforeTool, !r.hook.Blocks
	case "PostToolUse":
		s.AfterTool = r.afterTool
	case "UserPromptSubmit":
		s.Prompt = r.prompt
	case "SessionStart":
		s.SessionStart = func(ctx context.Context, start hook.SessionStart) (string, error) {
			a, err := r.ask(ctx, "", event{Source: start.Reason})
			return a.Context, err
		}
	case "Stop", "SubagentStop":
		s.Stop = r.stop
	case "PreCompact":
		s.BeforeCompact = r.beforeCompact
	case "SessionEnd", "Notification":
		s.Happened = r.emitEvent
	}
	return s
}

// failed returns what becomes of a failure: an error, by which the hook is skipped, or a
// refusal.
func (r *runner) failed(err error) (refusal string, _ error) {
	if r.hook.Blocks && err != nil {
		return fmt.Sprintf("%s failed: %s.", r.name(), strings.TrimRight(err.Error(), ".")), nil
	}
	return "", err
}

func (r *runner) beforeTool(ctx context.Context, call hook.ToolCall) (hook.ToolDecision, error) {
	a, err := r.ask(ctx, call.Name, event{ToolName: call.Name, ToolInput: call.Input, ToolCall: call.ID})
	if err != nil {
		return r.refusing(err)
	}
	return hook.ToolDecision{Verdict: a.verdict(), Reason: a.Reason, Input: a.Input, Context: a.Context}, nil
}

func (r *runner) afterTool(ctx context.Context, call hook.ToolCall, result hook.ToolResult) (hook.ToolPatch, error) {
	a, err := r.ask(ctx, call.Name, eventOf(call, result))
	if err != nil {
		refusal, err := r.failed(err)
		return hook.ToolPatch{Context: refusal}, err
	}
	note := a.Context
	if a.verdict() == hook.Deny { // it has run: the model is told what is wrong with it
		note = join(a.Reason, note)
	}
	return hook.ToolPatch{Context: note}, nil
}

func (r *runner) prompt(ctx context.Context, p hook.Prompt) (hook.PromptDecision, error) {
	text := protocol.Message{Content: p.Content}.PlainText()
	a, err := r.ask(ctx, "", event{Prompt: &text, Source: p.Source})
	if err != nil {
		refusal, err := r.failed(err)
		if refusal != "" {
			return hook.PromptDecision{Verdict: hook.Deny, Reason: refusal}, nil
		}
		return hook.PromptDecision{}, err
	}
	return hook.PromptDecision{Verdict: a.verdict(), Reason: a.Reason, Context: a.Context}, nil
}

func (r *runner) stop(ctx context.Context, s hook.Stop) (string, error) {
	if s.Subagent != (r.hook.Event == "SubagentStop") {
		return "", nil
	}
	active := s.Blocked > 0
	a, err := r.ask(ctx, "", event{StopActive: &active, Last: &s.Text})
	if err != nil {
		return r.failed(err)
	}
	if a.verdict() != hook.Deny {
		return "", nil
	}
	if a.Reason == "" && a.Context == "" {
		a.Reason = r.name() + " wants you to go on."
	}
	return join(a.Reason, a.Context), nil
}

func (r *runner) beforeCompact(ctx context.Context, c hook.Compaction) (hook.CompactDecision, error) {
	a, err := r.ask(ctx, "", event{Trigger: c.Reason, Asked: &c.Instructions})
	if err != nil {
		refusal, err := r.failed(err)
		return hook.CompactDecision{Cancel: refusal != "", Reason: refusal}, err
	}
	d := hook.CompactDecision{Cancel: a.verdict() == hook.Deny, Reason: a.Reason}
	if a.Context != "" {
		more := join(c.Instructions, a.Context)
		d.Instructions = &more
	}
	return d, nil
}

// emitEvent runs the hooks of what nobody can decide about.
func (r *runner) emitEvent(ctx context.Context, h hook.Happening) {
	var data struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
		About   string `json:"about"`
	}
	if json.Unmarshal(h.Data, &data) != nil {
		return
	}
	switch {
	case h.Type == "session_end" && r.hook.Event == "SessionEnd":
		_, _ = r.ask(ctx, "", event{Reason: data.Reason})
	case h.Type == "notification" && r.hook.Event == "Notification":
		_, _ = r.ask(ctx, "", event{Message: data.Message, About: data.About})
	}
}

// ask runs the hook and returns its answer. about is the tool, for the diagnostics.
func (r *runner) ask(ctx context.Context, about string, e event) (answer, error) {
	if !r.concerns(e) {
		return answer{}, nil
	}
	e.Name, e.Session, e.Dir, e.Root, e.Mode = r.hook.Event, r.Session, r.Dir, r.Root, r.Mode()
	began := r.Now()
	a, cause, err := r.run(ctx, e)
	if err == nil {
		err = a.fits(r.hook.Event)
	}
	says := string(a.verdict())
	switch {
	case err != nil:
		says, a = "failed", answer{}
	case says == "":
		says = "continue"
	}
	r.Log(fmt.Sprintf("%s: %s: %s (%s), %d ms", r.name(), strings.TrimSpace(r.hook.Event+" "+about), says, cause, r.Now().Sub(began).Milliseconds()))
	return a, err
}

// run starts the command and reads its answer; cause says in a few words how it ended.
func (r *runner) run(ctx context.Context, e event) (a answer, cause string, err error) {
	if r.hook.Source.Kind == config.SourceProject {
		switch file, err := r.Changed(r.hook.Command); {
		case err != nil:
			return a, "not trusted", untrusted{fmt.Errorf("it was not run, because its files cannot be judged: %w", err)}
		case file != "":
			return a, "not trusted", untrusted{fmt.Errorf("it was not run, because %s is not as it was when the project was trusted; look at it with `scorel trust`", file)}
		}
	}
	var told any = e
	env := r.Env
	if r.hook.Claude {
		told, env = r.theirs(e), append(slices.Clip(env), "CLAUDE_PROJECT_DIR="+r.Root)
	}
	stdin, err := json.Marshal(told)
	if err != nil {
		return a, "not started", err
	}
	var stdout, stderr output
	child, err := r.Spawn.Start(context.WithoutCancel(ctx), sandbox.Cmd{Path: "/bin/sh", Args: []string{"-c", r.hook.Command}, Dir: r.Root, Env: env,
		Stdin: strings.NewReader(string(stdin)), Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		return a, "not started", err
	}
	timer := time.NewTimer(r.hook.Timeout)
	defer timer.Stop()
	done := make(chan sandbox.Exit, 1)
	var broken *fault.Panic // of what serves the child, which Wait meets; set when done has something
	go func() {             // ends with the child
		var exit sandbox.Exit
		broken = fault.Attempt(func() { exit = child.Wait() })
		done <- exit
	}()
	var exit sandbox.Exit
	select {
	case exit = <-done:
	case <-timer.C:
		child.Kill()
		if exit = <-done; exit.Signal != "" || exit.Err != nil {
			return a, "timed out", fmt.Errorf("it did not end within %v", r.hook.Timeout)
		} // else it ended before; what it has left running held its output
	case <-ctx.Done():
		child.Kill()
		<-done
		return a, "cancelled", ctx.Err()
	}
	if broken != nil {
		panic(broken) // it is part of the hook
	}
	if exit.Err != nil {
		return a, "unknown end", exit.Err
	}
	cause = fmt.Sprintf("exit %d", exit.Code)
	if r.hook.Claude {
		message := ""
		if a, message, err = readTheirs(r.hook.Event, e.ToolName, exit.Code, &stdout, &stderr); message != "" && r.Tell != nil {
			r.Tell(r.name() + ": " + clip(message))
		}
		return a, cause, err
	}
	a, err = read(exit.Code, &stdout, &stderr)
	return a, cause, err
}

// clip bounds a sentence of a hook.
func clip(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
