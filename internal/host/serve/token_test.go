package serve

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// changing is a token that is changed.
type changing struct {
	mu    sync.Mutex
	token string
	next  string // takes its place after the next look, when not ""
}

func (c *changing) get() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.token
	if c.next != "" {
		c.token, c.next = c.next, ""
	}
	return now
}

func (c *changing) set(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
}

// newToken is what comes after testToken.
var newToken = strings.Repeat("n", tokenLength)

func TestAClientOfTheOldTokenThatDoesNotReadIsNotHeardEither(t *testing.T) {
	token := &changing{token: testToken}
	w := newWorld(t, setting{times: func(t *times) { t.stall = time.Second }, config: func(c *Config) { c.Token = token.get }})
	p := w.connect(dialling{})
	id := p.session(w)
	ref := p.call("", &protocol.PutBlob{UploadID: "u", Data: bytes.Repeat([]byte("x"), 48<<10), Last: true}).Data.(*protocol.BlobRef)
	for range 40 { // more than a line holds; nothing of it is read
		if _, err := p.trySend("", &protocol.GetBlob{SHA256: ref.SHA256, Length: 48 << 10}); err != nil {
			break // on a slow machine the write of an answer has been given up by now
		}
	}
	c := w.script()
	harness.Until(t, "the answers, or the end of the connection that does not take them", func() bool {
		text := c.want(http.StatusOK, nil, "GET", "/metrics", "")
		return strings.Contains(text, `request="get_blob",result="ok"} 40`) || strings.Contains(text, `scorel_connections{kind="unix"} 0`)
	})
	token.set(newToken)
	w.server.DropTokenClients()
	name := "by a stranger"
	// The connection may be gone already, then nothing is sent.
	_, _ = p.trySend(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
	c = w.script()
	c.header.Set("Authorization", "Bearer "+newToken)
	harness.Until(t, "the end of the connection", func() bool {
		return strings.Contains(c.want(http.StatusOK, nil, "GET", "/metrics", ""), `scorel_connections{kind="unix"} 0`)
	})
	if text := c.want(http.StatusOK, nil, "GET", "/v1/sessions/"+string(id), ""); strings.Contains(text, name) {
		t.Errorf("a request of the old token was carried out behind the new one: %s", text)
	}
}

func TestATokenThatChangesWithinAHandshakeLetsNobodyIn(t *testing.T) {
	token := &changing{token: testToken}
	w := newWorld(t, setting{times: quick, config: func(c *Config) { c.Token = token.get }})
	p, _, err := w.open(dialling{})
	if err != nil {
		t.Fatal(err)
	}
	token.mu.Lock()
	token.next = newToken // the challenge is still of the old one
	token.mu.Unlock()
	p.proveToken("unix:"+w.socket, testToken)
	if m := p.message(); m["type"] != "error" || m["code"] != string(protocol.CodeAuthFailed) {
		t.Errorf("the proof of the old token was answered with %v", m)
	}
}

func TestAStreamOfEventsEndsWithItsToken(t *testing.T) {
	token := &changing{token: testToken}
	w := newWorld(t, setting{config: func(c *Config) { c.Token = token.get }})
	c := w.script()
	r := c.follow(c.session(w), "", "")
	r.until("live")
	token.set(newToken)
	if n := w.server.DropTokenClients(); n != 1 {
		t.Errorf("%d were cut off, not 1", n)
	}
	if e, err := r.next(); err == nil {
		t.Errorf("a stream of the old token goes on with %v", e)
	}
	if resp, _ := c.do("GET", "/v1/status", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the old token: %s", resp.Status)
	}
}

func TestABodyThatComesBehindANewTokenDoesNothing(t *testing.T) {
	token := &changing{token: testToken}
	w := newWorld(t, setting{config: func(c *Config) { c.Token = token.get }})
	c := w.script()
	body, in := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://localhost/v1/projects", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = c.header.Clone()
	done := make(chan int, 1)
	go func() { // ends with the answer
		resp, err := c.client.Do(req)
		if err != nil {
			done <- 0
			return
		}
		_ = resp.Body.Close()
		done <- resp.StatusCode
	}()
	_, _ = io.WriteString(in, `{"workDir":`)
	lis := w.listener()
	harness.Until(t, "the request is let in", func() bool {
		lis.unproven.mu.Lock()
		defer lis.unproven.mu.Unlock()
		lis.mu.Lock()
		defer lis.mu.Unlock()
		return len(lis.streams) == 1 && len(lis.unproven.oldest) == 0
	})
	token.set(newToken)
	w.server.DropTokenClients()
	_, _ = io.WriteString(in, `"`+w.project+`"}`)
	_ = in.Close()
	if status := <-done; status == http.StatusOK {
		t.Error("it was carried out")
	}
	c.header.Set("Authorization", "Bearer "+newToken)
	if text := c.want(http.StatusOK, nil, "GET", "/v1/projects", ""); strings.Contains(text, w.project) {
		t.Errorf("the project stands in the list: %s", text)
	}
}
