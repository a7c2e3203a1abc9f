package model

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"scorel/protocol"
)

// Texts that stand for what a model cannot be sent.
const (
	noteEmpty    = "(empty)"
	noteNoOutput = "(no output)"
	noteStart    = "(The conversation starts with what the assistant said.)"
	noteContinue = "(Continue.)"
)

// Fit makes a conversation sendable to the model that info describes, whichever
// models made it. Its input is paired: each result is after the message with
// its call, before any other message. It is pure, changes nothing in its input,
// and the same input gives the same output; a conversation that only grew keeps
// the output for its old part, except for a last message that the new one joins.
//
//   - Internal messages and unknown blocks go, and so do empty texts. A user
//     message or result that is empty then says so; an assistant message goes.
//   - Thinking goes back only to the model that made it: signed under Anthropic's
//     and Google's API, with its encrypted content under Responses, under Chat
//     Completions where the server wants it. Other thinking goes; as text the next
//     model would take it for something that was said.
//   - Provider data of texts and calls stays only where an API needs it (Responses
//     pairs them with their thinking, Google signs them), and only for the model that
//     made them.
//   - Ids of calls are rewritten to what the API takes and made unique, in the
//     result as in the call.
//   - Names of tools keep to what the APIs take: a model may call a tool that never
//     was, by any name, and a later request is refused for it as a whole. The input
//     of a call is text that every JSON parser reads, see [CallEnd].
//   - Images and files that the model cannot read become a note. Text files stay
//     for the adapter to put in; sizes are the adapter's to check.
//   - Where user and assistant must alternate, neighbours of one role are joined,
//     the first message is a user's, and the last is not the assistant's.
func Fit(messages []protocol.Message, info Info) []protocol.Message {
	f := fitter{info: info, ids: newIDs(info.API)}
	out := make([]protocol.Message, 0, len(messages))
	for _, m := range messages {
		m, ok := f.message(m)
		if !ok {
			continue
		}
		if n := len(out); n > 0 && f.alternate() && m.Role != protocol.RoleToolResult && out[n-1].Role == m.Role {
			out[n-1].Content = joined(out[n-1].Content, m.Content)
			continue
		}
		out = append(out, m)
	}
	if !f.alternate() || len(out) == 0 {
		return out
	}
	if out[0].Role == protocol.RoleAssistant {
		out = append([]protocol.Message{protocol.UserText(noteStart)}, out...)
	}
	if out[len(out)-1].Role == protocol.RoleAssistant {
		out = append(out, protocol.UserText(noteContinue))
	}
	return out
}

// Alternates reports whether user and assistant messages must take turns in
// requests to the model.
func (i Info) Alternates() bool { return i.API.format().alternate || i.Compat.Alternate }

type fitter struct {
	info Info
	ids  *ids
}

func (f *fitter) alternate() bool { return f.info.Alternates() }

func (f *fitter) message(m protocol.Message) (protocol.Message, bool) {
	switch m.Role {
	case protocol.RoleUser:
		f.ids.close()
		m.Content = f.blocks(m)
		if len(m.Content) == 0 {
			m.Content = []protocol.Block{protocol.Text(noteEmpty)}
		}
		return m, true
	case protocol.RoleAssistant:
		f.ids.close()
		m.Content = trimThinking(f.blocks(m))
		return m, len(m.Content) > 0
	case protocol.RoleToolResult:
		id, ok := f.ids.result(m.ToolCallID)
		if !ok {
			return m, false
		}
		m.ToolCallID = id
		m.Content = f.blocks(m)
		if len(m.Content) == 0 {
			m.Content = []protocol.Block{protocol.Text(noteNoOutput)}
		}
		return m, true
	}
	return m, false
}

// trimThinking takes away thinking that nothing follows: it is refused as the last
// block of a message, and so as the only one.
func trimThinking(content []protocol.Block) []protocol.Block {
	n := len(content)
	for n > 0 && content[n-1].Type == protocol.BlockThinking {
		n--
	}
	return content[:n]
}

func (f *fitter) blocks(m protocol.Message) []protocol.Block {
	out := make([]protocol.Block, 0, len(m.Content))
	for _, b := range m.Content {
		switch b.Type {
		case protocol.BlockText:
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
			b = protocol.Block{Type: b.Type, Text: b.Text, Provider: f.providerData(m, b)}
		case protocol.BlockThinking:
			if m.Role != protocol.RoleAssistant || !f.keepThinking(m, b) {
				continue
			}
		case protocol.BlockToolUse:
			if m.Role != protocol.RoleAssistant {
				continue
			}
			own := f.providerData(m, b)
			name := b.Name
			if own == nil || f.info.API != APIGoogle { // what is signed goes back as it came
				name = toolName(name, f.info.API)
			}
			b = protocol.ToolUse(f.ids.call(b.ID), name, object(b.Input))
			b.Provider = own
		case protocol.BlockImage:
			if m.Role == protocol.RoleAssistant || !f.info.Images || !imageType(b.MediaType) {
				b = protocol.Text(imageNote(b))
			}
		case protocol.BlockFile:
			if m.Role == protocol.RoleAssistant || !TextType(b.MediaType) && !(f.info.PDF && b.MediaType == "application/pdf") {
				b = protocol.Text(fileNote(b))
			}
		default:
			continue
		}
		out = append(out, b)
	}
	return out
}

// own reports whether the block was made by the model, through the same API.
func (f *fitter) own(m protocol.Message, b protocol.Block) bool {
	if m.Role != protocol.RoleAssistant || m.Provider != f.info.Provider || m.Model != f.info.ID {
		return false
	}
	p := b.Provider
	return p == nil || p.API == string(f.info.API) && (p.Model == "" || p.Model == f.info.ID)
}

// providerData returns what a text or call keeps of its provider's data.
func (f *fitter) providerData(m protocol.Message, b protocol.Block) *protocol.ProviderData {
	switch f.info.API {
	case APIResponses:
		if f.own(m, b) {
			return b.Provider
		}
	case APIGoogle:
		if f.own(m, b) && GoogleDataOf(b) != (GoogleData{}) {
			return b.Provider
		}
	}
	return nil
}

func (f *fitter) keepThinking(m protocol.Message, b protocol.Block) bool {
	if !f.own(m, b) {
		return false
	}
	switch f.info.API {
	case APIAnthropic:
		if b.Redacted {
			return b.Provider != nil && len(b.Provider.Data) > 0
		}
		return b.Signature != ""
	case APIResponses:
		return b.Provider != nil && len(b.Provider.Data) > 0
	case APIOpenAI:
		return f.info.Compat.ReasoningContent && strings.TrimSpace(b.Thinking) != ""
	case APIGoogle: // what is not signed is a summary for people
		return strings.TrimSpace(b.Thinking) != "" && GoogleDataOf(b).ThoughtSignature != ""
	}
	return b.Thinking != ""
}

// object returns input if it is a JSON object, else an empty one.
func object(input json.RawMessage) json.RawMessage {
	if !utf8.Valid(input) || bytes.Contains(input, []byte(`\u`)) { // else it is well formed
		input = json.RawMessage(wellFormed(string(input)))
	}
	if isObject(input) {
		return input
	}
	return json.RawMessage("{}")
}

func isObject(input []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) && json.Valid(input)
}

// joined is a and b in a new list, with a copied so that the caller's stays.
func joined(a, b []protocol.Block) []protocol.Block {
	return append(append(make([]protocol.Block, 0, len(a)+len(b)), a...), b...)
}

// imageType reports whether all vendors here take images of the type.
func imageType(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// TextType reports whether files of the type are sent as text.
func TextType(mediaType string) bool {
	base, _, _ := strings.Cut(mediaType, ";")
	switch base = strings.TrimSpace(base); base {
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/javascript":
		return true
	}
	return strings.HasPrefix(base, "text/")
}

func imageNote(b protocol.Block) string { return "[image " + b.MediaType + " not shown to this model]" }

func fileNote(b protocol.Block) string {
	name := b.Name
	if name == "" {
		name = "without a name"
	}
	return "[file " + name + " (" + b.MediaType + ") not shown to this model]"
}
