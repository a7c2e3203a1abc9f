package openai

import (
	"reflect"
	"testing"

	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// TestChunksAreReadInTheFormsThatServersSend has the vendor's chunks and those of
// compatible servers, which write ids as numbers and inputs of calls as objects.
func TestChunksAreReadInTheFormsThatServersSend(t *testing.T) {
	made := func(index httpx.Int, id, name, arguments httpx.Text) piece {
		p := piece{Index: index, ID: id}
		p.Function.Name, p.Function.Arguments = name, arguments
		return p
	}
	one := func(d delta) []choice { return []choice{{Delta: d}} }
	for text, want := range map[string]chunk{
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a \"word\" \u00e9"},"finish_reason":null}]}`: {ID: "c", Choices: one(delta{Content: `a "word" é`})},
		`{"id":"c","choices":[{"delta":{"content":null,"reasoning_content":"hm","tool_calls":null},"finish_reason":"stop"}],"usage":null}`:                                            {ID: "c", Choices: []choice{{Delta: delta{ReasoningContent: "hm"}, FinishReason: "stop"}}},
		`{"id":"c","choices":[{"delta":{"reasoning":"hm","refusal":"no"}}]}`:                                                                                                          {ID: "c", Choices: one(delta{Reasoning: "hm", Refusal: "no"})},
		`{"id":"c","choices":[{"delta":{"reasoning_text":"hm"}}]}`:                                                                                                                    {ID: "c", Choices: one(delta{ReasoningText: "hm"})},
		`{"id":"c","choices":[{"delta":{"tool_calls":[{"index":1,"id":"t","type":"function","function":{"name":"Read","arguments":"{\"a\":"}},{"index":2,"function":{"arguments":"1}"}}]}}]}`: {
			ID: "c", Choices: one(delta{ToolCalls: []piece{made(1, "t", "Read", `{"a":`), made(2, "", "", "1}")}})},
		`{"id":"c","choices":[{"delta":{"tool_calls":[{"index":"1","id":7,"function":{"name":"Read","arguments":{"path":"a"}}}]}}]}`: {
			ID: "c", Choices: one(delta{ToolCalls: []piece{made(1, "7", "Read", `{"path":"a"}`)}})},
		`{"id":"c","choices":[{"delta":{"tool_calls":[{"index":null,"function":null},{"index":1.0,"function":"x"}]}}]}`: {
			ID: "c", Choices: one(delta{ToolCalls: []piece{made(0, "", "", ""), made(1, "", "", "")}})},
		`{"id":7,"choices":[{"delta":{"content":"text","reasoning":{"text":"hm"},"reasoning_text":"so"},"finish_reason":null}]}`: {
			ID: "7", Choices: one(delta{Content: "text", ReasoningText: "so"})},
		`{"id":"c","choices":[{"delta":{"content":[{"type":"text","text":"hi"}]}}]}`: {ID: "c", Choices: one(delta{Content: `[{"type":"text","text":"hi"}]`})},
		`{"id":"c","choices":[{"delta":"x","finish_reason":7}]}`:                     {ID: "c", Choices: []choice{{FinishReason: "7"}}},
		`{"id":"c","choices":{"delta":{"content":"a"}}}`:                             {ID: "c"},
		`{"id":"c","choices":"no","usage":7}`:                                        {ID: "c"},
		`{"id":"c"}`:                                                                 {ID: "c"},
		`{}`:                                                                         {},
		`null`:                                                                       {},
	} {
		var got chunk
		if err := httpx.Decode([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got.Usage != nil && *got.Usage == (counts{}) {
			got.Usage = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngives %+v\nwant  %+v", text, got, want)
		}
	}
	for _, text := range []string{`7`, `[1]`, `"x"`, `{"id":"c"`} {
		if err := httpx.Decode([]byte(text), &chunk{}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestCountsAreSplitIntoCachedAndNot(t *testing.T) {
	for text, want := range map[string]protocol.Usage{
		`{"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}}`: {
			InputTokens: 3, CacheReadTokens: 3, CacheWriteTokens: 4, OutputTokens: 2, ReasoningTokens: 1},
		`{"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_cache_hit_tokens":3}}`:              {InputTokens: 4, CacheReadTokens: 3, OutputTokens: 2},
		`{"usage":{"prompt_tokens":"7","completion_tokens":2.0,"prompt_tokens_details":null}}`:         {InputTokens: 7, OutputTokens: 2},
		`{"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":3},"total_tokens":"x"}}`: {CacheReadTokens: 3},
	} {
		var c chunk
		if err := httpx.Decode([]byte(text), &c); err != nil || c.Usage == nil || *c.Usage.usage() != want {
			t.Errorf("%s gives %+v, %v", text, c.Usage, err)
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	text := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"A sentence to fill. "},"finish_reason":null}]}`)
	b.ReportAllocs()
	for b.Loop() {
		var c chunk
		if err := httpx.Decode(text, &c); err != nil {
			b.Fatal(err)
		}
	}
}
