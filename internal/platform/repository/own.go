package repository

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Owner knows the folders of a workspace, absolute and without symlinks.
type Owner struct{ Roots []string }

// Foreign returns why the rules about Git do not count for what [Discover] found: the
// repository is neither that of a root nor a worktree or a submodule that such a one
// names. It is "" for one that is, and where Git finds no repository.
func (o Owner) Foreign(f Found) string {
	if f == (Found{}) {
		return ""
	}
	why := ""
	for _, root := range o.Roots {
		dot := filepath.Join(root, ".git")
		dir, common := dot, dot
		if !isFolder(dot) {
			if dir, common = Linked(root, dot); dir == "" {
				continue
			}
		}
		if lead := filepath.Join(common, "commondir"); exists(lead) && within(f.Dir, common) {
			why = lead + " leads Git to another configuration"
			break
		}
		if f.Dir == dir || f.Dir == common {
			return ""
		}
		if !within(f.Dir, common) {
			continue
		}
		if why = named(f, common); why == "" {
			return ""
		}
	}
	if why == "" {
		why = "it is not that of the workspace"
	}
	return fmt.Sprintf("Git would use the repository %s there, and %s", f.Dir, why)
}

// named returns why a repository in the folder of another one is no worktree or submodule
// of that which nothing leads astray; "" when it is one.
func named(f Found, common string) string {
	if f.Bare() || f.Top == "" {
		return "it is a folder in the workspace's own"
	}
	rel := strings.TrimPrefix(f.Dir, common+"/")
	var why []string
	switch parts := strings.Split(rel, "/"); {
	case parts[0] == "worktrees" && len(parts) == 2:
		if dir, at := Linked(f.Top, filepath.Join(f.Top, ".git")); dir != f.Dir || at != common {
			return "it does not name the folder as its worktree"
		}
		why = worktreeFindings(f.Dir, common)
	case parts[0] == "modules" || parts[0] == "worktrees" && len(parts) > 3 && parts[2] == "modules":
		if tree := worktreeOf(f.Dir); tree == "" || !SameFile(tree, f.Top) {
			return "it does not name the folder as its submodule"
		}
		for _, name := range []string{"commondir", "gitdir"} {
			if exists(filepath.Join(f.Dir, name)) {
				why = append(why, name+" leads to another repository")
			}
		}
	default:
		return "it is a folder in the workspace's own"
	}
	return strings.Join(why, "; ")
}
