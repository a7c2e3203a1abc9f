package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/client"
	"scorel/protocol"
)

// TestTheClientLibraryComesInEveryWay connects the library that all entries use.
func TestTheClientLibraryComesInEveryWay(t *testing.T) {
	entries, key := &list{}, newKey(t)
	entries.set(key, protocol.GrantAnswer)
	w, addr, https := tlsWorld(t, func(c *Config) { c.Entries = entries })
	device, _ := w.host.Device()
	// The library pins the certificate, so that it needs no root.
	conn, err := https.Get("https://" + addr + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Body.Close()
	pin := sha256.Sum256(conn.TLS.PeerCertificates[0].Raw)
	link := filepath.Join(t.TempDir(), "l")
	if err := os.Symlink(filepath.Dir(w.socket), link); err != nil {
		t.Fatal(err)
	}
	id := protocol.ClientIDOf(sha(t))
	for name, d := range map[string]client.WebSocket{
		"socket":             {URL: "unix:" + w.socket, Token: testToken, ClientID: id},
		"socket by symlink":  {URL: "unix:" + link + "/host.sock", Token: testToken, ClientID: id},
		"loopback":           {URL: "ws://" + w.loopback(), Token: testToken, ClientID: id},
		"loopback by name":   {URL: "http://LOCALHOST:" + port(w.loopback()), Token: testToken, ClientID: id},
		"TLS":                {URL: "wss://" + addr, Token: testToken, ClientID: id, Fingerprint: hex.EncodeToString(pin[:])},
		"TLS with a key":     {URL: "https://" + addr, Key: key, Device: device, Fingerprint: hex.EncodeToString(pin[:])},
		"socket with a key":  {URL: "unix:" + w.socket, Key: key, Device: device},
		"socket of a device": {URL: "unix:" + w.socket, Token: testToken, Device: device, ClientID: id},
	} {
		t.Run(name, func(t *testing.T) {
			tr, connected, err := d.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tr.Close() }()
			want := protocol.GrantControl
			if d.Key != nil {
				want = protocol.GrantAnswer
			}
			if connected.DeviceID != device || connected.Grant != want {
				t.Errorf("connected as %+v", connected)
			}
			c := client.New(tr)
			defer func() { _ = c.Close() }()
			if _, err := client.Call[*protocol.ProjectList](t.Context(), c, "", &protocol.ListProjects{}); err != nil {
				t.Error(err)
			}
		})
	}
	for name, d := range map[string]client.WebSocket{
		"another token":  {URL: "unix:" + w.socket, Token: strings.ToLower(testToken), ClientID: id},
		"another device": {URL: "unix:" + w.socket, Token: testToken, ClientID: id, Device: protocol.DeviceIDOf(sha(t))},
		"a stranger key": {URL: "unix:" + w.socket, Key: newKey(t), Device: device},
	} {
		_, _, err := d.Dial(t.Context())
		var permanent *client.PermanentError
		if !errors.As(err, &permanent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr) // of a listener
	return p
}
