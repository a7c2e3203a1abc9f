package tui_test

import (
	stdcontext "context"
	"crypto/ecdh"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/protocol"
)

var (
	shownAddress = regexp.MustCompile(`(https://[0-9.]+:\d+)/#pair=([0-9a-v]{42})&session=ses_[0-9a-v]{26}`)
	shownPrint   = regexp.MustCompile(`(?:[0-9A-F]{2}:){31}[0-9A-F]{2}`)
)

// phone redeems the code on the screen.
func phone(t *testing.T, screen string) (*client.WebSocket, client.Transport) {
	t.Helper()
	text := strings.NewReplacer("\n", "", " ", "").Replace(screen)
	address, pin := shownAddress.FindStringSubmatch(text), shownPrint.FindString(text)
	if address == nil || pin == "" {
		t.Fatalf("no address, or no fingerprint:\n%s", screen)
	}
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	by := &client.WebSocket{URL: address[1], Fingerprint: pin, Key: key, Code: address[2], ClientName: "Safari on iPhone", Interactive: true}
	conn, connected, err := by.Dial(t.Context())
	if err != nil || connected.Grant != protocol.GrantPending {
		t.Fatalf("%+v %v", connected, err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	by.Code, by.Device = "", connected.DeviceID
	return by, conn
}

func TestAPhoneIsLetInAndSentAwayInTheDialogOfRemoteControl(t *testing.T) {
	h := newHarness(t, `{"do":[{"text":"Hello."}]}`)
	s := h.Open()
	s.Resize(100, 46)
	s.Say("hello")
	s.WaitFor("Hello.")
	s.Say("/rc")
	s.WaitFor("Remote control", "▀▀▀▀▀▀▀", "Scan the code", "#pair=", "d disconnects")
	_, conn := phone(t, s.Screen())
	s.WaitFor("Safari on iPhone at ", "wants to come in", "y lets it in")
	s.Keys("y")
	s.WaitFor("Safari on iPhone is in")
	ctx, stop := stdcontext.WithTimeout(t.Context(), harness.Timeout)
	defer stop()
	if f, err := conn.Recv(ctx); err != nil || f.FrameName() != "grant_changed" {
		t.Fatalf("%+v %v", f, err)
	}
	s.Keys("Escape")
	s.Gone("Remote control")
	s.Say("/remote-control")
	s.WaitFor("Safari on iPhone is in", "d disconnects")
	s.Keys("d")
	s.WaitFor("was disconnected")
	for ctx.Err() == nil {
		if _, err := conn.Recv(ctx); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		t.Error("the phone is still connected")
	}
}
