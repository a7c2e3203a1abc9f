package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// taken reads a stream in pieces and returns the notifications that were taken from it, what was
// lost, and what was passed on.
func taken(stream string, pieces func(io.Reader) io.Reader) (got []string, passed string) {
	f := filter{now: time.Now, pushed: func(method string, params json.RawMessage) {
		got = append(got, strings.TrimPrefix(method, ChannelPushed)+string(params))
	}}
	r := &eventReader{ReadCloser: io.NopCloser(pieces(strings.NewReader(stream))), filter: f, lost: func(why string) { got = append(got, "lost: "+why) }}
	data, _ := io.ReadAll(r)
	return got, string(data)
}

func whole(r io.Reader) io.Reader { return r }

func TestNotificationsOfChannelsAreTakenFromAStream(t *testing.T) {
	event := func(params string) string {
		return `{"jsonrpc":"2.0","method":"notifications/claude/channel","params":` + params + `}`
	}
	for stream, want := range map[string][]string{
		"data: " + event(`{"content":"a"}`) + "\n\n":                                                                   {`{"content":"a"}`},
		"event: message\nid: 7\ndata:" + event(`1`) + "\r\n\r\n: a comment\n\ndata: " + event(`2`) + "\n\n":            {"1", "2"},
		"data: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications\\/claude\\/channel\",\ndata: \"params\":3}\n\n": {"3"},
		`data: {"jsonrpc":"2.0","method":"notifications/claude/channel/permission","params":{}}` + "\n\n":              {"/permission{}"},
		"event: endpoint\ndata: " + event(`4`) + "\n\ndata: " + event(`5`) + "\n\n":                                    {"5"},
		"data: " + event(`6`) + "\n": nil, // it has no end
		"data: " + event(`{"content":`) + "\n\ndata: nothing\n\ndata: [[[[\n\n":                           nil,
		`data: {"jsonrpc":"2.0","id":1,"method":"notifications/claude/channel","params":7}` + "\n\n":      nil, // a request
		`data: {"jsonrpc":"2.0","method":"notifications/other","params":8}` + "\n\n":                      nil,
		"data: " + event(`"`+strings.Repeat("x", maxPushed)+`"`) + "\n\ndata: " + event(`9`) + "\n\n":     {"lost: an event of it was longer than 1024 KiB", "9"},
		"data: " + strings.Repeat("x", 3*maxPushed) + "\n\ndata: " + event(`10`) + "\n\n":                 {"10"},
		strings.Repeat("data: "+strings.Repeat("y", 1000)+"\n", 3000) + "\ndata: " + event(`11`) + "\n\n": {"11"},
		"data: " + strings.Repeat("[", 100_000) + "\n\n":                                                  nil,
	} {
		for name, pieces := range map[string]func(io.Reader) io.Reader{"whole": whole, "half": iotest.HalfReader, "bytes": iotest.OneByteReader} {
			if name == "bytes" && len(stream) > 10_000 {
				continue
			}
			if got, passed := taken(stream, pieces); !slices.Equal(got, want) || passed != stream {
				t.Errorf("%s of %.100q: %q, want %q; passed on whole: %t", name, stream, got, want, passed == stream)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add("data: {\"method\":\"notifications/claude/channel\"}\n\n")
	f.Add("event: x\r\ndata\n\n:\n")
	f.Fuzz(func(t *testing.T, stream string) {
		got, passed := taken(stream, whole)
		split, again := taken(stream, iotest.OneByteReader)
		if passed != stream || again != stream || !slices.Equal(got, split) {
			t.Errorf("%q is passed on as %q, with %q and %q", stream, passed, got, split)
		}
	})
}

// bus is a server with an address that pushes, as of 2025-11-25: it is written by hand, because
// the library sends no notifications that it does not know.
type bus struct {
	noStream bool

	mu      sync.Mutex
	streams []chan string // of those that are connected; closed by cut
	got     []string      // notifications, with the id of the session
	opened  chan struct{}
}

func (b *bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		if b.noStream {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		lines := make(chan string, 100)
		b.mu.Lock()
		b.streams = append(b.streams, lines)
		b.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		b.opened <- struct{}{}
		for {
			select {
			case line, ok := <-lines:
				if !ok {
					return
				}
				fmt.Fprintf(w, "data: %s\n\n", line)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	case http.MethodPost:
		data, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(data, &m)
		switch {
		case m.ID == nil:
			b.mu.Lock()
			b.got = append(b.got, r.Header.Get("Mcp-Session-Id")+" "+string(bytes.TrimSpace(data)))
			b.mu.Unlock()
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"bus","version":"1"},"capabilities":{"experimental":{"claude/channel":{}}}}}`, m.ID)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"there is no such method"}}`, m.ID)
		}
	}
}

// push sends a line on the newest stream.
func (b *bus) push(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams[len(b.streams)-1] <- line
}

func (b *bus) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.streams[len(b.streams)-1])
}

func TestAServerWithAnAddressPushesThroughItsStream(t *testing.T) {
	b := &bus{opened: make(chan struct{}, 10)}
	at := httptest.NewServer(b)
	defer at.Close()
	pushed, lost := make(chan string, 10), make(chan string, 10)
	s, err := Open(t.Context(), Target{Name: "bus", URL: at.URL}, Options{Version: "1", Pushed: func(method string, params json.RawMessage) { pushed <- method + string(params) }, Lost: func(why string) { lost <- why }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wait := func(from <-chan string) string {
		t.Helper()
		select {
		case got := <-from:
			return got
		case <-time.After(2 * time.Minute):
			t.Fatal("nothing comes")
			return ""
		}
	}
	<-b.opened
	if err := s.CanPush(); err != nil || !s.Declares("claude/channel") {
		t.Fatalf("%v", err)
	}
	b.push(`{"jsonrpc":"2.0","method":"notifications/claude/channel","params":{"content":"hi"}}`)
	if got := wait(pushed); got != `notifications/claude/channel{"content":"hi"}` {
		t.Errorf("%s", got)
	}
	if err := s.Notify(t.Context(), ChannelPushed+"/permission_request", map[string]string{"request_id": "abcde"}); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	if got := b.got[len(b.got)-1]; got != `s1 {"jsonrpc":"2.0","method":"notifications/claude/channel/permission_request","params":{"request_id":"abcde"}}` {
		t.Errorf("the server gets %s", got)
	}
	b.mu.Unlock()
	b.cut()
	<-b.opened
	if got := wait(lost); got != "its stream was interrupted, and what it has pushed meanwhile is lost" {
		t.Error(got)
	}
	b.push(`{"jsonrpc":"2.0","method":"notifications/claude/channel","params":{"content":"again"}}`)
	if got := wait(pushed); got != `notifications/claude/channel{"content":"again"}` {
		t.Errorf("%s", got)
	}
}

func TestAServerWithoutAStreamCannotPush(t *testing.T) {
	at := httptest.NewServer(&bus{noStream: true})
	defer at.Close()
	s, err := Open(t.Context(), Target{Name: "bus", URL: at.URL}, Options{Version: "1", Pushed: func(string, json.RawMessage) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CanPush(); err != errNoStream {
		t.Errorf("%v", err)
	}
}

// TestAChannelIsConnectedWithInAVersionThatHasStreams: a server that also speaks an older version
// in which it has a stream, one that does not, and one that is not a channel.
func TestAChannelIsConnectedWithInAVersionThatHasStreams(t *testing.T) {
	for _, c := range []struct {
		channel, both bool
		version       string
		why           error
	}{{true, true, olderVersion, nil}, {true, false, newestVersion, errNewest}, {false, true, newestVersion, errNewest}} {
		caps := &mcp.ServerCapabilities{}
		if c.channel {
			caps.Experimental = map[string]any{channelCapability: map[string]any{}}
		}
		server := mcp.NewServer(&mcp.Implementation{Name: "bus", Version: "1"}, &mcp.ServerOptions{Capabilities: caps})
		newest := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
		older := &bus{opened: make(chan struct{}, 10)}
		at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.both && r.Header.Get("Mcp-Protocol-Version") != newestVersion {
				older.ServeHTTP(w, r)
				return
			}
			newest.ServeHTTP(w, r)
		}))
		s, err := Open(t.Context(), Target{Name: "bus", URL: at.URL}, Options{Version: "1", Pushed: func(string, json.RawMessage) {}})
		if err != nil {
			t.Fatal(err)
		}
		if s.ProtocolVersion() != c.version || s.CanPush() != c.why {
			t.Errorf("channel %t, both %t: the version is %s, %v", c.channel, c.both, s.ProtocolVersion(), s.CanPush())
		}
		s.Close()
		at.Close()
	}
}
