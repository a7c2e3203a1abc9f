package sandbox

import (
	"fmt"
	"path/filepath"
)

// Mode returns how far a command is confined.
type Mode string

// The modes, from the weakest on.
const (
	Off            Mode = "off"             // a command can do what the user can
	WorkspaceWrite Mode = "workspace-write" // it writes in the workspace, its temporary folder and its caches
	ReadOnly       Mode = "read-only"       // it writes in its temporary folder and its caches
)

// ParseMode returns the mode of that name; "" is [WorkspaceWrite].
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "":
		return WorkspaceWrite, nil
	case Off, WorkspaceWrite, ReadOnly:
		return m, nil
	}
	return "", fmt.Errorf("%q is not a sandbox mode; use workspace-write, read-only or off", s)
}

// Tightens reports whether m confines at least as much as the mode below it.
func (m Mode) Tightens(below Mode) bool { return m.rank() >= below.rank() }

func (m Mode) rank() int {
	switch m {
	case Off:
		return 0
	case ReadOnly:
		return 2
	}
	return 1
}

// Profile returns what a command can do. Paths are absolute; they are resolved at
// each start, and what a command may have put in their way is refused. What a command writes to are Roots (in WorkspaceWrite), TempDir,
// CacheDir, and the repository that a root is a worktree or a submodule of.
type Profile struct {
	Mode    Mode // not Off: that is no profile
	Network bool // false leaves a loopback of the command's own
	Home    string
	// Closed are Scorel's own folders. They need not exist.
	Closed []string
	// Shown are folders in Closed that can be read, and whose programs can be run, but
	// not be written. What does not exist, or is a symlink, is left out.
	Shown []string
	// Roots are the workspace, as it was without links when its turn began, and the folders that
	// count as part of it.
	Roots []string
	// TempDir is private to the session, CacheDir to the project; both exist, as
	// NewTemp and CacheDir gave them. CacheDir may be empty.
	TempDir, CacheDir string
	// Environ is the host's environment, where sockets of agents are named.
	Environ []string
	// Agent is the path of an SSH agent's socket that the command may use, ""
	// for none.
	Agent string

	// noNamespaces makes tests see what holds without them.
	noNamespaces bool
}

// inPlace returns an error where the workspace, the first of the roots, leads elsewhere by now:
// a command of another session, which works around it, may have put a link in its place, and
// all that this leads to would be writable.
func inPlace(i int, root, real string) error {
	if i > 0 || real == filepath.Clean(root) {
		return nil
	}
	return fmt.Errorf("the workspace %s leads to %s now, so nothing is run in it", root, real)
}
