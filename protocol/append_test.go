package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// awkward has each character that JSON writes in its own way.
const awkward = "\"q\" \\ a\nb\tc\rd\be\ff\x00\x1f\x7f <b>&</b> é😀\u2028\u2029\ufffd broken \xff\xc3 \xe2\x80"

func anyMessage() *rapid.Generator[Message] {
	return rapid.Custom(func(t *rapid.T) Message {
		text := rapid.OneOf(rapid.SampledFrom([]string{"", "plain", awkward}), rapid.String())
		raw := rapid.SampledFrom([]string{"", "{}", ` { "a" : [ 1.50 , "<` + "\u2028" + `" ] } `, "null", `{"a":`})
		m := Message{
			Role:     rapid.SampledFrom([]Role{RoleUser, RoleAssistant, RoleToolResult, RoleInternal, "other"}).Draw(t, "role"),
			Provider: text.Draw(t, "provider"), Model: text.Draw(t, "model"), ErrorMessage: text.Draw(t, "error"),
			StopReason: rapid.SampledFrom([]StopReason{"", StopEndTurn, StopToolUse}).Draw(t, "stop"),
			ToolCallID: text.Draw(t, "call"), ToolName: text.Draw(t, "tool"),
			IsError: rapid.Bool().Draw(t, "isError"), Partial: rapid.Bool().Draw(t, "partial"),
			Details: json.RawMessage(raw.Draw(t, "details")), Process: json.RawMessage(raw.Draw(t, "process")),
		}
		if rapid.Bool().Draw(t, "has usage") {
			n := rapid.IntRange(0, 1_000_000)
			m.Usage = &Usage{InputTokens: n.Draw(t, "in"), OutputTokens: n.Draw(t, "out"), CacheReadTokens: n.Draw(t, "read"),
				CacheWriteTokens: n.Draw(t, "written"), ReasoningTokens: n.Draw(t, "thought"),
				CostUSD: rapid.SampledFrom([]float64{0, 0.25, 1e-9, 12.000001, 1e21}).Draw(t, "cost")}
		}
		if rapid.IntRange(0, 9).Draw(t, "has meta") == 0 {
			m.Meta = &MessageMeta{Source: SourceSteer}
		}
		for range rapid.IntRange(0, 3).Draw(t, "blocks") {
			b := Block{Type: rapid.SampledFrom([]BlockType{BlockText, BlockText, BlockToolUse, BlockToolUse, BlockThinking, BlockImage}).Draw(t, "type"),
				Text: text.Draw(t, "text"), ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Thinking: text.Draw(t, "thinking"),
				Input: json.RawMessage(raw.Draw(t, "input"))}
			if rapid.IntRange(0, 9).Draw(t, "has data") == 0 {
				b.Provider = &ProviderData{API: "a", Data: json.RawMessage(`{}`)}
			}
			m.Content = append(m.Content, b)
		}
		return m
	})
}

func TestMessageEventsHaveTheBytesThatMarshalWrites(t *testing.T) {
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage().Draw(t, "message")
		fields, err := marshal(&MessageBody{Message: m})
		got, ok := appendMessageBody([]byte("x"), &m)
		if !ok {
			return // left to marshal
		}
		quick++
		if err != nil {
			t.Fatalf("marshal fails (%v), but %s was written", err, got)
		}
		want := append([]byte("x,"), fields[1:len(fields)-1]...)
		if got, want = escapeSeparators(got, 0), escapeSeparators(want, 0); !bytes.Equal(got, want) {
			t.Fatalf("written\n%s\nwant\n%s", got, want)
		}
	})
	if quick == 0 {
		t.Error("every message was left to marshal")
	}
}

func TestUsualMessagesAreNotLeftToMarshal(t *testing.T) {
	for _, m := range []Message{
		UserText("hello"),
		{Role: RoleAssistant, Content: []Block{Text("a"), ToolUse("c", "Read", json.RawMessage(`{"path":"x"}`))}, Usage: &Usage{CostUSD: 0.1}},
		{Role: RoleToolResult, ToolCallID: "c", ToolName: "Read", Content: []Block{Text("out")}, Details: json.RawMessage(`{"files":[]}`)},
	} {
		if _, ok := appendMessageBody(nil, &m); !ok {
			t.Errorf("%+v was left to marshal", m)
		}
	}
}

func TestStringsAreQuotedAsMarshalQuotesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.Just(awkward), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		want, err := marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendQuoted(nil, s); !bytes.Equal(got, want) {
			t.Fatalf("%q is written %s, want %s", s, got, want)
		}
	})
}

func BenchmarkAppendLineOfAResult(b *testing.B) {
	ev := NewEvent(&MessageBody{Message: Message{Role: RoleToolResult, ToolCallID: "call_1", ToolName: "Read",
		Content: []Block{Text(strings.Repeat("\tif err := read(\"name\"); err != nil {\n", 27))}}})
	ev.ID, ev.Seq, ev.SessionID, ev.ClientID = "evt_0000000000000000", 1, "ses_x", "host"
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		var err error
		if buf, err = ev.AppendLine(buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
