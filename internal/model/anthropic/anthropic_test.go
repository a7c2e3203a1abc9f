package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/model"
	"scorel/internal/model/anthropic"
	"scorel/internal/model/modeltest"
	"scorel/internal/model/script"
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
	s, err := script.Parse(strings.NewReader("{\"script\":1,\"chunk\":7}\n"+lines), "test.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	sc := modeltest.Config{Script: s, Key: key, Keep: -1}
	ac := anthropic.Config{Info: claude(), Key: key, KeyName: "ANTHROPIC_API_KEY"}
	for _, f := range change {
		f(&sc, &ac)
	}
	server := modeltest.Anthropic(sc)
	ac.BaseURL = serve(t, server)
	ac.HTTP = client(t)
	m, err := anthropic.New(ac)
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web.URL
}

func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func ask(text string) model.Request {
	return model.Request{
		Kind: model.KindStep, System: "You help.", Messages: []protocol.Message{protocol.UserText(text)},
		Tools: []model.ToolSpec{
			{Name: "Bash", Description: "runs", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
			{Name: "Read", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		},
	}
}

func TestStreamsThinkingTextAndParallelCalls(t *testing.T) {
	m, _ := start(t, `{"do":[{"thinking":"hm, let me see"},{"text":"I look at both <files> äöü"},{"call":"Read","id":"c1","input":{"path":"a"}},{"call":"Read","id":"c2","input":{"path":"b"}}],"usage":{"inputTokens":1000,"outputTokens":200,"cacheReadTokens":5000,"cacheWriteTokens":300,"reasoningTokens":50}}`)
	req := ask("hello")
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

func TestEveryFailureHasItsClassAndOneSentence(t *testing.T) {
	tests := []struct {
		name  string
		line  string
		class model.Class
		retry time.Duration
		says  string
	}{
		{"rate limit", `{"do":[{"error":{"status":429,"retryAfter":7}}]}`, model.ClassTransient, 7 * time.Second, "429"},
		{"rate limit in milliseconds", `{"do":[{"error":{"status":429,"retryAfter":0.25}}]}`, model.ClassTransient, 250 * time.Millisecond, "429"},
		{"server error", `{"do":[{"error":{"status":500}}]}`, model.ClassTransient, 0, "500"},
		{"conflict", `{"do":[{"error":{"status":409}}]}`, model.ClassTransient, 0, "409"},
		{"overloaded", `{"do":[{"error":{"status":529}}]}`, model.ClassOverloaded, 0, "overloaded"},
		{"overloaded inside the stream", `{"do":[{"text":"I beg"},{"error":{"status":529}}]}`, model.ClassOverloaded, 0, "overloaded"},
		{"rate limit inside the stream", `{"do":[{"text":"I beg"},{"error":{"status":429}}]}`, model.ClassTransient, 0, "429"},
		{"server error inside the stream", `{"do":[{"text":"I beg"},{"error":{"status":500}}]}`, model.ClassTransient, 0, "500"},
		{"refused key", `{"do":[{"error":{"status":401}}]}`, model.ClassAuth, 0, "ANTHROPIC_API_KEY"},
		{"forbidden", `{"do":[{"error":{"status":403}}]}`, model.ClassAuth, 0, "ANTHROPIC_API_KEY"},
		{"prompt too long", `{"do":[{"error":{"tooLong":true}}]}`, model.ClassTooLong, 0, "too long"},
		{"request too large", `{"do":[{"error":{"status":413}}]}`, model.ClassTooLong, 0, "too long"},
		{"input and limit exceed the window", `{"do":[{"error":{"status":400,"message":"input length and max_tokens exceed context limit: 190000 + 32000 > 200000"}}]}`, model.ClassTooLong, 0, "too long"},
		{"unknown model", `{"do":[{"error":{"status":404,"message":"model: claude-test"}}]}`, model.ClassInvalid, 0, "check the model"},
		{"bad request", `{"do":[{"error":{"status":400,"message":"tools: nonsense"}}]}`, model.ClassInvalid, 0, "tools: nonsense"},
		{"redirect", `{"do":[{"error":{"status":307}}]}`, model.ClassInvalid, 0, "redirects"},
		{"connection broken", `{"do":[{"text":"half"},{"cut":true}]}`, model.ClassTransient, 0, "connection"},
		{"connection broken at once", `{"do":[{"error":{"status":0}}]}`, model.ClassTransient, 0, "connection"},
		{"clean end without the end event", `{"do":[{"text":"half"},{"cut":"clean"}]}`, model.ClassTransient, 0, "before it was complete"},
		{"clean end in the middle of a call", `{"do":[{"call":"Read","id":"c1","input":{"path":"abcdef"}},{"cut":"clean"}]}`, model.ClassTransient, 0, "before it was complete"},
		{"cut in the middle of a call", `{"do":[{"call":"Read","id":"c1","input":{"path":"abcdef"},"cut":true}]}`, model.ClassTransient, 0, "connection"},
		{"garbage", `{"do":[{"text":"half"},{"garbage":true}]}`, model.ClassTransient, 0, "not valid JSON"},
		{"HTML page as a stream", `{"do":[{"html":true}]}`, model.ClassTransient, 0, "HTML page"},
		{"no line", ``, model.ClassTransient, 0, "test.jsonl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, server := start(t, tt.line)
			_, err := modeltest.Collect(m.Stream(t.Context(), ask("hello")))
			var e *model.Error
			if !errors.As(err, &e) || e.Class != tt.class || e.RetryAfter != tt.retry || !strings.Contains(e.Message, tt.says) {
				t.Fatalf("got %v (%+v)", err, e)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, e), key[7:]) || strings.Contains(e.Message, "\n") {
				t.Fatalf("the error holds the key or several lines: %v", err)
			}
			if n := server.Count(); n != 1 {
				t.Fatalf("%d requests: it tried again", n)
			}
		})
	}
}

func TestMissingKeyIsNamed(t *testing.T) {
	m, _ := start(t, ``, func(_ *modeltest.Config, c *anthropic.Config) { c.Key = "" })
	_, err := modeltest.Collect(m.Stream(t.Context(), ask("hello")))
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassAuth || !strings.Contains(e.Message, "set ANTHROPIC_API_KEY") {
		t.Fatalf("got %v", err)
	}
}

func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Env: from-the-environment")
	m, server := start(t, `{"do":[{"text":"hi"}]}`)
	if _, err := modeltest.Collect(m.Stream(t.Context(), ask("hello"))); err != nil {
		t.Fatal(err)
	}
	r := server.Requests()[0]
	if s := fmt.Sprint(r.Header, string(r.Body)); strings.Contains(s, "from-the-environment") {
		t.Fatal(s)
	}
}

func TestHangEndsAtOnceWhenCancelled(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"one two three"},{"hang":true}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for d, err := range m.Stream(ctx, ask("hello")) {
		if _, ok := d.(model.TextDelta); ok {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Fatalf("got %v", last)
	}
}

func TestConsumerThatStopsEndsTheRequest(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"one two three"},{"hang":true}]}`)
	for range m.Stream(t.Context(), ask("hello")) {
		break
	}
	// goleak sees whether anything is left; the server's Close waits for its handler.
}

func TestKeyDoesNotFollowRedirects(t *testing.T) {
	var got http.Header
	other := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }))
	first := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+"/v1/messages", http.StatusTemporaryRedirect)
	}))
	m, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: first, Key: key, HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modeltest.Collect(m.Stream(t.Context(), ask("hello"))); err == nil || got != nil {
		t.Fatalf("error %v, the other server got %v", err, got)
	}
}

func TestErrorTextsRedactWhatTheServerRepeats(t *testing.T) {
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","message":"bad key %s and %s, also sk-proj-****abcd"}}`, r.Header.Get("X-Api-Key"), r.Header.Get("X-Team"))
	}))
	m, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: url, Key: "plainsecret42", Headers: map[string]string{"X-Team": "teamsecret42"}, HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = modeltest.Collect(m.Stream(t.Context(), ask("hello")))
	if s := fmt.Sprint(err); strings.Contains(s, "secret42") || strings.Contains(s, "abcd") || !strings.Contains(s, "bad key [key] and [header]") {
		t.Fatal(s)
	}
}

func TestLineAboveTheBoundIsAnError(t *testing.T) {
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: content_block_delta\ndata: ")
		chunk := strings.Repeat("x", 1<<20)
		for range 40 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}))
	m, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: url, Key: key, HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = modeltest.Collect(m.Stream(t.Context(), ask("hello")))
	var e *model.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "16 MiB") {
		t.Fatalf("got %v", err)
	}
}

func TestJSONDocumentInsteadOfAStreamIsItsError(t *testing.T) {
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	}))
	m, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: url, Key: key, HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = modeltest.Collect(m.Stream(t.Context(), ask("hello")))
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassOverloaded {
		t.Fatalf("got %v", err)
	}
}

func TestEventsWithoutNamesAreNoEmptySuccess(t *testing.T) {
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"message_stop\"}\n\n")
	}))
	m, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: url, Key: key, HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = modeltest.Collect(m.Stream(t.Context(), ask("hello"))); err == nil {
		t.Fatal("it passed")
	}
}

func TestOutputLimitGivesTheCutCallAsInvalid(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"I write"},{"call":"Write","id":"c1","raw":"{\"path\":\"a\",\"content\":\"hal"}],"stop":"max_tokens"}`)
	a, err := modeltest.Collect(m.Stream(t.Context(), ask("hello")))
	if err != nil {
		t.Fatal(err)
	}
	if a.Done.StopReason != protocol.StopMaxTokens || len(a.Invalid) != 1 || string(a.Content[1].Input) != "{}" {
		t.Fatalf("%+v", a)
	}
}

func TestRefusalIsAStopReason(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"I cannot"}],"stop":"refusal"}`)
	a, err := modeltest.Collect(m.Stream(t.Context(), ask("hello")))
	if err != nil || a.Done.StopReason != protocol.StopRefusal {
		t.Fatalf("%+v %v", a, err)
	}
}

func TestHeadersOfGatewaysAndTheUsersOwn(t *testing.T) {
	m, server := start(t, `{"do":[{"text":"hi"}]}`, func(_ *modeltest.Config, c *anthropic.Config) {
		c.Headers = map[string]string{"Anthropic-Beta": "mine", "X-Team": "a"}
	})
	req := ask("hello")
	req.Thinking = model.ThinkingLow
	if _, err := modeltest.Collect(m.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	h := server.Requests()[0].Header
	if h.Get("Anthropic-Beta") != "mine,interleaved-thinking-2025-05-14" || h.Get("X-Team") != "a" || h.Get("Authorization") != "Bearer "+key {
		t.Fatal(h)
	}
}

func TestServerThatCountsNothingGetsAnEstimate(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"some words"}],"usage":{}}`)
	a, err := modeltest.Collect(m.Stream(t.Context(), ask("hello")))
	if err != nil || a.Done.Usage.InputTokens == 0 || a.Done.Usage.OutputTokens != 3 || a.Done.Usage.CostUSD == 0 {
		t.Fatalf("%+v %v", a.Done, err)
	}
}

func TestNewRefusesAnAddressThatIsNone(t *testing.T) {
	for _, base := range []string{"ftp://x", "localhost:8080", "https://user:pass@host/"} {
		if _, err := anthropic.New(anthropic.Config{Info: claude(), BaseURL: base}); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// raw answers everything with its own text as a stream.
type raw string

func (s raw) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, string(s))
}
