package settings

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

func (st *Settings) LookupEnv(name string) (string, bool) {
	for _, kv := range st.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// SecretNames says which variables hold a key, so that no child gets them.
func (st *Settings) SecretNames(cfg config.Config) func(string) bool {
	names := map[string]bool{cfg.Search.APIKeyEnv: true}
	for _, n := range resolve.KeyVariables(st.Resolver(cfg)) {
		names[n] = true
	}
	return func(name string) bool { return names[name] }
}

// ChildEnviron is the environment of children. They get the SSH agent only when
// the user's configuration says so.
func (st *Settings) ChildEnviron(cfg config.Config) []string {
	env := sandbox.Environ(st.Environ, st.SecretNames(cfg))
	if agent, ok := st.LookupEnv("SSH_AUTH_SOCK"); ok && cfg.Sandbox.SSHAgent {
		env = append(env, "SSH_AUTH_SOCK="+agent)
	}
	return env
}

// Program finds a program on the PATH that children get, "" when it is not there.
// What lies in one of the folders does not count: commands write there, and what
// they put there must not run unasked.
func (st *Settings) Program(called string, except []string) string {
	path, _ := st.LookupEnv("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		name := filepath.Join(dir, called)
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if !inAny(Canonical(dir), except) && !inAny(Canonical(name), except) {
			return name
		}
	}
	return ""
}

// UserHome returns the user's home folder: HOME, or the one of the account.
func UserHome(environ []string) (string, error) {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok && filepath.IsAbs(v) {
			return filepath.Clean(v), nil
		}
	}
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "HOME is not set; set it to your home folder.")
	}
	return u.HomeDir, nil
}
