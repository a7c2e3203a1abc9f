package host_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/client"
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

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__extensions" { // the child that runs extensions
		os.Exit(js.Main(os.Args[2:], "test", []js.Script{{Name: prelude.Name, Source: prelude.Source()}}))
	}
	debug.SetGCPercent(400) // with little that lives, a third of the time would be for collecting
	goleak.VerifyTestMain(m)
}

// world is a home, a project and a host, with a model server that speaks a
// vendor's format and judges requests as the vendor does.
type world struct {
	t       *testing.T
	api     string
	home    string
	project string
	config  host.Config
	host    *host.Host
	server  *modeltest.Server
	second  *modeltest.Server // of the model "other", when there is one
	waits   *waits
	reports *reports
	pieces  *atomic.Int32 // of answers that the server has sent, when they are counted
}

// reports are what went into the diagnostics of sessions.
type reports struct {
	mu   sync.Mutex
	list []string
}

func (r *reports) add(what string, _ []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, what)
}

// waits records what the runtime slept for; it never really waits.
type waits struct {
	mu   sync.Mutex
	list []time.Duration
	hook func(ctx context.Context) // is called in each wait
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	w.list = append(w.list, d)
	hook := w.hook
	w.mu.Unlock()
	if hook != nil {
		hook(ctx)
	}
	return ctx.Err()
}

func (w *waits) all() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Duration(nil), w.list...)
}

// setting is how a world differs from the usual one.
type setting struct {
	api       string // one of apis(); "anthropic-messages" when empty
	window    int    // 0: 200,000
	config    string // more lines of config.toml, before the tables
	overrides host.Overrides
	fs        disk.FS
	attended  bool
	serving   bool
	silence   time.Duration
	key       string // that the server takes; empty: any
	wrongKey  bool
	tables    string                // more tables of config.toml
	request   func(body []byte)     // is called with each request of the model
	fallback  bool                  // the model has a fallback, "spare"
	other     string                // the API of a second model, "other", with a server of its own; the first falls back to it
	lines     []string              // the script of the second model
	chunk     int                   // characters of one piece of an answer; 0: whole
	pieces    int                   // behind so many pieces the server says nothing more in that answer; 0: it never stops
	confines  func() sandbox.Status // what the system can hold; nil: what this one can
}

// newWorld makes a world whose model answers with the lines of a script.
func newWorld(t *testing.T, s setting, lines ...string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, waits: &waits{}, reports: &reports{}, pieces: &atomic.Int32{}, home: filepath.Join(root, "home"), project: filepath.Join(root, "project")}
	for _, d := range []string{filepath.Join(w.home, ".scorel"), w.project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	head := fmt.Sprintf(`{"script":1,"window":200000,"chunk":%d,"delayMs":%d}`, s.chunk, min(s.pieces, 1))
	parsed, err := script.Parse(strings.NewReader(head+"\n"+strings.Join(lines, "\n")), "script")
	if err != nil {
		t.Fatal(err)
	}
	cfg := modeltest.Config{Script: parsed, Keep: -1, Key: s.key, Sleep: func(ctx context.Context, _ time.Duration) error {
		if int(w.pieces.Add(1)) == s.pieces+1 {
			<-ctx.Done()
		}
		return ctx.Err()
	}, Kind: func(body []byte) model.Kind {
		if s.request != nil {
			s.request(body)
		}
		return kindOf(body)
	}}
	api := s.api
	if api == "" {
		api = "anthropic-messages"
	}
	w.api, w.server = api, vendor(api, cfg)
	srv := httptest.NewServer(w.server)
	t.Cleanup(srv.Close)
	window := s.window
	if window == 0 {
		window = 200_000
	}
	spare := ""
	if s.fallback {
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
	if s.other != "" {
		answers, err := script.Parse(strings.NewReader(head+"\n"+strings.Join(s.lines, "\n")), "other")
		if err != nil {
			t.Fatal(err)
		}
		w.second = vendor(s.other, modeltest.Config{Script: answers, Keep: -1, Kind: kindOf})
		another := httptest.NewServer(w.second)
		t.Cleanup(another.Close)
		spare = "fallback = \"other\"\n"
		s.tables += fmt.Sprintf(`
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
`, s.other, another.URL, window)
	}
	w.write(filepath.Join(w.home, ".scorel", "config.toml"), fmt.Sprintf(`%s
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
`, s.config, spare, api, srv.URL, window, s.tables))
	key := s.key
	if key == "" {
		key = "any"
	}
	if s.wrongKey {
		key += "-wrong"
	}
	environ := append(os.Environ(), "HOME="+w.home, "MOCK_KEY="+key, "SCOREL_SECRET=1")
	cache := srv.Client()
	w.config = host.Config{Dir: filepath.Join(w.home, ".scorel"), UserHome: w.home, Environ: environ, FS: s.fs,
		Overrides: s.overrides, Unattended: !s.attended && !s.serving, Serving: s.serving, Codec: true, Now: time.Now, Rand: rand.Reader, Sleep: w.waits.sleep,
		Silence: s.silence, HTTP: cache, Report: w.reports.add, Confinement: s.confines}
	t.Cleanup(cache.CloseIdleConnections)
	w.start()
	return w
}

// apis are the wire formats.
func apis() []string {
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

// whole says whether a vendor sends calls whole, so that there is none whose input is
// no object.
func whole(api string) bool { return api == "google-generative-ai" }

// modelOf is the model that a request names.
func modelOf(r modeltest.Request) string {
	if _, id, ok := strings.Cut(r.Path, "/models/"); ok { // Google
		return strings.TrimSuffix(id, ":streamGenerateContent")
	}
	return between(string(r.Body), `"model":"`, `"`)
}

// start makes the world's host.
func (w *world) start() {
	w.t.Helper()
	h, err := host.New(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.host = h
	w.t.Cleanup(func() { _ = h.Close() })
}

// restart closes the host and makes another on the same home.
func (w *world) restart() {
	w.t.Helper()
	if err := w.host.Close(); err != nil {
		w.t.Fatalf("close the host: %v", err)
	}
	w.start()
}

// killed gives the world as it is found when the host is killed now: another
// home with what is stored at this moment, and a host on it.
func (w *world) killed() *world {
	w.t.Helper()
	after := *w
	after.home = filepath.Join(w.t.TempDir(), "home")
	if err := os.CopyFS(filepath.Join(after.home, ".scorel"), os.DirFS(filepath.Join(w.home, ".scorel"))); err != nil {
		w.t.Fatal(err)
	}
	after.config.Dir, after.config.UserHome = filepath.Join(after.home, ".scorel"), after.home
	after.start()
	return &after
}

// log gives the lines of a session's log, without the header.
func (w *world) log(id protocol.SessionID) []protocol.Event {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.home, ".scorel", "sessions", string(id)+".jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	var out []protocol.Event
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		if i == 0 {
			continue
		}
		e, err := protocol.ParseEvent(line)
		if err != nil {
			w.t.Fatalf("line %d of the log: %v", i+1, err)
		}
		out = append(out, e)
	}
	return out
}

// kindOf tells a summariser's request from a step's.
func kindOf(body []byte) model.Kind {
	if strings.Contains(string(body), "<conversation>") || strings.Contains(string(body), `\u003cconversation\u003e`) {
		return model.KindCompact
	}
	return model.KindStep
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// file writes a file of the project and gives its path.
func (w *world) file(name, text string) string {
	path := filepath.Join(w.project, name)
	w.write(path, text)
	return path
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.project, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// entry is a client with one session open.
type entry struct {
	w      *world
	c      *client.Client
	s      *client.Session
	id     protocol.SessionID
	events []protocol.Event // all that came
}

func (w *world) connect(interactive bool) *client.Client {
	w.t.Helper()
	return w.connectThrough(interactive, func(c *host.Conn) client.Transport { return c })
}

// connectThrough connects by a transport that is laid over the connection.
func (w *world) connectThrough(interactive bool, over func(*host.Conn) client.Transport) *client.Client {
	w.t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	conn, err := w.host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version,
		ClientID: protocol.ClientIDOf(key), ClientName: "test", Interactive: interactive}, protocol.GrantControl)
	if err != nil {
		w.t.Fatal(err)
	}
	c := client.New(over(conn))
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// begin makes a session and opens it.
func (w *world) begin(interactive bool) *entry {
	w.t.Helper()
	c := w.connect(interactive)
	p := call[*protocol.Project](w.t, c, "", &protocol.RegisterProject{WorkDir: w.project})
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	call[*protocol.SessionSummary](w.t, c, id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: w.project}})
	return w.open(c, id)
}

func (w *world) open(c *client.Client, id protocol.SessionID) *entry {
	w.t.Helper()
	s, err := c.Open(context.Background(), id, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	e := &entry{w: w, c: c, s: s, id: id}
	e.next() // the live state
	return e
}

func call[R protocol.Response](t *testing.T, c *client.Client, id protocol.SessionID, req protocol.Request) R {
	t.Helper()
	r, err := client.Call[R](context.Background(), c, id, req)
	if err != nil {
		t.Fatalf("%s: %v", req.Spec().Name, err)
	}
	return r
}

// refused sends a request that must fail with the code.
func refused(t *testing.T, c *client.Client, id protocol.SessionID, req protocol.Request, code protocol.Code) *protocol.Error {
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

// patience is when a test gives up what it waits for. Only a test that fails waits so
// long, and a machine that has much else to do may need a part of it.
const patience = 2 * time.Minute

func (e *entry) next() client.Update {
	e.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	u, err := e.s.Next(ctx)
	if err != nil {
		e.w.t.Fatalf("next update: %v\n%s", err, e.trace())
	}
	e.events = append(e.events, u.Events...)
	return u
}

// until takes updates until an event fits that was not looked at before.
func (e *entry) until(fits func(protocol.Event) bool) protocol.Event {
	e.w.t.Helper()
	seen := 0
	for {
		for ; seen < len(e.events); seen++ {
			if fits(e.events[seen]) {
				return e.events[seen]
			}
		}
		e.next()
	}
}

func ofType(t protocol.EventType) func(protocol.Event) bool {
	return func(e protocol.Event) bool { return e.Type == t }
}

func (e *entry) send(text string) protocol.TurnID {
	e.w.t.Helper()
	return call[*protocol.Sent](e.w.t, e.c, e.id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(text)}}).TurnID
}

// end takes updates to the end of the run.
func (e *entry) end() *protocol.RuntimeEnd {
	e.w.t.Helper()
	return e.until(ofType(protocol.TypeRuntimeEnd)).Body.(*protocol.RuntimeEnd)
}

// say sends a message and gives the end of its run; only what it brings is kept.
func (e *entry) say(text string) *protocol.RuntimeEnd {
	e.w.t.Helper()
	e.events = nil
	e.send(text)
	return e.end()
}

// trace is what came, one line an event.
func (e *entry) trace() string {
	var s strings.Builder
	for _, ev := range e.events {
		line, _ := json.Marshal(ev)
		fmt.Fprintf(&s, "%.300s\n", line)
	}
	return s.String()
}

// messages gives the messages of the active path as the log has them, oldest
// first.
func (e *entry) messages() []protocol.Message {
	e.w.t.Helper()
	page := call[*protocol.Events](e.w.t, e.c, e.id, &protocol.GetPath{Limit: 2000})
	var out []protocol.Message
	for i := len(page.Events) - 1; i >= 0; i-- {
		if m, ok := page.Events[i].Message(); ok {
			out = append(out, m)
		}
	}
	return out
}

// paired fails when a call has no result directly behind its message, or a
// result no call.
func paired(t *testing.T, messages []protocol.Message) {
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

// judged fails when a server refused a request.
func (w *world) judged() {
	w.t.Helper()
	for _, server := range []*modeltest.Server{w.server, w.second} {
		if server == nil {
			continue
		}
		for i, r := range server.Requests() {
			if r.Refused != "" {
				w.t.Errorf("request %d was refused: %s\n%s", i, r.Refused, r.Body)
			}
		}
	}
}
