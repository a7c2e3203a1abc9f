package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/model"
	"scorel/internal/model/anthropic"
	"scorel/internal/model/modeltest"
	"scorel/internal/model/openai"
	"scorel/internal/model/responses"
	"scorel/internal/model/script"
	"scorel/protocol"
)

func TestSwitchingProviderInMidSessionWorks(t *testing.T) {
	s, err := script.Parse(strings.NewReader(`{"script":1}
{"if":{"user":"."},"again":true,"do":[{"thinking":"let me see"},{"text":"I look"},{"call":"Read","id":"call|with+odd/characters=and_a_length_of_more_than_sixty_four_characters","input":{"path":"a"}},{"call":"Read","input":{}}]}
{"if":{"result":"."},"again":true,"do":[{"thinking":"so that is it"},{"text":"done"}]}`), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	levels := []model.ThinkingLevel{model.ThinkingHigh}
	claude := model.Info{Provider: "anthropic", ID: "claude", ContextWindow: 200_000, MaxTokens: 64_000, Cache: true, Thinking: levels}
	gpt := model.Info{Provider: "openai", ID: "gpt", ContextWindow: 200_000, MaxTokens: 64_000, Thinking: levels}
	deep := model.Info{Provider: "deepseek", ID: "deep", ContextWindow: 200_000, MaxTokens: 64_000, Thinking: levels,
		Compat: model.Compat{ReasoningContent: true, ThinkingFormat: "deepseek"}}
	a, err := anthropic.New(anthropic.Config{Info: claude, BaseURL: "http://a.invalid", HTTP: modeltest.Transport(modeltest.Anthropic(modeltest.Config{Script: s}))})
	if err != nil {
		t.Fatal(err)
	}
	o, err := openai.New(openai.Config{Info: gpt, BaseURL: "http://o.invalid/v1", HTTP: modeltest.Transport(modeltest.OpenAI(modeltest.Config{Script: s}))})
	if err != nil {
		t.Fatal(err)
	}
	d, err := openai.New(openai.Config{Info: deep, BaseURL: "http://d.invalid/v1", HTTP: modeltest.Transport(modeltest.OpenAI(modeltest.Config{Script: s, ReasoningContent: true}))})
	if err != nil {
		t.Fatal(err)
	}
	r, err := responses.New(responses.Config{Info: gpt, BaseURL: "http://r.invalid/v1", HTTP: modeltest.Transport(modeltest.Responses(modeltest.Config{Script: s}))})
	if err != nil {
		t.Fatal(err)
	}
	req := model.Request{
		System: "s", Thinking: model.ThinkingHigh, Messages: []protocol.Message{protocol.UserText("go")},
		Tools: []model.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
	// Each model answers before and behind results of calls that each other made.
	for i, m := range []model.Model{a, o, d, a, a, d, o, o, a, d, d, a, r, r, a, r, o, o, r, d, d, r, r, r} {
		answer, err := modeltest.Collect(m.Stream(t.Context(), req))
		if err != nil {
			t.Fatalf("answer %d, by %s: %v", i, m.Info().Provider, err)
		}
		msg := answer.Message(m.Info())
		req.Messages = append(req.Messages, msg)
		for _, c := range msg.Calls() {
			req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleToolResult, ToolCallID: c.ID, Content: []protocol.Block{protocol.Text("x")}})
		}
		if len(msg.Calls()) == 0 {
			req.Messages = append(req.Messages, protocol.UserText("go on"))
		}
	}
}
