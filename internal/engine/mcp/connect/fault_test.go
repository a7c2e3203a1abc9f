package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/platform/fault"
)

// caught returns options whose connection puts its panics into the channel.
func caught(o Options) (Options, chan *fault.Panic) {
	told := make(chan *fault.Panic, 4)
	o.Version = "1"
	o.Caught = func(_ string, p *fault.Panic) { told <- p }
	return o, told
}

// ended waits for the end of a connection by a panic that says what.
func ended(t *testing.T, s *Server, told chan *fault.Panic, what string) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(2 * time.Minute):
		t.Fatal("the connection goes on")
	}
	if err := s.Fault(); err == nil || !strings.HasPrefix(err.Error(), "its connection is given up after a fault inside Scorel: ") || !strings.Contains(err.Error(), what) {
		t.Errorf("the connection ended by %v", err)
	}
	if p := <-told; len(p.Stack) == 0 {
		t.Errorf("%v has no stack", p)
	}
	if _, err := s.Call(t.Context(), Call{Tool: "echo"}); !errors.Is(err, ErrNotSent) {
		t.Errorf("a call after it: %v", err)
	}
	s.Close()
}

func TestAQuestionThatTheLibraryPanicsOfEndsItsConnectionOnly(t *testing.T) {
	o, told := caught(Options{Asks: true})
	s := open(t, "senseless:tools/call", o)
	_, _ = s.Call(t.Context(), Call{Tool: "tool"}) // it may have been answered before
	ended(t, s, told, "nil pointer")
}

func TestAPanicInWhatAServerCausesEndsItsConnectionOnly(t *testing.T) {
	form := func(context.Context, Question) Reply { panic("half asked") }
	for _, c := range []struct {
		name, kind, tool string
		older            bool
		options          Options
		call             Call
		says             string // of the panic; "": half
	}{
		{name: "a question of the newest version", kind: "asking", options: Options{Asks: true}, call: Call{Tool: "ask", Ask: form}},
		{name: "a question of an older version", kind: "asking", older: true, options: Options{Asks: true}, call: Call{Tool: "ask", Ask: form}},
		{name: "an answer that the library panics of", kind: "nothing:tools/call", call: Call{Tool: "tool"}, says: "nil pointer"},
		{name: "news of a call", kind: "good", call: Call{Tool: "steps", Tell: func(Progress) { panic("half told") }}},
		{name: "a changed list", kind: "flood:tools/call", options: Options{ToolsChanged: func() { panic("half listed") }}, call: Call{Tool: "tool"}},
		{name: "a read", kind: "pushing:tools/call", options: Options{Pushed: func(string, json.RawMessage) { panic("half read") }}, call: Call{Tool: "tool"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, told := caught(c.options)
			to := target(t, c.kind)
			to.Older = c.older
			s, err := Open(t.Context(), to, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			_, _ = s.Call(t.Context(), c.call) // it may have been answered before
			ended(t, s, told, cmp.Or(c.says, "half "))
		})
	}
}

func TestAPanicInAWriteEndsItsConnectionOnly(t *testing.T) {
	o, told := caught(Options{})
	s := open(t, "good", o)
	s.process.in.mu.Lock()
	s.process.in.WriteCloser = nil
	s.process.in.mu.Unlock()
	if _, err := s.Call(t.Context(), Call{Tool: "echo"}); !errors.Is(err, ErrUnknownEffect) {
		t.Errorf("the call: %v", err)
	}
	ended(t, s, told, "nil pointer")
}

// brokenAuth panics when it is asked for a token after the first ones.
type brokenAuth struct{ broken chan struct{} }

func (a brokenAuth) Token(context.Context) (string, error) {
	select {
	case <-a.broken:
		panic("half signed in")
	default:
		return "", nil
	}
}

func (brokenAuth) Refused(context.Context, string, int, http.Header) bool { return false }

func TestAPanicInARequestToAnAddressEndsItsConnectionOnly(t *testing.T) {
	to := Target{Name: "test", Auth: brokenAuth{make(chan struct{})}}
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return good() }, nil)
	to.URL, to.Older = serveHTTP(t, inner), true
	o, told := caught(Options{})
	s, err := Open(t.Context(), to, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	defer forget(inner, s.session.ID()) // the end of the session cannot be sent either
	close(to.Auth.(brokenAuth).broken)
	if _, err := s.Call(t.Context(), Call{Tool: "echo"}); !errors.Is(err, ErrUnknownEffect) {
		t.Errorf("the call: %v", err)
	}
	ended(t, s, told, "half signed in")
}

func TestAPanicWhileAConnectionIsMadeIsWhyItIsNot(t *testing.T) {
	auth := brokenAuth{make(chan struct{})}
	close(auth.broken)
	o, told := caught(Options{})
	_, err := Open(t.Context(), Target{Name: "test", URL: "http://127.0.0.1:1", Auth: auth}, o)
	if err == nil || err.Error() != "its connection is given up after a fault inside Scorel: half signed in" {
		t.Errorf("%v", err)
	}
	<-told
}

func TestAPanicOfASocketIsAnError(t *testing.T) {
	x := &socket{fuse: fault.NewFuse(nil)}
	if _, err := x.Read(t.Context()); err == nil || x.fuse.Panic() == nil {
		t.Errorf("a read: %v", err)
	}
	if err := x.Write(t.Context(), nil); err == nil {
		t.Error("a write has no error")
	}
}
