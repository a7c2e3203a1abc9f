package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Folders that come from outside are judged here and nowhere else: those of sessions and
// projects, whoever names them, and those that a message adds. They are named by their
// whole path, because the host works in none: one that was started in the background
// stands in /.

// folder judges a folder that somebody works in, and gives it without symlinks. Field is
// the name of the field in which it stands.
func (h *Host) folder(field, path string) (string, error) {
	dir, err := existing(field, path)
	if err == nil && h.own(dir) {
		err = h.errOwn()
	}
	return dir, err
}

// workDir is [Host.folder] of a session's or project's folder.
func (h *Host) workDir(path string) (string, error) { return h.folder("workDir", path) }

// lookedAt gives the folder whose configuration, commands and the like a client asks
// for: the user's home when it names none, which is that of no project.
func (h *Host) lookedAt(path string) (string, error) {
	if path == "" {
		path = h.cfg.UserHome
	}
	return existing("workDir", path)
}

// workspace judges a folder that becomes a workspace, and gives it with its root: one
// that is as wide as the user's home needs to be allowed, by a person once and for all,
// or by the caller, whose allowed folders these are.
func (h *Host) workspace(path string, allowed []string) (dir, root string, err error) {
	if dir, err = h.workDir(path); err != nil {
		return "", "", err
	}
	root, _ = workspace.Root(dir, h.cfg.UserHome)
	width := workspace.WidthOf(root, h.cfg.UserHome)
	if width == workspace.Narrow || slices.ContainsFunc(allowed, func(a string) bool { return canonical(a) == root }) {
		return dir, root, nil
	}
	f, err := h.projects()
	if err != nil {
		return "", "", err
	}
	if slices.ContainsFunc(f.Projects, func(p projectRecord) bool { return p.Root == root && p.Wide }) {
		return dir, root, nil
	}
	what := "holds your whole home folder"
	switch {
	case width == workspace.Everything:
		what = "is the whole file system"
	case root == canonical(h.cfg.UserHome):
		what = "is your whole home folder"
	}
	return "", "", protocol.About("workDir", protocol.ReasonWide, protocol.CodeForbidden,
		"%s as the workspace %s, and all in it could be read without a question; work in a project's folder, or allow this one: register_project (POST /v1/projects) with wide allows it for good, options.workspace for one message.", root, what)
}

// allowed judges the folder that the options of a message allow as the workspace, of a
// session whose workspace has the root: allowing a home or / that it does not work in
// would mean nothing.
func (h *Host) allowed(t *protocol.TurnOptions, root string) error {
	if t == nil || t.Workspace == nil {
		return nil
	}
	const field = "options.workspace"
	dir, err := existing(field, *t.Workspace)
	if err != nil {
		return err
	}
	if dir != root && workspace.WidthOf(dir, h.cfg.UserHome) != workspace.Narrow {
		return protocol.About(field, protocol.ReasonFolder, protocol.CodeInvalidRequest,
			"The workspace of the session is %s, not %s; the option workspace allows the folder in which the session works.", root, dir)
	}
	return nil
}

// existing gives a folder without symlinks.
func existing(field, path string) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", protocol.About(field, protocol.ReasonFolder, protocol.CodeInvalidRequest, format, args...)
	}
	switch {
	case path == "":
		return refuse("No folder is named; name one by its whole path.")
	case len(path) > protocol.MaxPath:
		return refuse("The folder's path has %d bytes; it can have at most %d.", len(path), protocol.MaxPath)
	case !filepath.IsAbs(path):
		return refuse("The folder %.200q is not named by its whole path, which begins with /.", path)
	}
	dir, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return refuse("The working directory %s does not exist here; name another.", path)
	case err != nil:
		return refuse("The working directory %s cannot be used: %v.", path, plain(err))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return refuse("The working directory %s is not a folder.", path)
	}
	return dir, nil
}
