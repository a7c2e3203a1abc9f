package extension

import (
	"context"
	"encoding/json"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// Bounds of what an extension is told.
const (
	tellTime    = 10 * time.Second // for room to tell an extension what happens
	maxAgentEnd = 200              // messages of a run that agent_end brings, the newest
)

// teller tells one extension what happens in the session: one whose API is scorel the
// events as they are, any other the events of the extension API, which are made of
// them. One goroutine at a time uses it.
type teller struct {
	m *member

	// Of the run that goes on. One that makes no model call, as that of a command, is none
	// of the agent.
	asked    bool // a message came since the last run, which so begins one of the agent
	agent    bool // it is one, and agent_start was told
	messages []protocol.Message
	index    int // of model calls, which the extension API calls turns
	open     *protocol.Message
	calls    int // of open that have no result yet
	results  []protocol.Message
	begun    bool            // turn_start was told, and turn_end was not
	failed   *protocol.Event // why the run has failed; it is told when the end says whether that was a model call
}

// fields are those of an event of the extension API.
type fields map[string]any

// raw reports whether the extension gets events as they are.
func (t *teller) raw() bool {
	t.m.set.mu.Lock()
	defer t.m.set.mu.Unlock()
	m, err := t.m.set.current(t.m)
	return err == nil && m.registered.API == "scorel"
}

func (t *teller) wants(event string) bool {
	t.m.set.mu.Lock()
	defer t.m.set.mu.Unlock()
	m, err := t.m.set.current(t.m)
	return err == nil && m.wants(event)
}

// event tells of an event of the log or of the wire.
func (t *teller) event(e protocol.Event) {
	if t.raw() {
		if !t.wants(string(e.Type)) {
			return
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.m.set.cfg.Report("extension "+t.m.ID+": "+string(e.Type)+" cannot be told: "+err.Error(), nil)
			return
		}
		t.send(string(e.Type), data, streams(e.Body))
		return
	}
	if leaf, moves := e.Leaf(); moves {
		t.tell("session_tree", fields{"newLeafId": leaf, "oldLeafId": e.ParentID})
		return
	}
	switch b := e.Body.(type) {
	case *protocol.RuntimeStart:
		t.messages, t.index, t.open, t.agent, t.begun, t.failed = []protocol.Message{}, 0, nil, false, false, nil
		if t.asked {
			t.begin()
		}
	case *protocol.RuntimeEnd:
		t.failure(b.Terminal)
		t.endTurn()
		if t.agent {
			t.tell("agent_end", fields{"messages": t.messages})
			t.tell("agent_settled", fields{"reason": b.Reason, "terminal": b.Terminal})
		}
		t.messages, t.agent, t.asked = []protocol.Message{}, false, false
	case *protocol.MessageStart:
		if b.Role == protocol.RoleAssistant {
			t.begin()
			t.beginTurn(e)
			t.tell("message_start", fields{"messageId": b.EventID, "message": protocol.Message{Role: b.Role, Model: b.Model}})
		}
	case *protocol.TextDelta:
		t.stream("message_update", fields{"messageId": b.EventID, "assistantMessageEvent": fields{"type": "text_delta", "contentIndex": b.BlockIndex, "delta": b.Delta}})
	case *protocol.ThinkingDelta:
		t.stream("message_update", fields{"messageId": b.EventID, "assistantMessageEvent": fields{"type": "thinking_delta", "contentIndex": b.BlockIndex, "delta": b.Delta}})
	case *protocol.ToolCallDelta:
		t.stream("message_update", fields{"messageId": b.EventID, "assistantMessageEvent": fields{"type": "toolcall_delta", "contentIndex": b.BlockIndex, "delta": b.Delta}})
	case *protocol.ToolExecutionStart:
		t.tell("tool_execution_start", fields{"toolCallId": b.ToolCallID, "toolName": b.ToolName, "args": b.Args})
	case *protocol.ToolExecutionUpdate:
		t.stream("tool_execution_update", fields{"toolCallId": b.ToolCallID, "partialResult": fields{"content": []protocol.Block{protocol.Text(b.Partial)}}})
	case *protocol.ToolExecutionEnd:
		t.tell("tool_execution_end", fields{"toolCallId": b.ToolCallID, "toolName": b.ToolName, "durationMs": b.DurationMS, "isError": b.IsError})
	case *protocol.MessageBody:
		t.asked = t.asked || b.Message.Role == protocol.RoleUser
		t.message(e, b.Message)
	case *protocol.CustomMessage:
		t.message(e, b.Message)
	case *protocol.Compact:
		t.tell("session_compact", fields{"compactionEntry": fields{"type": "compaction", "id": e.ID, "summary": b.Summary, "tokensBefore": b.TokensBefore, "timestamp": e.TS}})
	case *protocol.SessionInfo:
		if b.Changes.Name != nil {
			t.tell("session_info_changed", fields{"name": *b.Changes.Name})
		}
		if b.Changes.Model != nil {
			t.tell("model_select", t.selected(*b.Changes.Model))
		}
		if b.Changes.ThinkingLevel != nil {
			t.tell("thinking_level_select", fields{"level": *b.Changes.ThinkingLevel, "source": "set"})
		}
	case *protocol.UIRequest:
		t.tell("ui_prompt_start", fields{"id": b.UIID, "kind": b.Data.Kind})
	case *protocol.UIResolved:
		t.tell("ui_prompt_end", fields{"id": b.UIID})
	}
}

// selected returns the fields of model_select.
func (t *teller) selected(ref string) fields {
	f, s := fields{"ref": ref, "source": "set"}, t.m.set
	if s.cfg.Model == nil {
		return f
	}
	now := s.cfg.Model(ref)
	f["model"] = now
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, err := s.current(t.m); err == nil {
		if m.model != nil {
			f["previousModel"] = m.model
		}
		m.model = now
	}
	return f
}

// begin tells that the agent starts, once a run.
func (t *teller) begin() {
	if !t.agent {
		t.agent = true
		t.tell("agent_start", fields{})
	}
}

// message tells of a message that is complete.
func (t *teller) message(e protocol.Event, msg protocol.Message) {
	if msg.IsFailure() {
		t.failed = &e
		return
	}
	t.complete(e, msg, msg.Role != protocol.RoleAssistant) // of one of an assistant the start was told
}

// failure tells why a run has failed, which is the message of a model call unless a limit has
// kept the model from being called.
func (t *teller) failure(end protocol.Terminal) {
	if t.failed == nil {
		return
	}
	e := *t.failed
	m, _ := e.Message()
	t.failed = nil
	t.begin()
	switch end {
	case protocol.TerminalMaxSteps, protocol.TerminalMaxTokens, protocol.TerminalBudget, protocol.TerminalLoop:
		t.endTurn()
	default:
		t.beginTurn(e)
	}
	t.complete(e, m, true)
}

// complete tells of a message, and of its start if nobody has.
func (t *teller) complete(e protocol.Event, msg protocol.Message, start bool) {
	if len(t.messages) == maxAgentEnd {
		t.messages = t.messages[1:]
	}
	t.messages = append(t.messages, msg)
	if start {
		t.tell("message_start", fields{"messageId": e.ID, "message": msg})
	}
	t.tell("message_end", fields{"messageId": e.ID, "message": msg})
	switch msg.Role {
	case protocol.RoleAssistant:
		if !t.begun {
			return
		}
		t.open, t.calls, t.results = &msg, len(msg.Calls()), nil
		if t.calls == 0 {
			t.endTurn()
		}
	case protocol.RoleToolResult:
		if t.open == nil {
			return
		}
		t.results = append(t.results, msg)
		if t.calls--; t.calls <= 0 {
			t.endTurn()
		}
	}
}

// beginTurn tells that a model call begins, which is the same one when it is tried again.
func (t *teller) beginTurn(e protocol.Event) {
	t.endTurn()
	if !t.begun {
		t.begun = true
		t.tell("turn_start", fields{"turnIndex": t.index, "timestamp": e.TS})
	}
}

// endTurn tells that a model call and its tools are done.
func (t *teller) endTurn() {
	if t.open == nil {
		return
	}
	t.tell("turn_end", fields{"turnIndex": t.index, "message": t.open, "toolResults": append([]protocol.Message{}, t.results...)})
	t.open, t.results, t.begun = nil, nil, false
	t.index++
}

// happened tells of what is no event. The start of the session was told when the
// extension was loaded, and its end is told when it is ended.
func (t *teller) happened(_ context.Context, h hook.Happening) {
	switch {
	case h.Type == "session_start", h.Type == "session_end":
	case t.raw():
		if t.wants(h.Type) {
			t.send(h.Type, withType(h.Type, h.Data), false)
		}
	case h.Type == "model_select", h.Type == "thinking_level_select", h.Type == "ui_prompt_start", h.Type == "ui_prompt_end":
		// They were told as what they are made of.
	default:
		if t.wants(h.Type) {
			t.send(h.Type, h.Data, false)
		}
	}
}

// withType returns an object with its type.
func withType(kind string, data json.RawMessage) json.RawMessage {
	var f map[string]json.RawMessage
	if json.Unmarshal(data, &f) != nil || f == nil {
		f = map[string]json.RawMessage{}
	}
	f["type"], _ = json.Marshal(kind)
	out, err := json.Marshal(f)
	if err != nil {
		return data
	}
	return out
}

func (t *teller) response(_ context.Context, status int, headers map[string]string) {
	t.tell("after_provider_response", fields{"status": status, "headers": headers})
}

// streams reports whether an event is a piece of something whose whole follows: it may be
// missed.
func streams(body protocol.Body) bool {
	switch body.(type) {
	case *protocol.TextDelta, *protocol.ThinkingDelta, *protocol.ToolCallDelta, *protocol.ToolExecutionUpdate:
		return true
	}
	return false
}

// tell tells of an event.
func (t *teller) tell(event string, f fields) { t.make(event, f, false) }

// stream tells of what may be missed.
func (t *teller) stream(event string, f fields) { t.make(event, f, true) }

func (t *teller) make(event string, f fields, streams bool) {
	if !t.wants(event) {
		return
	}
	if data, err := json.Marshal(f); err == nil {
		t.send(event, data, streams)
	}
}

// send sends an event after what the process must know of the conversation, and waits for
// room; what streams is dropped where there is none. It starts no process: one that has
// ended finds in the conversation what it has missed.
func (t *teller) send(event string, data json.RawMessage, streams bool) {
	s, note := t.m.set, rpc.EventNote{Ext: t.m.ID, Type: event, Event: data}
	s.mu.Lock()
	m, err := s.current(t.m)
	var c *child
	if err == nil {
		c = m.child
	}
	s.mu.Unlock()
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellTime)
	defer cancel()
	if err = c.tell(ctx, note, streams); err != nil {
		m.set.cfg.Report("extension "+m.ID+": "+event+" was not told: "+err.Error(), nil)
	}
}
