// Package conversation draws conversations for property tests: any messages that
// keep the one rule of a request, that results stand directly after the message
// with their calls. It is apart from modeltest because it links a test library.
package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Draw draws a conversation, in parts made by the model of info and in parts by
// others, with all kinds of blocks and all kinds of bad ones.
func Draw(t *rapid.T, info model.Info) []protocol.Message {
	var out []protocol.Message
	for i := range rapid.IntRange(1, 8).Draw(t, "messages") {
		switch rapid.IntRange(0, 3).Draw(t, "role") {
		case 0, 1:
			out = append(out, protocol.Message{Role: protocol.RoleUser, Content: content(t, "user")})
		case 2:
			out = append(out, assistant(t, info, i)...)
		case 3:
			out = append(out, protocol.Message{Role: protocol.RoleInternal, Content: content(t, "internal")})
		}
	}
	return append(out, protocol.Message{Role: protocol.RoleUser, Content: content(t, "last")})
}

// assistant draws a message with its results.
func assistant(t *rapid.T, info model.Info, number int) []protocol.Message {
	own := rapid.Bool().Draw(t, "own")
	m := protocol.Message{Role: protocol.RoleAssistant, Provider: "elsewhere", Model: "other", Partial: rapid.Bool().Draw(t, "partial")}
	if own {
		m.Provider, m.Model = info.Provider, info.ID
	}
	var results []protocol.Message
	for k := range rapid.IntRange(0, 5).Draw(t, "blocks") {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			m.Content = append(m.Content, signed(t, info, own, protocol.Text(text(t))))
		case 1, 2:
			m.Content = append(m.Content, signed(t, info, own, thinking(t, info, own)))
		case 3, 4:
			id := callID(t, number, k)
			names, inputs := []string{"Read"}, []string{`{}`, `{"path":"a"}`, ``, `[1]`, `null`, `{"a":`}
			if !own || info.API != model.APIGoogle { // whose own calls are signed as they are
				names = append(names, "functions.Read:0", "default_api.Read", "", "9 to 5", "lies: ä", strings.Repeat("long", 50))
				inputs = append(inputs, `{"a":"\ud83d"}`, `{"a":"\\\ude00\ud83d\ude00"}`, "{\"a\":\"\xff\"}")
			}
			name, input := rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom(inputs).Draw(t, "input")
			m.Content = append(m.Content, signed(t, info, own, protocol.ToolUse(id, name, json.RawMessage(input))))
			results = append(results, protocol.Message{
				Role: protocol.RoleToolResult, ToolCallID: id, ToolName: name,
				Content: content(t, "result"), IsError: rapid.Bool().Draw(t, "isError"),
			})
		}
	}
	if own && info.API == model.APIResponses {
		lost := rapid.SliceOfN(rapid.Bool(), len(m.Content), len(m.Content)).Draw(t, "lost")
		setItems(m.Content, info, number, lost)
	}
	return append([]protocol.Message{m}, results...)
}

// signed signs a block as Gemini does, if info is one of its models and made it.
func signed(t *rapid.T, info model.Info, own bool, b protocol.Block) protocol.Block {
	if !own || info.API != model.APIGoogle || !rapid.Bool().Draw(t, "signed") {
		return b
	}
	data := model.GoogleData{ThoughtSignature: modeltest.Sign(info.ID, b.Text+b.Thinking)}
	if b.Type == protocol.BlockToolUse {
		var object map[string]any
		if json.Unmarshal(b.Input, &object) != nil || object == nil {
			return b // the vendor's calls have an object
		}
		data = model.GoogleData{ThoughtSignature: modeltest.SignCall(info.ID, b.Name, b.Input)}
		if !modeltest.PlainCalls(info.ID) {
			data.CallID = "id/" + b.ID
		}
	}
	b.Provider = data.Block(info)
	return b
}

// setItems returns blocks the provider data that the adapter of the Responses API
// gives them, as items of answer number; those that are lost get none.
func setItems(content []protocol.Block, info model.Info, number int, lost []bool) {
	held, last := 0, "" // reasoning items directly before, and the id of the last
	for k := range content {
		b := &content[k]
		var data any
		switch {
		case b.Type == protocol.BlockThinking:
			held++
			id := fmt.Sprintf("rs_%06d_%d", number, k)
			last = id
			data = map[string]any{"id": id, "encrypted_content": modeltest.Seal(info.ID, id), "summary": []string{b.Thinking}}
		default:
			id := fmt.Sprintf("msg_%06d_%d", number, k)
			if b.Type == protocol.BlockToolUse {
				id = fmt.Sprintf("fc_%06d_%d", number, k)
			}
			if held > 0 {
				id += fmt.Sprintf("_r%d", k-1)
			}
			data = map[string]any{"id": id, "after": held, "follows": last}
			held, last = 0, ""
		}
		if k < len(lost) && lost[k] {
			continue
		}
		raw, err := json.Marshal(data)
		if err != nil {
			continue // of strings and numbers it cannot
		}
		b.Provider = &protocol.ProviderData{API: string(info.API), Model: info.ID, Data: raw}
	}
}

func thinking(t *rapid.T, info model.Info, own bool) protocol.Block {
	b := protocol.Block{Type: protocol.BlockThinking, Thinking: text(t)}
	switch rapid.IntRange(0, 3).Draw(t, "thinking") {
	case 0: // unsigned
	case 1:
		b.Signature = "foreign"
		if own {
			b.Signature = modeltest.Sign(info.ID, b.Thinking)
		}
	case 2:
		b.Redacted, b.Thinking = true, ""
		b.Provider = &protocol.ProviderData{API: string(info.API), Model: info.ID, Data: json.RawMessage(`"ciphertext"`)}
	case 3:
		b.Signature = "foreign"
		b.Provider = &protocol.ProviderData{API: "another-api", Data: json.RawMessage(`{}`)}
	}
	return b
}

// callID draws an id: good, too long, with characters that no API takes, or one
// that other messages use too.
func callID(t *rapid.T, number, k int) string {
	base := fmt.Sprintf("call_%d_%d", number, k)
	switch rapid.IntRange(0, 4).Draw(t, "id") {
	case 0:
		return base + "|fc_68a1+/==äöü"
	case 1:
		return base + "_0123456789012345678901234567890123456789012345678901234567890123456789"
	case 2:
		return fmt.Sprintf("same_%d", k)
	case 3:
		return fmt.Sprintf("same %d", k)
	}
	return base
}

func content(t *rapid.T, name string) []protocol.Block {
	var out []protocol.Block
	for range rapid.IntRange(0, 3).Draw(t, name) {
		switch rapid.IntRange(0, 4).Draw(t, "block") {
		case 0:
			out = append(out, protocol.Block{Type: "hologram"})
		case 1:
			media := rapid.SampledFrom([]string{"image/png", "image/jpeg", "image/tiff"}).Draw(t, "image")
			out = append(out, protocol.Block{Type: protocol.BlockImage, MediaType: media, Blob: blob(t)})
		case 2:
			media := rapid.SampledFrom([]string{"text/plain", "application/pdf", "application/zip"}).Draw(t, "file")
			out = append(out, protocol.Block{Type: protocol.BlockFile, Name: "n", MediaType: media, Blob: blob(t)})
		default:
			out = append(out, protocol.Text(text(t)))
		}
	}
	return out
}

func text(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", " \n", "hello", "<b> & \u2028 \x00", "ende äöü"}).Draw(t, "text")
}

func blob(t *rapid.T) string {
	return rapid.SampledFrom([]string{"png", "gif", "text", "empty", "lost"}).Draw(t, "blob")
}

// Fixed is one request with all kinds of blocks, for golden files.
func Fixed(info model.Info) model.Request {
	thought := protocol.Block{Type: protocol.BlockThinking, Thinking: "hm", Signature: modeltest.Sign(info.ID, "hm")}
	image := protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: "png"}
	own := []protocol.Block{
		thought, protocol.Text("I look."),
		protocol.ToolUse("c1", "Read", json.RawMessage(`{"path":"b","a":"<"}`)), protocol.ToolUse("c|2", "Bash", json.RawMessage(`{"command":"ls"}`)),
	}
	if info.API == model.APIResponses {
		setItems(own, info, 1, nil)
	}
	return model.Request{
		Kind: model.KindStep, System: "You help.", Thinking: model.ThinkingMedium, SessionID: "ses_0", Blob: Blob,
		Tools: []model.ToolSpec{
			{Name: "Bash", Description: "Runs a <command>.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"cwd":{"type":"string"}},"required":["command"]}`)},
			{Name: "Read", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		},
		Messages: []protocol.Message{
			{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("look at <this> & that"), image}},
			{Role: protocol.RoleAssistant, Provider: info.Provider, Model: info.ID, Content: own},
			{Role: protocol.RoleToolResult, ToolCallID: "c1", Content: []protocol.Block{protocol.Text("one\ttab"), image}},
			protocol.ToolError("c|2", "Bash", "no such file"),
			protocol.UserText("go on"),
			{Role: protocol.RoleAssistant, Provider: "elsewhere", Model: "other", Content: []protocol.Block{thought, protocol.Text("Done.")}},
			{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockFile, Name: "n.txt", MediaType: "text/plain", Blob: "text"}}},
		},
	}
}

// Blob reads the payloads that drawn conversations name. Some are lost.
func Blob(_ context.Context, sha string) ([]byte, error) {
	switch sha {
	case "png":
		return []byte("\x89PNG\r\n\x1a\n...."), nil
	case "gif":
		return []byte("GIF89a...."), nil
	case "text":
		return []byte("a text\xff"), nil
	case "empty":
		return nil, nil
	}
	return nil, errors.New("lost")
}
