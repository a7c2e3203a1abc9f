package daemon

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// owner connects to a host with its token.
func (r *running) owner(dir string) *client.Client {
	r.t.Helper()
	token, err := ReadToken(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	w := &client.WebSocket{URL: "unix:" + r.info.Socket, Token: token, Device: r.info.DeviceID, ClientID: protocol.ClientIDOf([]byte("owner")), ClientName: "owner"}
	conn, _, err := w.Dial(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	c := client.New(conn)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func opened(t *testing.T, c *client.Client, lan bool) *protocol.WebOpened {
	t.Helper()
	out, err := client.Call[*protocol.WebOpened](t.Context(), c, "", &protocol.OpenWeb{LAN: lan})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBrowsersFindTheHostAtTheSamePortEachTime(t *testing.T) {
	dir := home(t)
	first := start(t, settings(dir))
	c := first.owner(dir)
	if _, err := client.Call[*protocol.Pairing](t.Context(), c, "", &protocol.CreatePairing{}); protocol.AsError(err).Code != protocol.CodeConflict {
		t.Errorf("a code without an address: %v", err)
	}
	local := opened(t, c, false)
	if len(local.Addresses) != 1 || !strings.HasPrefix(local.Addresses[0], "http://127.0.0.1:") || local.Notice != "" || local.Fingerprint != "" {
		t.Fatalf("opened: %+v", local)
	}
	if again := opened(t, c, false); again.Addresses[0] != local.Addresses[0] {
		t.Errorf("opened again: %+v", again)
	}
	if info, _, err := Find(dir); err != nil || !slices.Contains(info.Addresses, "ws://"+strings.TrimPrefix(local.Addresses[0], "http://")) {
		t.Errorf("host.json: %+v %v", info, err)
	}
	made, err := client.Call[*protocol.Pairing](t.Context(), c, "", &protocol.CreatePairing{})
	if err != nil || !slices.Equal(made.Addresses, local.Addresses) {
		t.Fatalf("%+v %v", made, err)
	}
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	by := &client.WebSocket{URL: local.Addresses[0], Key: key, Code: made.Code, ClientName: "browser"}
	conn, connected, err := by.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	first.end()
	// The next host opens it by itself, and knows the key.
	second := start(t, settings(dir))
	by.Code, by.Device = "", connected.DeviceID
	conn, _, err = by.Dial(t.Context())
	if err != nil {
		t.Fatalf("after a restart: %v", err)
	}
	_ = conn.Close()
	// Closed, it is gone, for the next host too.
	if _, err := client.Call[*protocol.Done](t.Context(), second.owner(dir), "", &protocol.CloseWeb{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := by.Dial(t.Context()); err == nil {
		t.Error("a closed address lets somebody in")
	}
	second.end()
	third := start(t, settings(dir))
	if len(third.info.Addresses) != 1 {
		t.Errorf("after closing: %v", third.info.Addresses)
	}
	if again := opened(t, third.owner(dir), false); again.Addresses[0] != local.Addresses[0] {
		t.Errorf("the port has changed: %+v", again)
	}
}

func TestAPortForBrowsersThatIsTakenIsChangedAndSaid(t *testing.T) {
	dir := home(t)
	first := start(t, settings(dir))
	local := opened(t, first.owner(dir), false)
	first.end()
	taken, err := net.Listen("tcp", strings.TrimPrefix(local.Addresses[0], "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	second := start(t, settings(dir))
	if len(second.info.Addresses) != 1 {
		t.Errorf("it listens on %v", second.info.Addresses)
	}
	moved := opened(t, second.owner(dir), false)
	if moved.Addresses[0] == local.Addresses[0] || !strings.Contains(moved.Notice, "Another program uses port") {
		t.Errorf("moved: %+v", moved)
	}
}

func TestTheNetworkIsServedWithTLSAndAFingerprint(t *testing.T) {
	dir := home(t)
	r := start(t, settings(dir))
	out := opened(t, r.owner(dir), true)
	if !out.OwnCertificate || len(strings.Split(out.Fingerprint, ":")) != 32 {
		t.Errorf("opened: %+v", out)
	}
	if len(out.Addresses) == 0 {
		t.Skip("this machine has no address in a network")
	}
	ctx, stop := context.WithTimeout(t.Context(), harness.Timeout)
	defer stop()
	made, err := client.Call[*protocol.Pairing](ctx, r.owner(dir), "", &protocol.CreatePairing{LAN: true})
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	by := &client.WebSocket{URL: out.Addresses[0], Fingerprint: out.Fingerprint, Key: key, Code: made.Code, ClientName: "phone"}
	conn, connected, err := by.Dial(ctx)
	if err != nil || connected.Grant != protocol.GrantPending {
		t.Fatalf("%+v %v", connected, err)
	}
	_ = conn.Close()
}

func TestADamagedFileOfPortsIsSaid(t *testing.T) {
	dir := home(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, webName), []byte(`{"version":1,"local":{"port":80}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, settings(dir))
	_, err := client.Call[*protocol.WebOpened](t.Context(), r.owner(dir), "", &protocol.OpenWeb{})
	if pe := protocol.AsError(err); pe.Code != protocol.CodeStorageError || !strings.Contains(pe.Message, webName) {
		t.Errorf("opened: %v", err)
	}
}

func TestAPortWhoseFileCannotBeWrittenIsNotOpen(t *testing.T) {
	dir := home(t)
	r := start(t, settings(dir))
	c := r.owner(dir)
	away := dir + ".away"
	if err := os.Rename(dir, away); err != nil { // nothing can be written where it was
		t.Fatal(err)
	}
	_, err := client.Call[*protocol.WebOpened](t.Context(), c, "", &protocol.OpenWeb{})
	if pe := protocol.AsError(err); pe.Code != protocol.CodeStorageError {
		t.Errorf("opened: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	st, err := client.Call[*protocol.Status](t.Context(), c, "", &protocol.GetStatus{})
	if err != nil || len(st.Addresses) != 1 {
		t.Errorf("after the failure it listens on %v, %v", st.Addresses, err)
	}
	out := opened(t, c, false)
	if ports, err := readWeb(dir); err != nil || !ports.Local.Open || len(out.Addresses) != 1 || !strings.HasSuffix(out.Addresses[0], ":"+strconv.Itoa(ports.Local.Port)) {
		t.Errorf("%v is stored as %+v, %v", out.Addresses, ports, err)
	}
}
