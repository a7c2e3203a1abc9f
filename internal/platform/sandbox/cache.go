package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/platform/repository"
)

// maxGoEnv bounds what is read of the settings of the go command, in bytes.
const maxGoEnv = 4096

// CacheDir makes the folder for the caches of build tools of one project,
// <home>/.cache/scorel/<name>-<hash of root>. The tools themselves bound what
// they keep there; it can be removed at any time.
func CacheDir(home, root string) (string, error) {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	sum := sha256.Sum256([]byte(root))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(root))
	if len(name) > 40 {
		name = name[:40]
	}
	dir := filepath.Join(home, ".cache", "scorel", name+"-"+hex.EncodeToString(sum[:4]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for caches: %w", err)
	}
	return dir, nil
}

// confinedEnviron returns env with temporary files and the caches of tools where a
// confined command can write, and without the names of services that are closed
// to it. A cache that the user put where the command can write stays there.
//
// Go looks for modules in the user's own module cache first: it is read-only
// here, but has the form of a module proxy (go help goproxy).
func (p Profile) confinedEnviron(env []string, temp string, writable []string) []string {
	set := map[string]string{"TMPDIR": temp, "TMP": temp, "TEMP": temp}
	order := []string{"TMPDIR", "TMP", "TEMP"}
	cache := p.CacheDir
	if cache == "" {
		cache = filepath.Join(temp, "cache")
	}
	put := func(name, sub string) {
		if have := lookup(env, name); have != "" && writes(writable, have) {
			return
		}
		set[name] = filepath.Join(cache, sub)
		order = append(order, name)
	}
	put("XDG_CACHE_HOME", "xdg") // pip, uv, yarn, pre-commit, ccache and many more
	put("GOCACHE", "go-build")
	put("PIP_CACHE_DIR", "pip")
	put("npm_config_cache", "npm")
	put("YARN_CACHE_FOLDER", "yarn")
	put("BUN_INSTALL_CACHE_DIR", "bun")
	put("DENO_DIR", "deno")
	put("CARGO_HOME", "cargo")
	put("GRADLE_USER_HOME", "gradle")
	put("NUGET_PACKAGES", "nuget")
	put("GOMODCACHE", "go-mod")
	if _, ours := set["GOMODCACHE"]; ours {
		set["GOPROXY"] = "file://" + filepath.ToSlash(escapeURL(p.goSetting(env, "GOMODCACHE"))) + "/cache/download," + p.goSetting(env, "GOPROXY")
		order = append(order, "GOPROXY")
	}
	if p.Agent != "" {
		set["SSH_AUTH_SOCK"] = p.Agent
		order = append(order, "SSH_AUTH_SOCK")
	}
	out := make([]string, 0, len(env)+len(order))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if _, ours := set[name]; !ours && !namesService(name) {
			out = append(out, kv)
		}
	}
	for _, name := range order {
		out = append(out, name+"="+set[name])
	}
	return out
}

// namesService reports whether a variable leads to a service that is closed.
func namesService(name string) bool {
	switch name {
	case "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "STY":
		return true
	}
	return false
}

func writes(writable []string, path string) bool {
	path = filepath.Clean(path)
	for _, w := range writable {
		if within(path, w) {
			return true
		}
	}
	return false
}

// goSetting returns a setting of the go command as it is without a sandbox: a
// variable, then the file that `go env -w` writes, then the default.
func (p Profile) goSetting(env []string, name string) string {
	config := lookup(env, "GOENV")
	if config == "" {
		dir := lookup(env, "XDG_CONFIG_HOME")
		if dir == "" {
			dir = filepath.Join(p.Home, ".config")
		}
		config = filepath.Join(dir, "go", "env")
	}
	file, _ := repository.ReadSmall(config, maxGoEnv)
	get := func(name string) string {
		if v := lookup(env, name); v != "" {
			return v
		}
		return lookup(strings.Split(string(file), "\n"), name)
	}
	if v := get(name); v != "" {
		return v
	}
	if name == "GOPROXY" {
		return "https://proxy.golang.org,direct"
	}
	path := get("GOPATH")
	if path == "" {
		path = filepath.Join(p.Home, "go")
	}
	first, _, _ := strings.Cut(path, string(filepath.ListSeparator))
	return filepath.Join(first, "pkg", "mod")
}

// escapeURL writes a path as it is in a URL.
func escapeURL(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/-_.~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
