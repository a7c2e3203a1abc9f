package anthropic_test

import (
	"io"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/anthropic"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-ant-test-0123456789"

func claude() model.Info {
	return model.Info{
		Ref: "anthropic/claude-test", Provider: "anthropic", ID: "claude-test", API: model.APIAnthropic,
		ContextWindow: 200_000, MaxTokens: 64_000, Images: true, MaxImageBytes: 5 << 20, PDF: true, Cache: true,
		Thinking: []model.ThinkingLevel{model.ThinkingMinimal, model.ThinkingLow, model.ThinkingMedium, model.ThinkingHigh},
		Price:    model.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
	}
}

// start serves a script and gives a model that calls it.
func start(t *testing.T, lines string, change ...func(*modeltest.Config, *anthropic.Config)) (*anthropic.Model, *modeltest.Server) {
	t.Helper()
	s := modeltest.Script(t, "{\"script\":1,\"chunk\":7}\n"+lines)
	sc := modeltest.Config{Script: s, Key: key, Keep: -1}
	ac := anthropic.Config{Info: claude(), Key: key, KeyName: "ANTHROPIC_API_KEY"}
	for _, f := range change {
		f(&sc, &ac)
	}
	server := modeltest.Anthropic(sc)
	ac.BaseURL = modeltest.Serve(t, server)
	ac.HTTP = modeltest.Client(t)
	m, err := anthropic.New(ac)
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

func TestStreamsThinkingTextAndParallelCalls(t *testing.T) {
	m, _ := start(t, `{"do":[{"thinking":"hm, let me see"},{"text":"I look at both <files> äöü"},{"call":"Read","id":"c1","input":{"path":"a"}},{"call":"Read","id":"c2","input":{"path":"b"}}],"usage":{"inputTokens":1000,"outputTokens":200,"cacheReadTokens":5000,"cacheWriteTokens":300,"reasoningTokens":50}}`)
	req := modeltest.Ask("hello")
	req.Thinking = model.ThinkingHigh
	a, err := modeltest.Collect(m.Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Content) != 4 || a.Content[0].Thinking != "hm, let me see" || a.Content[0].Signature == "" ||
		a.Content[1].Text != "I look at both <files> äöü" || a.Content[3].ID != "c2" || string(a.Content[3].Input) != `{"path":"b"}` {
		t.Fatalf("content %+v", a.Content)
	}
	want := protocol.Usage{InputTokens: 1000, OutputTokens: 200, CacheReadTokens: 5000, CacheWriteTokens: 300, ReasoningTokens: 50}
	want.CostUSD = (1000*3 + 200*15 + 5000*0.3 + 300*3.75) / 1e6
	if a.Done.StopReason != protocol.StopToolUse || a.Done.Usage != want {
		t.Fatalf("done %+v, want usage %+v", a.Done, want)
	}
}

func TestEventsWithoutNamesAreNoEmptySuccess(t *testing.T) {
	url := modeltest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"message_stop\"}\n\n")
	}))
	m, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: url, Key: key, HTTP: modeltest.Client(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello"))); err == nil {
		t.Fatal("it passed")
	}
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

func TestHeadersOfGatewaysAndTheUsersOwn(t *testing.T) {
	m, server := start(t, `{"do":[{"text":"hi"}]}`, func(_ *modeltest.Config, c *anthropic.Config) {
		c.Headers = map[string]string{"Anthropic-Beta": "mine", "X-Team": "a"}
	})
	req := modeltest.Ask("hello")
	req.Thinking = model.ThinkingLow
	if _, err := modeltest.Collect(m.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	h := server.Requests()[0].Header
	if h.Get("Anthropic-Beta") != "mine,interleaved-thinking-2025-05-14" || h.Get("X-Team") != "a" || h.Get("Authorization") != "Bearer "+key ||
		h.Get("X-Api-Key") != key || h.Get("Anthropic-Version") != "2023-06-01" || h.Get("Content-Type") != "application/json" {
		t.Fatal(h)
	}
}

// raw answers everything with its own text as a stream.
type raw string

func (s raw) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, string(s))
}
