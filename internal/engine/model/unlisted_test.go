package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/anthropic"
	"scorel/internal/engine/model/google"
	"scorel/internal/engine/model/openai"
	"scorel/internal/engine/model/responses"
	"scorel/protocol"
)

// recorded answers every request with one stream.
type recorded string

func (r recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(r))), Request: req}, nil
}

// proxied is how an API ends an answer of one text or one call with any reason.
type proxied struct {
	api  string
	make func(c *http.Client) (model.Model, error)
	// of makes the stream: text or the input of a call, then the reason.
	of func(text, input, reason string) string
}

func proxiedAPIs() []proxied {
	info := model.Info{Provider: "proxy", ID: "m", ContextWindow: 100_000, MaxTokens: 1000}
	return []proxied{
		{"anthropic-messages", func(c *http.Client) (model.Model, error) {
			return anthropic.New(anthropic.Config{Info: info, BaseURL: "http://a.invalid", HTTP: c})
		}, func(text, input, reason string) string {
			block := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
			delta := fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text)
			if input != "" {
				block = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"Read","input":{}}}`
				delta = fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, input)
			}
			var b strings.Builder
			for _, e := range []string{`{"type":"message_start","message":{"usage":{"input_tokens":3}}}`, block, delta, `{"type":"content_block_stop","index":0}`,
				fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":2}}`, reason), `{"type":"message_stop"}`} {
				kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
				fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, e)
			}
			return b.String()
		}},
		{"openai-completions", func(c *http.Client) (model.Model, error) {
			return openai.New(openai.Config{Info: info, BaseURL: "http://o.invalid/v1", HTTP: c})
		}, func(text, input, reason string) string {
			delta := fmt.Sprintf(`{"content":%q}`, text)
			if input != "" {
				delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"Read","arguments":%q}}]}`, input)
			}
			return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", delta, reason)
		}},
		{"openai-responses", func(c *http.Client) (model.Model, error) {
			return responses.New(responses.Config{Info: info, BaseURL: "http://r.invalid/v1", HTTP: c})
		}, func(text, input, reason string) string {
			item := fmt.Sprintf(`{"type":"message","id":"m1","status":"completed","content":[{"type":"output_text","text":%q}]}`, text)
			if input != "" {
				item = fmt.Sprintf(`{"type":"function_call","id":"f1","call_id":"c1","name":"Read","status":"completed","arguments":%q}`, input)
			}
			return fmt.Sprintf("data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":%s}\n\ndata: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":%q}}}\n\n", item, reason)
		}},
		{"google-generative-ai", func(c *http.Client) (model.Model, error) {
			return google.New(google.Config{Info: info, BaseURL: "http://g.invalid", HTTP: c})
		}, func(text, input, reason string) string {
			part := fmt.Sprintf(`{"text":%q}`, text)
			if input != "" {
				part = fmt.Sprintf(`{"functionCall":{"name":"Read","args":%s}}`, input)
			}
			return fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"parts\":[%s]},\"finishReason\":%q}]}\n\n", part, reason)
		}},
	}
}

func TestAnswersThatEndForAnUnlistedReasonCountWhereTheyAreComplete(t *testing.T) {
	for _, p := range proxiedAPIs() {
		for _, c := range []struct {
			name, text, input, reason string
			stop                      protocol.StopReason // "" for a failure that is tried again
			unlisted                  string
		}{
			{"calls", "", `{"path":"a"}`, "FUNCTION_CALL", protocol.StopToolUse, "FUNCTION_CALL"},
			{"text", "all of it", "", "finished", protocol.StopEndTurn, "finished"},
			{"the limit in other words", "half of", "", "model_length", protocol.StopMaxTokens, "model_length"},
			{"a refusal in other words", "I", "", "guardrail_intervened", protocol.StopRefusal, "guardrail_intervened"},
			{"a failure", "half of", "", "server_error", "", ""},
			{"nothing", "", "", "finished", "", ""},
			{"a hostile word", "all", "", "a\x1b[31m b\n", protocol.StopEndTurn, "a31mb"},
		} {
			t.Run(p.api+" "+c.name, func(t *testing.T) {
				m, err := p.make(&http.Client{Transport: recorded(p.of(c.text, c.input, strings.NewReplacer("\x1b", "\\u001b", "\n", "\\n").Replace(c.reason)))})
				if err != nil {
					t.Fatal(err)
				}
				var done *model.Done
				calls, failure := 0, error(nil)
				for d, err := range m.Stream(context.Background(), model.Request{Messages: []protocol.Message{protocol.UserText("hi")}}) {
					failure = err
					switch d := d.(type) {
					case model.Done:
						done = &d
					case model.BlockEnd:
						if d.Block.Type == protocol.BlockToolUse && !d.Invalid && string(d.Block.Input) == c.input {
							calls++
						}
					}
				}
				if c.stop == "" {
					var me *model.Error
					if done != nil || !errors.As(failure, &me) || me.Class != model.ClassTransient {
						t.Errorf("%+v %v", done, failure)
					}
					return
				}
				if failure != nil || done == nil || done.StopReason != c.stop || (c.input != "") != (calls == 1) {
					t.Errorf("%+v, %d calls, %v", done, calls, failure)
				} else if !strings.Contains(c.name, "hostile") && done.Unlisted != c.unlisted {
					t.Errorf("%+v", done)
				} else if strings.ContainsAny(done.Unlisted, "\x1b\n ") {
					t.Errorf("%q", done.Unlisted)
				}
			})
		}
	}
}

func TestACallThatCannotBeReadDoesNotCountBehindAnUnlistedReason(t *testing.T) {
	for _, p := range proxiedAPIs() {
		if p.api == "google-generative-ai" {
			continue // its calls are JSON already
		}
		m, err := p.make(&http.Client{Transport: recorded(p.of("", `{"path":"a`, "FUNCTION_CALL"))})
		if err != nil {
			t.Fatal(err)
		}
		var failure error
		for d, err := range m.Stream(context.Background(), model.Request{Messages: []protocol.Message{protocol.UserText("hi")}}) {
			if _, ok := d.(model.Done); ok {
				t.Errorf("%s: %+v", p.api, d)
			}
			failure = err
		}
		var me *model.Error
		if !errors.As(failure, &me) || me.Class != model.ClassTransient {
			t.Errorf("%s: %v", p.api, failure)
		}
	}
}
