package lane

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// maxFarewell is how long a session that is being closed waits for those who are told
// of its end.
const maxFarewell = 5 * time.Second

// hooked is what a lane knows of hooks. No lock of the lane is held with mu.
type hooked struct {
	start sync.Mutex // held while hooks are asked at the start of the session
	begun bool       // they have been; guarded by start

	mu   sync.Mutex
	cast *hook.Broadcast // nil until somebody watches
	stop func()          // ends the watch of the lane for cast
}

// greet makes a chain the one that watches the session, and asks it when the session
// starts. It returns when what it says at the start waits to be told to the model. The
// session of a sub-agent is part of the one that it works for: it neither starts nor
// ends for hooks.
func (l *Lane) greet(ctx context.Context, setup *Setup) {
	chain := setup.Hooks
	if chain == nil {
		return
	}
	l.watchWith(chain)
	if setup.Subagent {
		return
	}
	h := &l.hooked
	h.start.Lock()
	defer h.start.Unlock()
	if h.begun {
		return
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	l.mu.Lock()
	start := hook.SessionStart{Reason: "resume"}
	if l.leaf == "" {
		start.Reason = "startup"
	}
	l.mu.Unlock()
	l.happened("session_start", struct {
		Reason string `json:"reason"`
	}{start.Reason})
	notes, err := chain.SessionStart(ctx, start)
	if err != nil {
		return // asked again at the next turn
	}
	h.begun = true
	l.queueNotes(notes)
}

// watchWith makes the subscribers of a chain those that watch.
func (l *Lane) watchWith(chain *hook.Chain) {
	h := &l.hooked
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cast == nil {
		if !chain.Watches() {
			return
		}
		h.cast = hook.NewBroadcast(func(text string) { l.Notify("", "warning", text) })
		h.stop = l.Watch(h.cast.Event)
	}
	h.cast.Watch(chain)
}

// happened tells those who watch of something that is no event of the log: fields, which
// make an object, and the session.
func (l *Lane) happened(what string, fields any) {
	l.hooked.mu.Lock()
	cast := l.hooked.cast
	l.hooked.mu.Unlock()
	if cast == nil {
		return
	}
	data, err := json.Marshal(fields)
	if err != nil {
		l.cfg.Report("tell of "+what+": "+err.Error(), nil)
		return
	}
	cast.Happened(l.happening(what, data))
}

// happening adds the session to fields of which there is at least one.
func (l *Lane) happening(what string, fields []byte) hook.Happening {
	about := fmt.Appendf(nil, `{"sessionId":%q,`, l.ID())
	return hook.Happening{Type: what, Data: append(about, fields[1:]...)}
}

// farewell tells those who watch that the session ends, and waits for them a while.
func (l *Lane) farewell() {
	h := &l.hooked
	h.mu.Lock()
	cast, stop := h.cast, h.stop
	h.cast = nil
	h.mu.Unlock()
	if cast == nil {
		return
	}
	h.start.Lock()
	begun := h.begun
	h.start.Unlock()
	if begun {
		cast.Happened(l.happening("session_end", []byte(`{"reason":"quit"}`)))
	}
	stop()
	ctx, cancel := context.WithTimeout(context.Background(), maxFarewell)
	defer cancel()
	cast.Close(ctx)
}

// bounded gives a context that ends with the lane too.
func (l *Lane) bounded(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// queueNotes has what hooks say told to the model at the next step border, or before
// the next message.
func (l *Lane) queueNotes(notes []hook.Note) {
	if len(notes) == 0 {
		return
	}
	l.mu.Lock()
	left := min(len(notes), max(0, maxAdditions-len(l.additions.waiting)))
	for _, body := range noteBodies(notes[:left]) {
		l.additions.waiting = append(l.additions.waiting, addition{body: body})
	}
	l.mu.Unlock()
	if left < len(notes) {
		l.cfg.Report("too much waits to be told to the model; what hooks say was left out", nil)
	}
}

// askPrompt asks the hooks of a message before it is stored.
func (l *Lane) askPrompt(ctx context.Context, chain *hook.Chain, p hook.Prompt) (hook.PromptAnswer, error) {
	if !chain.AsksPrompts() {
		return hook.PromptAnswer{Content: p.Content}, nil
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	a, err := chain.Prompt(ctx, p)
	if err != nil {
		return a, protocol.Errorf(protocol.CodeRuntimeBusy, "The message was not sent, because the hooks that are asked of it were broken off.")
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
	if err := l.checkContent("content", a.Content); err != nil { // a hook may have put another in its place
		return a, err
	}
	return a, nil
}

// chainNow gives the hooks of the running turn, or those of the configuration.
func (l *Lane) chainNow(ctx context.Context) *hook.Chain {
	l.mu.Lock()
	t, meta := l.turn, l.meta
	l.mu.Unlock()
	if t != nil && !t.command {
		return t.setup.Hooks
	}
	if l.cfg.Hooks == nil {
		return nil
	}
	chain, err := l.cfg.Hooks(ctx, meta)
	if err != nil {
		l.cfg.Report("the hooks: "+err.Error(), nil)
		return nil
	}
	return chain
}

// askMove asks the hooks before the leaf moves, and gives a name for the target.
func (l *Lane) askMove(ctx context.Context, m hook.Move) (label string, err error) {
	chain := l.chainNow(ctx)
	ctx, cancel := l.bounded(ctx)
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
	return cut(a.Label, protocol.MaxLabel), nil
}

// turnHooks is what the runtime asks around calls and at the end of a turn.
type turnHooks struct{ h *turnHost }

// runtimeHooks gives the hooks of a turn; nil when nobody is to be asked.
func (h *turnHost) runtimeHooks() runtime.Hooks {
	if chain := h.t.setup.Hooks; chain.AsksTools() || chain.AsksStop() {
		return turnHooks{h}
	}
	return nil
}

func hookCall(call tool.Call, spec tool.Spec) hook.ToolCall {
	return hook.ToolCall{ID: call.ID, Name: spec.Name, Input: call.Input, Spec: spec}
}

// BeforeTool asks before a call.
func (th turnHooks) BeforeTool(ctx context.Context, call tool.Call, spec tool.Spec) (runtime.BeforeTool, error) {
	a, err := th.h.t.setup.Hooks.BeforeTool(ctx, hookCall(call, spec))
	if err != nil {
		return runtime.BeforeTool{}, err
	}
	th.h.l.queueNotes(a.Notes)
	out := runtime.BeforeTool{Input: a.Input, Verdict: runtime.HookVerdict{By: a.From, Reason: a.Reason}}
	switch {
	case a.Verdict == hook.Deny:
		reason := a.Reason
		if !strings.HasPrefix(reason, a.From) {
			reason = a.From + ": " + reason
		}
		return runtime.BeforeTool{Blocked: a.Reason}, th.h.record(ctx, &protocol.PermissionDecision{ToolCallID: call.ID,
			Decision: protocol.DecisionDeny, Scope: "hook", Reason: reason}, byHost())
	case a.Result != nil:
		out.Result = &protocol.Message{Content: a.Result.Content, Details: a.Result.Details, IsError: a.Result.IsError}
	case a.Verdict == hook.Ask:
		out.Verdict.Decision = protocol.DecisionAsk
	case a.Verdict == hook.Allow:
		out.Verdict.Decision = protocol.DecisionAllow
	}
	return out, nil
}

// AfterTool asks with a result.
func (th turnHooks) AfterTool(ctx context.Context, call tool.Call, spec tool.Spec, m protocol.Message) (protocol.Message, error) {
	r, notes, err := th.h.t.setup.Hooks.AfterTool(ctx, hookCall(call, spec), hook.ToolResult{Content: m.Content, Details: m.Details, IsError: m.IsError})
	if err != nil {
		return m, err
	}
	th.h.l.queueNotes(notes)
	m.Content, m.Details, m.IsError = r.Content, r.Details, r.IsError
	return m, nil
}

// Stop asks when the turn would end.
func (th turnHooks) Stop(ctx context.Context, end runtime.Ending) (string, error) {
	text, err := th.h.t.setup.Hooks.Stop(ctx, hook.Stop{Blocked: end.Blocked, Subagent: th.h.t.setup.Subagent, Text: end.Text})
	if err == nil && text != "" && end.Blocked+1 >= runtime.MaxStopBlocks {
		th.h.l.Notify("", "warning", "Hooks have kept this turn from ending five times in a row; it was ended nevertheless.")
	}
	return text, err
}

// beforeAgent asks at the beginning of a turn, behind the message that began it, and
// stores what the hooks add to it. A system prompt of theirs holds for this turn.
func (h *turnHost) beforeAgent(ctx context.Context) error {
	l, t := h.l, h.t
	l.mu.Lock()
	content := t.prompt
	t.prompt = nil
	l.mu.Unlock()
	if content == nil || !t.setup.Hooks.AsksAgent() {
		return nil
	}
	a, err := t.setup.Hooks.BeforeAgent(ctx, hook.Prompt{Content: content, Source: "interactive"}, t.base)
	if err != nil {
		return err
	}
	var bodies []protocol.Body
	for i := range a.Messages {
		bodies = append(bodies, &a.Messages[i])
	}
	bodies = append(bodies, noteBodies(a.Notes)...)
	if a.System != t.system {
		in := t.own
		if a.SystemFrom != "" {
			in = protocol.Instructions{Version: in.Version, Text: a.System, Sections: []protocol.InstructionSection{}, Source: a.SystemFrom}
			l.Notify(a.SystemFrom, "info", "Another system prompt holds for this turn; the provider's cache of the conversation does not.")
		}
		bodies = append(bodies, &protocol.InstructionSnapshot{Snapshot: in})
		t.system = a.System
	}
	return h.append(ctx, bodies...)
}
