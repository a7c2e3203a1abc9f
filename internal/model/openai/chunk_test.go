package openai

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestChunksAreReadAsTheSDKReadsThem(t *testing.T) {
	for _, text := range []string{
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a \"word\" \u00e9"},"finish_reason":null}]}`,
		`{"id":"c","choices":[{"delta":{"content":null,"reasoning_content":"hm","tool_calls":null},"finish_reason":"stop"}],"usage":null}`,
		`{"id":"c","choices":[{"delta":{"reasoning":"hm","refusal":"no"}}]}`,
		`{"id":"c","choices":[{"delta":{"reasoning_text":"hm"}}]}`,
		`{"id":"c","choices":[{"delta":{"tool_calls":[{"index":1,"id":"t","type":"function","function":{"name":"Read","arguments":"{\"a\":"}},{"index":2,"function":{"arguments":"1}"}}]}}]}`,
		`{"id":"c","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_cache_hit_tokens":3}}`,
		`{"id":"c"}`,
		`{}`,
	} {
		var ours, theirs chunk
		if err := json.Unmarshal([]byte(text), &ours); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := theirs.bySDK([]byte(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if string(ours.Usage) == "null" {
			ours.Usage = nil
		}
		if len(ours.Choices) == 0 {
			ours.Choices = nil
		}
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%s\ngives %+v\nand by the SDK %+v", text, ours, theirs)
		}
	}
}

func TestAFieldOfAnOddFormIsPassedOver(t *testing.T) {
	const text = `{"id":7,"choices":[{"delta":{"content":"text","reasoning":{"text":"hm"},"reasoning_text":"so"},"finish_reason":null}]}`
	var c chunk
	if err := json.Unmarshal([]byte(text), &c); err != nil || len(c.Choices) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if d := c.Choices[0].Delta; d.Content != "text" || d.thinking() != "so" {
		t.Errorf("%+v", d)
	}
}

func BenchmarkChunk(b *testing.B) {
	text := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"A sentence to fill. "},"finish_reason":null}]}`)
	b.ReportAllocs()
	for b.Loop() {
		var c chunk
		if err := json.Unmarshal(text, &c); err != nil {
			b.Fatal(err)
		}
	}
}
