package main

import (
	"fmt"
	"strings"
)

// What the marshallers of package protocol write that are not made from tags. The
// test of samples fails when they write something else.

func required(name string, t typ) field { return field{name: name, typ: t} }
func optional(name string, t typ) field { return field{name: name, typ: t, optional: true} }

// messages declares blocks and messages, from append.go.
func messages(s *source, m *module) error {
	content := list{ref("Block")}
	textOrContent := union{text, content}
	block := func(name, typ string, fields ...field) *decl {
		return &decl{name: name, extends: []string{"BlockBase"}, fields: append([]field{required("type", lit(typ))}, fields...)}
	}
	message := func(name, role string, fields ...field) *decl {
		return &decl{name: name, fields: append([]field{required("role", lit(role))}, fields...)}
	}
	decls := []*decl{
		{name: "BlockBase", doc: "What every block may have.", fields: []field{optional("provider", ref("ProviderData"))}},
		block("TextBlock", "text", required("text", text), optional("blob", text)),
		block("ThinkingBlock", "thinking", required("thinking", text), optional("signature", text), optional("redacted", yes{}), optional("blob", text)),
		block("ImageBlock", "image", optional("mediaType", text), optional("blob", text)),
		block("FileBlock", "file", optional("name", text), optional("mediaType", text), optional("blob", text)),
		block("ToolUseBlock", "tool_use", optional("id", text), optional("name", text), required("input", unknown), optional("blob", text)),
		{kind: alias, name: "Block", doc: "One piece of content. A blob is the lower-case hex SHA-256 of the payload; of a text, a thought or an input it is the whole of what was cut. A later host may send blocks of further types; show them as unknown.",
			is: union{ref("TextBlock"), ref("ThinkingBlock"), ref("ImageBlock"), ref("FileBlock"), ref("ToolUseBlock")}},
		message("UserMessage", "user", required("content", textOrContent), optional("meta", ref("MessageMeta"))),
		message("AssistantMessage", "assistant", required("content", content), optional("provider", text), optional("model", text),
			optional("stopReason", ref("StopReason")), required("usage", ref("Usage")), optional("partial", yes{}), optional("errorMessage", text)),
		message("ToolResultMessage", "tool_result", optional("toolCallId", text), optional("toolName", text), required("content", content),
			required("isError", boolean), optional("details", unknown), optional("process", unknown), optional("usage", ref("Usage"))),
		message("InternalMessage", "internal", required("content", textOrContent)),
		{kind: alias, name: "Message", doc: "One message. A user or internal message of one plain text has a string as content.",
			is: union{ref("UserMessage"), ref("AssistantMessage"), ref("ToolResultMessage"), ref("InternalMessage")}},
		{kind: alias, name: "Base64", doc: "Bytes in standard base64 with padding.", is: text, file: "encoding"},
	}
	for _, d := range decls {
		if d.file == "" {
			d.file = "message"
		}
		if err := m.add(d); err != nil {
			return err
		}
	}
	return nil
}

// events declares an interface for each type of event, and their unions, from
// [protocol.Event.AppendLine].
func events(s *source, m *module) error {
	base := []field{required("seq", ref("Seq")), required("sessionId", ref("SessionID")), required("clientId", ref("ClientID")),
		{name: "ts", doc: "Unix milliseconds.", typ: long}}
	bases := []*decl{
		{name: "EventBase", doc: "What every event has.", fields: base},
		{name: "PersistentBase", doc: "What every event of the log has. A parentId of null is the beginning of a path.", extends: []string{"EventBase"},
			fields: []field{required("id", ref("EventID")), required("parentId", orNull(ref("EventID"))), optional("cause", ref("Cause")),
				{name: "prev", doc: "The seq of the event before it in the log.", typ: count, optional: true},
				{name: "crc", doc: "The checksum of the line, eight hexadecimal digits.", typ: text, optional: true}}},
		{name: "ControlBase", doc: "What every control event has: its parentId is the leaf that it saw, and it is never a leaf.", extends: []string{"PersistentBase"},
			fields: []field{required("control", yes{})}},
		{name: "TransientBase", doc: "What every event has that is sent and never stored.", extends: []string{"EventBase"}, fields: []field{optional("turnId", ref("TurnID"))}},
	}
	for _, d := range bases {
		d.file = "event"
		if err := m.add(d); err != nil {
			return err
		}
	}
	unions := map[string]union{}
	for _, name := range s.order {
		constant, ok := s.returns[name+".EventType"]
		if !ok || name == "Unknown" {
			continue
		}
		wire, ok := s.constant("EventType", constant)
		class := s.returns[name+".class"]
		over := map[string]string{"Conversation": "PersistentBase", "Control": "ControlBase", "Transient": "TransientBase"}[class]
		if !ok || over == "" {
			return fmt.Errorf("%s: its type or class is not known", name)
		}
		d := &decl{name: eventName(name), file: "event", doc: "The " + wire + " event.", extends: []string{over, tsName(name)},
			fields: []field{required("type", lit(wire))}}
		if err := m.add(d); err != nil {
			return err
		}
		unions[class] = append(unions[class], ref(d.name))
	}
	for _, u := range []*decl{
		{name: "ConversationEvent", doc: "Events that hang on their parent and can be the leaf.", is: unions["Conversation"]},
		{name: "ControlEvent", doc: "Events of the log that are never a leaf.", is: unions["Control"]},
		{name: "PersistentEvent", doc: "Events of the log.", is: union{ref("ConversationEvent"), ref("ControlEvent")}},
		{name: "TransientEvent", doc: "Events that are sent and never stored.", is: unions["Transient"]},
		{name: "SessionEvent", doc: "An event of a session. A later host may send types that are not listed: one without id is transient, one with control: true a control event, any other a conversation event.",
			is: union{ref("PersistentEvent"), ref("TransientEvent")}},
	} {
		u.kind, u.file = alias, "event"
		if err := m.add(u); err != nil {
			return err
		}
	}
	return nil
}

// eventName is the name of the interface of an event, from that of its body.
func eventName(body string) string { return strings.TrimSuffix(body, "Body") + "Event" }

// frames returns the frames and the messages of the handshake their types.
func frames(s *source, m *module) error {
	var all union
	for _, name := range s.order {
		if wire, ok := s.returns[name+".FrameName"]; ok {
			d := m.by[name]
			d.fields = append([]field{required("type", lit(wire))}, d.fields...)
			all = append(all, ref(name))
		}
	}
	if err := m.add(&decl{kind: alias, name: "Frame", file: "frame", doc: "What a host sends unasked.", is: all}); err != nil {
		return err
	}
	var names union
	for _, h := range handshake() {
		d := &decl{name: h.name + "Message", file: "connect", doc: "The " + h.wire + " message of the handshake.", extends: []string{h.name},
			fields: []field{required("type", lit(h.wire))}}
		if err := m.add(d); err != nil {
			return err
		}
		names = append(names, ref(d.name))
	}
	return m.add(&decl{kind: alias, name: "HandshakeMessage", file: "connect",
		doc: "The messages of the handshake in their order; the client's are hello and connect. A refusal is an ErrorMessage.", is: names})
}

// handshakeMessage is a message of the handshake: its Go type and its type on the
// wire.
type handshakeMessage struct{ name, wire string }

func handshake() []handshakeMessage {
	return []handshakeMessage{{"Hello", "hello"}, {"Challenge", "challenge"}, {"Prove", "connect"}, {"Connected", "connected"}}
}
