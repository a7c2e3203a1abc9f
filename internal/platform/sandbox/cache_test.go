package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCachesOfToolsAreWhereACommandWrites(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "go"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "go", "env"), []byte("GOPROXY=https://proxy.example,direct\nGOPATH=/data/go path\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Profile{Home: home, CacheDir: "/c"}
	env := p.confinedEnviron([]string{"PATH=/bin", "TMPDIR=/tmp", "GOCACHE=/elsewhere", "npm_config_cache=/ws/.npm", "DISPLAY=:0", "TMUX=/tmp/x,1,0",
		"XDG_RUNTIME_DIR=/run/user/1"}, "/t", []string{"/ws", "/t"})
	for name, want := range map[string]string{
		"PATH": "/bin", "TMPDIR": "/t", "TMP": "/t", "GOCACHE": "/c/go-build", "npm_config_cache": "/ws/.npm", "DISPLAY": "", "TMUX": "", "XDG_RUNTIME_DIR": "",
		"XDG_CACHE_HOME": "/c/xdg", "GOMODCACHE": "/c/go-mod", "CARGO_HOME": "/c/cargo",
		"GOPROXY": "file:///data/go%20path/pkg/mod/cache/download,https://proxy.example,direct",
	} {
		if got := lookup(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if n := strings.Count(strings.Join(env, "\n"), "TMPDIR="); n != 1 {
		t.Errorf("TMPDIR stands %d times", n)
	}
	p.CacheDir = ""
	if got := lookup(p.confinedEnviron(nil, "/t", nil), "GOCACHE"); got != "/t/cache/go-build" {
		t.Errorf("without a folder of the project: %q", got)
	}
}

func TestEveryProjectHasCachesOfItsOwn(t *testing.T) {
	home := t.TempDir()
	a, err := CacheDir(home, "/a/my work")
	if err != nil {
		t.Fatal(err)
	}
	b, err := CacheDir(home, "/b/my work")
	if err != nil || a == b {
		t.Errorf("%s, %s, %v", a, b, err)
	}
	if info, err := os.Stat(a); err != nil || info.Mode().Perm() != 0o700 || !strings.HasPrefix(filepath.Base(a), "my_work-") {
		t.Errorf("%s %v %v", a, info.Mode(), err)
	}
}
