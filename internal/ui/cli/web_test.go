package cli

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"scorel/client"
	"scorel/internal/platform/disk"
	"scorel/internal/ui/cli/webcmd"
	"scorel/protocol"
)

// redirect is where a redirect file leads.
var redirect = regexp.MustCompile(`url=(http://127\.0\.0\.1:\d+)/#pair=([0-9a-v]{42})(&amp;session=ses_[0-9a-v]{26})?"`)

func clientKey(t *testing.T) *ecdh.PrivateKey {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func firstLine(t *testing.T, w *seat) (line webcmd.Line) {
	t.Helper()
	w.sees("\n")
	if err := json.Unmarshal([]byte(strings.SplitN(w.printed(), "\n", 2)[0]), &line); err != nil {
		t.Fatalf("%v: %s", err, w.printed())
	}
	return line
}

// TestABrowserComesInByTheFileOfScorelWeb does what a browser does.
func TestABrowserComesInByTheFileOfScorelWeb(t *testing.T) {
	s := newStation(t)
	w := s.start("web", "--json", "--no-open")
	said := firstLine(t, w)
	for name, mode := range map[string]os.FileMode{said.File: 0o600, filepath.Dir(said.File): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Fatalf("%s: %v %v", name, info, err)
		}
	}
	page, err := disk.ReadFile(disk.OS(), said.File, 64<<10)
	found := redirect.FindStringSubmatch(string(page))
	if err != nil || found == nil {
		t.Fatalf("%v: %s", err, page)
	}
	key := clientKey(t)
	by := &client.WebSocket{URL: found[1], Key: key, Code: found[2], ClientName: "Firefox on Linux"}
	conn, connected, err := by.Dial(t.Context())
	if err != nil || connected.Grant != protocol.GrantControl {
		t.Fatalf("%+v %v", connected, err)
	}
	_ = conn.Close()
	w.sees(`"outcome":"redeemed"`)
	if code := w.ends(); code != 0 {
		t.Errorf("exit code %d: %s", code, w.printed())
	}
	if _, err := os.Stat(said.File); err == nil {
		t.Error("the file is still there")
	}
	for _, text := range []string{w.printed(), s.read(".scorel/host.log")} {
		if strings.Contains(text, found[2][16:]) {
			t.Errorf("the code is in %s", text)
		}
	}
	// The next scorel web leads to the same address, and ends when the browser comes that is known.
	again := s.start("web", "--json", "--no-open")
	if at := firstLine(t, again); at.Addresses[0] != found[1] {
		t.Errorf("at %v, then at %v", found[1], at.Addresses)
	}
	by.Code, by.Device = "", connected.DeviceID
	if conn, _, err = by.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	again.sees(`"outcome":"cancelled"`)
	_ = conn.Close()

	id := string(protocol.ClientIDOf(key.PublicKey().Bytes()))
	if out := s.ok("clients", "list"); !strings.Contains(out, id) || !strings.Contains(out, "Firefox on Linux") || !strings.Contains(out, "control") {
		t.Errorf("listed:\n%s", out)
	}
	s.ok("clients", "rename", id, "desk")
	s.ok("clients", "grant", "desk", "view")
	s.fails(2, "it can be view, answer or control", "clients", "grant", "desk", "pending")
	var list protocol.EntryList
	if err := json.Unmarshal([]byte(s.ok("clients", "list", "--json")), &list); err != nil || len(list.Entries) != 1 || list.Entries[0].Label != "desk" || list.Entries[0].Grant != protocol.GrantView {
		t.Errorf("%+v %v", list, err)
	}
	s.ok("clients", "revoke", id[4:12])
	if _, _, err := by.Dial(t.Context()); err == nil {
		t.Error("a revoked browser comes in")
	}
	s.ok("web", "--off")
	by.Device = connected.DeviceID
	if _, _, err := by.Dial(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("after --off: %v", err)
	}
}

// TestTheBrowserIsNotToldTheCodeInItsArguments runs a program in the place of the opener.
func TestTheBrowserIsNotToldTheCodeInItsArguments(t *testing.T) {
	s := newStation(t)
	s.file("bin/xdg-open", "#!/bin/sh\necho \"$@\" >\"$HOME/opened.part\"\nenv >>\"$HOME/opened.part\"\nmv \"$HOME/opened.part\" \"$HOME/opened\"\n")
	if err := os.Chmod(filepath.Join(s.home, "bin/xdg-open"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.environ = append(s.environ, "DISPLAY=:7", "SCOREL_DESK=secret", "PATH="+filepath.Join(s.home, "bin")+":"+os.Getenv("PATH"))
	w := s.start("web")
	w.sees("Opened the browser at http://127.0.0.1:")
	opened := s.read("opened")
	name, _, _ := strings.Cut(opened, "\n")
	page, err := os.ReadFile(name)
	found := redirect.FindStringSubmatch(string(page))
	if err != nil || found == nil {
		t.Fatalf("it was given %q: %v", name, err)
	}
	if strings.Contains(opened, found[2][16:]) || strings.Contains(opened, "SCOREL_DESK") {
		t.Errorf("it was told:\n%s", opened)
	}
	// Ctrl-C ends the code and the file.
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := w.ends(); code != 130 {
		t.Errorf("exit code %d: %s", code, w.printed())
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("the file is still there")
	}
	_, _, err = (&client.WebSocket{URL: found[1], Key: clientKey(t), Code: found[2], ClientName: "x"}).Dial(t.Context())
	if err == nil || !strings.Contains(err.Error(), "was cancelled") {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAPhoneIsConfirmedByScorelClients(t *testing.T) {
	s := newStation(t, `{"do":[{"text":"Hello."}]}`)
	id := s.session()
	w := s.start("remote-control", id, "--json")
	said := firstLine(t, w)
	address, rest, ok := strings.Cut(said.URL, "/#pair=")
	code, session, _ := strings.Cut(rest, "&session=")
	if !ok || session != id || said.Fingerprint == "" || !said.OwnCertificate {
		t.Fatalf("said: %+v", said)
	}
	by := &client.WebSocket{URL: address, Fingerprint: said.Fingerprint, Key: clientKey(t), Code: code, ClientName: "Safari on iPhone"}
	conn, connected, err := by.Dial(t.Context())
	if err != nil || connected.Grant != protocol.GrantPending {
		t.Fatalf("%+v %v", connected, err)
	}
	_ = conn.Close()
	w.sees(`"pending":true`)
	if out := s.ok("clients", "list"); !strings.Contains(out, "waits, from ") {
		t.Errorf("listed:\n%s", out)
	}
	s.ok("clients", "confirm", "Safari on iPhone")
	by.Code, by.Device = "", connected.DeviceID
	if conn, connected, err = by.Dial(t.Context()); err != nil || connected.Grant != protocol.GrantAnswer {
		t.Fatalf("%+v %v", connected, err)
	}
	_ = conn.Close()
}
