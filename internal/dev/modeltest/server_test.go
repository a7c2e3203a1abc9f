package modeltest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
)

func parse(t *testing.T, text string) *script.Script {
	t.Helper()
	s, err := script.Parse(strings.NewReader(text), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func post(t *testing.T, h http.Handler, path, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://test.invalid"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := modeltest.Transport(h).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

var update = flag.Bool("update", false, "write the golden files")

const (
	messagesRequest = `{"model":"m","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hello"}]}`
	chatRequest     = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`
	responsesBody   = `{"model":"m","stream":true,"store":false,"input":"hello"}`
	answers         = `{"script":1,"chunk":4}
{"do":[{"thinking":"hm"},{"text":"hello"},{"call":"Read","id":"c1","input":{"path":"a"}}],"usage":{"inputTokens":10,"outputTokens":5,"cacheReadTokens":0,"cacheWriteTokens":0}}`
)

// TestStreamsAreTheVendors compares whole streams with files.
func TestStreamsAreTheVendors(t *testing.T) {
	for name, tt := range map[string]struct {
		server     *modeltest.Server
		path, body string
	}{
		"anthropic.sse": {modeltest.Anthropic(modeltest.Config{Script: parse(t, answers)}), "/v1/messages", messagesRequest},
		"openai.sse":    {modeltest.OpenAI(modeltest.Config{Script: parse(t, answers)}), "/v1/chat/completions", chatRequest},
		"responses.sse": {modeltest.Responses(modeltest.Config{Script: parse(t, answers)}), "/v1/responses", responsesBody},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := post(t, tt.server, tt.path, tt.body)
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if status != http.StatusOK || got != string(want) {
				t.Errorf("status %d:\n%s", status, got)
			}
		})
	}
}

func TestWrongKeyIsRefusedAndRequestsAreKept(t *testing.T) {
	a := modeltest.Anthropic(modeltest.Config{Script: parse(t, answers), Key: "k", Keep: 1})
	if status, text := post(t, a, "/v1/messages", messagesRequest, "x-api-key", "other"); status != http.StatusUnauthorized || !strings.Contains(text, "authentication_error") {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := post(t, a, "/v1/messages", messagesRequest, "x-api-key", "k"); status != http.StatusOK {
		t.Errorf("%d", status)
	}
	if kept := a.Requests(); a.Count() != 2 || len(kept) != 1 || string(kept[0].Body) != messagesRequest {
		t.Errorf("%d requests, kept %v", a.Count(), kept)
	}
	o := modeltest.OpenAI(modeltest.Config{Script: parse(t, answers), Key: "k"})
	if status, text := post(t, o, "/v1/chat/completions", chatRequest, "Authorization", "Bearer other"); status != http.StatusUnauthorized || !strings.Contains(text, "invalid_api_key") {
		t.Errorf("%d %s", status, text)
	}
}

func TestViewsOfResponsesAreWhatFollowsTheLastAnswer(t *testing.T) {
	text := `{"script":1}` + "\n" +
		`{"if":{"user":"^first$"},"again":true,"do":[{"text":"to the user"}]}` + "\n" +
		`{"if":{"result":"^one\ntwo$"},"again":true,"do":[{"text":"to the results"}]}`
	r := modeltest.Responses(modeltest.Config{Script: parse(t, text)})
	if _, got := post(t, r, "/v1/responses", `{"model":"m","input":"first"}`); !strings.Contains(got, "to the user") {
		t.Error(got)
	}
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"R","arguments":"{}"},`
	}
	body := `{"model":"m","input":[{"role":"user","content":"first"},` + call("a") + call("b") +
		`{"type":"function_call_output","call_id":"a","output":"one"},{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"two"}]}]}`
	if _, got := post(t, r, "/v1/responses", body); !strings.Contains(got, "to the results") {
		t.Error(got)
	}
}

func TestRefusedRequestsAreRecordedWithTheReason(t *testing.T) {
	a := modeltest.Anthropic(modeltest.Config{Script: parse(t, answers), Keep: -1})
	status, text := post(t, a, "/v1/messages", `{"model":"m","messages":[]}`)
	if status != http.StatusBadRequest || !strings.Contains(text, "invalid_request_error") || a.Requests()[0].Refused == "" {
		t.Errorf("%d %s", status, text)
	}
	free := modeltest.Anthropic(modeltest.Config{Script: parse(t, answers), NoJudge: true})
	if status, text := post(t, free, "/v1/messages", `{"model":"m","messages":[{"role":"user","content":""}]}`); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	a := modeltest.Anthropic(modeltest.Config{Script: parse(t, answers)})
	if status, _ := post(t, a, "/v1/complete", messagesRequest); status != http.StatusNotFound {
		t.Error(status)
	}
}

func TestSummaryLinesAnswerWhenNoStepLineDoes(t *testing.T) {
	text := `{"script":1}` + "\n" + `{"if":{"kind":"compact"},"again":true,"do":[{"text":"summary"}]}` + "\n" + `{"if":{"user":"step"},"again":true,"do":[{"text":"one"}]}`
	a := modeltest.Anthropic(modeltest.Config{Script: parse(t, text)})
	if _, got := post(t, a, "/v1/messages", messagesRequest); !strings.Contains(got, "summary") {
		t.Error(got)
	}
	if _, got := post(t, a, "/v1/messages", strings.Replace(messagesRequest, "hello", "step", 1)); !strings.Contains(got, "one") {
		t.Error(got)
	}
	told := modeltest.Anthropic(modeltest.Config{Script: parse(t, text), Kind: func(body []byte) model.Kind {
		if bytes.Contains(body, []byte("step")) {
			return model.KindCompact
		}
		return model.KindStep
	}})
	if _, got := post(t, told, "/v1/messages", strings.Replace(messagesRequest, "hello", "step", 1)); !strings.Contains(got, "summary") {
		t.Error(got)
	}
}

func TestCacheIsReadBehindTheSamePrefixOnly(t *testing.T) {
	a := modeltest.Anthropic(modeltest.Config{Script: parse(t, `{"script":1}`+"\n"+`{"again":true,"do":[{"text":"x"}]}`)})
	send := func(messages string) int {
		_, got := post(t, a, "/v1/messages", `{"model":"m","max_tokens":10,"stream":true,"messages":[`+messages+`]}`)
		for line := range strings.SplitSeq(got, "\n") {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok || !strings.Contains(line, "message_delta") {
				continue
			}
			var e struct {
				Usage struct {
					Read int `json:"cache_read_input_tokens"`
				} `json:"usage"`
			}
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			return e.Usage.Read
		}
		t.Fatal(got)
		return 0
	}
	mark := `,"cache_control":{"type":"ephemeral"}`
	block := func(text, mark string) string { return `{"type":"text","text":"` + text + `"` + mark + `}` }
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	if n := send(user(block("one", mark))); n != 0 {
		t.Errorf("first: %d", n)
	}
	if n := send(user(block("one", ""), block("two", mark))); n == 0 {
		t.Error("the same beginning was not read")
	}
	if n := send(user(block("other", ""), block("two", mark))); n != 0 {
		t.Errorf("another beginning: %d", n)
	}
	if n := send(user(block("one", ""), block("three", ""))); n != 0 {
		t.Errorf("without a mark: %d", n)
	}
}
