package lane

import (
	"context"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/tool"
	"scorel/internal/host/lane/addition"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// turnHooks is what the runtime asks around calls and at the end of a turn.
type turnHooks struct{ h *turnHost }

// runtimeHooks returns the hooks of a turn; nil when nobody is to be asked.
func (h *turnHost) runtimeHooks() runtime.Hooks {
	if chain := h.t.config.Hooks; chain.AsksTools() || chain.AsksStop() {
		return turnHooks{h}
	}
	return nil
}

func hookCall(call tool.Call, spec tool.Spec) hook.ToolCall {
	return hook.ToolCall{ID: call.ID, Name: spec.Name, Input: call.Input, Spec: spec}
}

// BeforeTool asks before a call.
func (th turnHooks) BeforeTool(ctx context.Context, call tool.Call, spec tool.Spec) (runtime.BeforeTool, error) {
	a, err := th.h.t.config.Hooks.BeforeTool(ctx, hookCall(call, spec))
	if err != nil {
		return runtime.BeforeTool{}, err
	}
	th.h.l.additions.QueueNotes(a.Notes)
	out := runtime.BeforeTool{Input: a.Input, Verdict: runtime.HookVerdict{By: a.From, Reason: a.Reason}}
	switch {
	case a.Verdict == hook.Deny:
		return runtime.BeforeTool{Blocked: a.Reason}, th.h.record(ctx, &protocol.PermissionDecision{ToolCallID: call.ID,
			Decision: protocol.DecisionDeny, Scope: "hook", By: a.From, Reason: a.Reason}, journal.ByHost())
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
	r, notes, err := th.h.t.config.Hooks.AfterTool(ctx, hookCall(call, spec), hook.ToolResult{Content: m.Content, Details: m.Details, IsError: m.IsError})
	if err != nil {
		return m, err
	}
	th.h.l.additions.QueueNotes(notes)
	m.Content, m.Details, m.IsError = r.Content, r.Details, r.IsError
	return m, nil
}

// Stop asks when the turn would end.
func (th turnHooks) Stop(ctx context.Context, end runtime.Ending) (string, error) {
	text, err := th.h.t.config.Hooks.Stop(ctx, hook.Stop{Blocked: end.Blocked, Subagent: th.h.t.config.Subagent, Text: end.Text})
	if err == nil && text != "" && end.Blocked+1 >= runtime.MaxStopBlocks {
		th.h.l.notices.Notify("", "warning", "Hooks wanted this turn to go on for the fifth time in a row; it was ended nevertheless.")
	}
	return text, err
}

// beforeAgent asks at the beginning of a turn, after the message that began it, and
// stores what the hooks add to it. A system prompt of theirs holds for this turn.
func (h *turnHost) beforeAgent(ctx context.Context) error {
	l, t := h.l, h.t
	l.j.Lock()
	content := t.prompt
	t.prompt = nil
	l.j.Unlock()
	if content != nil {
		h.thinkFor(content)
	}
	if content == nil || !t.config.Hooks.AsksAgent() {
		return nil
	}
	a, err := t.config.Hooks.BeforeAgent(ctx, hook.Prompt{Content: content, Source: "interactive"}, t.view.own.Text)
	if err != nil {
		return err
	}
	var bodies []protocol.Body
	for i := range a.Messages {
		bodies = append(bodies, &a.Messages[i])
	}
	bodies = append(bodies, addition.NoteBodies(a.Notes)...)
	if a.System != t.view.system {
		in := t.view.own
		if a.SystemFrom != "" {
			in = protocol.Instructions{Version: in.Version, Text: a.System, Sections: []protocol.InstructionSection{}, Source: a.SystemFrom}
			l.notices.Notify(a.SystemFrom, "info", "Another system prompt holds for this turn; the provider's cache of the conversation does not.")
		}
		bodies = append(bodies, &protocol.InstructionSnapshot{Snapshot: in})
		t.view.system = a.System
	}
	return h.append(ctx, bodies...)
}
