package protocol

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// slowBlock and slowMessage write as encoding/json does.
func slowBlock(b Block) (json.RawMessage, error) {
	j := blockJSON{Type: b.Type, Provider: b.Provider}
	switch b.Type {
	case BlockText:
		j.Text, j.Blob = &b.Text, b.Blob
	case BlockThinking:
		j.Thinking, j.Signature, j.Redacted, j.Blob = &b.Thinking, b.Signature, b.Redacted, b.Blob
	case BlockImage:
		j.MediaType, j.Blob = b.MediaType, b.Blob
	case BlockFile:
		j.Name, j.MediaType, j.Blob = b.Name, b.MediaType, b.Blob
	case BlockToolUse:
		j.ID, j.Name, j.Blob, j.Input = b.ID, b.Name, b.Blob, b.Input
		if len(j.Input) == 0 {
			j.Input = json.RawMessage("{}")
		}
	}
	return marshal(j)
}

func slowMessage(m Message) ([]byte, error) {
	j := messageJSON{Role: m.Role}
	list := []json.RawMessage{}
	for _, b := range m.Content {
		raw, err := slowBlock(b)
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
	}
	var err error
	if len(m.Content) == 1 && m.Content[0].Type == BlockText && m.Content[0].Provider == nil && m.Content[0].Blob == "" && (m.Role == RoleUser || m.Role == RoleInternal) {
		j.Content, err = marshal(m.Content[0].Text)
	} else {
		j.Content, err = marshal(list)
	}
	if err != nil {
		return nil, err
	}
	switch m.Role {
	case RoleUser:
		j.Meta = m.Meta
	case RoleAssistant:
		j.Provider, j.Model, j.StopReason, j.Usage = m.Provider, m.Model, m.StopReason, m.Usage
		j.Partial, j.ErrorMessage = m.Partial, m.ErrorMessage
		if j.Usage == nil {
			j.Usage = &Usage{}
		}
	case RoleToolResult:
		j.ToolCallID, j.ToolName, j.IsError, j.Details, j.Process = m.ToolCallID, m.ToolName, &m.IsError, m.Details, m.Process
		if m.Usage != nil { // the last field
			raw, err := marshal(j)
			usage, uerr := marshal(m.Usage)
			return append(append(append(raw[:len(raw)-1], `,"usage":`...), usage...), '}'), cmp.Or(err, uerr)
		}
	}
	return marshal(j)
}

// awkward has each character that JSON writes in its own way.
const awkward = "\"q\" \\ a\nb\tc\rd\be\ff\x00\x1f\x7f <b>&</b> é😀\u2028\u2029\ufffd broken \xff\xc3 \xe2\x80"

func drawText(t *rapid.T, label string) string {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "plain", awkward}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, label)
}

func drawJSON(t *rapid.T, label string) json.RawMessage {
	return json.RawMessage(rapid.SampledFrom([]string{"{}", "{\"a\": [1, 2.50, \"x\u2028 <\"], \"b\":null}",
		"\n{ \"deep\" : {\"x\":true} }\n", `[]`, `"s"`}).Draw(t, label))
}

func drawMessage(t *rapid.T) Message {
	block := rapid.Custom(func(t *rapid.T) Block {
		b := Block{Type: rapid.SampledFrom([]BlockType{BlockText, BlockThinking, BlockImage, BlockFile, BlockToolUse}).Draw(t, "type"),
			Text: drawText(t, "text"), Thinking: drawText(t, "thinking"), Signature: drawText(t, "signature"), Redacted: rapid.Bool().Draw(t, "redacted"),
			MediaType: drawText(t, "media"), Blob: drawText(t, "blob"), ID: drawText(t, "id"), Name: drawText(t, "name")}
		if rapid.Bool().Draw(t, "has input") {
			b.Input = drawJSON(t, "input")
		}
		if rapid.Bool().Draw(t, "has provider") {
			b.Provider = &ProviderData{API: drawText(t, "api"), Model: drawText(t, "model"), Data: drawJSON(t, "data")}
		}
		return b
	})
	m := Message{Role: rapid.SampledFrom([]Role{RoleUser, RoleAssistant, RoleToolResult, RoleInternal}).Draw(t, "role"),
		Content: rapid.SliceOfN(block, 0, 3).Draw(t, "content"), Provider: drawText(t, "p"), Model: drawText(t, "m"),
		StopReason: StopReason(drawText(t, "stop")), Partial: rapid.Bool().Draw(t, "partial"), ErrorMessage: drawText(t, "error"),
		ToolCallID: drawText(t, "call"), ToolName: drawText(t, "tool"), IsError: rapid.Bool().Draw(t, "isError")}
	if rapid.Bool().Draw(t, "has details") {
		m.Details, m.Process = drawJSON(t, "details"), drawJSON(t, "process")
	}
	if rapid.Bool().Draw(t, "has meta") {
		m.Meta = &MessageMeta{Source: Source(drawText(t, "source")), QueueItemID: "itm_0000000000000000", Channel: drawText(t, "channel")}
	}
	if rapid.Bool().Draw(t, "has usage") {
		m.Usage = &Usage{InputTokens: rapid.Int().Draw(t, "in"), ReasoningTokens: rapid.IntRange(0, 3).Draw(t, "r"),
			CostUSD: rapid.SampledFrom([]float64{0, 0.1, 1e-9, 123456789.5, 1e22}).Draw(t, "cost")}
	}
	return m
}

func TestMessagesAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		want, err := slowMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.MarshalJSON()
		got, want = escapeSeparators(got, 0), escapeSeparators(want, 0)
		if err != nil || string(got) != string(want) {
			t.Fatalf("got  %s (%v)\nwant %s", got, err, want)
		}
	})
}

func TestWhatIsNoJSONIsNotWritten(t *testing.T) {
	for _, m := range []Message{
		{Role: RoleAssistant, Content: []Block{ToolUse("c", "Read", json.RawMessage(`{"path":`))}},
		{Role: RoleToolResult, Details: json.RawMessage(`{]`)},
		{Role: "system"},
		{Role: RoleUser, Content: []Block{{Type: "video"}}},
	} {
		if got, err := m.MarshalJSON(); err == nil {
			t.Errorf("%+v was written as %s", m, got)
		}
	}
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
