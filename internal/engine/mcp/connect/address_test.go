package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// seen keeps the headers of requests.
type seen struct {
	mu      sync.Mutex
	headers []http.Header
}

func (s *seen) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.headers = append(s.headers, r.Header.Clone())
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

func (s *seen) all() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.headers
}

func serveHTTP(t *testing.T, h http.Handler) string {
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL
}

func TestServersAreReachedByTheirAddress(t *testing.T) {
	get := func(*http.Request) *mcp.Server { return good() }
	for name, test := range map[string]struct {
		handler http.Handler
		sse     bool
	}{
		"streamable":           {handler: mcp.NewStreamableHTTPHandler(get, nil)},
		"streamable, JSON":     {handler: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true})},
		"streamable, no state": {handler: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})},
		"SSE":                  {handler: mcp.NewSSEHandler(get, nil), sse: true},
	} {
		t.Run(name, func(t *testing.T) {
			var got seen
			at := serveHTTP(t, got.watch(test.handler))
			s, err := Open(t.Context(), Target{Name: "test", URL: at, SSE: test.sse, Headers: http.Header{"X-Key": {"marker-1"}}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if tools, faults, err := s.Tools(t.Context()); err != nil || len(faults) > 0 || len(tools) != 5 {
				t.Fatalf("%v, %q, %v", tools, faults, err)
			}
			a, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi"}`)})
			if got := text(t, a, err); got != "hi" {
				t.Errorf("%q", got)
			}
			for _, h := range got.all() {
				if h.Get("X-Key") != "marker-1" {
					t.Errorf("a request without the header: %v", h)
				}
			}
		})
	}
}

func TestAnAddressThatLeadsElsewhereGetsNoHeaders(t *testing.T) {
	var there seen
	other := serveHTTP(t, there.watch(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return good() }, nil)))
	at := serveHTTP(t, http.RedirectHandler(other, http.StatusTemporaryRedirect))
	_, err := Open(t.Context(), Target{Name: "test", URL: at, Headers: http.Header{"Authorization": {"Bearer marker-1"}}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "it leads to "+other+", which is another server") {
		t.Errorf("%v", err)
	}
	if n := len(there.all()); n > 0 {
		t.Errorf("the other server was asked %d times: %v", n, there.all())
	}
}

func TestAServerThatWantsASignIn(t *testing.T) {
	at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you", http.StatusUnauthorized) }))
	for _, sse := range []bool{false, true} {
		if _, err := Open(t.Context(), Target{Name: "test", URL: at, SSE: sse}, Options{}); !errors.Is(err, ErrNeedsAuth) {
			t.Errorf("SSE %v: %v", sse, err)
		}
	}
}

func TestAnAddressThatAnswersWrong(t *testing.T) {
	for name, test := range map[string]struct {
		do    http.HandlerFunc
		wants string
	}{
		"no MCP":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome</html>") }, "as an MCP server does"},
		"not there": {func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, "as an MCP server does"},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not noticed
			<-r.Context().Done()
		}, "it has not answered within 500ms"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"x":%q}}`, strings.Repeat("x", 17<<20))
		}, "more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), Target{Name: "test", URL: serveHTTP(t, test.do)}, Options{ConnectTime: 500 * time.Millisecond})
			if name == "too large" || name == "no MCP" || name == "not there" {
				_, err = Open(t.Context(), Target{Name: "test", URL: serveHTTP(t, test.do)}, Options{ConnectTime: patience})
			}
			if err == nil || !strings.Contains(err.Error(), test.wants) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWhatAnAddressKeepsSecretIsInNoError(t *testing.T) {
	for _, at := range []string{"http://ada:marker-1@127.0.0.1:9/mcp?key=marker-2", serveHTTP(t, http.NotFoundHandler()) + "/mcp?key=marker-2"} {
		_, err := Open(t.Context(), Target{Name: "test", URL: at}, Options{})
		if err == nil || strings.Contains(err.Error(), "marker") {
			t.Errorf("%v", err)
		}
	}
}

func TestAnAddressMustBeOne(t *testing.T) {
	for _, at := range []string{"", "example.com", "ftp://example.com", "file:///etc/passwd", "http://", "http://[::1"} {
		if _, err := Open(t.Context(), Target{Name: "test", URL: at}, Options{}); err == nil || !strings.Contains(err.Error(), "url") {
			t.Errorf("%q: %v", at, err)
		}
	}
}
