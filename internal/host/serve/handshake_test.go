package serve

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"scorel/internal/dev/harness"
	"scorel/protocol"
	"scorel/protocol/handshake"
)

// list is an allow list.
type list struct {
	mu      sync.Mutex
	entries map[protocol.ClientID]listed
	lookups int
	after   func() // is called after each lookup
	err     error  // why it cannot be read
}

type listed struct {
	key   []byte
	grant protocol.Grant
}

func (l *list) Lookup(id protocol.ClientID) ([]byte, protocol.Grant, bool, error) {
	l.mu.Lock()
	err := l.err
	e, ok := l.entries[id]
	l.lookups++
	after := l.after
	l.mu.Unlock()
	if after != nil {
		after()
	}
	return e.key, e.grant, ok && err == nil, err
}

func (l *list) set(key *ecdh.PrivateKey, grant protocol.Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries == nil {
		l.entries = map[protocol.ClientID]listed{}
	}
	l.entries[protocol.ClientIDOf(key.PublicKey().Bytes())] = listed{key.PublicKey().Bytes(), grant}
}

func (l *list) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

func newKey(t *testing.T) *ecdh.PrivateKey {
	t.Helper()
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// proveKey says hello with a key, checks the host's proof and sends its own.
func (p *peer) proveKey(w *world, static *ecdh.PrivateKey) {
	p.t.Helper()
	ephemeral := newKey(p.t)
	p.hello.ClientID = protocol.ClientIDOf(static.PublicKey().Bytes())
	p.hello.PublicKey, p.hello.Ephemeral = static.PublicKey().Bytes(), ephemeral.PublicKey().Bytes()
	p.say("hello", p.hello)
	var c protocol.Challenge
	p.read(&c)
	if err := handshake.CheckChallenge(&p.hello, &c, ""); err != nil {
		p.t.Fatal(err)
	}
	tr := &handshake.Transcript{Address: "unix:" + w.socket, Hello: p.hello, Challenge: c}
	of, err := handshake.Shared(ephemeral, c.PublicKey)
	if err != nil {
		p.t.Fatal(err)
	}
	if !handshake.Equal(c.Proof, handshake.Host(of, tr)) {
		p.t.Fatal("the host's proof under its key is wrong")
	}
	mine, err := handshake.Shared(static, c.Ephemeral)
	if err != nil {
		p.t.Fatal(err)
	}
	p.say("connect", protocol.Prove{Proof: handshake.Client(mine, tr)})
}

// refusedWith reads on to the end and checks how the host turned the peer away.
func (p *peer) refusedWith(code protocol.Code) string {
	p.t.Helper()
	status, seen := p.status()
	if status != websocket.StatusPolicyViolation || len(seen) == 0 {
		p.t.Fatalf("closed with %d after %q", status, seen)
	}
	var e struct {
		Type      string
		RequestID *string
		protocol.Error
	}
	last := seen[len(seen)-1]
	if err := json.Unmarshal([]byte(last), &e); err != nil || e.Type != "error" || e.RequestID == nil || *e.RequestID != "" || e.Code != code {
		p.t.Fatalf("refused with %s, not %s", last, code)
	}
	return e.Message
}

func quick(t *times) { t.penalty = time.Millisecond }

func TestAWrongProofIsRefused(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.say("hello", p.hello)
	p.message() // the challenge
	p.say("connect", protocol.Prove{Proof: make([]byte, 32)})
	p.refusedWith(protocol.CodeAuthFailed)
	if got := w.reported(); !strings.Contains(got, "proof is wrong") || strings.Contains(got, testToken) {
		t.Errorf("reported: %s", got)
	}
	w.connect(dialling{}) // the host is healthy
}

func TestAnotherTokenIsRefused(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.proveToken("unix:"+w.socket, strings.ToUpper(testToken))
	p.refusedWith(protocol.CodeAuthFailed)
}

func TestAProofForAnotherAddressIsRefused(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.proveToken("wrong:80", testToken) // what a stranger between would pass on
	p.refusedWith(protocol.CodeAuthFailed)
}

func TestARecordedProofIsWorthNothing(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	first, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	first.say("hello", first.hello)
	var c protocol.Challenge
	first.read(&c)
	proof := protocol.Prove{Proof: handshake.Client([]byte(testToken), &handshake.Transcript{Address: "unix:" + w.socket, Hello: first.hello, Challenge: c})}
	first.say("connect", proof)
	if m := first.message(); m["type"] != "connected" {
		t.Fatalf("the proof itself: %v", m)
	}
	second, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	second.hello = first.hello
	second.say("hello", second.hello)
	var again protocol.Challenge
	second.read(&again)
	if bytes.Equal(c.Nonce, again.Nonce) {
		t.Error("two challenges have one nonce")
	}
	second.say("connect", proof)
	second.refusedWith(protocol.CodeAuthFailed)
}

func TestTheHostsProofSentBackIsRefused(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.say("hello", p.hello)
	var c protocol.Challenge
	p.read(&c)
	p.say("connect", protocol.Prove{Proof: c.Proof})
	p.refusedWith(protocol.CodeAuthFailed)
}

func TestANewTokenCountsAtOnceAndTheOldOneNoLonger(t *testing.T) {
	var mu sync.Mutex
	token := testToken
	w := newWorld(t, setting{times: quick, config: func(c *Config) {
		c.Token = func() string {
			mu.Lock()
			defer mu.Unlock()
			return token
		}
	}})
	w.connect(dialling{})
	mu.Lock()
	token = strings.Repeat("n", tokenLength)
	mu.Unlock()
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.proveToken("wrong", testToken)
	p.refusedWith(protocol.CodeAuthFailed)
	w.connect(dialling{token: strings.Repeat("n", tokenLength)})
}

func TestAnEntryComesInByItsKeyWithItsGrant(t *testing.T) {
	entries, key := &list{}, newKey(t)
	entries.set(key, protocol.GrantView)
	w := newWorld(t, setting{times: quick, config: func(c *Config) { c.Entries = entries }})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.proveKey(w, key)
	if m := p.message(); m["type"] != "connected" || m["grant"] != "view" {
		t.Fatalf("the host answered the key with %v", m)
	}
	if r := p.call("", &protocol.ListProjects{}); r.Err != nil {
		t.Errorf("a viewer may not look: %v", r.Err)
	}
	if r := p.call("", &protocol.RegisterProject{WorkDir: w.project}); r.Err == nil || r.Err.Code != protocol.CodeForbidden {
		t.Errorf("a viewer added a project: %+v", r)
	}
}

func TestAKeyThatIsNotOnTheListIsRefused(t *testing.T) {
	w := newWorld(t, setting{times: quick, config: func(c *Config) { c.Entries = &list{} }})
	key := newKey(t)
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.hello.ClientID, p.hello.PublicKey, p.hello.Ephemeral = protocol.ClientIDOf(key.PublicKey().Bytes()), key.PublicKey().Bytes(), newKey(t).PublicKey().Bytes()
	p.say("hello", p.hello)
	p.refusedWith(protocol.CodeAuthFailed)
}

// TestAClientWhoseListCannotBeReadIsNotToldToPairAgain: pages give up for good, and empty their
// caches, when the host does not know them.
func TestAClientWhoseListCannotBeReadIsNotToldToPairAgain(t *testing.T) {
	entries, key := &list{}, newKey(t)
	entries.set(key, protocol.GrantView)
	entries.err = errors.New("too many open files in /home/somebody")
	w := newWorld(t, setting{times: quick, config: func(c *Config) { c.Entries = entries }})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.hello.ClientID = protocol.ClientIDOf(key.PublicKey().Bytes())
	p.hello.PublicKey, p.hello.Ephemeral = key.PublicKey().Bytes(), newKey(t).PublicKey().Bytes()
	p.say("hello", p.hello)
	if said := p.refusedWith(protocol.CodeStorageError); strings.Contains(said, "pair") || strings.Contains(said, "somebody") {
		t.Error(said)
	}
	if got := w.reported(); !strings.Contains(got, "too many open files") {
		t.Errorf("reported: %s", got)
	}
}

func TestTheKeyOfAnotherEntryIsRefused(t *testing.T) {
	entries, mine, other := &list{}, newKey(t), newKey(t)
	entries.set(mine, protocol.GrantControl)
	w := newWorld(t, setting{times: quick, config: func(c *Config) { c.Entries = entries }})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	ephemeral := newKey(t)
	p.hello.ClientID = protocol.ClientIDOf(mine.PublicKey().Bytes()) // known, but the private key is another's
	p.hello.PublicKey, p.hello.Ephemeral = mine.PublicKey().Bytes(), ephemeral.PublicKey().Bytes()
	p.say("hello", p.hello)
	var c protocol.Challenge
	p.read(&c)
	shared, err := handshake.Shared(other, c.Ephemeral)
	if err != nil {
		t.Fatal(err)
	}
	p.say("connect", protocol.Prove{Proof: handshake.Client(shared, &handshake.Transcript{Address: "unix:" + w.socket, Hello: p.hello, Challenge: c})})
	p.refusedWith(protocol.CodeAuthFailed)
}

func TestAnEntryThatIsRevokedInTheMiddleOfItsHandshakeStaysOut(t *testing.T) {
	entries, key := &list{}, newKey(t)
	entries.set(key, protocol.GrantControl)
	entries.after = func() { entries.clear() } // after the first look
	w := newWorld(t, setting{times: quick, config: func(c *Config) { c.Entries = entries }})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.proveKey(w, key)
	p.refusedWith(protocol.CodeAuthFailed)
}

func TestFirstMessagesThatDoNotFitAreRefusedInOneSentence(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	hello := func(change func(*protocol.Hello)) string {
		key := sha(t)
		h := protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(key), ClientName: "x", Nonce: key}
		change(&h)
		data, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return `{"type":"hello",` + string(data[1:])
	}
	for name, test := range map[string]struct {
		text string
		code protocol.Code
		says string
	}{
		"not JSON":        {"hello?", protocol.CodeInvalidRequest, "hello"},
		"a call":          {`{"type":"ping","requestId":"req_00000000000000000000000000"}`, protocol.CodeInvalidRequest, `"ping"`},
		"version":         {hello(func(h *protocol.Hello) { h.ProtocolVersion = 99 }), protocol.CodeUnsupportedProtocol, "99"},
		"no nonce":        {hello(func(h *protocol.Hello) { h.Nonce = nil }), protocol.CodeInvalidRequest, "nonce"},
		"the host itself": {hello(func(h *protocol.Hello) { h.ClientID = protocol.HostClient }), protocol.CodeInvalidRequest, "host"},
		"half a key":      {hello(func(h *protocol.Hello) { h.PublicKey = h.Nonce }), protocol.CodeInvalidRequest, "ephemeral"},
		"too long":        {hello(func(h *protocol.Hello) { h.ClientName = strings.Repeat("x", maxHandshake) }), protocol.CodeInvalidRequest, "8192"},
		"a long name":     {hello(func(h *protocol.Hello) { h.ClientName = strings.Repeat("x", 200) }), protocol.CodeInvalidRequest, "128"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := w.open(dialling{})
			if err != nil {
				t.Fatal(err)
			}
			p.t = t
			p.raw(test.text)
			if says := p.refusedWith(test.code); !strings.Contains(says, test.says) || !strings.HasSuffix(says, ".") {
				t.Errorf("refused with %q", says)
			}
		})
	}
}

// TestARefusedHelloNamesItsField changes each field of a hello, and leaves it out.
func TestARefusedHelloNamesItsField(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	nonce, err := json.Marshal(sha(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ field, value string }{
		{"type", ""}, {"type", "7"}, {"type", `"hullo"`},
		{"protocolVersion", ""}, {"protocolVersion", `"1"`}, {"protocolVersion", "null"},
		{"clientId", ""}, {"clientId", "4"}, {"clientId", `"cli_x"`}, {"clientId", `"host"`},
		{"clientName", ""}, {"clientName", "7"}, {"clientName", `"` + strings.Repeat("x", 200) + `"`},
		{"interactive", ""}, {"interactive", `"yes"`}, {"interactive", "null"},
		{"nonce", ""}, {"nonce", `"AA=="`}, {"nonce", `"?"`}, {"nonce", "7"},
		{"publicKey", string(nonce)}, {"ephemeral", string(nonce)},
	} {
		hello := map[string]json.RawMessage{"type": []byte(`"hello"`), "protocolVersion": []byte("1"), "clientId": []byte(`"cli_00000000000000000000000000"`),
			"clientName": []byte(`"x"`), "interactive": []byte("false"), "nonce": nonce}
		if delete(hello, test.field); test.value != "" {
			hello[test.field] = json.RawMessage(test.value)
		}
		text, err := json.Marshal(hello)
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := w.open(dialling{})
		if err != nil {
			t.Fatal(err)
		}
		p.raw(string(text))
		status, seen := p.status()
		var e protocol.Error
		if len(seen) == 0 || status != websocket.StatusPolicyViolation {
			t.Fatalf("%s: closed with %d after %q", text, status, seen)
		}
		if err := json.Unmarshal([]byte(seen[len(seen)-1]), &e); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"publicKey": "ephemeral", "ephemeral": "publicKey"}[test.field] // which is missing then
		if want == "" {
			want = test.field
		}
		if got := protocol.AboutOf(&e).Field; got != want || e.Code != protocol.CodeInvalidRequest || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%s %s: refused about %q: %s", test.field, test.value, got, seen[len(seen)-1])
		}
	}
}

func sha(t *testing.T) []byte {
	t.Helper()
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestACallBeforeTheProofDoesNothing(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.say("hello", p.hello)
	p.message()
	p.raw(fmt.Sprintf(`{"type":"register_project","requestId":%q,"workDir":%q}`, protocol.NewRequestID(rand.Reader), w.project))
	p.refusedWith(protocol.CodeInvalidRequest)
	if r := w.connect(dialling{}).call("", &protocol.ListProjects{}); len(r.Data.(*protocol.ProjectList).Projects) != 0 {
		t.Error("the project was registered")
	}
}

func TestWhoeverDoesNotProveHimselfInTimeIsDropped(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.proof = 50 * time.Millisecond }})
	harness.Until(t, "a challenge", func() bool {
		p, _, err := w.open(dialling{})
		if err != nil || p.trySay("hello", p.hello) != nil {
			return false // the machine was slower than that
		}
		_, seen := p.status()
		if len(seen) > 1 {
			t.Errorf("the host said %q", seen)
		}
		return len(seen) == 1
	})
	harness.Until(t, "a report", func() bool { return strings.Contains(w.reported(), "did not prove itself") })
}

func TestAWrongProofWaitsBeforeItIsTold(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.penalty = 200 * time.Millisecond }})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p.proveToken("wrong", testToken)
	p.refusedWith(protocol.CodeAuthFailed)
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("the next try could begin after %s", took)
	}
}

func TestAConnectionThatWasServedIsNoRefusal(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.proof = time.Second }})
	address := w.loopback()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(c) // until the host closes it
	if err != nil || !strings.Contains(string(data), "200 OK") {
		t.Fatalf("it was answered %q, %v", data, err)
	}
	if said := w.reported(); strings.Contains(said, "did not prove itself") {
		t.Errorf("the log has %q", said)
	}
}
