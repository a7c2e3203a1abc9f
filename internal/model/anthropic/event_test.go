package anthropic

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

func TestEventsAreDecodedAsTheSDKDecodesThem(t *testing.T) {
	for _, text := range []string{
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"a \"word\" \u00e9\ud83d\ude00"}}`,
		`{"delta":{"thinking":"hm","type":"thinking_delta"},"index":0,"type":"content_block_delta","new_field":[1]}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"EqQB"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"page_location"}}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"Read","input":{}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`,
		`{"type":"content_block_delta","index":"1","delta":{"type":"text_delta","text":"a number as a string"}}`,
		`{"type":"message_stop"}`,
	} {
		var ours event
		var theirs sdk.MessageStreamEventUnion
		if err := json.Unmarshal([]byte(text), &ours); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal([]byte(text), &theirs); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		d := theirs.Delta
		want := event{Type: theirs.Type, Index: theirs.Index, SDK: ours.SDK,
			Delta: delta{Type: d.Type, Text: d.Text, Thinking: d.Thinking, PartialJSON: d.PartialJSON, Signature: d.Signature}}
		if ours != want {
			t.Errorf("%s\ngives %+v\nand by the SDK %+v", text, ours, want)
		}
		if ours.Type != "content_block_delta" && ours.SDK == nil {
			t.Errorf("%s lacks what the SDK knows of it", text)
		}
	}
	var e event
	if err := json.Unmarshal([]byte(`{"type":"content_block_del`), &e); err == nil {
		t.Error("half an event was decoded")
	}
}

func BenchmarkDelta(b *testing.B) {
	text := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"A sentence to fill. "}}`)
	b.ReportAllocs()
	for b.Loop() {
		var e event
		if err := json.Unmarshal(text, &e); err != nil {
			b.Fatal(err)
		}
	}
}
