package responses_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/responses"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-test-0123456789"

func gpt() model.Info {
	return model.Info{
		Ref: "openai/gpt-test", Provider: "openai", ID: "gpt-test", API: model.APIResponses,
		ContextWindow: 128_000, MaxTokens: 16_000, Images: true, MaxImageBytes: 5 << 20, PDF: true,
		Thinking: []model.ThinkingLevel{model.ThinkingLow, model.ThinkingMedium, model.ThinkingHigh},
		Price:    model.Price{Input: 2, Output: 8, CacheRead: 0.5},
	}
}

// start serves a script and gives a model that calls it.
func start(t *testing.T, lines string, change ...func(*modeltest.Config, *responses.Config)) (*responses.Model, *modeltest.Server) {
	t.Helper()
	s := modeltest.Script(t, "{\"script\":1,\"chunk\":7}\n"+lines)
	sc := modeltest.Config{Script: s, Key: key, Keep: -1}
	rc := responses.Config{Info: gpt(), Key: key, KeyName: "OPENAI_API_KEY"}
	for _, f := range change {
		f(&sc, &rc)
	}
	server := modeltest.Responses(sc)
	rc.BaseURL = modeltest.Serve(t, server) + "/v1"
	rc.HTTP = modeltest.Client(t)
	m, err := responses.New(rc)
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

// events answers everything with the events.
func events(list ...string) raw {
	var b strings.Builder
	for _, e := range list {
		b.WriteString("data: " + e + "\n\n")
	}
	return raw(b.String())
}

// raw answers everything with its own text as a stream.
type raw string

func (s raw) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, string(s))
}

func collect(t *testing.T, info model.Info, h http.Handler) (modeltest.Answer, error) {
	t.Helper()
	m, err := responses.New(responses.Config{Info: info, BaseURL: "http://test.invalid/v1", Key: key, HTTP: modeltest.Transport(h)})
	if err != nil {
		t.Fatal(err)
	}
	return modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
}

func TestStreamsThinkingTextAndParallelCalls(t *testing.T) {
	m, _ := start(t, `{"do":[{"thinking":"hm, let me see"},{"text":"I look at both <files> äöü"},{"call":"Read","id":"c1","input":{"path":"a"}},{"call":"Read","id":"c2","input":{"path":"b"}}],"usage":{"inputTokens":1000,"outputTokens":200,"cacheReadTokens":5000,"cacheWriteTokens":0,"reasoningTokens":50}}`)
	a, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Content) != 4 || a.Content[0].Thinking != "hm, let me see" || !strings.Contains(string(a.Content[0].Provider.Data), modeltest.Seal("gpt-test", "rs_000001_0")) ||
		a.Content[1].Text != "I look at both <files> äöü" || a.Content[3].ID != "c2" || string(a.Content[3].Input) != `{"path":"b"}` {
		t.Fatalf("content %+v", a.Content)
	}
	want := protocol.Usage{InputTokens: 1000, OutputTokens: 200, CacheReadTokens: 5000, ReasoningTokens: 50}
	want.CostUSD = (1000*2 + 200*8 + 5000*0.5) / 1e6
	if a.Done.StopReason != protocol.StopToolUse || a.Done.Usage != want {
		t.Fatalf("done %+v, want usage %+v", a.Done, want)
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

// Events of a stream, in short.
const completed = `{"type":"response.completed","response":{"status":"completed","output":[]}}`

func added(at int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, at, item)
}

func done(at int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, at, item)
}

func text(at, part int, delta string) string {
	return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"content_index":%d,"delta":%q}`, at, part, delta)
}

func TestStreamsInOddForms(t *testing.T) {
	message := `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`
	call := `{"type":"function_call","id":"fc_1","call_id":"a","name":"Read","arguments":"{\"n\":1}"}`
	begun := `{"type":"function_call","id":"fc_1","call_id":"a","name":"Read","arguments":""}`
	pieces := `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"n\""}`
	tests := []struct {
		name string
		raw  raw
		want string // blocks in short
		stop protocol.StopReason
	}{
		{"text without announcement and end", events(text(0, 0, "yes"), completed), "yes", protocol.StopEndTurn},
		{"an item without pieces", events(done(0, message), completed), "yes", protocol.StopEndTurn},
		{"pieces that lack the end", events(text(0, 0, "ye"), done(0, message), completed), "yes", protocol.StopEndTurn},
		{"an end that says something else", events(text(0, 0, "no"), done(0, message), completed), "no", protocol.StopEndTurn},
		{"two parts", events(text(0, 0, "a"), text(0, 1, "b"), completed), "a; b", protocol.StopEndTurn},
		{"nothing streamed", events(`{"type":"response.completed","response":{"output":[` + message + `,` + call + `]}}`), `yes; a Read {"n":1}`, protocol.StopToolUse},
		{"no index anywhere", events(added(0, message), text(0, 0, "yes"), done(0, message), added(0, begun), done(0, call), completed), `yes; a Read {"n":1}`, protocol.StopToolUse},
		{"two items at one place, the first without end", events(text(0, 0, "yes"), added(0, begun), done(0, call), completed), `yes; a Read {"n":1}`, protocol.StopToolUse},
		{"a call without pieces", events(added(0, begun), done(0, call), completed), `a Read {"n":1}`, protocol.StopToolUse},
		{"a call's end in the end event alone", events(added(0, begun), pieces, `{"type":"response.completed","response":{"output":[`+call+`]}}`), `a Read {"n":1}`, protocol.StopToolUse},
		{"a call's input in one piece", events(added(0, begun), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"n\":1}"}`, completed), `a Read {"n":1}`, protocol.StopToolUse},
		{"mixed pieces of parallel calls", events(added(0, begun), added(1, strings.ReplaceAll(strings.Replace(begun, `"a"`, `"b"`, 1), "fc_1", "fc_2")), pieces,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}`, done(0, call), completed), `a Read {"n":1}; b Read {}`, protocol.StopToolUse},
		{"no input at all", events(added(0, begun), completed), `a Read {}`, protocol.StopToolUse},
		{"thinking shown as it is", events(`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"hm"}`, text(1, 0, "yes"), completed), "(hm); yes", protocol.StopEndTurn},
		{"a summary of several parts", events(
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"one"}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"two"}`,
			done(0, `{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}]}`), completed), "(one\n\ntwo)", protocol.StopEndTurn},
		{"thinking that is not told", events(added(0, `{"type":"reasoning","id":"rs_1","summary":[]}`), done(0, `{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[]}`), text(1, 0, "yes"), completed), "(); yes", protocol.StopEndTurn},
		{"a refusal", events(`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"no"}`,
			done(0, `{"type":"message","id":"msg_1","content":[{"type":"refusal","refusal":"no!"}]}`), completed), "no!", protocol.StopRefusal},
		{"a refusal without pieces", events(done(0, `{"type":"message","id":"msg_1","content":[{"type":"refusal","refusal":"no"}]}`), completed), "no", protocol.StopRefusal},
		{"items that were not asked for", events(added(0, `{"type":"web_search_call","id":"ws_1"}`), done(0, `{"type":"web_search_call","id":"ws_1"}`), text(1, 0, "yes"), completed), "yes", protocol.StopEndTurn},
		{"unknown events of any form", events(`{"type":"response.audio.delta","delta":{"x":1},"output_index":"0"}`, text(0, 0, "yes"), completed), "yes", protocol.StopEndTurn},
		{"comments", raw(": keep\n\n" + string(events(text(0, 0, "yes"), completed))), "yes", protocol.StopEndTurn},
		{"no empty line at the end", raw(strings.TrimSuffix(string(events(text(0, 0, "yes"), completed)), "\n")), "yes", protocol.StopEndTurn},
		{"CRLF", raw(strings.ReplaceAll(string(events(text(0, 0, "yes"), completed)), "\n", "\r\n")), "yes", protocol.StopEndTurn},
		{"nothing at all", events(completed), "", protocol.StopEndTurn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := collect(t, gpt(), tt.raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := short(a.Content); got != tt.want || a.Done.StopReason != tt.stop {
				t.Fatalf("got %q, stop %q", got, a.Done.StopReason)
			}
			if u := a.Done.Usage; u.InputTokens == 0 || u.CostUSD == 0 {
				t.Fatalf("no estimate where no counts came: %+v", u)
			}
		})
	}
}

func short(content []protocol.Block) string {
	var out []string
	for _, b := range content {
		switch b.Type {
		case protocol.BlockThinking:
			out = append(out, "("+b.Thinking+")")
		case protocol.BlockToolUse:
			out = append(out, b.ID+" "+b.Name+" "+string(b.Input))
		default:
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "; ")
}

func TestAnswersThatMakeNoSenseAreFailures(t *testing.T) {
	begun := `{"type":"function_call","id":"fc_1","call_id":"a","name":"Read","arguments":""}`
	tests := []struct {
		name  string
		raw   raw
		class model.Class
		says  string
	}{
		{"a call without its id", events(added(0, `{"type":"function_call","name":"Read"}`), completed), model.ClassTransient, "without id or name"},
		{"a call without its name", events(done(0, `{"type":"function_call","call_id":"a","arguments":"{}"}`), completed), model.ClassTransient, "without id or name"},
		{"pieces of another input", events(added(0, begun), `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"rm\""}`,
			done(0, strings.Replace(begun, `"arguments":""`, `"arguments":"{\"ls\":1}"`, 1)), completed), model.ClassTransient, "do not give its input"},
		{"an end without its answer", events(`{"type":"response.completed"}`), model.ClassTransient, "without its answer"},
		{"left off for another reason", events(text(0, 0, "yes"), `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"steered"}}}`), model.ClassTransient, "before it was complete"},
		{"failed", events(`{"type":"response.failed","response":{"error":{"code":"server_error","message":"The server had an error"}}}`), model.ClassTransient, "The server had an error"},
		{"failed, with a time to wait", events(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-x on tokens per min (TPM). Please try again in 11.054s. Visit"}}}`), model.ClassTransient, "11.054s"},
		{"failed by an image", events(`{"type":"response.failed","response":{"error":{"code":"image_parse_error","message":"no image"}}}`), model.ClassInvalid, "no image"},
		{"failed without a reason", events(`{"type":"response.failed","response":{"error":null}}`), model.ClassTransient, "without a reason"},
		{"failed without an answer", events(`{"type":"response.failed"}`), model.ClassTransient, "without a reason"},
		{"an error in the older form", events(`{"type":"error","error":{"code":"rate_limit_exceeded","message":"slow"}}`), model.ClassTransient, "429"},
		{"an error with a number", events(`{"type":"error","code":503,"message":"later"}`), model.ClassTransient, "503"},
		{"a delta of another form", events(`{"type":"response.output_text.delta","delta":{"x":1}}`), model.ClassTransient, "not valid JSON"},
		{"nothing", raw(""), model.ClassTransient, "before it was complete"},
		{"DONE alone", events(text(0, 0, "yes"), "[DONE]"), model.ClassTransient, "before it was complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := collect(t, gpt(), tt.raw)
			var e *model.Error
			if !errors.As(err, &e) || e.Class != tt.class || !strings.Contains(e.Message, tt.says) || strings.Contains(err.Error(), "modeltest: ") {
				t.Fatalf("got %v (%+v)", err, e)
			}
			if strings.Contains(tt.says, "11.054s") != (e.RetryAfter == 11054*time.Millisecond) {
				t.Fatalf("waits %v", e.RetryAfter)
			}
		})
	}
}

// pieces returns an answer in reads of one byte, so that each border between reads
// falls everywhere once.
type pieces struct{ h http.Handler }

func (p pieces) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := modeltest.Transport(p.h).Transport.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{iotest.OneByteReader(res.Body), res.Body}
	}
	return res, err
}

func TestBordersOfReadsAreNotSeen(t *testing.T) {
	s, err := script.Parse(strings.NewReader("{\"script\":1,\"chunk\":3}\n"+
		`{"again":true,"do":[{"thinking":"hm äöü"},{"text":"I look 😀"},{"call":"Read","id":"c1","input":{"path":"ä"}}]}`), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Responses(modeltest.Config{Script: s})
	var got []string
	for _, tr := range []http.RoundTripper{modeltest.Transport(server).Transport, pieces{server}} {
		m, err := responses.New(responses.Config{Info: gpt(), BaseURL: "http://test.invalid/v1", HTTP: &http.Client{Transport: tr}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := modeltest.Collect(m.Stream(t.Context(), modeltest.Ask("hello")))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(short(a.Content), a.Deltas))
	}
	if got[0] != got[1] || !strings.Contains(got[0], "I look 😀") {
		t.Fatal(got)
	}
}

// FuzzAnswer feeds any bytes as an answer: whatever comes, the stream keeps the
// rules of model.Model and ends.
func FuzzAnswer(f *testing.F) {
	f.Add(string(events(added(0, `{"type":"reasoning","id":"rs_1","summary":[]}`), text(1, 0, "x"), completed)))
	f.Add(string(events(added(0, `{"type":"function_call","id":"fc_1","call_id":"a","name":"Read"}`),
		`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`, completed)))
	f.Add(string(events(done(0, `{"type":"message","content":[{"type":"refusal","refusal":"no"}]}`), `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`)))
	f.Add(string(events(`{"type":"response.refusal.delta","output_index":-1,"content_index":-1,"delta":"x"}`, added(-1, `{"type":"reasoning"}`), completed)))
	f.Add("<html>")
	f.Add(string(events(`{"type":"error","code":"x","message":"y"}`)))
	f.Fuzz(func(t *testing.T, answer string) {
		if _, err := collect(t, gpt(), raw(answer)); err != nil && strings.Contains(err.Error(), "modeltest: ") {
			t.Fatal(err)
		}
	})
}

// BenchmarkAnswer reads an answer of 10,000 pieces.
func BenchmarkAnswer(b *testing.B) {
	s, err := script.Parse(strings.NewReader("{\"script\":1,\"chunk\":10}\n"+
		`{"again":true,"do":[{"text":"0123456789","times":10000}]}`), "s.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(`{"model":"m","stream":true,"input":"x"}`))
	modeltest.Responses(modeltest.Config{Script: s}).ServeHTTP(w, req)
	m, err := responses.New(responses.Config{Info: gpt(), BaseURL: "http://test.invalid/v1", HTTP: modeltest.Transport(raw(w.Body.String()))})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range m.Stream(b.Context(), modeltest.Ask("x")) {
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
