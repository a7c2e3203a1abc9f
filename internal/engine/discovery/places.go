package discovery

import (
	"path/filepath"
	"strings"

	"scorel/internal/platform/workspace"
)

// Scope says whose a place is.
type Scope string

// The scopes.
const (
	User      Scope = "user"
	Project   Scope = "project"
	Extension Scope = "extension"
)

// Place is a folder in which things of one kind stand. It need not exist.
type Place struct {
	Dir   string // absolute
	Scope Scope
	// Label says for people whose it is: user, project, or the name of an extension.
	Label string
	// Root is the folder that nothing in a project's place may lead out of; "" for
	// what is the user's own.
	Root string
	// Name is the place relative to the project, with slashes, as trust names it; ""
	// where nothing can be trusted.
	Name string
	// Only is the one name in it that is looked at; "" for all.
	Only string
}

// Foreign reports whether the place is one of another program's, whose files are read as
// loosely as it reads them.
func (p Place) Foreign() bool {
	for dir := p.Dir; dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		switch filepath.Base(dir) {
		case ".claude", ".agents":
			return true
		case ".scorel":
			return false
		}
	}
	return false
}

// Config returns where to look.
type Config struct {
	WorkDir string // of the session, absolute
	Root    string // of its project, without symlinks: what trust is about
	Home    string // of the user
	Dir     string // Scorel's own folder, which is not a project's
	UID     int
}

// Find returns the places of a kind ("skills" or "commands"): those of the upward
// search, nearest first, then the user's. In each folder .scorel comes first, then
// the folders of other tools that are named. Warning says why nothing of the project
// is looked at, "" when it is.
func Find(cfg Config, kind string, others ...string) (list []Place, warning string) {
	names := append([]string{".scorel"}, others...)
	own := resolve(cfg.Dir)
	home := resolve(cfg.Home)
	search := workspace.Upward(cfg.WorkDir, workspace.Boundaries{Home: cfg.Home, UID: cfg.UID})
	if search.Why != "" {
		warning = "Nothing of the project is looked for in " + cfg.WorkDir + ": the folder " + search.Why + "."
	}
	for i := len(search.Dirs) - 1; i >= 0; i-- {
		dir := search.Dirs[i]
		if dir == home {
			continue // what is there is the user's own
		}
		root := search.Tree
		if root == "" {
			root = dir
		}
		for _, name := range names {
			p := Place{Dir: filepath.Join(dir, name, kind), Scope: Project, Label: string(Project), Root: root}
			if within(own, p.Dir) {
				continue
			}
			if dir == cfg.Root {
				p.Name = name + "/" + kind
			}
			list = append(list, p)
		}
	}
	list = append(list, Place{Dir: filepath.Join(cfg.Dir, kind), Scope: User, Label: string(User)})
	if home != "" {
		for _, name := range others {
			list = append(list, Place{Dir: filepath.Join(home, name, kind), Scope: User, Label: string(User)})
		}
	}
	return list, warning
}

// within reports whether path is dir or lies in it; nothing lies in "".
func within(dir, path string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

func resolve(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
