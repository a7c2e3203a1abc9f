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

	// Of the run that goes on.
	messages []protocol.Message
	index    int // of model calls, which the extension API calls turns
	open     *protocol.Message
	calls    int // of open that have no result yet
	results  []protocol.Message
}

// fields are those of an event of the extension API.
type fields map[string]any

// raw says whether the extension gets events as they are.
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
		if data, err := json.Marshal(e); err == nil {
			t.send(string(e.Type), data, !e.IsTransient())
		}
		return
	}
	if leaf, moves := e.Leaf(); moves {
		t.keep("session_tree", fields{"newLeafId": leaf, "oldLeafId": e.ParentID})
		return
	}
	switch b := e.Body.(type) {
	case *protocol.RuntimeStart:
		t.messages, t.index, t.open = nil, 0, nil
		t.tell("agent_start", fields{})
	case *protocol.RuntimeEnd:
		t.endTurn()
		t.tell("agent_end", fields{"messages": t.messages})
		t.tell("agent_settled", fields{"reason": b.Reason})
		t.messages = nil
	case *protocol.MessageStart:
		if b.Role == protocol.RoleAssistant {
			t.endTurn()
			t.tell("turn_start", fields{"turnIndex": t.index, "timestamp": e.TS})
			t.tell("message_start", fields{"messageId": b.EventID, "message": protocol.Message{Role: b.Role, Model: b.Model}})
		}
	case *protocol.TextDelta:
		t.tell("message_update", fields{"messageId": b.EventID, "assistantMessageEvent": fields{"type": "text_delta", "contentIndex": b.BlockIndex, "delta": b.Delta}})
	case *protocol.ThinkingDelta:
		t.tell("message_update", fields{"messageId": b.EventID, "assistantMessageEvent": fields{"type": "thinking_delta", "contentIndex": b.BlockIndex, "delta": b.Delta}})
	case *protocol.ToolCallDelta:
		t.tell("message_update", fields{"messageId": b.EventID, "assistantMessageEvent": fields{"type": "toolcall_delta", "contentIndex": b.BlockIndex, "delta": b.Delta}})
	case *protocol.ToolExecutionStart:
		t.tell("tool_execution_start", fields{"toolCallId": b.ToolCallID, "toolName": b.ToolName, "args": b.Args})
	case *protocol.ToolExecutionUpdate:
		t.tell("tool_execution_update", fields{"toolCallId": b.ToolCallID, "partialResult": fields{"content": []protocol.Block{protocol.Text(b.Partial)}}})
	case *protocol.ToolExecutionEnd:
		t.tell("tool_execution_end", fields{"toolCallId": b.ToolCallID, "toolName": b.ToolName, "durationMs": b.DurationMS, "isError": b.IsError})
	case *protocol.MessageBody:
		t.message(e, b.Message)
	case *protocol.CustomMessage:
		t.message(e, b.Message)
	case *protocol.Compact:
		t.keep("session_compact", fields{"compactionEntry": fields{"type": "compaction", "id": e.ID, "summary": b.Summary, "tokensBefore": b.TokensBefore, "timestamp": e.TS}})
	case *protocol.SessionInfo:
		if b.Changes.Name != nil {
			t.keep("session_info_changed", fields{"name": *b.Changes.Name})
		}
		if b.Changes.Model != nil {
			t.keep("model_select", fields{"model": t.m.set.cfg.Host.State().Model, "ref": *b.Changes.Model, "source": "set"})
		}
		if b.Changes.ThinkingLevel != nil {
			t.keep("thinking_level_select", fields{"level": *b.Changes.ThinkingLevel, "source": "set"})
		}
	case *protocol.UIRequest:
		t.tell("ui_prompt_start", fields{"id": b.UIID, "kind": b.Data.Kind})
	case *protocol.UIResolved:
		t.tell("ui_prompt_end", fields{"id": b.UIID})
	}
}

// message tells of a message that is complete.
func (t *teller) message(e protocol.Event, msg protocol.Message) {
	if len(t.messages) == maxAgentEnd {
		t.messages = t.messages[1:]
	}
	t.messages = append(t.messages, msg)
	if msg.Role != protocol.RoleAssistant { // of an assistant's the start was told
		t.tell("message_start", fields{"messageId": e.ID, "message": msg})
	}
	t.keep("message_end", fields{"messageId": e.ID, "message": msg})
	switch msg.Role {
	case protocol.RoleAssistant:
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

// endTurn tells that a model call and its tools are done.
func (t *teller) endTurn() {
	if t.open == nil {
		return
	}
	t.keep("turn_end", fields{"turnIndex": t.index, "message": t.open, "toolResults": append([]protocol.Message{}, t.results...)})
	t.open, t.results = nil, nil
	t.index++
}

// happened tells of what is no event. The start of the session was told when the
// extension was loaded, and its end is told when it is ended.
func (t *teller) happened(_ context.Context, h hook.Happening) {
	switch {
	case h.Type == "session_start", h.Type == "session_end":
	case t.raw():
		if t.wants(h.Type) {
			t.send(h.Type, withType(h.Type, h.Data), true)
		}
	case h.Type == "model_select", h.Type == "thinking_level_select", h.Type == "ui_prompt_start", h.Type == "ui_prompt_end":
		// They were told as what they are made of.
	default:
		if t.wants(h.Type) {
			t.send(h.Type, h.Data, true)
		}
	}
}

// withType gives an object with its type.
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

// tell tells of what may be missed.
func (t *teller) tell(event string, f fields) { t.make(event, f, false) }

// keep tells of what stands in the log.
func (t *teller) keep(event string, f fields) { t.make(event, f, true) }

func (t *teller) make(event string, f fields, keep bool) {
	if !t.wants(event) {
		return
	}
	if data, err := json.Marshal(f); err == nil {
		t.send(event, data, keep)
	}
}

// send sends an event: what is to be kept waits for room, and comes behind what the
// process must know of the conversation; anything else is dropped where there is none.
// It starts no process: one that has ended finds in the conversation what it has missed.
func (t *teller) send(event string, data json.RawMessage, keep bool) {
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
	if keep {
		err = c.tell(ctx, note)
	} else if line, lerr := notification(rpc.NoteEvent, note); lerr == nil {
		c.peer.tell(line)
	}
	if err != nil {
		m.set.cfg.Report("extension "+m.ID+": "+event+" was not told: "+err.Error(), nil)
	}
}
