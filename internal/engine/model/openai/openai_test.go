package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/openai"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-test-0123456789"

func gpt() model.Info {
	return model.Info{
		Ref: "openai/gpt-test", Provider: "openai", ID: "gpt-test", API: model.APIOpenAI,
		ContextWindow: 128_000, MaxTokens: 16_000, Images: true, MaxImageBytes: 5 << 20, PDF: true,
		Thinking: []model.ThinkingLevel{model.ThinkingLow, model.ThinkingMedium, model.ThinkingHigh},
		Price:    model.Price{Input: 2, Output: 8, CacheRead: 0.5},
	}
}

// start serves a script and gives a model that calls it.
func start(t *testing.T, lines string, change ...func(*modeltest.Config, *openai.Config)) (*openai.Model, *modeltest.Server) {
	t.Helper()
	s := modeltest.Script(t, "{\"script\":1,\"chunk\":7}\n"+lines)
	sc := modeltest.Config{Script: s, Key: key, Keep: -1}
	oc := openai.Config{Info: gpt(), Key: key, KeyName: "OPENAI_API_KEY"}
	for _, f := range change {
		f(&sc, &oc)
	}
	server := modeltest.OpenAI(sc)
	oc.BaseURL = modeltest.Serve(t, server) + "/v1"
	oc.HTTP = modeltest.Client(t)
	m, err := openai.New(oc)
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

// events answers everything with chunks made of deltas and ends as its last line
// says.
func events(deltas ...string) raw {
	var b strings.Builder
	for _, d := range deltas {
		if !strings.HasPrefix(d, "{\"id\"") && d != "[DONE]" {
			d = `{"id":"x1","choices":[{"index":0,"delta":` + d + `}]}`
		}
		b.WriteString("data: " + d + "\n\n")
	}
	return raw(b.String())
}

func finish(reason string) string {
	return `{"id":"x1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// raw answers everything with its own text as a stream.
type raw string

func (s raw) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, string(s))
}

func collect(t *testing.T, info model.Info, h http.Handler) (modeltest.Answer, error) {
	t.Helper()
	m, err := openai.New(openai.Config{Info: info, BaseURL: "http://test.invalid/v1", Key: key, HTTP: modeltest.Transport(h)})
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
}

func TestOutputLimitGivesTheCutCallAsInvalid(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"I write"},{"call":"Write","id":"c1","raw":"{\"path\":\"a\",\"content\":\"hal"}],"stop":"max_tokens"}`)
	a, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
	if err != nil {
		t.Fatal(err)
	}
	if a.Done.StopReason != protocol.StopMaxTokens || len(a.Invalid) != 1 || string(a.Content[1].Input) != "{}" {
		t.Fatalf("%+v", a)
	}
}

func TestStreamsOfCompatibleServers(t *testing.T) {
	calls := func(a modeltest.Answer) string {
		var out []string
		for _, b := range a.Content {
			if b.Type == protocol.BlockToolUse {
				out = append(out, b.ID+" "+b.Name+" "+string(b.Input))
			}
		}
		return strings.Join(out, "; ")
	}
	tests := []struct {
		name  string
		raw   raw
		calls string
		text  string
		stop  protocol.StopReason
	}{
		{"stop behind calls means calls", events(
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}]}`, finish("stop"), "[DONE]"),
			"a Read {}", "", protocol.StopToolUse},
		{"all calls numbered 0", events(
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"n\":1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"b","function":{"name":"Read","arguments":"{\"n\":2}"}}]}`, finish("tool_calls")),
			`a Read {"n":1}; b Read {"n":2}`, "", protocol.StopToolUse},
		{"mixed pieces of parallel calls", events(
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"n\""}},{"index":1,"id":"b","function":{"name":"Bash","arguments":"{"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`, finish("tool_calls")),
			`a Read {"n":1}; b Bash {}`, "", protocol.StopToolUse},
		{"id before name", events(
			`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"Read","arguments":"{}"}}]}`, finish("tool_calls")),
			`a Read {}`, "", protocol.StopToolUse},
		{"no input at all", events(
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read"}}]}`, finish("tool_calls")),
			`a Read {}`, "", protocol.StopToolUse},
		{"no id", events(
			`{"tool_calls":[{"index":0,"function":{"name":"Read","arguments":"{}"}}]}`, finish("tool_calls")),
			`made up`, "", protocol.StopToolUse},
		{"thinking as reasoning", events(`{"reasoning":"hm"}`, `{"content":"yes"}`, finish("stop")), "", "yes", protocol.StopEndTurn},
		{"a refusal", events(`{"refusal":"no"}`, finish("content_filter")), "", "no", protocol.StopRefusal},
		{"a refusal that ends as ever", events(`{"content":"well, "}`, `{"refusal":"n"}`, `{"refusal":"o"}`, finish("stop")), "", "well, no", protocol.StopRefusal},
		{"a refusal that the output limit cut", events(`{"refusal":"no"}`, finish("length")), "", "no", protocol.StopMaxTokens},
		{"an empty piece of a call", events(`{"content":"yes"}`, `{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`, finish("stop")), "", "yes", protocol.StopEndTurn},
		{"a call that the output limit cut before its name", events(`{"content":"yes"}`, `{"tool_calls":[{"index":0,"id":"a","function":{"arguments":""}}]}`, finish("length")), "", "yes", protocol.StopMaxTokens},
		{"comments and no DONE", raw(": keep\n\n" + string(events(`{"content":"yes"}`, finish("stop")))), "", "yes", protocol.StopEndTurn},
		{"no empty line at the end", raw(strings.TrimSuffix(string(events(`{"content":"yes"}`, finish("stop"))), "\n")), "", "yes", protocol.StopEndTurn},
		{"CRLF", raw(strings.ReplaceAll(string(events(`{"content":"yes"}`, finish("stop"))), "\n", "\r\n")), "", "yes", protocol.StopEndTurn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := collect(t, gpt(), tt.raw)
			if err != nil {
				t.Fatal(err)
			}
			got := calls(a)
			if tt.name == "no id" { // any id, always the same
				again, _ := collect(t, gpt(), tt.raw)
				if !strings.HasPrefix(got, "call_") || calls(again) != got {
					t.Fatal(got)
				}
				got = tt.calls
			}
			if got != tt.calls || a.Text != tt.text || a.Done.StopReason != tt.stop {
				t.Fatalf("calls %q, text %q, stop %q", got, a.Text, a.Done.StopReason)
			}
			if u := a.Done.Usage; u.InputTokens == 0 || u.CostUSD == 0 {
				t.Fatalf("no estimate where no counts came: %+v", u)
			}
		})
	}
}

func TestFinishReasonsThatAreFailures(t *testing.T) {
	for reason, class := range map[string]model.Class{"error": model.ClassTransient, "model_context_window_exceeded": model.ClassTooLong} {
		_, err := collect(t, gpt(), events(`{"content":"x"}`, finish(reason)))
		var e *model.Error
		if !errors.As(err, &e) || e.Class != class {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestCountsOfDeepSeek(t *testing.T) {
	a, err := collect(t, gpt(), events(`{"content":"x"}`, finish("stop"),
		`{"id":"x1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40}}`, "[DONE]"))
	if err != nil || a.Done.Usage.InputTokens != 40 || a.Done.Usage.CacheReadTokens != 60 || a.Done.Usage.OutputTokens != 5 {
		t.Fatalf("%+v %v", a.Done, err)
	}
}

// FuzzAnswer feeds any bytes as an answer: whatever comes, the stream keeps the
// rules of model.Model and ends.
func FuzzAnswer(f *testing.F) {
	f.Add(string(events(`{"content":"x"}`, finish("stop"), "[DONE]")))
	f.Add(string(events(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}]}`, `{"reasoning":"x"}`, finish("stop"))))
	f.Add("<html>")
	f.Add("[{\"error\":{\"message\":\"x\",\"code\":400}}]")
	f.Fuzz(func(t *testing.T, answer string) {
		if _, err := collect(t, gpt(), raw(answer)); err != nil && strings.Contains(err.Error(), "modeltest: ") {
			t.Fatal(err)
		}
	})
}

func TestACallWithoutANameIsNotLost(t *testing.T) {
	_, err := collect(t, gpt(), events(`{"content":"I look"}`, `{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"path\":\"x\"}"}}]}`, finish("tool_calls")))
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassTransient || !strings.Contains(e.Message, "a call without a name") {
		t.Errorf("%v", err)
	}
}
