package cli

import (
	"path/filepath"

	"scorel/internal/host"
	"scorel/internal/workspace"
)

// wide gives the folders that one run without a person takes as workspaces though they
// are wide: the home, of which a line tells, and what --workspace names.
func (a *app) wide(o *promptOptions) ([]string, error) {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return nil, err
	}
	all := []string{home}
	if o.workspace != "" {
		dir, err := filepath.Abs(o.workspace)
		if err != nil {
			return nil, err
		}
		root, _ := workspace.Root(dir, home)
		all = append(all, root)
	}
	return all, nil
}

// isHome says whether a folder is the user's home.
func (a *app) isHome(dir string) bool {
	home, err := host.UserHome(a.environ)
	if err != nil || dir == "" {
		return false
	}
	at, _ := workspace.Root(dir, home)
	real, _ := workspace.Root(home, home)
	return at == real
}
