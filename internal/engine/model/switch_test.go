package model_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conversation"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/anthropic"
	"scorel/internal/engine/model/google"
	"scorel/internal/engine/model/openai"
	"scorel/internal/engine/model/responses"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// player is a model with the server of its vendor after it.
type player struct {
	model  model.Model
	server *modeltest.Server
}

// players returns models of all APIs, and of one API those that differ in what they
// take back.
func players(t *testing.T, s *script.Script) map[string]player {
	info := func(provider, id string) model.Info {
		return model.Info{Provider: provider, ID: id, ContextWindow: 200_000, MaxTokens: 64_000, Images: true, PDF: true,
			Thinking: []model.ThinkingLevel{model.ThinkingHigh}}
	}
	out := map[string]player{}
	add := func(name string, server *modeltest.Server, make func(http *http.Client) (model.Model, error)) {
		m, err := make(modeltest.Transport(server))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = player{m, server}
	}
	claude := info("anthropic", "claude")
	claude.Cache = true
	add("anthropic-messages", modeltest.Anthropic(modeltest.Config{Script: s, Keep: -1}), func(c *http.Client) (model.Model, error) {
		return anthropic.New(anthropic.Config{Info: claude, BaseURL: "http://a.invalid", HTTP: c})
	})
	add("openai-completions", modeltest.OpenAI(modeltest.Config{Script: s, Keep: -1}), func(c *http.Client) (model.Model, error) {
		return openai.New(openai.Config{Info: info("openai", "gpt"), BaseURL: "http://o.invalid/v1", HTTP: c})
	})
	add("openai-responses", modeltest.Responses(modeltest.Config{Script: s, Keep: -1}), func(c *http.Client) (model.Model, error) {
		return responses.New(responses.Config{Info: info("openai", "gpt"), BaseURL: "http://r.invalid/v1", HTTP: c})
	})
	deep := info("deepseek", "deep")
	deep.Compat = model.Compat{ReasoningContent: true, ThinkingFormat: "deepseek"}
	add("deepseek", modeltest.OpenAI(modeltest.Config{Script: s, Keep: -1, ReasoningContent: true}), func(c *http.Client) (model.Model, error) {
		return openai.New(openai.Config{Info: deep, BaseURL: "http://d.invalid/v1", HTTP: c})
	})
	add("google-generative-ai", modeltest.Google(modeltest.Config{Script: s, Keep: -1}), func(c *http.Client) (model.Model, error) {
		return google.New(google.Config{Info: info("google", "gemini-3-flash"), BaseURL: "http://g.invalid", HTTP: c})
	})
	add("gemma", modeltest.Google(modeltest.Config{Script: s, Keep: -1}), func(c *http.Client) (model.Model, error) {
		return google.New(google.Config{Info: info("google", "gemma-4-31b-it"), BaseURL: "http://g.invalid", HTTP: c})
	})
	add("gemini-2.5", modeltest.Google(modeltest.Config{Script: s, Keep: -1}), func(c *http.Client) (model.Model, error) {
		return google.New(google.Config{Info: info("google", "gemini-2.5-pro"), BaseURL: "http://g.invalid", HTTP: c})
	})
	return out
}

// TestSwitching lets two models take turns in one conversation, in all places: in
// front of a user's message, after results of the other, after own results whose
// turn the other began. Each vendor's judge sees what the other made: thinking,
// parallel calls with odd ids, images of the user and of results, failed calls.
func TestSwitching(t *testing.T) {
	s, err := script.Parse(strings.NewReader(`{"script":1,"chunk":5}
{"if":{"user":"^go on$"},"again":true,"do":[{"thinking":"let me see"},{"text":"I look"},{"call":"Read","id":"call|with+odd/characters=and_a_length_of_more_than_sixty_four_characters","input":{"path":"a","n":1.50}},{"call":"Read","input":{}}]}
{"if":{"result":"more"},"again":true,"do":[{"thinking":"not yet"},{"call":"Read","input":{"path":"<b>"}}]}
{"if":{"result":"."},"again":true,"do":[{"thinking":"so that is it"},{"text":"done"}]}`), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	image := protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: "png"}
	for a, first := range players(t, s) {
		for b, second := range players(t, s) {
			if a == b {
				second = first // whose server gives no id twice
			}
			t.Run(a+" and "+b, func(t *testing.T) {
				ask := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("go on"), image}}
				req := model.Request{
					System: "s", Thinking: model.ThinkingHigh, Messages: []protocol.Message{ask}, Blob: conversation.Blob,
					Tools: []model.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}},
				}
				kinds := map[protocol.StopReason]int{}
				// Who answers, and what the results of an answer say.
				for i, step := range []struct {
					by     player
					result string
				}{
					{first, "more"}, {second, "more"}, {first, "x"}, {second, "x"}, // one turn
					{second, "more"}, {second, "x"}, {first, "x"},
					{first, "x"}, {first, "x"},
					{second, "x"}, {first, "x"},
					{first, "more"}, {first, "more"}, {second, "more"}, {second, "x"}, {first, "x"},
				} {
					m := step.by.model
					answer, err := modeltest.Collect(m.Stream(t.Context(), req))
					if err != nil {
						all := step.by.server.Requests()
						t.Fatalf("answer %d, by %s: %v\n%s", i, m.Info().ID, err, all[len(all)-1].Body)
					}
					kinds[answer.Done.StopReason]++
					msg := answer.Message(m.Info())
					req.Messages = append(req.Messages, msg)
					for k, c := range msg.Calls() {
						r := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: c.ID, Content: []protocol.Block{protocol.Text(step.result), image}}
						if k == 1 {
							r = protocol.ToolError(c.ID, "Read", "no such file; "+step.result)
						}
						req.Messages = append(req.Messages, r)
					}
					if len(msg.Calls()) == 0 {
						req.Messages = append(req.Messages, ask)
					}
				}
				if kinds[protocol.StopToolUse] < 8 || kinds[protocol.StopEndTurn] < 4 {
					t.Errorf("the answers ended %v", kinds)
				}
			})
		}
	}
}
