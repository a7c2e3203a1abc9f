package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conversation"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

func testMissingKey(t *testing.T, a Adapter) {
	m, server := a.start(t, ``, func(_ *modeltest.Config, c *httpx.Config) { c.Key = "" })
	_, err := collect(t.Context(), m)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassAuth || !strings.Contains(e.Message, "set "+keyName) {
		t.Fatalf("got %v", err)
	}
	if got, ok := server.Requests()[0].Header[a.Header]; ok {
		t.Fatalf("sent %q without a key", got)
	}
}

func testNoKey(t *testing.T, a Adapter) {
	m, server := a.start(t, `{"do":[{"text":"hi"}]}`, func(s *modeltest.Config, c *httpx.Config) { s.Key, c.Key = "", "" })
	if _, err := collect(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got, ok := server.Requests()[0].Header[a.Header]; ok {
		t.Fatalf("sent %q without a key", got)
	}
}

// testEnvironment sets what the vendors' own packages read.
func testEnvironment(t *testing.T, a Adapter) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(name, "from-the-environment")
	}
	for _, name := range []string{"ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"} {
		t.Setenv(name, "X-Env: from-the-environment")
	}
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, "http://127.0.0.1:1/")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	m, server := a.start(t, `{"do":[{"text":"hi"}]}`, func(s *modeltest.Config, c *httpx.Config) { s.Key, c.Key = "", "" })
	if _, err := collect(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r := server.Requests()[0]
	if s := fmt.Sprint(r.Header, string(r.Body)); strings.Contains(s, "from-the-environment") {
		t.Fatal(s)
	}
}

func testHeaders(t *testing.T, a Adapter) {
	m, server := a.start(t, `{"do":[{"text":"hi"}]}`, func(s *modeltest.Config, c *httpx.Config) {
		s.Key = ""
		c.Headers = map[string]string{strings.ToLower(a.Header): "mine", "X-Team": "a"}
	})
	if _, err := collect(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if h := server.Requests()[0].Header; h.Get("X-Team") != "a" || len(h[a.Header]) != 1 || h.Get(a.Header) != "mine" {
		t.Fatal(h)
	}
}

func testRedirect(t *testing.T, a Adapter) {
	var got http.Header
	other := modeltest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }))
	m := a.at(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
	}), httpx.Config{Info: a.Info, Key: key})
	if _, err := collect(t.Context(), m); err == nil || got != nil {
		t.Fatalf("error %v, the other server got %v", err, got)
	}
}

func testAddress(t *testing.T, a Adapter) {
	for _, base := range []string{"ftp://x", "localhost:8080", "https://user:pass@host/"} {
		if _, err := a.New(httpx.Config{Info: a.Info, BaseURL: base}); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// testQuery: some gateways want a parameter, as Azure does its api-version.
func testQuery(t *testing.T, a Adapter) {
	var got string
	base := modeltest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.URL.RawQuery }))
	m := a.open(t, httpx.Config{Info: a.Info, BaseURL: base + a.Base + "?x=a%26", Key: key, HTTP: modeltest.Client(t)})
	if _, err := collect(t.Context(), m); err == nil {
		t.Error("an empty answer was complete")
	}
	if query, err := url.ParseQuery(got); err != nil || query.Get("x") != "a&" || strings.Contains(got, key[3:]) {
		t.Errorf("the query is %q", got)
	}
}

func testSchema(t *testing.T, a Adapter) {
	m, server := a.inMemory(t)
	req := modeltest.Ask("go")
	req.Tools[0].Schema = json.RawMessage(`{`)
	_, err := modeltest.Collect(m.Stream(t.Context(), req))
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassInvalid || !strings.Contains(e.Message, "Bash") || server.Count() != 0 {
		t.Fatalf("got %v", err)
	}
}

func testSameBytes(t *testing.T, a Adapter) {
	rapid.Check(t, func(r *rapid.T) {
		m, server := a.inMemory(t)
		req := modeltest.Ask("")
		req.Messages = conversation.Draw(r, m.Info())
		req.Blob = conversation.Blob
		before := clone(req.Messages)
		for range 2 {
			if _, err := modeltest.Collect(m.Stream(context.Background(), req)); err != nil {
				r.Fatal(err)
			}
		}
		if !reflect.DeepEqual(before, req.Messages) {
			r.Fatalf("the messages became %+v, they were %+v", req.Messages, before)
		}
		if got := server.Requests(); !bytes.Equal(got[0].Body, got[1].Body) {
			r.Fatalf("%s\n%s", got[0].Body, got[1].Body)
		}
	})
}

// clone copies messages with all that an adapter could write into.
func clone(messages []protocol.Message) []protocol.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Content = slices.Clone(out[i].Content)
		for j := range out[i].Content {
			b := &out[i].Content[j]
			b.Input = bytes.Clone(b.Input)
			if b.Provider != nil {
				p := *b.Provider
				p.Data = bytes.Clone(p.Data)
				b.Provider = &p
			}
		}
	}
	return out
}

// Judge has the vendor's server judge requests of any conversations, whatever model
// made them.
func Judge(t *testing.T, a Adapter) {
	rapid.Check(t, func(r *rapid.T) {
		m, server := a.inMemory(t)
		req := modeltest.Ask("")
		req.Messages = conversation.Draw(r, m.Info())
		req.Thinking = rapid.SampledFrom(model.ThinkingLevels()).Draw(r, "level")
		req.Blob = conversation.Blob
		if _, err := modeltest.Collect(m.Stream(context.Background(), req)); err != nil || server.Count() != 1 {
			r.Fatalf("%v\n%s", err, server.Requests()[0].Body)
		}
	})
}

// BenchmarkRequest writes and sends a conversation of 5 MiB of results.
func BenchmarkRequest(b *testing.B, a Adapter) {
	a.Info.ContextWindow = 0
	var sent int64
	m := a.open(b, httpx.Config{Info: a.Info, BaseURL: "http://test.invalid" + a.Base, HTTP: &http.Client{Transport: taking{&sent}}})
	req := modeltest.Ask("go")
	text := strings.Repeat("a line of \"text\" <b>\n", 400)
	for size := 0; size < 5<<20; size += len(text) {
		id := fmt.Sprintf("c%d", size)
		req.Messages = append(req.Messages,
			protocol.Message{Role: protocol.RoleAssistant, Provider: a.Info.Provider, Model: a.Info.ID, Content: []protocol.Block{
				protocol.Text("I look"), protocol.ToolUse(id, "Read", json.RawMessage(`{"path":"a"}`))}},
			protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, ToolName: "Read", Content: []protocol.Block{protocol.Text(text)}})
	}
	b.ReportAllocs()
	for b.Loop() {
		for range m.Stream(b.Context(), req) { // the answer is none
		}
	}
	b.ReportMetric(float64(sent)/float64(b.N), "body-B/op")
}

// taking takes requests, and counts their bytes.
type taking struct{ sent *int64 }

func (c taking) RoundTrip(r *http.Request) (*http.Response, error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Body.Read(buf)
		*c.sent += int64(n)
		if err != nil {
			break
		}
	}
	return &http.Response{StatusCode: http.StatusBadRequest, Body: http.NoBody, Request: r}, r.Body.Close()
}
