package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// bearing is the header of an upgrade request with values of Authorization.
func bearing(values ...string) http.Header { return http.Header{"Authorization": values} }

// helloBearer opens a connection with the right token and says hello.
func (w *world) helloBearer(d dialling) *peer {
	w.t.Helper()
	d.header = bearing("Bearer " + testToken)
	p, _, err := w.open(d)
	if err != nil {
		w.t.Fatal(err)
	}
	p.hello.Nonce = nil
	p.say("hello", p.hello)
	return p
}

func TestTheTokenOnTheUpgradeRequestStandsForTheProof(t *testing.T) {
	w, addr, https := tlsWorld(t, nil)
	for name, d := range map[string]dialling{
		"socket":   {},
		"loopback": {url: "ws://" + w.loopback()}, // as over HTTP
		"TLS":      {url: "wss://" + addr, client: https},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.helloBearer(d)
			p.t = t
			if m := p.message(); m["type"] != "connected" || m["grant"] != "control" {
				t.Fatalf("the host answered the hello with %v", m)
			}
			if r := p.call("", &protocol.ListProjects{}); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
}

func TestAWrongTokenOnTheUpgradeRequestIsRefusedBeforeTheUpgrade(t *testing.T) {
	w := newWorld(t, setting{})
	for name, header := range map[string]http.Header{
		"another":          bearing("Bearer " + newToken),
		"in other letters": bearing("Bearer " + strings.ToLower(testToken)),
		"empty":            bearing("Bearer "),
		"no token at all":  bearing("bearer"),
		"half":             bearing("Bearer " + testToken[:20]),
		"twice":            bearing("Bearer "+testToken, "Bearer "+testToken),
		"a second one":     bearing("Basic eDp5", "Bearer "+testToken),
	} {
		_, resp, err := w.open(dialling{header: header})
		if err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %v, %v", name, resp, err)
			continue
		}
		var e protocol.Error
		if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || e.Code != protocol.CodeAuthFailed {
			t.Errorf("%s: refused with %+v, %v", name, e, err)
		}
	}
	if got := w.reported(); !strings.Contains(got, "The token is not the host's") || strings.Contains(got, testToken) {
		t.Errorf("reported: %s", got)
	}
	w.connect(dialling{}) // the host is healthy
}

func TestAHostWithoutATokenTakesNoneOnTheUpgradeRequest(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Token = func() string { return "" } }})
	for _, value := range []string{"Bearer", "Bearer ", "Bearer " + testToken} {
		if _, resp, err := w.open(dialling{header: bearing(value)}); err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: %v, %v", value, resp, err)
		}
	}
}

func TestAHeaderOfAnotherSchemeReplacesNoProof(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	p, _, err := w.open(dialling{header: bearing("Basic " + testToken)})
	if err != nil {
		t.Fatal(err)
	}
	p.say("hello", p.hello)
	if m := p.message(); m["type"] != "challenge" {
		t.Fatalf("the host answered the hello with %v", m)
	}
	p.raw(`{"type":"list_projects","requestId":"req_00000000000000000000000000"}`)
	p.refusedWith(protocol.CodeInvalidRequest)
}

func TestTheTokenOnTheUpgradeRequestClaimsNoKey(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	key := newKey(t)
	if _, err := w.host.Entries().Add(key.PublicKey().Bytes(), "phone", protocol.GrantView); err != nil {
		t.Fatal(err)
	}
	p, _, err := w.open(dialling{header: bearing("Bearer " + testToken)})
	if err != nil {
		t.Fatal(err)
	}
	public := key.PublicKey().Bytes()
	p.hello.ClientID, p.hello.PublicKey, p.hello.Ephemeral = protocol.ClientIDOf(public), public, newKey(t).PublicKey().Bytes()
	p.say("hello", p.hello)
	if says := p.refusedWith(protocol.CodeInvalidRequest); !strings.Contains(says, "proves no key") {
		t.Errorf("refused with %q", says)
	}
}

func TestAHelloWithTheTokenIsCheckedLikeAnyOther(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	for says, change := range map[string]func(*protocol.Hello){
		"99":       func(h *protocol.Hello) { h.ProtocolVersion = 99 },
		"host":     func(h *protocol.Hello) { h.ClientID = protocol.HostClient },
		"clientId": func(h *protocol.Hello) { h.ClientID = "me" },
		"128":      func(h *protocol.Hello) { h.ClientName = strings.Repeat("x", 200) },
	} {
		p, _, err := w.open(dialling{header: bearing("Bearer " + testToken)})
		if err != nil {
			t.Fatal(err)
		}
		change(&p.hello)
		p.say("hello", p.hello)
		status, seen := p.status()
		if status != websocket.StatusPolicyViolation || len(seen) != 1 || !strings.Contains(seen[0], says) {
			t.Errorf("%s: closed with %d after %q", says, status, seen)
		}
	}
}

func TestWhoeverSendsTheTokenAndNoHelloIsDropped(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.proof = 50 * time.Millisecond }})
	harness.Until(t, "a connection", func() bool {
		p, _, err := w.open(dialling{header: bearing("Bearer " + testToken)})
		if err != nil {
			return false // the machine was slower than that
		}
		if _, seen := p.status(); len(seen) > 0 {
			t.Errorf("the host said %q", seen)
		}
		return true
	})
}

func TestATokenThatChangesBeforeTheHelloLetsNobodyIn(t *testing.T) {
	token := &changing{token: testToken}
	w := newWorld(t, setting{times: quick, config: func(c *Config) { c.Token = token.get }})
	p, _, err := w.open(dialling{header: bearing("Bearer " + testToken)})
	if err != nil {
		t.Fatal(err)
	}
	token.set(newToken)
	p.say("hello", p.hello)
	p.refusedWith(protocol.CodeAuthFailed)
}

func TestANewTokenCutsOffWhoeverSentTheOldOne(t *testing.T) {
	token := &changing{token: testToken}
	w := newWorld(t, setting{config: func(c *Config) { c.Token = token.get }})
	p := w.helloBearer(dialling{})
	p.message()
	token.set(newToken)
	if n := w.server.DropTokenClients(); n != 1 {
		t.Errorf("%d were cut off, not 1", n)
	}
	if says := p.refusedWith(protocol.CodeAuthFailed); !strings.Contains(says, "changed") {
		t.Errorf("cut off with %q", says)
	}
}

func TestAForeignPageComesInWithNoToken(t *testing.T) {
	w := newWorld(t, setting{})
	header := bearing("Bearer " + testToken)
	header.Set("Origin", "https://example.com")
	if _, resp, err := w.open(dialling{header: header}); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", resp, err)
	}
}
