package cli

import (
	"path/filepath"

	"scorel/internal/host"
	"scorel/internal/platform/workspace"
)

// wide returns the folders that one run without a person takes as workspaces though they
// are wide: the home and what it lies in, of which a line tells, and what --workspace
// names.
func (a *app) wide(o *promptOptions) ([]string, error) {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return nil, err
	}
	real, _ := workspace.Root(home, home)
	var all []string
	for _, dir := range []string{home, real} {
		for ; workspace.WidthOf(dir, home) == workspace.Home; dir = filepath.Dir(dir) {
			all = append(all, dir)
		}
	}
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

// isHome reports whether a folder is in a workspace that is the user's home or what that
// lies in.
func (a *app) isHome(dir string) bool {
	home, err := host.UserHome(a.environ)
	if err != nil || dir == "" {
		return false
	}
	root, _ := workspace.Root(dir, home)
	return workspace.WidthOf(root, home) == workspace.Home
}
