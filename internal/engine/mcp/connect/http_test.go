package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// forget ends a session at its server; a client does not where the last request has failed.
func forget(h http.Handler, id string) {
	end := httptest.NewRequest(http.MethodDelete, "/", nil)
	end.Header.Set("Mcp-Session-Id", id)
	h.ServeHTTP(httptest.NewRecorder(), end)
}

func TestACallOfASessionThatTheServerHasForgottenIsNotSent(t *testing.T) {
	var forgotten atomic.Bool
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return good() }, nil)
	at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if forgotten.Load() && r.Header.Get("Mcp-Session-Id") != "" {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	s, err := Open(t.Context(), Target{Name: "test", URL: at, Older: true}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	forgotten.Store(true)
	defer forget(inner, s.session.ID())
	if _, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi"}`)}); !errors.Is(err, ErrNotSent) {
		t.Errorf("%v", err)
	}
}

func TestTheCommandForHeadersRunsAgainWhenTheyAreRefused(t *testing.T) {
	var refused atomic.Int32
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return good() }, nil)
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want, err := os.ReadFile(key)
		if err != nil || r.Header.Get("X-Key") != strings.TrimSpace(string(want)) {
			refused.Add(1)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	set := func(to string) {
		t.Helper()
		if err := os.WriteFile(key, []byte(to), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set("one")
	s, err := Open(t.Context(), Target{Name: "test", URL: at, Dir: dir, Env: os.Environ(), Helper: `printf '{"X-Key":"%s"}' "$(cat key)"`}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defer forget(inner, s.session.ID())
	before := refused.Load()
	set("two")
	a, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi"}`)})
	if got := text(t, a, err); got != "hi" || refused.Load() == before {
		t.Errorf("%q, refused %d times", got, refused.Load()-before)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi"}`)}); !errors.Is(err, ErrNeedsAuth) {
		t.Errorf("%v", err)
	}
}

// stalls is a round tripper that never answers.
type stalls struct{}

func (stalls) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestAnAnswerHasToBeginWithinAMinuteOrTheTimeOfItsCall(t *testing.T) {
	for of, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Minute, time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			a := &address{base: stalls{}}
			call := &asking{Call: Call{Time: of}}
			ctx := context.WithValue(t.Context(), askingKey{}, call)
			req := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://site.example", strings.NewReader("x"))
			began := time.Now()
			if _, err := a.begun(req); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("not begun to answer within %v", want)) {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took != want || silent(ctx) != want {
				t.Errorf("a call of %v is given up after %v, and it says %v", of, took, silent(ctx))
			}
		})
	}
}

func TestAddressesThatAServerWantsOpenedAreAskedForAndTheCallIsMadeOnceMore(t *testing.T) {
	for _, test := range []struct {
		name    string
		accepts bool
		asked   bool
		calls   int32
		want    string
	}{{"opened", true, true, 2, "paid"}, {"declined", false, true, 1, "nobody has done that"}, {"nobody there", false, false, 1, "nobody has done that"}} {
		t.Run(test.name, func(t *testing.T) {
			var calls atomic.Int32
			srv := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
			mcp.AddTool(srv, &mcp.Tool{Name: "buy"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				if calls.Add(1) == 1 {
					return nil, nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{{Mode: "url", Message: "Pay\x1b[31m", URL: "https://pay.example/x", ElicitationID: "1"}})
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "paid"}}}, nil, nil
			})
			at := serveHTTP(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil))
			s, err := Open(t.Context(), Target{Name: "test", URL: at}, Options{Asks: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var asked []Question
			c := Call{Tool: "buy"}
			if test.asked {
				c.Ask = func(_ context.Context, q Question) Reply {
					asked = append(asked, q)
					if test.accepts {
						return Reply{Action: Accept}
					}
					return Reply{Action: Decline}
				}
			}
			a, err := s.Call(t.Context(), c)
			got := fmt.Sprint(err)
			if err == nil {
				got = text(t, a, nil)
			}
			if !strings.Contains(got, test.want) || calls.Load() != test.calls {
				t.Errorf("%q after %d calls", got, calls.Load())
			}
			if test.asked && (len(asked) != 1 || asked[0].URL != "https://pay.example/x" || asked[0].Message != "Pay[31m") {
				t.Errorf("people were asked %+v", asked)
			}
		})
	}
}
