package serve

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/internal/host/clients"
	"scorel/protocol"
	"scorel/protocol/handshake"
)

// pairing makes a code.
func (p *peer) pairing(r protocol.CreatePairing) *protocol.Pairing {
	p.t.Helper()
	reply := p.call("", &r)
	if reply.Err != nil {
		p.t.Fatal(reply.Err)
	}
	return reply.Data.(*protocol.Pairing)
}

func (p *peer) entries() []protocol.Entry {
	p.t.Helper()
	return p.call("", &protocol.ListEntries{}).Data.(*protocol.EntryList).Entries
}

// redeem dials with a code, and closes the connection.
func redeem(t *testing.T, by *client.WebSocket) (protocol.Connected, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), harness.Timeout)
	defer stop()
	conn, connected, err := by.Dial(ctx)
	if err == nil {
		go drain(conn)
		t.Cleanup(func() { _ = conn.Close() })
	}
	return connected, err
}

// drain takes what comes, until the connection is closed.
func drain(conn client.Transport) {
	for {
		if _, err := conn.Recv(context.Background()); err != nil {
			return
		}
	}
}

// refusedAs checks that a dial was refused for good with a sentence that has words.
func refusedAs(t *testing.T, err error, words string) {
	t.Helper()
	var pe *protocol.Error
	if !errors.As(err, &pe) || !errors.As(err, new(*client.PermanentError)) || pe.Code != protocol.CodeAuthFailed {
		t.Fatalf("not refused with auth_failed: %v", err)
	}
	if !strings.Contains(pe.Message, words) || !strings.HasSuffix(pe.Message, ".") {
		t.Errorf("refused with %q, which does not say %q", pe.Message, words)
	}
}

func TestACodeLetsInOneClientWithItsOwnKey(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	owner := w.connect(dialling{})
	at := "ws://" + w.loopback()
	made := owner.pairing(protocol.CreatePairing{})
	device, _ := w.host.Device()
	key := newKey(t)
	by := &client.WebSocket{URL: at, Key: key, Code: made.Code, ClientName: "Firefox on Linux", Interactive: true}
	connected, err := redeem(t, by)
	if err != nil || connected.Grant != protocol.GrantControl || connected.DeviceID != device {
		t.Fatalf("%+v %v", connected, err)
	}
	end := owner.call("", &protocol.AwaitPairing{PairingID: made.PairingID}).Data.(*protocol.PairingEnd)
	if end.Outcome != protocol.PairingRedeemed || end.Entry == nil || end.Entry.ClientID != protocol.ClientIDOf(key.PublicKey().Bytes()) {
		t.Errorf("the pairing ended as %+v", end)
	}
	if all := owner.entries(); len(all) != 1 || all[0].Label != "Firefox on Linux" || all[0].Pending || all[0].Grant != protocol.GrantControl {
		t.Errorf("listed: %+v", all)
	}
	// A second tab has the same key, and needs no code.
	for range 2 {
		if connected, err = redeem(t, &client.WebSocket{URL: at, Key: key, Device: connected.DeviceID, ClientName: "tab"}); err != nil || connected.Grant != protocol.GrantControl {
			t.Fatalf("with the key: %+v %v", connected, err)
		}
	}
	_, err = redeem(t, &client.WebSocket{URL: at, Key: newKey(t), Code: made.Code, ClientName: "thief"})
	refusedAs(t, err, "used already")
	if got := w.reported(); strings.Contains(got, made.Code[16:]) || !strings.Contains(got, "used already") {
		t.Errorf("reported: %s", got)
	}
}

func TestACodeThatDoesNotCountIsRefusedWithItsReason(t *testing.T) {
	var late atomic.Int64
	w := newWorld(t, setting{times: quick, now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	owner := w.connect(dialling{})
	by := func(code string) *client.WebSocket {
		return &client.WebSocket{URL: "unix:" + w.socket, Key: newKey(t), Code: code, ClientName: "x"}
	}
	t.Run("of another host", func(t *testing.T) {
		_, code := protocol.NewPairingCode(zeros{})
		_, err := redeem(t, by(code))
		refusedAs(t, err, "has made no such code")
	})
	t.Run("cancelled", func(t *testing.T) {
		made := owner.pairing(protocol.CreatePairing{})
		if r := owner.call("", &protocol.CancelPairing{PairingID: made.PairingID}); r.Err != nil {
			t.Fatal(r.Err)
		}
		_, err := redeem(t, by(made.Code))
		refusedAs(t, err, "was cancelled")
	})
	t.Run("expired", func(t *testing.T) {
		made := owner.pairing(protocol.CreatePairing{})
		late.Store(int64(60 * time.Second))
		_, err := redeem(t, by(made.Code))
		refusedAs(t, err, "has expired: it counts for 60 s")
		if end := owner.call("", &protocol.AwaitPairing{PairingID: made.PairingID}).Data.(*protocol.PairingEnd); end.Outcome != protocol.PairingExpired {
			t.Errorf("it ended as %+v", end)
		}
	})
	t.Run("too many are open", func(t *testing.T) {
		for range 8 {
			owner.pairing(protocol.CreatePairing{})
		}
		if r := owner.call("", &protocol.CreatePairing{}); r.Err == nil || r.Err.Code != protocol.CodeRateLimited {
			t.Errorf("a ninth code: %+v", r)
		}
	})
	if all := owner.entries(); len(all) != 0 {
		t.Errorf("on the list: %+v", all)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// sayPairing says hello with the name of a code, and returns what the host answered.
func (p *peer) sayPairing(static, ephemeral *ecdh.PrivateKey, id protocol.PairingID) (c protocol.Challenge) {
	p.t.Helper()
	p.hello.ClientID, p.hello.Pairing = protocol.ClientIDOf(static.PublicKey().Bytes()), id
	p.hello.PublicKey, p.hello.Ephemeral = static.PublicKey().Bytes(), ephemeral.PublicKey().Bytes()
	p.say("hello", p.hello)
	p.read(&c)
	return c
}

func TestAWrongProofEndsACode(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	owner := w.connect(dialling{})
	made := owner.pairing(protocol.CreatePairing{})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	static, ephemeral := newKey(t), newKey(t)
	c := p.sayPairing(static, ephemeral, made.PairingID)
	// The key alone is not enough, nor is another secret.
	shared, err := handshake.Shared(static, c.Ephemeral)
	if err != nil {
		t.Fatal(err)
	}
	tr := &handshake.Transcript{Address: "unix:" + w.socket, Hello: p.hello, Challenge: c}
	p.say("connect", protocol.Prove{Proof: handshake.Client(shared, tr)})
	if says := p.refusedWith(protocol.CodeAuthFailed); !strings.Contains(says, "The code counts no longer") {
		t.Errorf("refused with %q", says)
	}
	_, err = redeem(t, &client.WebSocket{URL: "unix:" + w.socket, Key: newKey(t), Code: made.Code, ClientName: "x"})
	refusedAs(t, err, "tried with a wrong proof")
	if end := owner.call("", &protocol.AwaitPairing{PairingID: made.PairingID}).Data.(*protocol.PairingEnd); end.Outcome != protocol.PairingFailed {
		t.Errorf("it ended as %+v", end)
	}
}

// TestAStrangerLearnsNothingOfACode: what a program sees that holds the port of a dead
// host, and who holds it does not get the client's proof.
func TestAStrangerLearnsNothingOfACode(t *testing.T) {
	real, stranger := newWorld(t, setting{times: quick}), newWorld(t, setting{times: quick})
	made := real.connect(dialling{}).pairing(protocol.CreatePairing{})
	other := stranger.connect(dialling{}).pairing(protocol.CreatePairing{})
	// The stranger knows what is said in the open: the name of the code.
	mixed := other.Code[:16] + made.Code[16:]
	_, err := redeem(t, &client.WebSocket{URL: "unix:" + stranger.socket, Key: newKey(t), Code: mixed, ClientName: "x"})
	refusedAs(t, err, "could not prove that it has made this code")
	if got, err := redeem(t, &client.WebSocket{URL: "unix:" + real.socket, Key: newKey(t), Code: made.Code, ClientName: "x"}); err != nil {
		t.Errorf("the code counts no longer: %+v %v", got, err)
	}
}

func TestAPageOfAnotherOriginCannotRedeemACode(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	at := w.loopback()
	made := w.connect(dialling{}).pairing(protocol.CreatePairing{})
	for name, d := range map[string]dialling{
		"a foreign page":            {url: "ws://" + at, header: http.Header{"Origin": {"http://evil.example"}}},
		"another port":              {url: "ws://" + at, header: http.Header{"Origin": {"http://127.0.0.1:1"}}},
		"a name made to point here": {url: "ws://" + at, host: "evil.example", header: http.Header{"Origin": {"http://evil.example"}}},
	} {
		if _, resp, err := w.open(d); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v %v", name, resp, err)
		}
	}
	if connected, err := redeem(t, &client.WebSocket{URL: "ws://" + at, Key: newKey(t), Code: made.Code, ClientName: "x"}); err != nil {
		t.Errorf("the code of the refused pages counts no longer: %+v %v", connected, err)
	}
}

// pairedOverTLS is a world that listens with TLS, with its address and the fingerprint of
// its certificate.
func pairedOverTLS(t *testing.T, s setting) (w *world, at, pin string) {
	t.Helper()
	cert, _ := certificate(t, "box.test")
	sum := sha256.Sum256(cert.Certificate[0])
	s.times = quick
	s.config = func(c *Config) { c.TLS = &tls.Config{Certificates: []tls.Certificate{cert}} }
	w = newWorld(t, s)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.serve(l, TLS)
	return w, l.Addr().String(), hex.EncodeToString(sum[:])
}

func TestAClientOverTheNetworkWaitsUntilAPersonConfirmsIt(t *testing.T) {
	w, at, pin := pairedOverTLS(t, setting{})
	owner := w.connect(dialling{})
	local := owner.pairing(protocol.CreatePairing{})
	key := newKey(t)
	by := func(code string) *client.WebSocket {
		return &client.WebSocket{URL: "wss://" + at, Fingerprint: pin, Key: key, Code: code, ClientName: "Safari on iPhone", Interactive: true}
	}
	_, err := redeem(t, by(local.Code))
	refusedAs(t, err, "for a browser on the machine of the host")
	if r := owner.call("", &protocol.CreatePairing{LAN: true, Grant: protocol.GrantControl}); r.Err == nil || protocol.AboutOf(r.Err).Field != "grant" {
		t.Errorf("control over the network: %+v", r)
	}
	made := owner.pairing(protocol.CreatePairing{LAN: true})
	ctx, stop := context.WithTimeout(t.Context(), harness.Timeout)
	defer stop()
	phone, connected, err := by(made.Code).Dial(ctx)
	if err != nil || connected.Grant != protocol.GrantPending {
		t.Fatalf("%+v %v", connected, err)
	}
	defer func() { _ = phone.Close() }()
	frames := make(chan protocol.Frame, 64)
	go func() { // ends with the connection
		for {
			f, err := phone.Recv(context.Background())
			if err != nil {
				close(frames)
				return
			}
			frames <- f
		}
	}()
	ask := func(r protocol.Request) *protocol.Error {
		t.Helper()
		reply, err := phone.Call(ctx, protocol.Call{RequestID: protocol.NewRequestID(w.server.cfg.Rand), Request: r})
		if err != nil {
			t.Fatal(err)
		}
		return reply.Err
	}
	for _, r := range []protocol.Request{&protocol.Ping{}, &protocol.GetStatus{}, &protocol.ListSessions{}, &protocol.ListEntries{}} {
		if e := ask(r); e == nil || e.Code != protocol.CodeForbidden || protocol.AboutOf(e).Reason != protocol.ReasonPending {
			t.Errorf("%s while it waits: %v", r.Spec().Name, e)
		}
	}
	id := protocol.ClientIDOf(key.PublicKey().Bytes())
	entries := owner.entries()
	if len(entries) != 1 || !entries[0].Pending || entries[0].Address != "127.0.0.1" || entries[0].Label != "Safari on iPhone" || entries[0].Grant != protocol.GrantAnswer || entries[0].ExpiresAt == 0 {
		t.Fatalf("listed: %+v", entries)
	}
	owner.session(w) // of this it is told nothing
	if r := owner.call("", &protocol.SetGrant{ClientID: id, Grant: protocol.GrantControl}); r.Err == nil || r.Err.Code != protocol.CodeConflict {
		t.Errorf("a grant while it waits: %+v", r)
	}
	// A reload of the page: the same key, no code.
	if again, err := redeem(t, &client.WebSocket{URL: "wss://" + at, Fingerprint: pin, Key: key, Device: connected.DeviceID, ClientName: "x"}); err != nil || again.Grant != protocol.GrantPending {
		t.Errorf("after a reload: %+v %v", again, err)
	}
	if r := owner.call("", &protocol.ConfirmEntry{ClientID: id}); r.Err != nil {
		t.Fatal(r.Err)
	}
	if f, ok := (<-frames).(*protocol.GrantChanged); !ok || f.Grant != protocol.GrantAnswer {
		t.Errorf("the first frame is %T %+v", f, f)
	}
	if e := ask(&protocol.ListSessions{}); e != nil {
		t.Errorf("confirmed: %v", e)
	}
	if e := ask(&protocol.RegisterProject{WorkDir: w.project}); e == nil || e.Code != protocol.CodeForbidden {
		t.Errorf("with answer: %v", e)
	}
	told := 0
	for _, f := range owner.passed {
		told += strings.Count(f, `"entries_changed"`)
	}
	if told == 0 {
		t.Errorf("a client with control was not told: %v", owner.passed)
	}
	// Revoked, its open connections end, and its key is worth nothing.
	if r := owner.call("", &protocol.RevokeEntry{ClientID: id}); r.Err != nil {
		t.Fatal(r.Err)
	}
	for range frames { // until the connection has ended
	}
	_, err = redeem(t, &client.WebSocket{URL: "wss://" + at, Fingerprint: pin, Key: key, Device: connected.DeviceID, ClientName: "x"})
	refusedAs(t, err, "does not know this entry")
}

func TestAClientThatNobodyConfirmsIsForgotten(t *testing.T) {
	var late atomic.Int64
	w, at, pin := pairedOverTLS(t, setting{now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	owner := w.connect(dialling{})
	key := newKey(t)
	made := owner.pairing(protocol.CreatePairing{LAN: true})
	connected, err := redeem(t, &client.WebSocket{URL: "wss://" + at, Fingerprint: pin, Key: key, Code: made.Code, ClientName: "phone"})
	if err != nil {
		t.Fatal(err)
	}
	late.Store(int64(clients.PendingTime))
	if all := owner.entries(); len(all) != 0 {
		t.Errorf("listed: %+v", all)
	}
	_, err = redeem(t, &client.WebSocket{URL: "wss://" + at, Fingerprint: pin, Key: key, Device: connected.DeviceID, ClientName: "phone"})
	refusedAs(t, err, "does not know this entry")
	if r := owner.call("", &protocol.ConfirmEntry{ClientID: protocol.ClientIDOf(key.PublicKey().Bytes())}); r.Err == nil {
		t.Error("it was confirmed")
	}
}

func TestAFullListLetsNobodyElseIn(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	owner := w.connect(dialling{})
	for i := range clients.MaxEntries {
		key := make([]byte, 32)
		key[0], key[1] = byte(i), byte(i>>8)
		if _, err := w.host.Entries().Add(key, "full", protocol.GrantView); err != nil {
			t.Fatal(err)
		}
	}
	made := owner.pairing(protocol.CreatePairing{})
	_, err := redeem(t, &client.WebSocket{URL: "unix:" + w.socket, Key: newKey(t), Code: made.Code, ClientName: "x"})
	refusedAs(t, err, "256 entries")
}

func TestOfClientsThatRedeemACodeAtOnceOneComesIn(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	owner := w.connect(dialling{})
	made := owner.pairing(protocol.CreatePairing{})
	var in atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		by := &client.WebSocket{URL: "unix:" + w.socket, Key: newKey(t), Code: made.Code, ClientName: "x"}
		wg.Go(func() {
			if conn, _, err := by.Dial(context.Background()); err == nil {
				in.Add(1)
				_ = conn.Close()
			}
		})
	}
	wg.Wait()
	if n := in.Load(); n != 1 || len(owner.entries()) != 1 {
		t.Errorf("%d came in, %+v", n, owner.entries())
	}
}
