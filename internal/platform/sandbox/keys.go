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
		".config/glab-cli", ".config/hub", ".config/op", ".config/sops", ".config/rclone", ".oci", ".vault-token", ".terraform.d/credentials.tfrc.json",
		".pypirc", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".local/share/kwalletd",
		".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
		".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".local/share/opencode/auth.json"}
}

// keyVariables are the variables with which people move such places, and what of
// them is below. KUBECONFIG is a list.
func keyVariables() [][2]string {
	return [][2]string{{"GNUPGHOME", ""}, {"AWS_SHARED_CREDENTIALS_FILE", ""}, {"GH_CONFIG_DIR", ""}, {"GLAB_CONFIG_DIR", ""}, {"NETRC", ""},
		{"DOCKER_CONFIG", ""}, {"KUBECONFIG", ""}, {"CLOUDSDK_CONFIG", ""}, {"GOOGLE_APPLICATION_CREDENTIALS", ""}, {"AZURE_CONFIG_DIR", ""},
		{"PASSWORD_STORE_DIR", ""}, {"CLAUDE_CONFIG_DIR", ".credentials.json"}, {"CODEX_HOME", "auth.json"},
		{"XDG_CONFIG_HOME", "gh"}, {"XDG_CONFIG_HOME", "git/credentials"}, {"XDG_CONFIG_HOME", "gcloud"}, {"XDG_CONFIG_HOME", "glab-cli"},
		{"XDG_CONFIG_HOME", "op"}, {"XDG_CONFIG_HOME", "sops"}, {"XDG_CONFIG_HOME", "rclone"}, {"XDG_CONFIG_HOME", "google-chrome"},
		{"XDG_CONFIG_HOME", "chromium"}, {"XDG_DATA_HOME", "keyrings"}, {"XDG_DATA_HOME", "opencode/auth.json"}}
}

// movedKeys are the places of keys that variables name. One in the workspace was
// put there for the work.
func (p Profile) movedKeys() []string {
	var out []string
	for _, v := range keyVariables() {
		for _, at := range filepath.SplitList(lookup(p.Environ, v[0])) {
			if !filepath.IsAbs(at) {
				continue
			}
			at = filepath.Join(at, v[1])
			inWork := slices.ContainsFunc(p.Roots, func(root string) bool { return within(at, root) })
			aboveWork := slices.ContainsFunc(append(p.needed(), p.Home), func(n string) bool { return within(n, at) })
			if !inWork && !aboveWork {
				out = append(out, at)
			}
		}
	}
	return out
}

// keys are the places of keys. With an agent, ssh needs to know hosts and
// settings, and finds those.
func (p Profile) keys() []string {
	out := p.movedKeys()
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

// list returns the names in a folder, the first maxListed.
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

// within reports whether path is dir or lies in it. Both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
