package anthropic

import (
	"testing"

	"scorel/internal/engine/model/httpx"
)

// TestEventsAreReadInTheFormsThatServersSend has the vendor's events and those of
// compatible servers, which write numbers as texts, objects as texts and the reverse.
func TestEventsAreReadInTheFormsThatServersSend(t *testing.T) {
	for _, c := range []struct {
		data  string
		index httpx.Int
		want  delta
	}{
		{`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"a \"word\" \u00e9\ud83d\ude00"}}`, 2, delta{Type: "text_delta", Text: "a \"word\" é😀"}},
		{`{"delta":{"thinking":"hm","type":"thinking_delta"},"index":0,"type":"content_block_delta","new_field":[1]}`, 0, delta{Type: "thinking_delta", Thinking: "hm"}},
		{`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`, 1, delta{Type: "input_json_delta", PartialJSON: `{"path":`}},
		{`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"EqQB"}}`, 1, delta{Type: "signature_delta", Signature: "EqQB"}},
		{`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"page_location"}}}`, 1, delta{Type: "citations_delta"}},
		{`{"type":"content_block_delta","index":"1","delta":{"type":"text_delta","text":7}}`, 1, delta{Type: "text_delta", Text: "7"}},
		{`{"type":"content_block_delta","index":1.0,"delta":{"type":"input_json_delta","partial_json":{"a":1}}}`, 1, delta{Type: "input_json_delta", PartialJSON: `{"a":1}`}},
		{` { "type" : "content_block_delta" , "index" : 3 , "delta" : { "type" : "text_delta" , "text" : "]}\\\"," } }   `, 3, delta{Type: "text_delta", Text: `]}\",`}},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half a pair \ud83d"},"p":"abcdefghi"}`, 0, delta{Type: "text_delta", Text: "half a pair \ufffd"}},
		{"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"half a rune \xf0\x9f\"}}", 0, delta{Type: "text_delta", Text: "half a rune \ufffd\ufffd"}},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"","more":[{"text":"not this"}, -1.5e3]}}`, 0, delta{Type: "text_delta"}},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":null}}`, 0, delta{Type: "text_delta"}},
		{`{"type":"content_block_delta","index":0,"delta":null}`, 0, delta{}},
		{`{"type":"content_block_delta","index":4,"delta":"x"}`, 4, delta{}},
		{`{"type":"content_block_delta"}`, 0, delta{}},
		{`{"type":"content_block_delta","usage":[],"message":"x","content_block":7,"delta":{"stop_reason":"end_turn"}}`, 0, delta{StopReason: "end_turn"}},
	} {
		var e event
		if err := httpx.Decode([]byte(c.data), &e); err != nil {
			t.Errorf("%s: %v", c.data, err)
		}
		if e.Type != "content_block_delta" || e.Index != c.index || e.Delta != c.want {
			t.Errorf("%s\ngives %+v", c.data, e)
		}
	}
	for _, data := range []string{`{"type":"content_block_del`, `7`, `["content_block_delta"]`} {
		if err := httpx.Decode([]byte(data), &event{}); err == nil {
			t.Errorf("%s was read", data)
		}
	}
}

func TestCallsAreOpenedInTheFormsThatServersSend(t *testing.T) {
	for data, want := range map[string]opening{
		`{"content_block":{"type":"tool_use","id":"t","name":"Read","input":{}}}`:          {Type: "tool_use", ID: "t", Name: "Read"},
		`{"content_block":{"type":"tool_use","id":7,"name":"Read"}}`:                       {Type: "tool_use", ID: "7", Name: "Read"},
		`{"content_block":{"type":"redacted_thinking","data":"x","signature":null}}`:       {Type: "redacted_thinking", Data: "x"},
		`{"content_block":{"type":"thinking","thinking":"hm","signature":"s","text":"t"}}`: {Type: "thinking", Thinking: "hm", Signature: "s", Text: "t"},
	} {
		var e event
		if err := httpx.Decode([]byte(data), &e); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if input := string(e.Block.Input); input != "" && input != "{}" {
			t.Errorf("%s has the input %s", data, input)
		}
		if e.Block.Input = nil; e.Block.Type != want.Type || e.Block.ID != want.ID || e.Block.Name != want.Name ||
			e.Block.Data != want.Data || e.Block.Thinking != want.Thinking || e.Block.Signature != want.Signature || e.Block.Text != want.Text {
			t.Errorf("%s\ngives %+v", data, e.Block)
		}
	}
}

func TestCountsStandForThoseBeforeWhereTheyAreGiven(t *testing.T) {
	var r reader
	for _, data := range []string{
		`{"type":"message_start","message":{"usage":{"input_tokens":"7","output_tokens":1.5,"cache_creation_input_tokens":3,"cache_read_input_tokens":4}}}`,
		`{"type":"message_delta","usage":{"output_tokens":9,"cache_read_input_tokens":null,"output_tokens_details":{"thinking_tokens":2}}}`,
	} {
		var e event
		if err := httpx.Decode([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if err := r.event(&e); err != nil {
			t.Fatal(err)
		}
	}
	if u := r.usage; u.InputTokens != 7 || u.OutputTokens != 9 || u.CacheWriteTokens != 3 || u.CacheReadTokens != 4 || u.ReasoningTokens != 2 {
		t.Errorf("%+v", u)
	}
}

func BenchmarkDelta(b *testing.B) {
	text := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"A sentence to fill. "}}`)
	b.ReportAllocs()
	for b.Loop() {
		var e event
		if err := httpx.Decode(text, &e); err != nil {
			b.Fatal(err)
		}
	}
}
