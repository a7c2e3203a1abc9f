package google_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/google"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "AIzaTest0123456789"

func gemini() model.Info {
	return model.Info{
		Ref: "google/gemini-3-test", Provider: "google", ID: "gemini-3-test", API: model.APIGoogle,
		ContextWindow: 1_048_576, MaxTokens: 65_536, Images: true, MaxImageBytes: 5 << 20, PDF: true,
		Thinking: []model.ThinkingLevel{model.ThinkingLow, model.ThinkingMedium, model.ThinkingHigh},
		Price:    model.Price{Input: 2, Output: 12, CacheRead: 0.2},
	}
}

// start serves a script and gives a model that calls it.
func start(t *testing.T, lines string, change ...func(*modeltest.Config, *google.Config)) (*google.Model, *modeltest.Server) {
	t.Helper()
	s := modeltest.Script(t, "{\"script\":1,\"chunk\":7}\n"+lines)
	sc := modeltest.Config{Script: s, Key: key, Keep: -1}
	gc := google.Config{Info: gemini(), Key: key, KeyName: "GEMINI_API_KEY"}
	for _, f := range change {
		f(&sc, &gc)
	}
	server := modeltest.Google(sc)
	gc.BaseURL = modeltest.Serve(t, server)
	gc.HTTP = modeltest.Client(t)
	m, err := google.New(gc)
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

// raw answers everything with its own text as a stream.
type raw string

func (s raw) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, string(s))
}

// events is a stream of chunks, each whole or made of the parts of its content.
func events(chunks ...string) raw {
	var b strings.Builder
	for _, c := range chunks {
		name, _, _ := strings.Cut(strings.TrimPrefix(c, `{"`), `"`)
		switch name {
		case "candidates", "promptFeedback", "usageMetadata", "error":
		default:
			c = `{"candidates":[{"content":{"parts":[` + c + `],"role":"model"},"index":0}],"responseId":"r1"}`
		}
		b.WriteString("data: " + c + "\n\n")
	}
	return raw(b.String())
}

func finish(reason string) string {
	return `{"candidates":[{"finishReason":"` + reason + `","index":0}],"responseId":"r1"}`
}

func collect(t *testing.T, info model.Info, h http.Handler) (modeltest.Answer, error) {
	t.Helper()
	m, err := google.New(google.Config{Info: info, BaseURL: "http://test.invalid", Key: key, HTTP: modeltest.Transport(h)})
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
}

// blocks writes the content of an answer in short, signatures in brackets.
func blocks(a modeltest.Answer) string {
	var out []string
	for _, b := range a.Content {
		s := string(b.Type) + " " + b.Text + b.Thinking
		if b.Type == protocol.BlockToolUse {
			s = "call " + b.ID + " " + b.Name + string(b.Input)
		}
		if sign := model.GoogleDataOf(b).ThoughtSignature; sign != "" {
			s += " [" + sign + "]"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestStreamsThinkingTextAndParallelCalls(t *testing.T) {
	m, server := start(t, `{"do":[{"thinking":"hm, let me see"},{"text":"I look at both <files> äöü"},{"call":"Read","id":"c1","input":{"path":"a"}},{"call":"Read","id":"c2","input":{"path":"b"}}],"usage":{"inputTokens":1000,"outputTokens":200,"cacheReadTokens":5000,"cacheWriteTokens":0,"reasoningTokens":50}}`)
	a, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
	if err != nil {
		t.Fatal(err)
	}
	sign := modeltest.SignCall("gemini-3-test", "Read", json.RawMessage(`{"path":"a"}`))
	if got, want := blocks(a), `thinking hm, let me see; text I look at both <files> äöü; call c1 Read{"path":"a"} [`+sign+`]; call c2 Read{"path":"b"}`; got != want {
		t.Fatalf("content %s\nwant    %s", got, want)
	}
	want := protocol.Usage{InputTokens: 1000, OutputTokens: 200, CacheReadTokens: 5000, ReasoningTokens: 50}
	want.CostUSD = (1000*2 + 200*12 + 5000*0.2) / 1e6
	if a.Done.StopReason != protocol.StopToolUse || a.Done.Usage != want {
		t.Fatalf("done %+v, want usage %+v", a.Done, want)
	}
	r := server.Requests()[0]
	if r.Path != "/v1beta/models/gemini-3-test:streamGenerateContent" || r.Header.Get("X-Goog-Api-Key") != key || strings.Contains(r.Header.Get("Authorization"), key) {
		t.Fatalf("%s %v", r.Path, r.Header)
	}
}

func TestTheKeyIsInNoAddress(t *testing.T) {
	var address string
	url := modeltest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { address = r.RequestURI }))
	m, err := google.New(google.Config{Info: gemini(), BaseURL: url, Key: key, HTTP: modeltest.Client(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello"))); err == nil || strings.Contains(err.Error(), key[8:]) {
		t.Error(err)
	}
	if address != "/v1beta/models/gemini-3-test:streamGenerateContent?alt=sse" {
		t.Error(address)
	}
}

func TestAddressesHaveTheirVersionOnce(t *testing.T) {
	for base, want := range map[string]string{
		"":                             "/v1beta/models/gemini-3-test:streamGenerateContent",
		"/":                            "/v1beta/models/gemini-3-test:streamGenerateContent",
		"/v1beta":                      "/v1beta/models/gemini-3-test:streamGenerateContent",
		"/v1alpha/":                    "/v1alpha/models/gemini-3-test:streamGenerateContent",
		"/inference/google/v1beta":     "/inference/google/v1beta/models/gemini-3-test:streamGenerateContent",
		"/inference/via-google?x=a%26": "/inference/via-google/v1beta/models/gemini-3-test:streamGenerateContent",
	} {
		m, server := start(t, `{"do":[{"text":"hi"}]}`)
		again, err := google.New(google.Config{Info: gemini(), BaseURL: m.Info().BaseURL + base, Key: key, HTTP: modeltest.Client(t)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := modeltest.Collect(again.Stream(t.Context(), modeltest.Ask("hello"))); err != nil || server.Requests()[0].Path != want {
			t.Errorf("%s: %v %s", base, err, server.Requests()[0].Path)
		}
	}
	for _, base := range []string{"ftp://x", "localhost:8080", "https://user:pass@host/"} {
		if _, err := google.New(google.Config{Info: gemini(), BaseURL: base}); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestOutputLimitTakesTheCallThatItTruncated(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"I write"},{"call":"Write","id":"c1","raw":"{\"path\":\"a\",\"content\":\"hal"}],"stop":"max_tokens"}`)
	a, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
	if err != nil || a.Done.StopReason != protocol.StopMaxTokens || blocks(a) != "text I write ["+modeltest.Sign("gemini-3-test", "I write")+"]" && blocks(a) != "text I write" {
		t.Fatalf("%v %s %+v", err, blocks(a), a.Done)
	}
}

func TestStreamsOfOtherForms(t *testing.T) {
	tests := []struct {
		name string
		raw  raw
		want string
		stop protocol.StopReason
	}{
		{"comments and names of events", raw(": keepalive\n\nevent: message\nid: 7\n" + string(events(`{"text":"yes"}`)) + ":\n\n" + string(events(finish("STOP")))), "text yes", protocol.StopEndTurn},
		{"CRLF", raw(strings.ReplaceAll(string(events(`{"text":"yes"}`, finish("STOP"))), "\n", "\r\n")), "text yes", protocol.StopEndTurn},
		{"a byte order mark, and no space behind the colon", raw("\xef\xbb\xbf" + strings.ReplaceAll(string(events(`{"text":"yes"}`, finish("STOP"))), "data: ", "data:")), "text yes", protocol.StopEndTurn},
		{"an event of several lines", raw("data: {\"candidates\":[{\"content\":{\"parts\":[\ndata: {\"text\":\"yes\"}\ndata: ]},\"finishReason\":\"STOP\"}]}\n\n"), "text yes", protocol.StopEndTurn},
		{"no empty line at the end", raw(strings.TrimSuffix(string(events(`{"text":"yes"}`, finish("STOP"))), "\n")), "text yes", protocol.StopEndTurn},
		{"the end of another vendor", raw(string(events(`{"text":"yes"}`, finish("STOP"))) + "data: [DONE]\n\n"), "text yes", protocol.StopEndTurn},
		{"an unspecified reason is none", events(`{"text":"yes"}`, finish("FINISH_REASON_UNSPECIFIED"), finish("STOP")), "text yes", protocol.StopEndTurn},
		{"an error behind the end", events(`{"text":"yes"}`, finish("STOP"), `{"error":{"code":500}}`), "text yes", protocol.StopEndTurn},
		{"several parts in one event", events(`{"text":"hm","thought":true},{"text":"yes"},{"functionCall":{"name":"Read","id":"x","args":{"a":1}}}`, finish("STOP")),
			`thinking hm; text yes; call x Read{"a":1}`, protocol.StopToolUse},
		{"thinking behind text", events(`{"text":"yes"}`, `{"text":"hm","thought":true}`, `{"text":"no"}`, finish("STOP")), "text yes; thinking hm; text no", protocol.StopEndTurn},
		{"an error that is none", raw("data: {\"error\":null,\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"yes\"}]},\"finishReason\":\"STOP\"}]}\n\n"), "text yes", protocol.StopEndTurn},
		{"no input", events(`{"functionCall":{"name":"Read","id":"x"}}`, `{"functionCall":{"name":"Read","id":"y","args":null}}`, finish("STOP")), "call x Read{}; call y Read{}", protocol.StopToolUse},
		{"input with white space", events(`{"functionCall":{"name":"Read","id":"x","args":{ "a" : "<" }}}`, finish("STOP")), `call x Read{"a":"<"}`, protocol.StopToolUse},
		{"parts that were not asked for", events(`{"executableCode":{"code":"x"}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"yes"}`, finish("STOP")), "text yes", protocol.StopEndTurn},
		{"a signature on a call", events(`{"functionCall":{"name":"Read","id":"x","args":{}},"thoughtSignature":"s1"}`, `{"functionCall":{"name":"Read","id":"y","args":{}}}`, finish("STOP")), "call x Read{} [s1]; call y Read{}", protocol.StopToolUse},
		{"a signature behind the text", events(`{"text":"ye"}`, `{"text":"s"}`, `{"text":"","thoughtSignature":"s1"}`, finish("STOP")), "text yes [s1]", protocol.StopEndTurn},
		{"a signature in front of the text", events(`{"text":"ye","thoughtSignature":"s1"}`, `{"text":"s"}`, finish("STOP")), "text yes [s1]", protocol.StopEndTurn},
		{"two signatures are two parts", events(`{"text":"ye","thoughtSignature":"s1"}`, `{"text":"s","thoughtSignature":"s2"}`, finish("STOP")), "text ye [s1]; text s [s2]", protocol.StopEndTurn},
		{"a signature on thinking", events(`{"text":"hm","thought":true,"thoughtSignature":"s1"}`, `{"text":"yes"}`, finish("STOP")), "thinking hm [s1]; text yes", protocol.StopEndTurn},
		{"a signature with nothing to stand on", events(`{"text":"","thoughtSignature":"s1"}`, `{"text":"hm","thought":true}`, `{"text":"","thoughtSignature":"s2"}`, `{"text":"yes"}`, finish("STOP")), "thinking hm; text yes", protocol.StopEndTurn},
		{"nothing at all", events(finish("STOP")), "", protocol.StopEndTurn},
		{"safety", events(`{"text":"I"}`, finish("SAFETY")), "text I", protocol.StopRefusal},
		{"recitation", events(finish("RECITATION")), "", protocol.StopRefusal},
		{"a blocked prompt", events(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`), "", protocol.StopRefusal},
		{"the output limit", events(`{"text":"I"}`, finish("MAX_TOKENS")), "text I", protocol.StopMaxTokens},
		{"the output limit in thinking", events(`{"text":"hm","thought":true}`, finish("MAX_TOKENS")), "thinking hm", protocol.StopMaxTokens},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := collect(t, gemini(), tt.raw)
			if err != nil || blocks(a) != tt.want || a.Done.StopReason != tt.stop {
				t.Fatalf("%v: %q %+v, want %q %s", err, blocks(a), a.Done, tt.want, tt.stop)
			}
			if u := a.Done.Usage; u.InputTokens == 0 || u.CostUSD == 0 {
				t.Fatalf("no estimate where no counts came: %+v", u)
			}
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, tt := range map[string]struct {
		raw   raw
		class model.Class
		says  string
	}{
		"a malformed call":         {events(`{"text":"I"}`, finish("MALFORMED_FUNCTION_CALL")), model.ClassTransient, "makes no sense"},
		"an unexpected call":       {events(finish("UNEXPECTED_TOOL_CALL")), model.ClassTransient, "not asked for"},
		"a reason of tomorrow":     {events(finish("NEW_\\u000aREASON")), model.ClassTransient, "NEW_REASON"},
		"a missing signature":      {events(finish("MISSING_THOUGHT_SIGNATURE")), model.ClassInvalid, "thought signature"},
		"a call without a name":    {events(`{"functionCall":{"args":{}}}`, finish("STOP")), model.ClassTransient, "without a name"},
		"no end":                   {events(`{"text":"I"}`), model.ClassTransient, "before it was complete"},
		"an end in the last line":  {raw(strings.TrimSuffix(string(events(`{"text":"I"}`, finish("STOP"))), "\n\n")), model.ClassTransient, "before it was complete"},
		"an event of another form": {raw("data: {\"candidates\":7}\n\n"), model.ClassTransient, "not valid JSON"},
		"a document for a stream":  {raw(`{"candidates":[{"content":{"parts":[{"text":"I"}]},"finishReason":"STOP"}]}`), model.ClassTransient, "JSON document"},
		"an error for a stream":    {raw(`[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]`), model.ClassOverloaded, "overloaded"},
		"a text instead of a list": {raw("data: {\"candidates\":\"x\"}\n\n"), model.ClassTransient, "not valid JSON"},
	} {
		_, err := collect(t, gemini(), tt.raw)
		var e *model.Error
		if !errors.As(err, &e) || e.Class != tt.class || !strings.Contains(e.Message, tt.says) || strings.Contains(err.Error(), "modeltest: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCountsOfCacheThoughtsAndTools(t *testing.T) {
	a, err := collect(t, gemini(), events(`{"text":"x"}`, finish("STOP"),
		`{"usageMetadata":{"promptTokenCount":"100","cachedContentTokenCount":60.0,"toolUsePromptTokenCount":7,"candidatesTokenCount":5,"thoughtsTokenCount":20,"totalTokenCount":132}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := protocol.Usage{InputTokens: 47, CacheReadTokens: 60, OutputTokens: 25, ReasoningTokens: 20}
	want.CostUSD = gemini().Price.Cost(want)
	if a.Done.Usage != want {
		t.Fatalf("%+v, want %+v", a.Done.Usage, want)
	}
}

func TestCallsWithoutIdsGetTheirOwn(t *testing.T) {
	twice := events(`{"functionCall":{"name":"Read","args":{}}}`, `{"functionCall":{"name":"Read","args":{}}}`, finish("STOP"))
	seen := map[string]bool{}
	for _, id := range []string{"r1", "r2", "", ""} {
		a, err := collect(t, gemini(), raw(strings.ReplaceAll(string(twice), `"r1"`, `"`+id+`"`)))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range a.Content {
			if !strings.HasPrefix(b.ID, "call_") || seen[b.ID] {
				t.Errorf("the answer %q has the id %q, a second time: %v", id, b.ID, seen[b.ID])
			}
			seen[b.ID] = true
		}
	}
	if a, err := collect(t, gemini(), twice); err != nil || !seen[a.Content[0].ID] {
		t.Errorf("the same answer gave another id: %v", err)
	}
}

func TestOlderModelsGetIdsAndNoSignatures(t *testing.T) {
	m, _ := start(t, `{"do":[{"text":"x"},{"call":"Read","id":"c1","input":{}}]}`, func(_ *modeltest.Config, c *google.Config) { c.Info.ID = "gemini-2.5-flash" })
	a, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
	if err != nil || len(a.Content) != 2 || a.Content[1].ID == "c1" || model.GoogleDataOf(a.Content[1]).ThoughtSignature != "" {
		t.Fatalf("%+v %v", a.Content, err)
	}
}

// FuzzAnswer feeds any bytes as an answer: whatever comes, the stream keeps the
// rules of model.Model and ends.
func FuzzAnswer(f *testing.F) {
	f.Add(string(events(`{"text":"hm","thought":true}`, `{"text":"x","thoughtSignature":"s"}`, finish("STOP"))))
	f.Add(string(events(`{"functionCall":{"name":"Read","args":{"a":1}},"thoughtSignature":"s"},{"text":""}`, finish("STOP"))))
	f.Add(": k\r\n\r\nevent: x\r\ndata:{\r\ndata\r\ndata: }\r\n\r\n")
	f.Add("data: {\"promptFeedback\":{\"blockReason\":\"X\"}}\n\n")
	f.Add("data: {\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"9s\"}]}}\n\n")
	f.Add("<html>")
	f.Add("[{\"error\":{\"message\":\"x\",\"code\":400}}]")
	f.Fuzz(func(t *testing.T, answer string) {
		if _, err := collect(t, gemini(), raw(answer)); err != nil && strings.Contains(err.Error(), "modeltest: ") {
			t.Fatal(err)
		}
	})
}

// BenchmarkStream reads an answer of 10,000 chunks.
func BenchmarkStream(b *testing.B) {
	var s strings.Builder
	for range 10_000 {
		s.WriteString(`data: {"candidates":[{"content":{"parts":[{"text":"some words"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":1000,"totalTokenCount":1000},"modelVersion":"gemini-3-test","responseId":"r1"}` + "\r\n\r\n")
	}
	s.WriteString("data: " + finish("STOP") + "\r\n\r\n")
	m, err := google.New(google.Config{Info: gemini(), BaseURL: "http://test.invalid", Key: key, HTTP: modeltest.Transport(raw(s.String()))})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(s.Len()))
	for b.Loop() {
		n := 0
		for _, err := range m.Stream(b.Context(), modeltest.Ask("go")) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n < 10_000 {
			b.Fatal(n)
		}
	}
}
