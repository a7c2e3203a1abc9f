package client

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"scorel/protocol"
	"scorel/protocol/handshake"
)

const testToken = "dGhlIHRva2VuIG9mIHRoaXMgdGVzdCwgMzIgYnl0ZXM"

// listener is a host as far as a client can see it: it speaks the handshake of
// protocol/handshake over real WebSockets and leaves what is behind to the test.
type listener struct {
	t       testing.TB
	token   string
	key     *ecdh.PrivateKey
	address string // "": what the Host header says
	server  *http.Server
	// tamper changes a challenge before it is sent.
	tamper func(*protocol.Challenge)
	// refuse answers a hello instead of a challenge.
	refuse *protocol.Error
	// call answers a call, one at a time.
	call    func(p *peer, c protocol.Call)
	calling sync.Mutex

	mu     sync.Mutex
	heard  []string // every text message, in order
	peers  []*peer
	joined chan *peer // those that are let in
}

// peer is a connection that was let in.
type peer struct {
	l     *listener
	conn  *websocket.Conn
	hello protocol.Hello
	calls []protocol.Call // under l.mu
}

func newKey(t testing.TB) *ecdh.PrivateKey {
	t.Helper()
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// newListener makes a host that serves nothing yet.
func newListener(t testing.TB) *listener {
	l := &listener{t: t, token: testToken, key: newKey(t), joined: make(chan *peer, 1000)}
	l.call = func(p *peer, c protocol.Call) { p.reply(c, &protocol.Done{}) }
	l.server = &http.Server{Handler: l}
	t.Cleanup(func() {
		_ = l.server.Close()
		l.cutAll()
	})
	return l
}

// serve serves on ln until the end of the test.
func (l *listener) serve(ln net.Listener) { go l.server.Serve(ln) }

// tcp serves on loopback and returns the address.
func (l *listener) tcp() *WebSocket {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	l.serve(ln)
	return l.socket("ws://" + ln.Addr().String())
}

// unix serves on a socket and returns the address.
func (l *listener) unix() *WebSocket {
	path := filepath.Join(l.t.TempDir(), "host.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		l.t.Fatal(err)
	}
	l.address = "unix:" + path
	l.serve(ln)
	return l.socket("unix:" + path)
}

// tls serves on loopback with a certificate and returns the address without its
// fingerprint.
func (l *listener) tls() (*WebSocket, *httptest.Server) {
	s := httptest.NewTLSServer(l)
	l.t.Cleanup(s.Close)
	return l.socket("wss://" + strings.TrimPrefix(s.URL, "https://")), s
}

func (l *listener) socket(url string) *WebSocket {
	return &WebSocket{URL: url, Token: testToken, ClientID: protocol.ClientIDOf([]byte("the test")), ClientName: "test"}
}

func (l *listener) device() protocol.DeviceID { return protocol.DeviceIDOf(l.key.PublicKey().Bytes()) }

// ServeHTTP is one connection.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/ws" {
		http.NotFound(w, r)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(protocol.MaxMessage)
	ctx := context.Background()
	p := &peer{l: l, conn: conn}
	if !l.handshake(ctx, p, r) {
		return
	}
	l.mu.Lock()
	l.peers = append(l.peers, p)
	l.mu.Unlock()
	l.joined <- p
	for {
		data, err := l.read(ctx, conn)
		if err != nil {
			return
		}
		c, err := protocol.ParseCall(data)
		if err != nil {
			l.t.Errorf("the client sent %s: %v", data, err)
			return
		}
		l.mu.Lock()
		p.calls = append(p.calls, c)
		l.mu.Unlock()
		l.calling.Lock()
		l.call(p, c)
		l.calling.Unlock()
	}
}

// answer changes how calls are answered.
func (l *listener) answer(call func(*peer, protocol.Call)) {
	l.calling.Lock()
	defer l.calling.Unlock()
	l.call = call
}

func (l *listener) read(ctx context.Context, conn *websocket.Conn) ([]byte, error) {
	_, data, err := conn.Read(ctx)
	if err == nil {
		l.mu.Lock()
		l.heard = append(l.heard, string(data))
		l.mu.Unlock()
	}
	return data, err
}

func (l *listener) handshake(ctx context.Context, p *peer, r *http.Request) bool {
	data, err := l.read(ctx, p.conn)
	if err != nil || json.Unmarshal(data, &p.hello) != nil {
		return false
	}
	if l.refuse != nil {
		l.refusal(ctx, p, l.refuse)
		return false
	}
	if err := handshake.CheckHello(&p.hello); err != nil {
		l.t.Errorf("hello: %v", err)
		return false
	}
	c := protocol.Challenge{DeviceID: l.device()}
	c.Nonce, _ = handshake.Nonce(rand.Reader)
	of, theirs := []byte(l.token), []byte(l.token)
	if p.hello.PublicKey != nil {
		e := newKey(l.t)
		c.PublicKey, c.Ephemeral = l.key.PublicKey().Bytes(), e.PublicKey().Bytes()
		of, _ = handshake.Shared(l.key, p.hello.Ephemeral)
		theirs, _ = handshake.Shared(e, p.hello.PublicKey)
	}
	said := &handshake.Transcript{Address: l.address, Hello: p.hello, Challenge: c}
	if said.Address == "" {
		if said.Address = strings.ToLower(r.Host); r.TLS != nil {
			said.Address = handshake.TLS(said.Address)
		}
	}
	c.Proof = handshake.Host(of, said)
	if l.tamper != nil {
		l.tamper(&c)
	}
	if p.text(struct {
		Type string `json:"type"`
		protocol.Challenge
	}{"challenge", c}) != nil {
		return false
	}
	var prove protocol.Prove
	if data, err = l.read(ctx, p.conn); err != nil || json.Unmarshal(data, &prove) != nil {
		return false
	}
	if !handshake.Equal(prove.Proof, handshake.Client(theirs, said)) {
		l.refusal(ctx, p, protocol.Errorf(protocol.CodeAuthFailed, "The proof is wrong; use the token of this host."))
		return false
	}
	return p.text(struct {
		Type string `json:"type"`
		protocol.Connected
	}{"connected", protocol.Connected{DeviceID: c.DeviceID, Grant: protocol.GrantControl, Version: "test"}}) == nil
}

func (l *listener) refusal(ctx context.Context, p *peer, e *protocol.Error) {
	_ = p.text(protocol.Reply{Err: e})
	_ = p.conn.Close(websocket.StatusPolicyViolation, "")
}

func (p *peer) text(m any) error {
	data, err := json.Marshal(m)
	if err != nil {
		p.l.t.Errorf("marshal: %v", err)
		return err
	}
	return p.conn.Write(context.Background(), websocket.MessageText, data)
}

func (p *peer) reply(c protocol.Call, r protocol.Response) {
	_ = p.text(protocol.Reply{RequestID: c.RequestID, Data: r}) // the client may have gone
}

func (p *peer) refuse(c protocol.Call, e *protocol.Error) {
	_ = p.text(protocol.Reply{RequestID: c.RequestID, Err: e})
}

func (p *peer) frame(f protocol.Frame) {
	data, err := protocol.MarshalFrame(f)
	if err != nil {
		p.l.t.Errorf("frame: %v", err)
		return
	}
	_ = p.conn.Write(context.Background(), websocket.MessageText, data)
}

// cut breaks the connection without a word.
func (p *peer) cut() { _ = p.conn.CloseNow() }

// halfReply sends the first half of a long reply and cuts.
func (p *peer) halfReply(c protocol.Call) {
	data, _ := json.Marshal(protocol.Reply{RequestID: c.RequestID, Data: &protocol.Project{Root: strings.Repeat("x", 256<<10)}})
	w, err := p.conn.Writer(context.Background(), websocket.MessageText)
	if err == nil {
		_, _ = w.Write(data[:len(data)/2])
	}
	p.cut()
}

func (l *listener) cutAll() {
	l.mu.Lock()
	peers := l.peers
	l.mu.Unlock()
	for _, p := range peers {
		p.cut()
	}
}

// said gives every message that clients have sent.
func (l *listener) said() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.heard...)
}

// callsOf returns the calls of a peer.
func (l *listener) callsOf(p *peer) []protocol.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]protocol.Call(nil), p.calls...)
}
