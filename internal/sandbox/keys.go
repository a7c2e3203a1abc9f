package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxListed bounds what is read of a folder that anybody may fill, in names.
const maxListed = 65_536

// KeyPlaces are where people keep keys, below the home: what opens other
// machines, accounts and vaults, and the logins of other agents.
func KeyPlaces() []string {
	return []string{".ssh", ".gnupg", ".aws", ".config/gh", ".netrc", ".docker", ".kube",
		".git-credentials", ".config/git/credentials", ".config/gcloud", ".azure", ".password-store", ".local/share/keyrings",
		".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".local/share/opencode/auth.json"}
}

// keys are the places of keys. With an agent, ssh needs to know hosts and
// settings, and finds those.
func (p Profile) keys() []string {
	var out []string
	for _, name := range KeyPlaces() {
		dir := filepath.Join(p.Home, name)
		if name != ".ssh" || p.Agent == "" {
			out = append(out, dir)
			continue
		}
		for _, name := range list(dir) {
			if name != "config" && !strings.HasPrefix(name, "known_hosts") && !strings.HasSuffix(name, ".pub") {
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return out
}

// needed are the folders without which a command is of no use.
func (p Profile) needed() []string {
	out := slices.Clone(p.Roots)
	for _, dir := range []string{p.TempDir, p.CacheDir} {
		if dir != "" {
			out = append(out, dir)
		}
	}
	return out
}

// list gives the names in a folder, the first maxListed.
func list(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(maxListed)
	if err != nil && err != io.EOF {
		return nil
	}
	return names
}

func lookup(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// within says whether path is dir or lies in it. Both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
