package anthropic

import (
	"bytes"
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
		` { "type" : "content_block_delta" , "index" : 3 , "delta" : { "type" : "text_delta" , "text" : "]}\\\"," } }   `,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half a pair \ud83d"},"p":"abcdefghi"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"","more":[{"text":"not this"}, -1.5e3]}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":null}}`,
		`{"type":"content_block_delta","index":0,"delta":null}`,
		`{"type":"content_block_delta"}`,
	} {
		var theirs sdk.MessageStreamEventUnion
		ours, err := decode([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal([]byte(text), &theirs); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		d := theirs.Delta
		want := event{Type: theirs.Type, Index: theirs.Index, SDK: ours.SDK,
			Delta: delta{Type: d.Type, Text: d.Text, Thinking: d.Thinking, PartialJSON: d.PartialJSON, Signature: d.Signature}}
		if *ours != want {
			t.Errorf("%s\ngives %+v\nand by the SDK %+v", text, *ours, want)
		}
		if ours.Type != "content_block_delta" && ours.SDK == nil {
			t.Errorf("%s lacks what the SDK knows of it", text)
		}
	}
	if _, err := decode([]byte(`{"type":"content_block_del`)); err == nil {
		t.Error("half an event was decoded")
	}
}

func TestAUsualDeltaIsNotLeftToTheSDK(t *testing.T) {
	for _, text := range []string{
		`{"type":"content_block_delta","index":12,"delta":{"type":"text_delta","text":"a \"word\"\n"}          }`,
		`{"index":0,"delta":{"partial_json":"{\"a\":[1,2]}","type":"input_json_delta"},"type":"content_block_delta"}`,
	} {
		if e, err := decode([]byte(text)); err != nil || e.SDK != nil {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
}

func FuzzDeltasAreReadInAnyForm(f *testing.F) {
	f.Add(int64(1), "a \"word\" \xff \u2028", "}", true)
	f.Add(int64(-3), `{"a":[`, `\\"`, false)
	f.Fuzz(func(t *testing.T, index int64, text, more string, indented bool) {
		data, err := json.Marshal(map[string]any{"more": []any{more, map[string]any{"delta": more}}, "type": "content_block_delta",
			"index": index, "delta": map[string]any{"type": "text_delta", "text": text, "new": more}})
		if err == nil && indented {
			var wide bytes.Buffer
			err = json.Indent(&wide, data, "\r", "\t ")
			data = wide.Bytes()
		}
		if err != nil {
			t.Fatal(err)
		}
		var e event
		if !e.usual(data) || e.Index != index || e.Delta != (delta{Type: "text_delta", Text: string([]rune(text))}) {
			t.Errorf("%s gives %+v", data, e)
		}
	})
}

func BenchmarkDelta(b *testing.B) {
	text := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"A sentence to fill. "}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
