package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"scorel/internal/dev/harness"
	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/internal/host"
	"scorel/protocol"
	"scorel/protocol/handshake"
)

func TestMain(m *testing.M) {
	// What answers with 431 waits half a second for the client to read it.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// testToken is the token of every test's host.
const testToken = "Zm9yIHRlc3RzIG9ubHksIDMyIGJ5dGVzIGxvbmcuLi4"

// world is a host with a script for a model, and a server on a Unix socket.
type world struct {
	t          *testing.T
	project    string
	socket     string
	host       *host.Host
	server     *Server
	setting    setting
	hostConfig host.Config
	hold       chan struct{} // when not nil, the model answers only when it is closed

	mu      sync.Mutex
	reports []string
}

// setting is how a world differs from the usual one.
type setting struct {
	times   func(*times)
	config  func(*Config)
	hold    bool // the model answers only when world.hold is closed
	chunk   int  // characters of one piece of an answer; 0: whole
	answers []string
	now     func() time.Time // of the host; nil is the machine's
}

// pages are addresses that nobody dials.
type pages struct{}

func (pages) OpenWeb(bool) (*protocol.WebOpened, error) {
	return &protocol.WebOpened{Addresses: []string{"http://127.0.0.1:4444"}}, nil
}
func (pages) CloseWeb() error            { return nil }
func (pages) WebAddresses(bool) []string { return []string{"http://127.0.0.1:4444"} }

func newWorld(t *testing.T, s setting) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "srv") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	w := &world{t: t, project: filepath.Join(root, "project"), socket: filepath.Join(short, "host.sock")}
	home := filepath.Join(root, "home")
	for _, d := range []string{filepath.Join(home, ".scorel"), w.project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if s.hold {
		w.hold = make(chan struct{})
	}
	lines := s.answers
	if lines == nil {
		lines = []string{`{"do":[{"text":"Hello."}]}`}
	}
	parsed, err := script.Parse(strings.NewReader(fmt.Sprintf(`{"script":1,"window":200000,"chunk":%d}`, s.chunk)+"\n"+strings.Join(lines, "\n")), "script")
	if err != nil {
		t.Fatal(err)
	}
	vendor := httptest.NewServer(modeltest.Anthropic(modeltest.Config{Script: parsed, Keep: -1, Kind: func([]byte) model.Kind {
		if w.hold != nil {
			<-w.hold
		}
		return model.KindStep
	}}))
	t.Cleanup(vendor.Close)
	config := fmt.Sprintf("[model]\nname = \"mock\"\n[models.mock]\ntype = \"custom\"\napi = \"anthropic-messages\"\nbaseUrl = %q\nid = \"mock-1\"\napiKeyEnv = \"MOCK_KEY\"\ncontextWindow = 200000\nmaxTokens = 32000\n", vendor.URL)
	if err := os.WriteFile(filepath.Join(home, ".scorel", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	httpClient := vendor.Client()
	t.Cleanup(httpClient.CloseIdleConnections)
	w.hostConfig = host.Config{Dir: filepath.Join(home, ".scorel"), UserHome: home, Environ: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "MOCK_KEY=any"},
		Unattended: true, Serving: true, Now: time.Now, Rand: rand.Reader, HTTP: httpClient, Web: pages{}}
	if s.now != nil {
		w.hostConfig.Now = s.now
	}
	w.setting = s
	w.start()
	return w
}

// start starts host and server.
func (w *world) start() {
	w.t.Helper()
	h, err := host.New(w.hostConfig)
	if err != nil {
		w.t.Fatal(err)
	}
	w.host = h
	w.t.Cleanup(func() { _ = h.Close() })
	cfg := Config{Host: h, Version: "test", Token: func() string { return testToken }, Report: w.report}
	if w.setting.config != nil {
		w.setting.config(&cfg)
	}
	srv := New(cfg)
	srv.times.proof = harness.Timeout // nobody fails to prove himself because the machine is busy
	if w.setting.times != nil {
		w.setting.times(&srv.times)
	}
	w.server = srv
	l, err := net.Listen("unix", w.socket)
	if err != nil {
		w.t.Fatal(err)
	}
	w.serve(l, Unix)
}

// restart ends host and server and starts others on the same folder.
func (w *world) restart() {
	w.t.Helper()
	_ = w.server.Close()
	if err := w.host.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.start()
}

func (w *world) now() time.Time { return time.Now() }

// serve serves a listener until the end of the test.
func (w *world) serve(l net.Listener, kind Kind) {
	w.t.Helper()
	done, srv := make(chan error, 1), w.server
	go func() { done <- srv.Serve(l, kind) }()
	w.t.Cleanup(func() {
		_ = srv.Close()
		if err := <-done; err != nil && !errors.Is(err, ErrClosed) {
			w.t.Errorf("Serve: %v", err)
		}
	})
}

// listener returns the listener of the socket.
func (w *world) listener() (l *listener) {
	w.t.Helper()
	harness.Until(w.t, "the listener", func() bool {
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		if len(w.server.listeners) > 0 {
			l = w.server.listeners[0]
		}
		return l != nil
	})
	return l
}

// loopback serves a port of this machine and returns its address.
func (w *world) loopback() string {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.serve(l, Loopback)
	return l.Addr().String()
}

func (w *world) report(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, text)
}

func (w *world) reported() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.reports, "\n")
}

// unixHTTP is an HTTP client of the socket.
func (w *world) unixHTTP() *http.Client {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", w.socket)
	}}
	w.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// peer is a client of the wire: it checks nothing by itself.
type peer struct {
	t      *testing.T
	ws     *websocket.Conn
	hello  protocol.Hello
	passed []string // frames that call has passed over
}

// dialling says how a peer connects.
type dialling struct {
	url     string // "" is the socket
	client  *http.Client
	header  http.Header
	host    string // the Host header
	address string // of the transcript; "" is what was dialled
	token   string // "" is the right one
}

// open upgrades a connection; nothing is said yet.
func (w *world) open(d dialling) (*peer, *http.Response, error) {
	w.t.Helper()
	if d.url == "" {
		d.url, d.client = "ws://localhost", w.unixHTTP()
	}
	ws, resp, err := websocket.Dial(w.t.Context(), d.url+WebSocketPath, &websocket.DialOptions{HTTPClient: d.client, HTTPHeader: d.header, Host: d.host})
	if err != nil {
		return nil, resp, err
	}
	w.t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(16 << 20)
	nonce, err := handshake.Nonce(rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	var key [32]byte
	_, _ = rand.Read(key[:])
	return &peer{t: w.t, ws: ws, hello: protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(key[:]), ClientName: "test", Nonce: nonce}}, resp, nil
}

// connect returns a peer that has proved the token.
func (w *world) connect(d dialling) *peer {
	w.t.Helper()
	p, _, err := w.open(d)
	if err != nil {
		w.t.Fatalf("dial: %v", err)
	}
	if address := d.address; address == "" {
		if d.address = "unix:" + w.socket; d.url != "" {
			d.address = strings.SplitN(d.url, "//", 2)[1]
			if strings.HasPrefix(d.url, "wss:") {
				d.address = handshake.TLS(d.address)
			}
		}
	}
	if d.token == "" {
		d.token = testToken
	}
	p.proveToken(d.address, d.token)
	if m := p.message(); m["type"] != "connected" || m["grant"] != "control" || m["version"] != "test" {
		w.t.Fatalf("the host answered the proof with %v", m)
	}
	return p
}

// proveToken says hello, checks the host's proof and sends its own.
func (p *peer) proveToken(address, token string) {
	p.t.Helper()
	p.say("hello", p.hello)
	var c protocol.Challenge
	p.read(&c)
	if err := handshake.CheckChallenge(&p.hello, &c, ""); err != nil {
		p.t.Fatal(err)
	}
	tr := &handshake.Transcript{Address: address, Hello: p.hello, Challenge: c}
	if !handshake.Equal(c.Proof, handshake.Host([]byte(token), tr)) && token == testToken && !strings.HasPrefix(address, "wrong") {
		p.t.Fatalf("the host's proof for %s is wrong", address)
	}
	p.say("connect", protocol.Prove{Proof: handshake.Client([]byte(token), tr)})
}

// tryToken proves the token, and returns what the line made of it.
func (p *peer) tryToken(address string) error {
	var c protocol.Challenge
	if err := p.trySay("hello", p.hello); err != nil {
		return err
	}
	_, data, err := p.ws.Read(p.t.Context())
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	tr := &handshake.Transcript{Address: address, Hello: p.hello, Challenge: c}
	if err := p.trySay("connect", protocol.Prove{Proof: handshake.Client([]byte(testToken), tr)}); err != nil {
		return err
	}
	if _, data, err = p.ws.Read(p.t.Context()); err == nil && !strings.Contains(string(data), `"connected"`) {
		err = errors.New(string(data))
	}
	return err
}

// say sends a message of a type.
func (p *peer) say(typ string, body any) {
	p.t.Helper()
	if err := p.trySay(typ, body); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) trySay(typ string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return p.ws.Write(p.t.Context(), websocket.MessageText, []byte(fmt.Sprintf(`{"type":%q,`, typ)+string(data[1:])))
}

func (p *peer) raw(text string) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatalf("write: %v", err)
	}
}

// read reads the next message into v.
func (p *peer) read(v any) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), harness.Timeout)
	defer stop()
	_, data, err := p.ws.Read(ctx)
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		p.t.Fatalf("%v: %s", err, data)
	}
}

// message reads the next message.
func (p *peer) message() map[string]any {
	p.t.Helper()
	var m map[string]any
	p.read(&m)
	return m
}

// status reads on until the host closes the connection.
func (p *peer) status() (websocket.StatusCode, []string) {
	p.t.Helper()
	var seen []string
	for {
		_, data, err := p.ws.Read(p.t.Context())
		if err != nil {
			return websocket.CloseStatus(err), seen
		}
		seen = append(seen, string(data))
	}
}

// send sends a call without waiting for the answer.
func (p *peer) send(session protocol.SessionID, r protocol.Request) protocol.RequestID {
	p.t.Helper()
	id, err := p.trySend(session, r)
	if err != nil {
		p.t.Fatalf("write: %v", err)
	}
	return id
}

func (p *peer) trySend(session protocol.SessionID, r protocol.Request) (protocol.RequestID, error) {
	call := protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: session, Request: r}
	data, err := json.Marshal(call)
	if err != nil {
		return "", err
	}
	return call.RequestID, p.ws.Write(p.t.Context(), websocket.MessageText, data)
}

// call sends a call and returns the answer; frames that come before go to the floor.
func (p *peer) call(session protocol.SessionID, r protocol.Request) protocol.Reply {
	p.t.Helper()
	id := p.send(session, r)
	for {
		_, data, err := p.ws.Read(p.t.Context())
		if err != nil {
			p.t.Fatalf("read: %v", err)
		}
		var head struct{ Type, RequestID string }
		if err := json.Unmarshal(data, &head); err != nil {
			p.t.Fatal(err)
		}
		if head.RequestID == string(id) {
			reply, err := protocol.ParseReply(data, r.Spec().Name)
			if err != nil {
				p.t.Fatal(err)
			}
			return reply
		}
		p.passed = append(p.passed, string(data))
	}
}

// session makes a session.
func (p *peer) session(w *world) protocol.SessionID {
	p.t.Helper()
	project, ok := p.call("", &protocol.RegisterProject{WorkDir: w.project}).Data.(*protocol.Project)
	if !ok {
		p.t.Fatal("the project was not registered")
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	if r := p.call(id, &protocol.CreateSession{ProjectID: project.ProjectID, Meta: protocol.Meta{WorkDir: w.project}}); r.Err != nil {
		p.t.Fatal(r.Err)
	}
	return id
}

// command runs a program of the machine, which a test needs as a client; a missing
// one fails the test.
func command(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	return string(out), err
}
