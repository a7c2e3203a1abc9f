package hosttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/internal/extension/js"
	"scorel/internal/extension/prelude"
	"scorel/internal/host"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Main runs the tests of a package. It is also the child that runs extensions, and fails
// when a goroutine is left.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__extensions" { // the child that runs extensions
		os.Exit(js.Main(os.Args[2:], "test", prelude.Scripts()))
	}
	goleak.VerifyTestMain(m)
}

// World is a home, a project and a host, with a model server that speaks a
// vendor's format and judges requests as the vendor does.
type World struct {
	T       *testing.T
	API     string
	Home    string
	Project string
	Config  host.Config
	Host    *host.Host
	Server  *modeltest.Server
	Second  *modeltest.Server // of the model "other", when there is one
	Waits   *waits
	Reports *reports
	Pieces  *atomic.Int32 // of answers that the server has sent, when they are counted
}

// reports are what went into the diagnostics of sessions.
type reports struct {
	Mu   sync.Mutex
	List []string
}

func (r *reports) add(what string, _ []byte) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.List = append(r.List, what)
}

// waits records what the runtime slept for; it never really waits.
type waits struct {
	mu   sync.Mutex
	list []time.Duration
	Hook func(ctx context.Context) // is called in each wait
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	w.list = append(w.list, d)
	hook := w.Hook
	w.mu.Unlock()
	if hook != nil {
		hook(ctx)
	}
	return ctx.Err()
}

func (w *waits) All() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Duration(nil), w.list...)
}

// Setting is how a world differs from the usual one.
type Setting struct {
	API       string // one of apis(); "anthropic-messages" when empty
	Window    int    // 0: 200,000
	Config    string // more lines of config.toml, before the tables
	Overrides host.Overrides
	Fs        disk.FS
	Attended  bool
	Serving   bool
	Silence   time.Duration
	Key       string // that the server takes; empty: any
	WrongKey  bool
	Tables    string                // more tables of config.toml
	Request   func(body []byte)     // is called with each request of the model
	Fallback  bool                  // the model has a fallback, "spare"
	Other     string                // the API of a second model, "other", with a server of its own; the first falls back to it
	Lines     []string              // the script of the second model
	Chunk     int                   // characters of one piece of an answer; 0: whole
	Pieces    int                   // after so many pieces the server says nothing more in that answer; 0: it never stops
	Confines  func() sandbox.Status // what the system can hold; nil: what this one can
}

// New makes a world whose model answers with the lines of a script.
func New(t *testing.T, s Setting, lines ...string) *World {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &World{T: t, Waits: &waits{}, Reports: &reports{}, Pieces: &atomic.Int32{}, Home: filepath.Join(root, "home"), Project: filepath.Join(root, "project")}
	for _, d := range []string{filepath.Join(w.Home, ".scorel"), w.Project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	head := fmt.Sprintf(`{"script":1,"window":200000,"chunk":%d,"delayMs":%d}`, s.Chunk, min(s.Pieces, 1))
	parsed, err := script.Parse(strings.NewReader(head+"\n"+strings.Join(lines, "\n")), "script")
	if err != nil {
		t.Fatal(err)
	}
	cfg := modeltest.Config{Script: parsed, Keep: -1, Key: s.Key, Sleep: func(ctx context.Context, _ time.Duration) error {
		if int(w.Pieces.Add(1)) == s.Pieces+1 {
			<-ctx.Done()
		}
		return ctx.Err()
	}, Kind: func(body []byte) model.Kind {
		if s.Request != nil {
			s.Request(body)
		}
		return KindOf(body)
	}}
	api := s.API
	if api == "" {
		api = "anthropic-messages"
	}
	w.API, w.Server = api, vendor(api, cfg)
	srv := httptest.NewServer(w.Server)
	t.Cleanup(srv.Close)
	window := s.Window
	if window == 0 {
		window = 200_000
	}
	spare := ""
	if s.Fallback {
		spare = fmt.Sprintf(`fallback = "spare"
[models.spare]
type = "custom"
api = %q
baseUrl = %q
id = "spare-1"
apiKeyEnv = "MOCK_KEY"
contextWindow = %d
maxTokens = 4000
`, api, srv.URL, window)
	}
	if s.Other != "" {
		answers, err := script.Parse(strings.NewReader(head+"\n"+strings.Join(s.Lines, "\n")), "other")
		if err != nil {
			t.Fatal(err)
		}
		w.Second = vendor(s.Other, modeltest.Config{Script: answers, Keep: -1, Kind: KindOf})
		another := httptest.NewServer(w.Second)
		t.Cleanup(another.Close)
		spare = "fallback = \"other\"\n"
		s.Tables += fmt.Sprintf(`
[models.other]
type = "custom"
api = %q
baseUrl = %q
id = "other-1"
apiKeyEnv = "MOCK_KEY"
contextWindow = %d
maxTokens = 32000
images = true
reasoning = true
`, s.Other, another.URL, window)
	}
	w.Write(filepath.Join(w.Home, ".scorel", "config.toml"), fmt.Sprintf(`%s
[model]
name = "mock"
%s[models.mock]
type = "custom"
api = %q
baseUrl = %q
id = "mock-1"
apiKeyEnv = "MOCK_KEY"
contextWindow = %d
maxTokens = 32000
%s
`, s.Config, spare, api, srv.URL, window, s.Tables))
	key := s.Key
	if key == "" {
		key = "any"
	}
	if s.WrongKey {
		key += "-wrong"
	}
	environ := append(os.Environ(), "HOME="+w.Home, "MOCK_KEY="+key, "SCOREL_SECRET=1")
	cache := srv.Client()
	w.Config = host.Config{Dir: filepath.Join(w.Home, ".scorel"), UserHome: w.Home, Environ: environ, FS: s.Fs,
		Overrides: s.Overrides, Unattended: !s.Attended && !s.Serving, Serving: s.Serving, Codec: true, Now: time.Now, Rand: rand.Reader, Sleep: w.Waits.sleep,
		Silence: s.Silence, HTTP: cache, Report: w.Reports.add, Confinement: s.Confines}
	t.Cleanup(cache.CloseIdleConnections)
	w.Start()
	return w
}

// APIs are the wire formats.
func APIs() []string {
	return []string{"anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"}
}

// vendor makes a server that speaks an API.
func vendor(api string, c modeltest.Config) *modeltest.Server {
	switch api {
	case "openai-completions":
		return modeltest.OpenAI(c)
	case "openai-responses":
		return modeltest.Responses(c)
	case "google-generative-ai":
		return modeltest.Google(c)
	}
	return modeltest.Anthropic(c)
}

// Whole reports whether a vendor sends calls whole, so that there is none whose input is
// no object.
func Whole(api string) bool { return api == "google-generative-ai" }

// ModelOf is the model that a request names.
func ModelOf(r modeltest.Request) string {
	if _, id, ok := strings.Cut(r.Path, "/models/"); ok { // Google
		return strings.TrimSuffix(id, ":streamGenerateContent")
	}
	return Between(string(r.Body), `"model":"`, `"`)
}

// Start makes the world's host.
func (w *World) Start() {
	w.T.Helper()
	h, err := host.New(w.Config)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Host = h
	w.T.Cleanup(func() { _ = h.Close() })
}

// Restart closes the host and makes another on the same home.
func (w *World) Restart() {
	w.T.Helper()
	if err := w.Host.Close(); err != nil {
		w.T.Fatalf("close the host: %v", err)
	}
	w.Start()
}

// Killed returns the world as it is found when the host is killed now: another
// home with what is stored at this moment, and a host on it.
func (w *World) Killed() *World {
	w.T.Helper()
	after := *w
	after.Home = filepath.Join(w.T.TempDir(), "home")
	// What is being written while it is copied may be gone in between, as after a kill.
	var gone error = os.ErrNotExist
	for tries := 0; errors.Is(gone, os.ErrNotExist); tries++ {
		if err := os.RemoveAll(after.Home); err != nil || tries > 1000 {
			w.T.Fatal(errors.Join(gone, err))
		}
		gone = os.CopyFS(filepath.Join(after.Home, ".scorel"), os.DirFS(filepath.Join(w.Home, ".scorel")))
	}
	if gone != nil {
		w.T.Fatal(gone)
	}
	after.Config.Dir, after.Config.UserHome = filepath.Join(after.Home, ".scorel"), after.Home
	after.ownRecords()
	after.Start()
	return &after
}

// ownRecords makes the records of running commands in a copied home those of this folder:
// a host ends nothing for records that were written in another.
func (w *World) ownRecords() {
	w.T.Helper()
	err := filepath.WalkDir(filepath.Join(w.Home, ".scorel", "run"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var record map[string]json.RawMessage
		if json.Unmarshal(data, &record) != nil || record["folder"] == nil {
			return nil
		}
		delete(record, "folder")
		if data, err = json.Marshal(record); err != nil {
			return err
		}
		return os.WriteFile(name, data, 0o600)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.T.Fatal(err)
	}
}

// Log returns the lines of a session's log, without the header. A line that is being written
// is none yet.
func (w *World) Log(id protocol.SessionID) []protocol.Event {
	w.T.Helper()
	data, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "sessions", string(id)+".jsonl"))
	if err != nil {
		w.T.Fatal(err)
	}
	var out []protocol.Event
	for i, line := range bytes.Split(data[:max(bytes.LastIndexByte(data, '\n'), 0)], []byte("\n")) {
		if i == 0 {
			continue
		}
		e, err := protocol.ParseEvent(line)
		if err != nil {
			w.T.Fatalf("line %d of the log: %v", i+1, err)
		}
		out = append(out, e)
	}
	return out
}

// KindOf tells a summariser's request from a step's.
func KindOf(body []byte) model.Kind {
	if strings.Contains(string(body), "<conversation>") || strings.Contains(string(body), `\u003cconversation\u003e`) {
		return model.KindCompact
	}
	return model.KindStep
}

func (w *World) Write(name, text string) {
	w.T.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.T.Fatal(err)
	}
}

// File writes a file of the project and returns its path.
func (w *World) File(name, text string) string {
	path := filepath.Join(w.Project, name)
	w.Write(path, text)
	return path
}

func (w *World) Read(name string) string {
	w.T.Helper()
	data, err := os.ReadFile(filepath.Join(w.Project, name))
	if err != nil {
		w.T.Fatal(err)
	}
	return string(data)
}

func (w *World) Connect(interactive bool) *client.Client {
	w.T.Helper()
	return w.ConnectThrough(interactive, func(c *host.Conn) client.Transport { return c })
}

// ConnectThrough connects by a transport that is laid over the connection.
func (w *World) ConnectThrough(interactive bool, over func(*host.Conn) client.Transport) *client.Client {
	w.T.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	conn, err := w.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version,
		ClientID: protocol.ClientIDOf(key), ClientName: "test", Interactive: interactive}, protocol.GrantControl)
	if err != nil {
		w.T.Fatal(err)
	}
	c := client.New(over(conn))
	w.T.Cleanup(func() { _ = c.Close() })
	return c
}

// Begin makes a session and opens it.
func (w *World) Begin(interactive bool) *Entry {
	w.T.Helper()
	c := w.Connect(interactive)
	p := Call[*protocol.Project](w.T, c, "", &protocol.RegisterProject{WorkDir: w.Project})
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	Call[*protocol.SessionSummary](w.T, c, id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: w.Project}})
	return w.Open(c, id)
}

func (w *World) Open(c *client.Client, id protocol.SessionID) *Entry {
	w.T.Helper()
	s, err := c.Open(context.Background(), id, 0)
	if err != nil {
		w.T.Fatal(err)
	}
	e := &Entry{W: w, C: c, S: s, ID: id}
	for !e.Next().Fresh { // before the live state comes what has been added while it was opened
	}
	return e
}

func Call[R protocol.Response](t *testing.T, c *client.Client, id protocol.SessionID, req protocol.Request) R {
	t.Helper()
	r, err := client.Call[R](context.Background(), c, id, req)
	if err != nil {
		t.Fatalf("%s: %v", req.Spec().Name, err)
	}
	return r
}

// Refused sends a request that must fail with the code.
func Refused(t *testing.T, c *client.Client, id protocol.SessionID, req protocol.Request, code protocol.Code) *protocol.Error {
	t.Helper()
	_, err := client.Call[protocol.Response](context.Background(), c, id, req)
	if err == nil {
		t.Fatalf("%s succeeded; want %s", req.Spec().Name, code)
	}
	pe := protocol.AsError(err)
	if pe.Code != code {
		t.Fatalf("%s: %s %v; want %s", req.Spec().Name, pe.Code, err, code)
	}
	return pe
}

// Patience is when a test gives up what it waits for. Only a test that fails waits so
// long, and a machine that has much else to do may need a part of it.
const Patience = harness.Timeout

func OfType(t protocol.EventType) func(protocol.Event) bool {
	return func(e protocol.Event) bool { return e.Type == t }
}

// Paired fails when a call has no result directly after its message, or a
// result no call.
func Paired(t *testing.T, messages []protocol.Message) {
	t.Helper()
	var open []string
	for i, m := range messages {
		if m.Role == protocol.RoleToolResult {
			if len(open) == 0 || open[0] != m.ToolCallID {
				t.Fatalf("message %d is a result of %s; open calls: %v", i, m.ToolCallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d (%s) comes before the results of %v", i, m.Role, open)
		}
		for _, c := range m.Calls() {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("no result of %v", open)
	}
}

// Judged fails when a server refused a request.
func (w *World) Judged() {
	w.T.Helper()
	for _, server := range []*modeltest.Server{w.Server, w.Second} {
		if server == nil {
			continue
		}
		for i, r := range server.Requests() {
			if r.Refused != "" {
				w.T.Errorf("request %d was refused: %s\n%s", i, r.Refused, r.Body)
			}
		}
	}
}
