package client

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
	"scorel/protocol/handshake"
)

// dialled connects, for a test that needs it.
func dialled(t testing.TB, w *WebSocket) Transport {
	t.Helper()
	tr, _, err := w.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestAClientThatKnowsTheTokenIsLetInOverEveryTransport(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   func(t *testing.T, l *listener) *WebSocket
	}{
		{"unix", func(_ *testing.T, l *listener) *WebSocket { return l.unix() }},
		{"unix through a link to the folder", func(t *testing.T, l *listener) *WebSocket {
			w := l.unix()
			path := strings.TrimPrefix(w.URL, "unix:")
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(filepath.Dir(path), link); err != nil {
				t.Fatal(err)
			}
			w.URL = "unix:" + filepath.Join(link, filepath.Base(path))
			return w
		}},
		{"tcp", func(_ *testing.T, l *listener) *WebSocket { return l.tcp() }},
		{"tcp in capitals and as http", func(_ *testing.T, l *listener) *WebSocket {
			w := l.tcp()
			w.URL = "http://LOCALHOST:" + w.URL[strings.LastIndex(w.URL, ":")+1:] + "/"
			return w
		}},
		{"tls with a fingerprint", func(_ *testing.T, l *listener) *WebSocket {
			w, s := l.tls()
			sum := sha256.Sum256(s.Certificate().Raw)
			w.Fingerprint = strings.ToUpper(hex.EncodeToString(sum[:1])) + ":" + hex.EncodeToString(sum[1:])
			return w
		}},
		{"own key", func(t *testing.T, l *listener) *WebSocket {
			w := l.tcp()
			w.Token, w.Key, w.Device, w.ClientID = "", newKey(t), l.device(), ""
			return w
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newListener(t)
			l.call = func(p *peer, c protocol.Call) {
				p.frame(&protocol.ProjectsChanged{})
				p.reply(c, &protocol.Status{PID: 7})
			}
			w := tc.at(t, l)
			tr, connected, err := w.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if connected.DeviceID != l.device() || connected.Grant != protocol.GrantControl {
				t.Errorf("connected: %+v", connected)
			}
			got := make(chan protocol.Frame, 1)
			go func() {
				f, _ := tr.Recv(context.Background())
				got <- f
			}()
			r, err := tr.Call(t.Context(), protocol.Call{RequestID: newRequest(), Request: &protocol.GetStatus{}})
			if s, ok := r.Data.(*protocol.Status); err != nil || !ok || s.PID != 7 {
				t.Errorf("a call: %+v %v", r, err)
			}
			if _, ok := (<-got).(*protocol.ProjectsChanged); !ok {
				t.Error("the frame did not come")
			}
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
			if _, err := tr.Call(t.Context(), protocol.Call{RequestID: newRequest(), Request: &protocol.Ping{}}); !errors.Is(err, ErrClosed) || !errors.Is(err, ErrNotSent) {
				t.Errorf("a call behind Close: %v", err)
			}
			for _, m := range l.said() {
				if strings.Contains(m, testToken) {
					t.Errorf("the token was sent: %s", m)
				}
			}
		})
	}
}

func TestAStrangerOnTheAddressGetsNothingButAHello(t *testing.T) {
	var earlier protocol.Challenge
	for _, tc := range []struct {
		name   string
		change func(*listener, *WebSocket)
	}{
		{"another token", func(l *listener, _ *WebSocket) { l.token = "another" }},
		{"a changed proof", func(l *listener, _ *WebSocket) {
			l.tamper = func(c *protocol.Challenge) { c.Proof[5] ^= 1 }
		}},
		{"no proof", func(l *listener, _ *WebSocket) { l.tamper = func(c *protocol.Challenge) { c.Proof = nil } }},
		{"the challenge of an earlier connection", func(l *listener, w *WebSocket) {
			l.tamper = func(c *protocol.Challenge) { earlier = *c }
			tr := dialled(l.t, w)
			tr.Close()
			l.mu.Lock()
			l.heard = nil
			l.mu.Unlock()
			l.tamper = func(c *protocol.Challenge) { *c = earlier }
		}},
		{"the client's own proof sent back", func(l *listener, _ *WebSocket) {
			l.tamper = func(c *protocol.Challenge) {
				c.Proof = handshake.Client([]byte(testToken), &handshake.Transcript{Address: l.address, Challenge: *c})
			}
		}},
		{"a proxy that knows the token only elsewhere", func(l *listener, _ *WebSocket) { l.address = "10.0.0.1:80" }},
		{"another device", func(l *listener, w *WebSocket) { w.Device = protocol.DeviceIDOf([]byte("another")) }},
		{"a key that does not prove the device", func(l *listener, w *WebSocket) {
			w.Token, w.Key, w.ClientID = "", newKey(l.t), ""
			w.Device = l.device()
			l.tamper = func(c *protocol.Challenge) { c.Proof = make([]byte, 32) }
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newListener(t)
			w := l.tcp()
			tc.change(l, w)
			_, _, err := w.Dial(t.Context())
			var final *PermanentError
			var pe *protocol.Error
			if !errors.As(err, &final) || !errors.As(err, &pe) || pe.Code != protocol.CodeAuthFailed || !strings.Contains(err.Error(), "Nothing secret was sent") {
				t.Errorf("the error: %v", err)
			}
			if strings.Contains(err.Error(), testToken) {
				t.Errorf("the error holds the token: %v", err)
			}
			said := l.said()
			if len(said) != 1 || !strings.HasPrefix(said[0], `{"type":"hello"`) {
				t.Errorf("the stranger heard %q", said)
			}
			raw, _ := base64.RawURLEncoding.DecodeString(testToken)
			if strings.Contains(said[0], testToken) || strings.Contains(said[0], base64.StdEncoding.EncodeToString(raw)) {
				t.Errorf("the hello holds the token: %s", said[0])
			}
		})
	}
}

func TestAnotherCertificateThanThePinnedOneHearsNothing(t *testing.T) {
	l := newListener(t)
	w, _ := l.tls()
	var final *PermanentError
	w.Fingerprint = strings.Repeat("ab", 32)
	if _, _, err := w.Dial(t.Context()); !errors.As(err, &final) || !strings.Contains(err.Error(), "another certificate") {
		t.Errorf("pinned: %v", err)
	}
	w.Fingerprint = ""
	if _, _, err := w.Dial(t.Context()); !errors.As(err, &final) || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("the system's roots: %v", err)
	}
	if said := l.said(); len(said) > 0 {
		t.Errorf("it heard %q", said)
	}
}

func TestARefusalSaysWhyAndWhetherItIsWorthATry(t *testing.T) {
	for code, final := range map[protocol.Code]bool{protocol.CodeUnsupportedProtocol: true, protocol.CodeAuthFailed: true, protocol.CodeRateLimited: false} {
		l := newListener(t)
		l.refuse = protocol.Errorf(code, "No \x1b[31mway.")
		_, _, err := l.tcp().Dial(t.Context())
		var pe *protocol.Error
		if !errors.As(err, &pe) || pe.Code != code || strings.Contains(pe.Message, "\x1b") || !strings.Contains(pe.Message, "way.") {
			t.Errorf("%s: %v", code, err)
		}
		if errors.As(err, new(*PermanentError)) != final {
			t.Errorf("%s: permanent is %v", code, !final)
		}
	}
}

func TestAddressesThatLeadNowhereAreRefusedBeforeDialling(t *testing.T) {
	for raw, want := range map[string]string{
		"ws://192.0.2.1:80":                 "without encryption",
		"ws://example.com":                  "without encryption",
		"ws://localhost.example.com:1":      "without encryption",
		"wss://me:secret@example.com":       "nothing secret",
		"wss://example.com/?token=x":        "nothing secret",
		"wss://example.com/#x":              "nothing secret",
		"wss://example.com/other":           "has no path",
		"wss://":                            "needs its name",
		"wss://b\u00fccher.example":         "plain letters",
		"unix:host.sock":                    "whole path",
		"unix:/" + strings.Repeat("x", 600): "bytes",
		"ftp://example.com":                 "begins with",
		"wss://example.com:port":            "cannot be read",
	} {
		w := &WebSocket{URL: raw, Token: testToken, ClientID: protocol.ClientIDOf([]byte("x"))}
		_, _, err := w.Dial(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*PermanentError)) {
			t.Errorf("%s: %v", raw, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: the error repeats the password: %v", raw, err)
		}
	}
	for name, w := range map[string]*WebSocket{
		"no secret":               {URL: "ws://127.0.0.1:1"},
		"two":                     {URL: "ws://127.0.0.1:1", Token: "x", Key: newKey(t), Device: "dev_x"},
		"a key for any host":      {URL: "ws://127.0.0.1:1", Key: newKey(t)},
		"a pin without TLS":       {URL: "ws://127.0.0.1:1", Token: "x", Fingerprint: strings.Repeat("ab", 32)},
		"a pin of another length": {URL: "wss://127.0.0.1:1", Token: "x", Fingerprint: "abcd"},
	} {
		if _, _, err := w.Dial(t.Context()); !errors.As(err, new(*PermanentError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheAddressIsWhatTheHostHeaderSaysWithItsPort(t *testing.T) {
	for raw, want := range map[string]string{
		"ws://127.0.0.1:8080":         "127.0.0.1:8080",
		"ws://localhost":              "127.0.0.1:80", // the one that is dialled
		"http://LOCALHOST:8080/":      "127.0.0.1:8080",
		"wss://localhost:1":           "localhost:1", // the certificate says who it is
		"ws://[::1]:8080":             "[::1]:8080",
		"wss://Example.COM":           "example.com:443",
		"https://[2001:DB8::1]":       "[2001:db8::1]:443",
		"wss://example.com:1/v1/ws":   "example.com:1",
		"unix:///nowhere/./host.sock": "unix:/nowhere/host.sock",
	} {
		got, err := parseURL(raw)
		if err != nil || got.address != want {
			t.Errorf("%s: %+v %v", raw, got, err)
		}
	}
}

func TestACancelledCallLeavesTheConnection(t *testing.T) {
	l := newListener(t)
	held := make(chan protocol.Call, 1)
	l.call = func(p *peer, c protocol.Call) {
		if _, ok := c.Request.(*protocol.GetContext); ok {
			held <- c
			return
		}
		p.reply(<-held, &protocol.ContextView{}) // too late for whoever asked
		p.reply(c, &protocol.Done{})
	}
	tr := dialled(t, l.unix())
	defer tr.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c := <-held
		cancel()
		held <- c
	}()
	if _, err := tr.Call(ctx, protocol.Call{RequestID: newRequest(), Request: &protocol.GetContext{}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the cancelled call: %v", err)
	}
	if r, err := tr.Call(t.Context(), protocol.Call{RequestID: newRequest(), Request: &protocol.Ping{}}); err != nil || r.Err != nil {
		t.Errorf("the next call: %+v %v", r, err)
	}
}

func TestARequestThatIsTooLongIsRefusedHere(t *testing.T) {
	l := newListener(t)
	tr := dialled(t, l.unix())
	defer tr.Close()
	r, err := tr.Call(t.Context(), protocol.Call{RequestID: newRequest(), Request: &protocol.Steer{Content: []protocol.Block{protocol.Text(strings.Repeat("x", protocol.MaxMessage))}}})
	if err != nil || r.Err == nil || r.Err.Code != protocol.CodePayloadTooLarge {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := tr.Call(t.Context(), protocol.Call{RequestID: newRequest(), Request: &protocol.Ping{}}); err != nil || r.Err != nil {
		t.Errorf("the next call: %+v %v", r, err)
	}
}

func TestAnEventOfTheLargestSizeComesThrough(t *testing.T) {
	l := newListener(t)
	tr := dialled(t, l.unix())
	defer tr.Close()
	p := <-l.joined
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(strings.Repeat("x", protocol.MaxLine-1000))})
	e.ID, e.Seq, e.SessionID, e.ClientID = protocol.NewEventID(strings.NewReader("0123456789")), 1, one, "cli_x"
	go p.frame(&protocol.EventsFrame{SessionID: one, Events: []protocol.Event{e}})
	f, err := tr.Recv(t.Context())
	if ev, ok := f.(*protocol.EventsFrame); err != nil || !ok || len(ev.Events) != 1 || ev.Events[0].ID != e.ID {
		t.Errorf("%T %v", f, err)
	}
}

func TestAFrameOfANewerHostIsSkipped(t *testing.T) {
	l := newListener(t)
	tr := dialled(t, l.unix())
	defer tr.Close()
	p := <-l.joined
	go func() {
		_ = p.text(map[string]string{"type": "weather", "sky": "blue"})
		p.frame(&protocol.ProjectsChanged{})
	}()
	if f, err := tr.Recv(t.Context()); err != nil || f.FrameName() != "projects_changed" {
		t.Errorf("%v %v", f, err)
	}
}

func TestTheHostsGoodbyeIsTheEnd(t *testing.T) {
	l := newListener(t)
	tr := dialled(t, l.unix())
	defer tr.Close()
	p := <-l.joined
	go p.conn.Close(1001, "")
	if _, err := tr.Recv(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("recv: %v", err)
	}
}

func newRequest() protocol.RequestID { return protocol.NewRequestID(rand.Reader) }

func TestAnAnswerThatCannotBeReadFailsItsRequestAlone(t *testing.T) {
	l := newListener(t)
	l.call = func(p *peer, c protocol.Call) {
		if _, ok := c.Request.(*protocol.GetStatus); ok {
			_ = p.text(map[string]any{"type": "response", "requestId": c.RequestID, "data": map[string]any{"pid": "seven"}})
			return
		}
		p.reply(c, &protocol.Done{})
		p.reply(c, &protocol.Done{}) // nobody waits for a second one
	}
	tr := dialled(t, l.unix())
	defer tr.Close()
	if r, err := tr.Call(t.Context(), protocol.Call{RequestID: newRequest(), Request: &protocol.GetStatus{}}); err != nil || r.Err == nil || r.Err.Code != protocol.CodeInternalError {
		t.Errorf("%+v %v", r, err)
	}
	for range 2 {
		if r, err := tr.Call(t.Context(), protocol.Call{RequestID: newRequest(), Request: &protocol.Ping{}}); err != nil || r.Err != nil {
			t.Errorf("the next: %+v %v", r, err)
		}
	}
}

func FuzzAddressesAreReadOrRefusedWithoutTheirSecrets(f *testing.F) {
	for _, s := range []string{"unix:/a/b", "ws://127.0.0.1:1", "wss://[::1%25eth0]:1", "wss://u:secretword@h/", "https://h:99999", "ws://localhost:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parseURL(raw)
		switch {
		case err != nil:
			if strings.Contains(raw, ":secretword@") && strings.Contains(err.Error(), "secretword") {
				t.Errorf("%q: %v", raw, err)
			}
		case got.socket != "":
			if got.address != "unix:"+got.socket || !filepath.IsAbs(got.socket) {
				t.Errorf("%q: %+v", raw, got)
			}
		default:
			host, port, err := net.SplitHostPort(got.address)
			if err != nil || host == "" || port == "" || got.address != strings.ToLower(got.address) {
				t.Errorf("%q: the address is %q", raw, got.address)
			}
			if ip := net.ParseIP(host); !got.tls && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
				t.Errorf("%q leads off this machine in clear", raw)
			}
		}
	})
}
