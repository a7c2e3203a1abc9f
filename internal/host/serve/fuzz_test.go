package serve

import (
	"errors"
	"strings"
	"testing"

	"scorel/protocol"
	"scorel/protocol/handshake"
)

func FuzzHello(f *testing.F) {
	f.Add(`{"type":"hello","protocolVersion":1,"clientId":"cli_00000000000000000000000000","clientName":"x","interactive":true,"nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`)
	f.Add(`{"type":"hello","protocolVersion":2}`)
	f.Add(`{"type":"hello","publicKey":"AA==","ephemeral":"AA=="}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		hello, err := parseHello([]byte(text), handshake.CheckHello)
		if err == nil {
			if err := handshake.CheckHello(&hello); err != nil || hello.ProtocolVersion != protocol.Version {
				t.Errorf("%q was taken as %+v", text, hello)
			}
			return
		}
		refusedWell(t, text, err)
	})
}

func FuzzConnect(f *testing.F) {
	f.Add(`{"type":"connect","proof":"AAAA"}`)
	f.Add(`{"type":"hello"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parseProve([]byte(text)); err != nil {
			refusedWell(t, text, err)
		}
	})
}

// refusedWell checks that an error is one sentence for a person, without what may be
// a token.
func refusedWell(t *testing.T, text string, err error) {
	var r *refusal
	if !errors.As(err, &r) || !strings.HasSuffix(r.err.Message, ".") || len(r.err.Message) > 400 || strings.ContainsAny(r.err.Message, "\n\x1b") {
		t.Errorf("%q was refused with %v", text, err)
	}
	for run := range tokenRuns(r.err.Message) {
		if len(run) >= tokenLength && isTokenByte(run[0]) {
			t.Errorf("the refusal repeats %q", run)
		}
	}
}

func FuzzLastEventID(f *testing.F) {
	f.Add("epo_0123456789abcdef.1.2.evt_0123456789abcdef")
	f.Add("-.0.0.-")
	f.Add("epo_0123456789abcdef.01.2.-")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePlace(text)
		if err != nil {
			return
		}
		if again, err := parsePlace(p.String()); err != nil || again != p {
			t.Errorf("%q was read as %+v and then as %+v, %v", text, p, again, err)
		}
	})
}

func FuzzHostHeader(f *testing.F) {
	for _, s := range []string{"localhost", "localhost:80", "[::1]", "[::1]:8080", "a:b:c", "evil@localhost", "LOCALHOST:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, port, ok := splitHost(text, "80")
		if !ok {
			return
		}
		if name == "" || port == "" || name != strings.ToLower(name) || strings.ContainsAny(name, "/@ []") {
			t.Errorf("%q was read as %q and %q", text, name, port)
		}
	})
}
