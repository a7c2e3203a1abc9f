package conformance

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// Failure is a line of a script that ends in a failure, and what that must be.
type Failure struct {
	Name  string
	Line  string
	Class model.Class
	Retry time.Duration
	Says  string // in the sentence for a person
}

func failures() []Failure {
	return []Failure{
		{"rate limit", `{"do":[{"error":{"status":429,"retryAfter":7}}]}`, model.ClassTransient, 7 * time.Second, "429"},
		{"rate limit with a part of a second", `{"do":[{"error":{"status":429,"retryAfter":0.25}}]}`, model.ClassTransient, 250 * time.Millisecond, "429"},
		{"rate limit inside the stream", `{"do":[{"text":"I beg"},{"error":{"status":429}}]}`, model.ClassTransient, 0, "429"},
		{"server error", `{"do":[{"error":{"status":500}}]}`, model.ClassTransient, 0, "500"},
		{"server error inside the stream", `{"do":[{"text":"I beg"},{"error":{"status":500}}]}`, model.ClassTransient, 0, "500"},
		{"refused key", `{"do":[{"error":{"status":401}}]}`, model.ClassAuth, 0, "refused the key from " + keyName},
		{"forbidden", `{"do":[{"error":{"status":403}}]}`, model.ClassAuth, 0, keyName},
		{"prompt too long", `{"do":[{"error":{"tooLong":true}}]}`, model.ClassTooLong, 0, "too long"},
		{"unknown model", `{"do":[{"error":{"status":404}}]}`, model.ClassInvalid, 0, "check the model"},
		{"bad request", `{"do":[{"error":{"status":400,"message":"tools: nonsense"}}]}`, model.ClassInvalid, 0, "tools: nonsense"},
		{"redirect", `{"do":[{"error":{"status":307}}]}`, model.ClassInvalid, 0, "redirects"},
		{"connection broken", `{"do":[{"text":"half"},{"cut":true}]}`, model.ClassTransient, 0, "connection"},
		{"connection broken at once", `{"do":[{"error":{"status":0}}]}`, model.ClassTransient, 0, "connection"},
		{"clean end without the end event", `{"do":[{"text":"half"},{"cut":"clean"}]}`, model.ClassTransient, 0, "before it was complete"},
		{"clean end of nothing", `{"do":[{"cut":"clean"}]}`, model.ClassTransient, 0, "before it was complete"},
		{"clean end behind a call", `{"do":[{"call":"Read","id":"c1","input":{"path":"abcdef"}},{"cut":"clean"}]}`, model.ClassTransient, 0, "before it was complete"},
		{"cut in the middle of a call", `{"do":[{"text":"half"},{"call":"Read","id":"c1","input":{"path":"abcdef"},"cut":true}]}`, model.ClassTransient, 0, "connection"},
		{"clean end behind thinking", `{"do":[{"thinking":"hm, let me see"},{"cut":"clean"}]}`, model.ClassTransient, 0, "before it was complete"},
		{"garbage", `{"do":[{"text":"half"},{"garbage":true}]}`, model.ClassTransient, 0, "not valid JSON"},
		{"HTML page as a stream", `{"do":[{"html":true}]}`, model.ClassTransient, 0, "HTML page"},
		{"no line", ``, model.ClassTransient, 0, "test.jsonl"},
	}
}

func testFailures(t *testing.T, a Adapter) {
	for _, f := range append(failures(), a.Failures...) {
		t.Run(f.Name, func(t *testing.T) {
			m, server := a.start(t, f.Line)
			_, err := collect(t.Context(), m)
			var e *model.Error
			if !errors.As(err, &e) || e.Class != f.Class || e.RetryAfter != f.Retry || !strings.Contains(e.Message, f.Says) {
				t.Fatalf("got %v (%+v)", err, e)
			}
			if s := fmt.Sprintf("%v %+v", err, e); strings.Contains(s, key[3:]) || strings.Contains(s, key[len(key)-10:]) || strings.Contains(e.Message, "\n") {
				t.Fatalf("the error holds the key or several lines: %v", err)
			}
			if n := server.Count(); n != 1 {
				t.Fatalf("%d requests: it tried again", n)
			}
		})
	}
}

// stream answers everything with its own text as a stream.
type stream string

func (s stream) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, string(s))
}

func testDocument(t *testing.T, a Adapter) {
	m := a.at(t, stream(`{"error":{"code":"rate_limit_exceeded","message":"slow"}}`), httpx.Config{Info: a.Info, Key: key})
	_, err := collect(t.Context(), m)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.ClassTransient || e.Status != http.StatusTooManyRequests || !strings.Contains(e.Message, "slow") {
		t.Fatalf("got %v", err)
	}
}

func testLongLine(t *testing.T, a Adapter) {
	m := a.at(t, stream("event: x\ndata: "+strings.Repeat("x", httpx.MaxLine+1)), httpx.Config{Info: a.Info, Key: key})
	_, err := collect(t.Context(), m)
	var e *model.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "16 MiB") {
		t.Fatalf("got %v", err)
	}
}

func testRedaction(t *testing.T, a Adapter) {
	m := a.at(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","message":"bad key %s and %s, also sk-proj-****abcd"}}`, r.Header.Get(a.Header), r.Header.Get("X-Team"))
	}), httpx.Config{Info: a.Info, Key: "plainsecret42", Headers: map[string]string{"X-Team": "teamsecret42"}})
	_, err := collect(t.Context(), m)
	if s := fmt.Sprint(err); strings.Contains(s, "secret42") || strings.Contains(s, "abcd") || !strings.Contains(s, "[key] and [header]") {
		t.Fatal(s)
	}
}
