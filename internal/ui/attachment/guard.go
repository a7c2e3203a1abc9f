package attachment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"scorel/internal/engine/claude"
	"scorel/internal/engine/config"
	"scorel/internal/engine/permission"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// From says who names files, and what decides whether they may be read.
type From struct {
	// Dir is the folder that names are relative to, and whose workspace may be read; "" is
	// where this process works.
	Dir string
	// Scorel is the user's Scorel folder, which lies in the home.
	Scorel string
	// Allow and Deny are permission rules beside those of the files.
	Allow, Deny []string
	// Means ends the sentence about a file outside the workspace: what to do about it.
	Means string
}

// guard judges files for a prompt as the Read tool would in the default permission mode,
// but for that nobody is asked.
type guard struct {
	from   From
	policy *permission.Policy
	dirs   []string // the workspace, and the additional folders
	keys   []string // where the user keeps keys
	err    error    // why nothing can be judged
}

func newGuard(from From) *guard {
	g := &guard{from: from}
	if g.from.Dir, g.err = filepath.Abs(from.Dir); g.err != nil {
		return g
	}
	home := real(filepath.Dir(from.Scorel))
	root, _ := workspace.Root(real(g.from.Dir), home)
	user, err := config.Read(filepath.Join(from.Scorel, "config.toml"))
	project, perr := config.Read(filepath.Join(root, ".scorel", "config.toml"))
	if g.err = errors.Join(err, perr); g.err != nil {
		return g
	}
	cfg, _, err := config.Parse(user, project, nil)
	if g.err = err; err != nil {
		return g
	}
	g.dirs = append([]string{root}, cfg.Directories(home)...)
	for _, name := range sandbox.KeyPlaces() {
		g.keys = append(g.keys, filepath.Join(home, name))
	}
	mine, theirs := cfg.Permissions.User, cfg.Permissions.Project
	layers := []permission.Layer{
		{Name: mine.File, Scope: permission.ScopeUser, Allow: mine.Allow, Ask: mine.Ask, Deny: mine.Deny},
		{Name: theirs.File, Scope: permission.ScopeProject, Ask: theirs.Ask, Deny: theirs.Deny},
		{Name: "the command line", Scope: permission.ScopeUser, Allow: from.Allow, Deny: from.Deny},
	}
	if cfg.Claude.Settings {
		layers = append(layers, claudeRules(home, root)...)
	}
	g.policy, g.err = permission.Compile(permission.Config{Home: home, Root: root, UID: os.Getuid(), Layers: layers, Resolve: func(abs string) permission.Path { return permission.Path{Abs: real(abs)} }})
	return g
}

// claudeRules are the rules of Claude Code's settings that deny or ask. A file that cannot
// be read has none, as at the host.
func claudeRules(home, root string) (layers []permission.Layer) {
	names := []string{filepath.Join(home, claude.UserSettings)}
	for _, name := range claude.Files() {
		names = append(names, filepath.Join(root, name))
	}
	for _, name := range names {
		f, err := config.Read(name)
		if err != nil {
			continue
		}
		if s, err := claude.Parse(f.Data); err == nil {
			deny, ask := s.Tightening()
			layers = append(layers, permission.Layer{Name: name, Scope: permission.ScopeProject, Ask: ask, Deny: deny})
		}
	}
	return layers
}

// real follows links where it can.
func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// path makes the absolute path of a name.
func (g *guard) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(g.from.Dir, name)
}

// refuses says why the file at a path, whose links lead to abs, is not attached; nil when
// it is. The error ends a sentence.
func (g *guard) refuses(path, abs string) error {
	if g.err != nil {
		return fmt.Errorf("find out which files may be read: %w", g.err)
	}
	at := permission.Path{Abs: abs, OutOfReach: within(abs, g.from.Scorel)}.As(path)
	at.Keys = slices.ContainsFunc(g.keys, func(place string) bool { return within(abs, place) })
	at.Inside = !at.Keys && slices.ContainsFunc(g.dirs, func(dir string) bool { return within(abs, dir) })
	v := g.policy.Judge(permission.Reads(at))
	switch {
	case at.OutOfReach:
		return errClosed
	case v.Decision == protocol.DecisionAllow:
		return nil
	case v.Decision == protocol.DecisionDeny:
		return fmt.Errorf("the rule %s denies reading it", v.Rule)
	case v.Rule != "":
		return fmt.Errorf("the rule %s asks before it is read%s", v.Rule, g.from.Means)
	case at.Keys:
		return fmt.Errorf("keys are kept there%s", g.from.Means)
	}
	return fmt.Errorf("it lies outside the project%s", g.from.Means)
}

// errClosed says that a file lies in Scorel's own folder.
var errClosed = errors.New("it lies in Scorel's own folder, where your keys are; attach a copy from elsewhere if you mean it")

// within reports whether a path without links is dir or lies in it, whatever names that. A
// dir that is not there holds nothing.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for at := path; ; at = filepath.Dir(at) {
		if have, err := os.Stat(at); err != nil || os.SameFile(have, want) {
			return true // also what cannot be told
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
