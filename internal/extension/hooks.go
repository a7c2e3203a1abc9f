package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/session/history"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Subscribers gives each extension that takes part as a subscriber of hooks. One that
// was switched off after it was ended too often still refuses what it was to judge.
func (s *Set) Subscribers() []hook.Subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []hook.Subscriber
	for _, m := range s.members {
		if m.active() {
			out = append(out, m.subscriber())
		}
	}
	return out
}

// piNames are what the handlers of the chain are called in extensions of every API but Scorel's.
var piNames = map[string]string{"beforeToolCall": "tool_call", "afterToolCall": "tool_result", "prompt": "input", "beforeAgent": "before_agent_start",
	"beforeCompact": "session_before_compact", "beforeRequest": "before_provider_request", "afterResponse": "after_provider_response", "userCommand": "user_bash"}

// subscriber makes what the chain asks. mu of the set is held.
func (m *member) subscriber() hook.Subscriber {
	sub := hook.Subscriber{Name: "extension " + m.ID, Scope: hook.Scope(m.Scope)}
	if m.registered.API != "scorel" {
		sub.Names = piNames
	}
	if m.hooks("tool_call") {
		sub.BeforeTool = m.beforeTool
	}
	if m.State == protocol.ExtensionStopped {
		return sub
	}
	if m.hooks("tool_result") {
		sub.AfterTool = m.afterTool
	}
	if m.hooks("context") {
		sub.Context = func(ctx context.Context, list []history.Element) ([]history.Element, error) {
			return m.list(ctx, "context", list)
		}
	}
	if m.hooks("transformContext") {
		sub.TransformContext = func(ctx context.Context, list []history.Element) ([]history.Element, error) {
			return m.list(ctx, "transformContext", list)
		}
	}
	if m.hooks("convertToLlm") {
		sub.ConvertToLLM = m.convert
	}
	if m.hooks("input") {
		sub.Prompt = m.input
	}
	if m.hooks("before_agent_start") {
		sub.BeforeAgent = m.beforeAgent
	}
	if m.hooks("stop") {
		sub.Stop = m.stop
	}
	if m.hooks("session_before_compact") {
		sub.BeforeCompact = m.beforeCompact
	}
	if m.hooks("session_before_tree") || m.hooks("session_before_fork") || m.hooks("session_before_switch") {
		sub.BeforeMove = m.beforeMove
	}
	if m.hooks("user_bash") {
		sub.UserCommand = m.userCommand
	}
	if m.hooks("before_provider_request") {
		sub.BeforeRequest = m.beforeRequest
	}
	if len(m.registered.Events) > 0 {
		t := m.teller
		sub.Event, sub.Happened = t.event, t.happened
		if m.wants("after_provider_response") && m.registered.API != "scorel" {
			sub.AfterResponse = t.response
		}
	}
	return sub
}

// call asks an extension about a hook and reads its answer into to; false means that
// it has none. When the process ends through the fault of another extension it is
// asked once more. limit 0 is none but ctx. One that was taken out by /reload since the
// turn began has no answer, except where it was to judge a call: that it does not any
// more counts from the next turn on.
func (m *member) call(ctx context.Context, name string, limit time.Duration, data func(c *child) (any, error), to any) (bool, error) {
	has := func(now *member) bool { return now.hooks(name) }
	answer, err := m.ask(ctx, rpc.MethodHook, limit, has, func(c *child) (any, error) {
		d, err := data(c)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		return rpc.HookCall{Ext: m.ID, Hook: name, Data: raw}, nil
	})
	if errors.Is(err, errTakenOut) && name != "tool_call" && name != "user_bash" {
		return false, nil
	}
	if err != nil || len(answer) == 0 || string(answer) == "null" {
		return false, err
	}
	if err := json.Unmarshal(answer, to); err != nil {
		return false, fmt.Errorf("its answer cannot be read: %w", err)
	}
	return true, nil
}

// ask sends a call to an extension, again when its process ended without its fault. One
// that was loaded again and has not what is asked for, which has says with mu held, has no
// answer; nil has everything.
func (m *member) ask(ctx context.Context, method string, limit time.Duration, has func(*member) bool, params func(c *child) (any, error)) (json.RawMessage, error) {
	for again := false; ; again = true {
		c, now, err := m.reach(ctx)
		if err != nil {
			return nil, err
		}
		if now != m && has != nil {
			m.set.mu.Lock()
			its := has(now)
			m.set.mu.Unlock()
			if !its {
				return nil, nil
			}
		}
		answer, err := func() (json.RawMessage, error) {
			ctx, cancel := now.clock.within(ctx, limit)
			defer cancel()
			return c.ask(ctx, method, func() (any, error) { return params(c) })
		}()
		if !errors.Is(err, errGone) {
			return answer, err
		}
		if c.blames(ctx, now) || again {
			return nil, fmt.Errorf("its process ended while it was asked: %w", err)
		}
	}
}

// limit is how long a hook may take of the extension's own time.
func (m *member) limit() time.Duration {
	if m.Kind == Process {
		return m.set.cfg.bounds.process
	}
	return m.set.cfg.bounds.handler
}

func just(data any) func(*child) (any, error) {
	return func(*child) (any, error) { return data, nil }
}

func (m *member) beforeTool(ctx context.Context, call hook.ToolCall) (hook.ToolDecision, error) {
	var a struct {
		rpc.ToolCallAnswer
		Result *wireResult `json:"result"`
	}
	ok, err := m.call(ctx, "tool_call", m.limit(), just(rpc.ToolCallData{ToolName: call.Name, ToolCallID: call.ID, Input: call.Input}), &a)
	if !ok || err != nil {
		return hook.ToolDecision{}, err
	}
	d := hook.ToolDecision{Verdict: hook.Verdict(a.Decision), Reason: clip(a.Reason, maxOutput)}
	if a.Block {
		d.Verdict = hook.Deny
	}
	switch d.Verdict {
	case hook.Continue, hook.Allow, hook.Ask:
	case "block", hook.Deny:
		d.Verdict = hook.Deny
		if d.Reason == "" {
			d.Reason = "The extension " + m.ID + " blocked this call."
		}
	default:
		return hook.ToolDecision{}, fmt.Errorf("its decision is %.40q; the decisions are allow, ask and deny", a.Decision)
	}
	if len(a.Input) > 0 && string(a.Input) != "null" {
		d.Input = a.Input
	}
	if a.Result != nil {
		content, err := m.set.blocks(ctx, a.Result.Content)
		if err != nil {
			return hook.ToolDecision{}, err
		}
		d.Result = &hook.ToolResult{Content: content, Details: a.Result.Details, IsError: a.Result.IsError}
	}
	return d, nil
}

func (m *member) afterTool(ctx context.Context, call hook.ToolCall, r hook.ToolResult) (hook.ToolPatch, error) {
	var a struct {
		rpc.ToolResultAnswer
		Content []json.RawMessage `json:"content"`
	}
	ok, err := m.call(ctx, "tool_result", m.limit(), just(rpc.ToolResultData{ToolName: call.Name, ToolCallID: call.ID, Input: call.Input,
		Content: r.Content, Details: r.Details, IsError: r.IsError}), &a)
	if !ok || err != nil {
		return hook.ToolPatch{}, err
	}
	content, err := m.set.blocks(ctx, a.Content)
	return hook.ToolPatch{Content: content, Details: a.Details, IsError: a.IsError}, err
}

// list asks about the list of messages before a model call.
func (m *member) list(ctx context.Context, name string, given []history.Element) ([]history.Element, error) {
	var a rpc.ContextData
	var l *listing
	ok, err := m.call(ctx, name, m.limit(), func(c *child) (any, error) {
		var parts []rpc.ListPart
		var err error
		parts, l, err = c.parts(given)
		return rpc.ContextData{List: parts}, err
	}, &a)
	if !ok || err != nil {
		return given, err
	}
	return l.list(ctx, m.set, a.List)
}

// parts returns a list as it crosses; what does not have the conversation gets the
// messages themselves. send is held.
func (c *child) parts(given []history.Element) ([]rpc.ListPart, *listing, error) {
	if !c.entries {
		return (&mirror{log: c.set.cfg.Log}).parts(given)
	}
	return c.mirror.parts(given)
}

func (m *member) convert(ctx context.Context, messages []protocol.Message) ([]protocol.Message, error) {
	given := make([]history.Element, len(messages))
	for i := range messages {
		given[i] = history.Element{Message: &messages[i]}
	}
	got, err := m.list(ctx, "convertToLlm", given)
	if err != nil {
		return nil, err
	}
	out := make([]protocol.Message, len(got))
	for i, e := range got {
		out[i] = *e.Message
	}
	return out, nil
}

// split returns the text of content, and the blocks that are none.
func split(content []protocol.Block) (string, []protocol.Block) {
	var text strings.Builder
	var rest []protocol.Block
	for _, b := range content {
		if b.Type != protocol.BlockText {
			rest = append(rest, b)
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(b.Text)
	}
	return text.String(), rest
}

func (m *member) input(ctx context.Context, p hook.Prompt) (hook.PromptDecision, error) {
	d := rpc.InputData{Source: p.Source}
	d.Text, d.Images = split(p.Content)
	if p.Busy {
		d.StreamingBehavior = "followUp"
	}
	var a struct {
		rpc.InputAnswer
		Images []json.RawMessage `json:"images"`
	}
	ok, err := m.call(ctx, "input", m.limit(), just(d), &a)
	if !ok || err != nil {
		return hook.PromptDecision{}, err
	}
	switch a.Action {
	case "", "continue":
		return hook.PromptDecision{}, nil
	case "handled":
		return hook.PromptDecision{Handled: true}, nil
	case "block":
		reason := clip(a.Reason, 2000)
		if reason == "" {
			reason = "The extension " + m.ID + " refused the message."
		}
		return hook.PromptDecision{Verdict: hook.Deny, Reason: reason}, nil
	case "transform":
		content, err := m.set.blocks(ctx, a.Images)
		if err != nil {
			return hook.PromptDecision{}, err
		}
		if content == nil {
			content = d.Images
		}
		if a.Text != "" {
			content = append([]protocol.Block{protocol.Text(a.Text)}, content...)
		}
		if len(content) == 0 {
			return hook.PromptDecision{}, errors.New("it made an empty message")
		}
		if p := protocol.CheckBlocks("content", content); p != nil {
			return hook.PromptDecision{}, fmt.Errorf("it made a message that cannot be sent: %w", p.Err())
		}
		return hook.PromptDecision{Content: content}, nil
	}
	return hook.PromptDecision{}, fmt.Errorf("its action is %.40q; the actions are continue, transform, handled and block", a.Action)
}

func (m *member) beforeAgent(ctx context.Context, p hook.Prompt, system string) (hook.AgentStart, error) {
	d := rpc.AgentStartData{SystemPrompt: system}
	d.Prompt, d.Images = split(p.Content)
	var a struct {
		rpc.AgentStartAnswer
		Message *struct {
			rpc.AgentStartMessage
			Content []json.RawMessage `json:"content"`
		} `json:"message"`
	}
	ok, err := m.call(ctx, "before_agent_start", m.limit(), just(d), &a)
	if !ok || err != nil {
		return hook.AgentStart{}, err
	}
	out := hook.AgentStart{System: a.SystemPrompt}
	if a.Message != nil {
		content, err := m.set.blocks(ctx, a.Message.Content)
		if err != nil {
			return hook.AgentStart{}, err
		}
		out.Message = customMessage(display.Line(a.Message.CustomType), content, a.Message.Display, a.Message.Details)
	}
	return out, nil
}

// customMessage makes a message of an extension. People see it unless Display is
// false, which is in its data.
func customMessage(kind string, content []protocol.Block, display bool, details json.RawMessage) *protocol.CustomMessage {
	data, err := json.Marshal(struct {
		Display bool            `json:"display"`
		Details json.RawMessage `json:"details,omitempty"`
	}{display, details})
	if err != nil { // the details were read as JSON
		data = nil
	}
	return &protocol.CustomMessage{Kind: clip(kind, maxName), Message: protocol.Message{Role: protocol.RoleUser, Content: content}, Data: data}
}

// CustomMessage returns the event of a message that an extension sends.
func CustomMessage(p rpc.SendMessage) *protocol.CustomMessage {
	return customMessage(p.CustomType, p.Content, p.Display, p.Details)
}

// SentMessage returns the message of an extension that made an event.
func SentMessage(b *protocol.CustomMessage) rpc.SendMessage {
	var data struct {
		Display bool
		Details json.RawMessage
	}
	_ = json.Unmarshal(b.Data, &data) // what others have written has none
	return rpc.SendMessage{CustomType: b.Kind, Content: b.Message.Content, Display: data.Display, Details: data.Details}
}

func (m *member) stop(ctx context.Context, s hook.Stop) (string, error) {
	var a rpc.StopAnswer
	_, err := m.call(ctx, "stop", m.limit(), just(rpc.StopData{Blocked: s.Blocked, Subagent: s.Subagent, Text: s.Text}), &a)
	return clip(a.Text, maxOutput), err
}

func (m *member) beforeCompact(ctx context.Context, p hook.Compaction) (hook.CompactDecision, error) {
	var a rpc.CompactAnswer
	ok, err := m.call(ctx, "session_before_compact", 0, just(rpc.CompactData{Reason: p.Reason, CustomInstructions: p.Instructions, TokensBefore: p.Tokens,
		Messages: p.Messages, FirstKeptEntryID: p.FirstKept, PreviousSummary: p.Previous}), &a)
	if !ok || err != nil {
		return hook.CompactDecision{}, err
	}
	return hook.CompactDecision{Cancel: a.Cancel, Reason: clip(a.Reason, 2000), Summary: a.Summary, Instructions: a.CustomInstructions}, nil
}

func (m *member) beforeMove(ctx context.Context, p hook.Move) (hook.MoveDecision, error) {
	name, data := "session_before_tree", any(rpc.TreeData{Kind: p.Kind, TargetID: p.Target, OldLeafID: p.Leaf})
	switch p.Kind {
	case hook.MoveClone:
		name = "session_before_fork"
	case hook.MoveSwitch:
		name, data = "session_before_switch", rpc.SwitchData{Reason: p.Reason, TargetSessionID: p.Session}
	}
	m.set.mu.Lock()
	has := m.hooks(name)
	m.set.mu.Unlock()
	if !has {
		return hook.MoveDecision{}, nil
	}
	var a rpc.TreeAnswer
	ok, err := m.call(ctx, name, 0, just(data), &a)
	if !ok || err != nil {
		return hook.MoveDecision{}, err
	}
	return hook.MoveDecision{Cancel: a.Cancel, Reason: clip(a.Reason, 2000), Label: clip(a.Label, protocol.MaxLabel)}, nil
}

func (m *member) userCommand(ctx context.Context, c hook.UserCommand) (hook.UserCommandDecision, error) {
	var a rpc.UserCommandAnswer
	ok, err := m.call(ctx, "user_bash", 0, just(rpc.UserCommandData{Command: c.Command, Cwd: c.Dir, ExcludeFromContext: !c.InContext}), &a)
	if !ok || err != nil {
		return hook.UserCommandDecision{}, err
	}
	d := hook.UserCommandDecision{Deny: a.Block, Reason: clip(display.Line(a.Reason), 2000)}
	if a.Result != nil && !a.Block {
		d.Result = &hook.UserCommandResult{Output: strings.ToValidUTF8(a.Result.Output, "\uFFFD"), ExitCode: a.Result.ExitCode, Cancelled: a.Result.Cancelled}
	}
	return d, nil
}

func (m *member) beforeRequest(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
	var a rpc.RequestData
	ok, err := m.call(ctx, "before_provider_request", m.limit(), just(rpc.RequestData{Payload: payload}), &a)
	if !ok || err != nil || string(a.Payload) == "null" {
		return nil, err
	}
	return a.Payload, nil
}
