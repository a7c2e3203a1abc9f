package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

func text(s string) []protocol.Block {
	return []protocol.Block{{Type: protocol.BlockText, Text: s}}
}

// until reads frames until f, which gets each message's type and its events, is true.
func (p *peer) until(f func(typ string, events []protocol.Event) bool) {
	p.t.Helper()
	for {
		var m struct {
			Type   string
			Events []json.RawMessage
		}
		p.read(&m)
		var events []protocol.Event
		for _, raw := range m.Events {
			e, err := protocol.ParseEvent(raw)
			if err != nil {
				p.t.Fatal(err)
			}
			events = append(events, e)
		}
		if f(m.Type, events) {
			return
		}
	}
}

// untilAnswered reads on until the assistant's message has come.
func (p *peer) untilAnswered() (answer string) {
	p.t.Helper()
	p.until(func(_ string, events []protocol.Event) bool {
		for _, e := range events {
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleAssistant {
				answer = b.Message.Content[0].Text
			}
		}
		return answer != ""
	})
	return answer
}

func TestAClientThatProvesTheTokenCallsAndGetsFrames(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	id := p.session(w)
	p.send(id, &protocol.OpenSession{Tail: 10})
	p.send(id, &protocol.SendMessage{Content: text("Hi")})
	if got := p.untilAnswered(); got != "Hello." {
		t.Errorf("the answer is %q", got)
	}
}

func TestABadCallIsAnsweredWithItsRequestID(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	const id = "req_00000000000000000000000000"
	for _, test := range []struct{ text, id string }{
		{`{"type":"no_such_request","requestId":"` + id + `"}`, id},
		{`{"type":"open_session","requestId":"` + id + `","tail":"many"}`, id},
		{`{"type":"ping","requestId":"short"}`, ""},
		{`{"type":"ping","requestId":"` + id + `"`, id}, // cut off
		{`nonsense`, ""},
		{`{"type":"set_label","text":"\"requestId\":\"req_1\"",`, ""},
	} {
		p.raw(test.text)
		var e struct {
			Type      string
			RequestID string
			Code      protocol.Code
		}
		p.read(&e)
		if e.Type != "error" || e.RequestID != test.id || e.Code != protocol.CodeInvalidRequest {
			t.Errorf("%s was answered with %+v", test.text, e)
		}
	}
	if r := p.call("", &protocol.Ping{}); r.Err != nil {
		t.Errorf("the connection is not healthy: %v", r.Err)
	}
}

func TestACallThatIsALittleTooLargeIsRefusedByItsRequestID(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	r := p.call(protocol.NewSessionID(w.now(), zero{}), &protocol.SendMessage{Content: text(strings.Repeat("x", protocol.MaxMessage))})
	if r.Err == nil || r.Err.Code != protocol.CodePayloadTooLarge {
		t.Errorf("answered with %+v", r)
	}
	if r := p.call("", &protocol.Ping{}); r.Err != nil {
		t.Errorf("the connection is not healthy: %v", r.Err)
	}
}

// zero is a source of zeros.
type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAnOversizedMessageIsToldAndEndsTheConnection(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	const id = "req_00000000000000000000000000"
	go func() { // the host stops reading in the middle
		_ = p.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"send_message","requestId":"`+id+`","x":"`+strings.Repeat("x", 8<<20)))
	}()
	status, seen := p.status()
	if len(seen) != 1 || !strings.Contains(seen[0], `"payload_too_large"`) || !strings.Contains(seen[0], id) {
		t.Errorf("the host said %.200q", seen)
	}
	if status != websocket.StatusMessageTooBig {
		t.Errorf("closed with %d", status)
	}
	w.connect(dialling{})
}

func TestABinaryMessageEndsTheConnection(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	if err := p.ws.Write(t.Context(), websocket.MessageBinary, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if status, _ := p.status(); status != websocket.StatusUnsupportedData {
		t.Errorf("closed with %d", status)
	}
}

// TestAMessageThatIsNotUTF8EndsTheConnection: RFC 6455, section 8.1.
func TestAMessageThatIsNotUTF8EndsTheConnection(t *testing.T) {
	const ping = "{\"type\":\"ping\",\"requestId\":\"req_00000000000000000000000000\",\"x\":\"a\xffb\"}"
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	p.raw(ping)
	if status, seen := p.status(); status != websocket.StatusInvalidFramePayloadData {
		t.Errorf("closed with %d after %q", status, seen)
	}
	p, _, err := w.open(dialling{}) // and before the handshake
	if err != nil {
		t.Fatal(err)
	}
	p.raw(ping)
	if status, seen := p.status(); status != websocket.StatusInvalidFramePayloadData {
		t.Errorf("in the handshake: closed with %d after %q", status, seen)
	}
}

// TestAMessageThatNamesNoRequestIsToldWhatItLacks, and one that is not an object what it is.
func TestAMessageThatNamesNoRequestIsToldWhatItLacks(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	for text, says := range map[string]string{
		"null": "not a JSON object", "7": "not a JSON object", "[]": "not a JSON object",
		`{"requestId":"req_00000000000000000000000000"}`:                                "field type is missing",
		`{"type":"","requestId":"req_00000000000000000000000000"}`:                      "field type is missing",
		`{"type":"pong","requestId":"req_00000000000000000000000000"}`:                  `no request named "pong"`,
		`{"type":"ping","requestId":"req_00000000000000000000000000","zz":1}`:           "it knows type, requestId, sessionId, repeat",
		`{"type":"get_blob","requestId":"req_00000000000000000000000000","sha256":"x"}`: "offset",
	} {
		p.raw(text)
		if e := p.error(); e == nil || e.Code != protocol.CodeInvalidRequest || !strings.Contains(e.Message, says) {
			t.Errorf("%s was answered with %v", text, e)
		}
	}
}

func TestShutdownAnswersWhatIsBeingCarriedOutAndSaysGoodbye(t *testing.T) {
	w := newWorld(t, setting{hold: true})
	var open sync.Once
	release := func() { open.Do(func() { close(w.hold) }) }
	defer release()
	p := w.connect(dialling{})
	id := p.session(w)
	p.send(id, &protocol.OpenSession{Tail: 10}) // the message may be stored before or after the opening
	p.send(id, &protocol.SendMessage{Content: text("Hi")})
	p.until(func(typ string, events []protocol.Event) bool { // the turn runs, and waits for the model
		for _, e := range events {
			if _, ok := e.Body.(*protocol.MessageBody); ok {
				return true
			}
		}
		return false
	})
	asked := p.send("", &protocol.Doctor{WorkDir: w.project}) // takes a while
	ping := p.send("", &protocol.Ping{})
	var before []string
	for len(before) == 0 || !strings.Contains(before[len(before)-1], string(ping)) { // the host has taken both
		_, data, err := p.ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before = append(before, string(data))
	}
	done := make(chan error, 1)
	go func() { done <- w.server.Shutdown(t.Context()) }()
	status, seen := p.status()
	seen = append(before, seen...)
	if status != websocket.StatusGoingAway {
		t.Errorf("closed with %d", status)
	}
	if err := <-done; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if !strings.Contains(strings.Join(seen, "\n"), string(asked)) {
		t.Errorf("the call was not answered: %.300q", seen)
	}
	if _, _, err := w.open(dialling{}); err == nil {
		t.Error("a server that was shut down takes connections")
	}
}

func TestShutdownThatMayNotWaitCutsOff(t *testing.T) {
	w := newWorld(t, setting{})
	raw, err := net.Dial("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	p := w.connect(dialling{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if err := w.server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, _, err := p.ws.Read(t.Context()); err == nil {
		t.Error("the connection is still there")
	}
}

func TestAClientThatDoesNotReadHoldsUpNobodyAndIsDropped(t *testing.T) {
	words := strings.Repeat("word ", 40_000) // 200 KB, in pieces: more than a line holds
	w := newWorld(t, setting{chunk: 500, answers: []string{fmt.Sprintf(`{"do":[{"text":%q}]}`, words), fmt.Sprintf(`{"do":[{"text":%q}]}`, words)},
		times: func(t *times) { t.stall = 3 * time.Second }})
	slow, quick := w.connect(dialling{}), w.connect(dialling{})
	id := quick.session(w)
	for _, p := range []*peer{slow, quick} {
		p.send(id, &protocol.OpenSession{Tail: 10})
	}
	for i := range 2 { // slow reads nothing of this
		start := time.Now()
		quick.send(id, &protocol.SendMessage{Content: text("Go on")})
		if got := quick.untilAnswered(); got != words {
			t.Fatalf("the answer has %d characters", len(got))
		}
		t.Logf("answer %d took %s", i, time.Since(start))
	}
	metric := func(name string) string {
		for line := range strings.Lines(w.script().want(http.StatusOK, nil, "GET", "/metrics", "")) {
			if rest, ok := strings.CutPrefix(line, name+" "); ok {
				return strings.TrimSpace(rest)
			}
		}
		return ""
	}
	harness.Until(t, "the stall", func() bool { return metric("scorel_write_stalls_total") == "1" })
	harness.Until(t, "the end of the connection", func() bool { return metric(`scorel_connections{kind="unix"}`) == "1" })
}

func TestASilentClientIsGivenUp(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.ping, t.silence = 20*time.Millisecond, time.Second }})
	// Nobody reads this one's messages, so that no ping is answered.
	w.connect(dialling{})
	harness.Until(t, "silence", func() bool {
		text := w.script().want(http.StatusOK, nil, "GET", "/metrics", "")
		return strings.Contains(text, "scorel_silent_clients_total 1\n") && strings.Contains(text, `scorel_connections{kind="unix"} 0`)
	})
}

func TestAClientThatOnlyAnswersPingsStays(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.ping, t.silence = 20*time.Millisecond, 2*time.Second }})
	p := w.connect(dialling{})
	ended := make(chan error, 1)
	go func() {
		_, _, err := p.ws.Read(t.Context()) // answers pings
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the connection ended: %v", err)
	case <-time.After(6 * time.Second): // longer than silence may last
	}
	_ = p.ws.CloseNow()
	<-ended
}

func TestTheHostEndsAConnectionAndSaysWhy(t *testing.T) {
	entries, key := &list{}, newKey(t)
	entries.set(key, protocol.GrantView)
	w := newWorld(t, setting{config: func(c *Config) { c.Entries = entries }})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	p.proveKey(w, key)
	p.message()
	w.host.Disconnect(protocol.ClientIDOf(key.PublicKey().Bytes()), "This entry was revoked.")
	status, seen := p.status()
	if status != websocket.StatusPolicyViolation || len(seen) == 0 || !strings.Contains(seen[len(seen)-1], "revoked") {
		t.Errorf("closed with %d after %q", status, seen)
	}
}

func TestAHostThatEndsAnswersWhatWasAsked(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.answers = harness.Timeout }})
	p := w.connect(dialling{})
	asked := p.send("", &protocol.Doctor{WorkDir: w.project}) // takes a while
	for range 50 {                                            // by then it has begun; one that has not is for the next host
		if reply := p.call("", &protocol.Ping{}); reply.Err != nil {
			t.Fatal(reply.Err)
		}
	}
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	status, seen := p.status()
	seen = append(p.passed, seen...) // it may have been quicker than the ping
	if status != websocket.StatusGoingAway || !strings.Contains(strings.Join(seen, "\n"), string(asked)) {
		t.Errorf("closed with %d after %.300q", status, seen)
	}
}
