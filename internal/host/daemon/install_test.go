package daemon

import (
	"encoding/xml"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

func TestSystemdUnderstandsTheUnit(t *testing.T) {
	unit := Unit(`/opt/a "b"\c/100%$x`, []string{"--listen", "127.0.0.1:4444"})
	if want := `ExecStart="/opt/a \"b\"\\c/100%%$$x" "host"`; !strings.Contains(unit, strings.TrimSuffix(want, ` "host"`)+" host serve --supervised --replace \"--listen\" \"127.0.0.1:4444\"\n") {
		t.Errorf("%s", unit)
	}
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	file := filepath.Join(t.TempDir(), UnitName)
	write(t, file, Unit("/bin/true", []string{"--listen", "127.0.0.1:4444"}))
	cmd := exec.Command(verify, "--user", "verify", file)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), UnitName+":") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestThePropertyListIsXML(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(Agent("/opt/a & b/<scorel>", nil)))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// systemctl makes a program of that name, which notes its arguments and ends with a code.
func systemctl(t *testing.T, code string) (environ []string, calls func() string) {
	t.Helper()
	bin, noted := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	write(t, filepath.Join(bin, "systemctl"), "#!/bin/sh\necho \"$*\" >> "+noted+"\necho no bus here >&2\nexit "+code+"\n")
	if err := os.Chmod(filepath.Join(bin, "systemctl"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return os.Environ(), func() string {
		data, _ := os.ReadFile(noted)
		return string(data)
	}
}

func TestTheUnitIsWrittenEnabledAndRemoved(t *testing.T) {
	environ, calls := systemctl(t, "0")
	file := filepath.Join(t.TempDir(), "config", "systemd", "user", UnitName)
	for range 2 { // also over its own
		if err := Install(t.Context(), file, Unit("/bin/scorel", nil), environ); err != nil {
			t.Fatal(err)
		}
	}
	if got := calls(); got != strings.Repeat("--user daemon-reload\n--user enable --now scorel.service\n", 2) || mode(t, file) != 0o600 {
		t.Errorf("%s %v", got, mode(t, file))
	}
	if did, err := Uninstall(t.Context(), file, environ); !did || err != nil || exists(file) || !strings.HasSuffix(calls(), "--user disable --now scorel.service\n--user daemon-reload\n") {
		t.Errorf("%v %v %s", did, err, calls())
	}
	if did, err := Uninstall(t.Context(), file, environ); did || err != nil {
		t.Errorf("what is not there was removed: %v", err)
	}
}

func TestAUnitOfSomebodyElseStays(t *testing.T) {
	environ, calls := systemctl(t, "0")
	file := filepath.Join(t.TempDir(), UnitName)
	write(t, file, "[Service]\n")
	if err := Install(t.Context(), file, Unit("/bin/scorel", nil), environ); err == nil || !strings.Contains(err.Error(), "was not written by scorel") {
		t.Error(err)
	}
	if _, err := Uninstall(t.Context(), file, environ); err == nil || !exists(file) || calls() != "" {
		t.Errorf("%v %s", err, calls())
	}
}

func TestWhatSystemdSaysIsTold(t *testing.T) {
	environ, _ := systemctl(t, "1")
	file := filepath.Join(t.TempDir(), UnitName)
	var refused *ManagerError
	if err := Install(t.Context(), file, Unit("/bin/scorel", nil), environ); !errors.As(err, &refused) || refused.Text != "systemctl --user daemon-reload: no bus here" || !exists(file) {
		t.Error(err)
	}
	if did, err := Uninstall(t.Context(), file, environ); !did || !errors.As(err, &refused) || exists(file) {
		t.Error(err)
	}
}

func TestTheServiceManagerIsToldOfTheStartAndTheEnd(t *testing.T) {
	dir := home(t)
	name := filepath.Join(filepath.Dir(dir), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	said := make(chan string, 10)
	go func() { // ends with the socket
		defer close(said)
		buf := make([]byte, 100)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			said <- string(buf[:n])
		}
	}()
	cfg := settings(dir)
	cfg.Host.Environ = []string{"HOME=" + filepath.Dir(dir), notifySocket + "=" + name}
	r := start(t, cfg)
	if got := <-said; got != "READY=1" {
		t.Errorf("at the start: %q", got)
	}
	r.end()
	if got := <-said; got != "STOPPING=1" {
		t.Errorf("at the end: %q", got)
	}
	if got := withoutManager(cfg.Host.Environ); len(got) != 1 {
		t.Errorf("what the host starts gets %v", got)
	}
	notifyManager([]string{notifySocket + "=/nowhere"}, "READY=1") // nobody listens, and nothing happens
}

func TestLingeringIsKnownByTheFileOfTheUser(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	dir := filepath.Join(root, "var", "lib", "systemd", "linger")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "someone-else-" + me.Username, me.Username} {
		if name != "" {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := Lingers(root), name == me.Username; got != want {
			t.Errorf("with the file %q: %v", name, got)
		}
	}
}
