package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"scorel/internal/model"
	"scorel/protocol"
)

// awkward are texts in which each character is one that JSON writes in its own way.
func awkward() []string {
	return []string{"", "plain", "\"quoted\" \\ back", "a\nb\tc\rd\be\ff\x00\x1f\x7f", "<b> & </b>", "é😀\u2028\u2029\ufffd",
		"broken \xff\xc3 bytes \xe2\x80", "</system-reminder>"}
}

func TestBodyHasTheBytesThatTheSDKWrites(t *testing.T) {
	var messages []protocol.Message
	for i, text := range awkward() {
		id := "call_" + string(rune('a'+i))
		use := protocol.ToolUse(id, "Read", json.RawMessage(` {"path" : "<a>&\u2028", "n": 1.50} `))
		result := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, ToolName: "Read", Content: []protocol.Block{protocol.Text(text + "."), protocol.Text("more")}}
		result.IsError = i%2 == 0
		messages = append(messages, protocol.UserText("ask "+text),
			protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("say " + text), use}}, result)
	}
	for _, info := range []model.Info{{ID: "m", MaxTokens: 1000}, {ID: "m", MaxTokens: 1000, Cache: true}} {
		m := &Model{info: info}
		p, _, err := m.params(t.Context(), model.Request{System: "be <brief>", Messages: messages,
			Tools: []model.ToolSpec{{Name: "Read", Description: "reads", Schema: json.RawMessage(`{"type":"object"}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		ours, err := body(p)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(ours, theirs) {
			t.Errorf("the body is\n%s\nand by the SDK\n%s", ours, theirs)
		}
	}
}

func TestStringsAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	for _, text := range append(awkward(), strings.Join(awkward(), "")) {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, text); !bytes.Equal(got, want) {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

func FuzzString(f *testing.F) {
	for _, text := range awkward() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := json.Marshal(text)
		if got := appendString(nil, text); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	p := sdk.MessageNewParams{Model: "m"}
	for range 1000 {
		p.Messages = append(p.Messages, sdk.NewUserMessage(sdk.NewTextBlock(strings.Repeat("a line of \"text\"\n", 50))))
	}
	b.ReportAllocs()
	for b.Loop() {
		data, err := body(p)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
	}
}
