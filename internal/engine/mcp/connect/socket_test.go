package connect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// served is the server's end of a WebSocket.
type served struct {
	*websocket.Conn
	silent bool // it does not answer server/discover, as some older servers do
}

func (c served) Connect(context.Context) (mcp.Connection, error) { return c, nil }
func (c served) SessionID() string                               { return "" }
func (c served) Close() error                                    { return c.CloseNow() }

func (c served) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		_, data, err := c.Conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		if c.silent && strings.Contains(string(data), "server/discover") {
			continue
		}
		return jsonrpc.DecodeMessage(data)
	}
}

func (c served) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.Conn.Write(ctx, websocket.MessageText, data)
}

// sockets accepts WebSockets, and has do for each. Its ended counts those that are over.
type sockets struct {
	protocols []string
	do        func(ctx context.Context, c *websocket.Conn)
	ended     sync.WaitGroup
}

func (s *sockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ended.Add(1)
	defer s.ended.Done()
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: s.protocols})
	if err != nil {
		return
	}
	defer c.CloseNow()
	s.do(context.Background(), c) // ends with the connection
}

// serveSocket serves WebSockets of which each is an MCP server, unless do is set.
func serveSocket(t *testing.T, s *sockets, before func(http.Handler) http.Handler) string {
	t.Helper()
	if s.protocols == nil {
		s.protocols = []string{"mcp"}
	}
	if s.do == nil {
		s.do = func(ctx context.Context, c *websocket.Conn) { _ = good().Run(ctx, served{Conn: c}) }
	}
	var h http.Handler = s
	if before != nil {
		h = before(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close(); s.ended.Wait() })
	return "ws" + strings.TrimPrefix(srv.URL, "http")
}

func TestAServerIsReachedOverWebSocketWithItsHeaders(t *testing.T) {
	for name, silent := range map[string]bool{"newest version": false, "one that never answers its question": true} {
		t.Run(name, func(t *testing.T) {
			var got seen
			at := serveSocket(t, &sockets{do: func(ctx context.Context, c *websocket.Conn) { _ = good().Run(ctx, served{c, silent}) }}, got.watch)
			s, err := Open(t.Context(), Target{Name: "test", URL: at, Headers: http.Header{"X-Key": {"marker-1"}}}, Options{ConnectTime: waits})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.Older() != silent {
				t.Errorf("older: %v", s.Older())
			}
			if tools, faults, err := s.Tools(t.Context()); err != nil || len(faults) > 0 || len(tools) != 5 {
				t.Fatalf("%v, %q, %v", tools, faults, err)
			}
			a, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi"}`)})
			if got := text(t, a, err); got != "hi" {
				t.Errorf("%q", got)
			}
			for _, h := range got.all() {
				if h.Get("X-Key") != "marker-1" {
					t.Errorf("a handshake without the header: %v", h)
				}
			}
		})
	}
}

// waits is what a busy machine may need.
const waits = 2 * time.Minute

func TestTheCommandForHeadersOfAWebSocketRunsAgainWhenTheyAreRefused(t *testing.T) {
	dir := t.TempDir()
	var refused atomic.Int32
	at := serveSocket(t, &sockets{}, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Key") != "two" {
				refused.Add(1)
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	s, err := Open(t.Context(), Target{Name: "test", URL: at, Dir: dir, Env: os.Environ(),
		Helper: `if [ -e again ]; then printf '{"X-Key":"two"}'; else touch again; printf '{"X-Key":"one"}'; fi`}, Options{ConnectTime: waits})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if refused.Load() != 1 {
		t.Errorf("refused %d times", refused.Load())
	}
}

func TestAWebSocketThatCannotBeUsedSaysWhy(t *testing.T) {
	plain := func(status int, lead string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if lead != "" {
				w.Header().Set("Location", lead)
			}
			w.WriteHeader(status)
		})
	}
	var strangers seen
	elsewhere := serveHTTP(t, strangers.watch(plain(http.StatusOK, "")))
	says := func(kind websocket.MessageType, what string) *sockets {
		return &sockets{do: func(ctx context.Context, c *websocket.Conn) {
			_, _, _ = c.Read(ctx)
			_ = c.Write(ctx, kind, []byte(what)) // the other side may have ended
			_, _, _ = c.Read(ctx)
		}}
	}
	for name, test := range map[string]struct {
		handler http.Handler
		sockets *sockets
		want    string
	}{
		"no WebSocket":        {handler: plain(http.StatusOK, ""), want: "the WebSocket is not opened"},
		"refused":             {handler: plain(http.StatusForbidden, ""), want: "it refuses the connection (status 403)"},
		"redirect":            {handler: plain(http.StatusFound, elsewhere), want: "which is another server"},
		"no sub-protocol":     {sockets: &sockets{protocols: []string{"chat"}}, want: `does not speak the sub-protocol "mcp"`},
		"no message":          {sockets: says(websocket.MessageText, "hello"), want: "not a message of MCP"},
		"binary":              {sockets: says(websocket.MessageBinary, "{}"), want: "a binary message"},
		"17 MiB":              {sockets: says(websocket.MessageText, `{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("x", 17<<20)+`"}`), want: "more than 16 MiB"},
		"closes at the start": {sockets: &sockets{do: func(_ context.Context, c *websocket.Conn) { _ = c.Close(websocket.StatusGoingAway, "bye") }}, want: "it does not answer as an MCP server does"},
	} {
		t.Run(name, func(t *testing.T) {
			var at string
			if test.handler != nil {
				at = "ws" + strings.TrimPrefix(serveHTTP(t, test.handler), "http")
			} else {
				at = serveSocket(t, test.sockets, nil)
			}
			_, err := Open(t.Context(), Target{Name: "test", URL: at, Headers: http.Header{"X-Key": {"marker-1"}}}, Options{ConnectTime: waits})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "marker-1") || errors.Is(err, ErrNeedsAuth) {
				t.Errorf("%v", err)
			}
		})
	}
	if n := len(strangers.all()); n != 0 {
		t.Errorf("another server got %d requests", n)
	}
}

func TestACallOverAWebSocketThatIsCancelledOrCutOffEnds(t *testing.T) {
	var mu sync.Mutex
	var last *websocket.Conn
	at := serveSocket(t, &sockets{do: func(ctx context.Context, c *websocket.Conn) {
		mu.Lock()
		last = c
		mu.Unlock()
		_ = good().Run(ctx, served{Conn: c})
	}}, nil)
	s, err := Open(t.Context(), Target{Name: "test", URL: at}, Options{ConnectTime: waits})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := s.Call(ctx, Call{Tool: "wait"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	a, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"still here"}`)})
	if got := text(t, a, err); got != "still here" {
		t.Errorf("%q", got)
	}
	time.AfterFunc(50*time.Millisecond, func() {
		mu.Lock()
		defer mu.Unlock()
		_ = last.CloseNow()
	})
	if _, err := s.Call(t.Context(), Call{Tool: "wait"}); !errors.Is(err, ErrUnknownEffect) {
		t.Errorf("%v", err)
	}
	<-s.Done()
}

func TestAServerOfAWebSocketIsToldThatTheConnectionEnds(t *testing.T) {
	closed := make(chan websocket.StatusCode, 1)
	at := serveSocket(t, &sockets{do: func(ctx context.Context, c *websocket.Conn) {
		session, err := good().Connect(ctx, watching{served{Conn: c}, closed}, nil)
		if err == nil {
			_ = session.Wait() // the other side has ended
		}
	}}, nil)
	s, err := Open(t.Context(), Target{Name: "test", URL: at}, Options{ConnectTime: waits})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if code := <-closed; code != websocket.StatusNormalClosure {
		t.Errorf("the server sees the status %d", code)
	}
}

// watching notes with which status the other side closes.
type watching struct {
	served
	closed chan websocket.StatusCode
}

func (c watching) Connect(context.Context) (mcp.Connection, error) { return c, nil }

func (c watching) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.served.Read(ctx)
	if err != nil {
		select {
		case c.closed <- websocket.CloseStatus(err):
		default:
		}
	}
	return m, err
}
