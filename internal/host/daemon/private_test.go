package daemon

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestATokenThatOthersKnowIsReplacedAtTheStart(t *testing.T) {
	cases := map[string]func(header string) error{
		"readable by others":    func(h string) error { return os.Chmod(h, 0o644) },
		"writable by the group": func(h string) error { return os.Chmod(h, 0o620) },
		"a link": func(h string) error {
			if err := os.Rename(h, h+".elsewhere"); err != nil {
				return err
			}
			return os.Symlink(h+".elsewhere", h)
		},
	}
	if os.Geteuid() == 0 { // who alone can give a file to somebody
		cases["of another user"] = func(h string) error { return os.Chown(h, 65534, 65534) }
	}
	for name, expose := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			old, err := RefreshToken(dir, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			if tokens, replaced, err := newTokens(dir, rand.Reader); err != nil || replaced || tokens.current() != old {
				t.Fatalf("a token of one's own: replaced %v, %v", replaced, err)
			}
			if err := expose(Header(dir)); err != nil {
				t.Fatal(err)
			}
			tokens, replaced, err := newTokens(dir, rand.Reader)
			if err != nil || !replaced || tokens.current() == old || len(tokens.current()) != len(old) {
				t.Errorf("replaced %v, %v; it is the old one: %v", replaced, err, tokens.current() == old)
			}
			if info, err := os.Lstat(Header(dir)); err != nil || info.Mode() != 0o600 {
				t.Errorf("the new file is %v, %v", info, err)
			}
		})
	}
}

func TestAKeyThatOthersKnowIsNotServedWith(t *testing.T) {
	dir := t.TempDir()
	if _, err := certificate(dir, "", "", rand.Reader, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir+"/"+keyName, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := certificate(dir, "", "", rand.Reader, time.Now()); err == nil || !strings.Contains(err.Error(), "host reset") {
		t.Errorf("a key that the group can read: %v", err)
	}
}

func TestAHostDoesNotBeginOnWhatSomebodyElsePlanted(t *testing.T) {
	dir := home(t)
	planted := filepath.Join(dir, "entries.json")
	write(t, planted, `{"version":1,"entries":[]}`)
	start(t, settings(dir)).end() // one's own is no trouble
	if os.Geteuid() != 0 {        // who alone can give a file to somebody
		return
	}
	if err := os.Chown(planted, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), settings(dir))
	if err == nil || !strings.Contains(err.Error(), planted+" belongs to another user") {
		t.Errorf("the host begins: %v", err)
	}
	if _, live, _ := Find(dir); live || exists(filepath.Join(dir, socketName)) {
		t.Error("the lock is held, or the socket is there")
	}
}

func TestTheTokenCountsAgainOnceItCanBeRead(t *testing.T) {
	dir := home(t)
	want, err := RefreshToken(dir, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tokens := &tokens{dir: dir}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 3 // all descriptors are taken
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	during := tokens.current()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if after := tokens.current(); during != "" || after != want {
		t.Errorf("the token is %q, and %q afterwards", during, after)
	}
}
