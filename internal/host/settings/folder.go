package settings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"scorel/internal/engine/config"
	"scorel/internal/host/failure"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Own reports whether a path without links lies in a folder of Scorel itself.
func (st *Settings) Own(path string) bool {
	return inAny(path, []string{st.Dir, st.StoreDir})
}

// ErrOwn says that a folder is one of Scorel itself.
func (st *Settings) ErrOwn() error {
	return protocol.Errorf(protocol.CodeForbidden, "%s is Scorel's own folder and holds no projects; choose another.", st.Dir)
}

// Folders that come from outside are judged here and nowhere else: those of sessions and
// projects, whoever names them, and those that a message adds. They are named by their
// whole path, because the host works in none: one that was started in the background
// stands in /.

// Folder judges a folder that somebody works in, and returns it without symlinks. Field is
// the name of the field in which it stands.
func (st *Settings) Folder(field, path string) (string, error) {
	dir, err := Existing(field, path)
	if err == nil && st.Own(dir) {
		err = st.ErrOwn()
	}
	return dir, err
}

// WorkDir is [Host.folder] of a session's or project's folder.
func (st *Settings) WorkDir(path string) (string, error) { return st.Folder("workDir", path) }

// LookedAt returns the folder whose configuration, commands and the like a client asks
// for: the user's home when it names none, which is that of no project.
func (st *Settings) LookedAt(path string) (string, error) {
	if path == "" {
		path = st.UserHome
	}
	return Existing("workDir", path)
}

// InProject reports whether a path, as it is written, is the folder of a known project or below it.
func (st *Settings) InProject(path string) bool {
	f, err := st.Projects()
	return err == nil && filepath.IsAbs(path) && slices.ContainsFunc(f.Projects, func(p ProjectRecord) bool {
		rel, err := filepath.Rel(p.Root, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Workspace judges a folder that becomes a workspace, and returns it with its root: one
// that is as wide as the user's home needs to be allowed, by a person once and for all,
// or by the caller, whose allowed folders these are.
func (st *Settings) Workspace(path string, allowed []string) (dir, root string, err error) {
	if dir, err = st.WorkDir(path); err != nil {
		return "", "", err
	}
	root, _ = workspace.Root(dir, st.UserHome)
	width := workspace.WidthOf(root, st.UserHome)
	if width == workspace.Narrow || slices.ContainsFunc(allowed, func(a string) bool { return Canonical(a) == root }) {
		return dir, root, nil
	}
	f, err := st.Projects()
	if err != nil && !DamagedProjects(err) {
		return "", "", err
	}
	if slices.ContainsFunc(f.Projects, func(p ProjectRecord) bool { return p.Root == root && p.Wide }) {
		return dir, root, nil
	}
	what := "holds your whole home folder"
	switch {
	case width == workspace.Everything:
		what = "is the whole file system"
	case root == Canonical(st.UserHome):
		what = "is your whole home folder"
	}
	return "", "", protocol.About("workDir", protocol.ReasonWide, protocol.CodeForbidden,
		"%s as the workspace %s, and all in it could be read without a question; work in a project's folder, or allow this one: register_project (POST /v1/projects) with wide allows it for good, options.workspace for one message.", root, what)
}

// SessionWorkspace is [Settings.Workspace] for the folder of a session, which was stored without
// links: one that leads elsewhere now was put there since, perhaps by a command of another
// session that works around it.
func (st *Settings) SessionWorkspace(path string, allowed []string) (dir, root string, err error) {
	if dir, root, err = st.Workspace(path, allowed); err == nil {
		err = moved(path, dir)
	}
	return dir, root, err
}

// SessionDir is [Settings.WorkDir] for the folder of a session, as SessionWorkspace.
func (st *Settings) SessionDir(path string) (dir string, err error) {
	if dir, err = st.WorkDir(path); err == nil {
		err = moved(path, dir)
	}
	return dir, err
}

func moved(path, dir string) error {
	if dir == filepath.Clean(path) {
		return nil
	}
	return protocol.About("workDir", protocol.ReasonFolder, protocol.CodeInvalidRequest,
		"The folder of the session, %s, leads to %s now, so nothing is done in it. If that is meant, go on with --cwd %s (update_info with workDir).", path, dir, dir)
}

// Allowed judges the folder that the options of a message allow as the workspace, of a
// session whose workspace has the root: allowing a home or / that it does not work in
// would mean nothing.
func (st *Settings) Allowed(t *protocol.TurnOptions, root string) error {
	if t == nil || t.Workspace == nil {
		return nil
	}
	const field = "options.workspace"
	dir, err := Existing(field, *t.Workspace)
	if err != nil {
		return err
	}
	if dir != root && workspace.WidthOf(dir, st.UserHome) != workspace.Narrow {
		return protocol.About(field, protocol.ReasonFolder, protocol.CodeInvalidRequest,
			"The workspace of the session is %s, not %s; the option workspace allows the folder in which the session works.", root, dir)
	}
	return nil
}

// Existing returns a folder without symlinks.
func Existing(field, path string) (string, error) {
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
		return refuse("The working directory %s cannot be used: %v.", path, failure.Plain(err))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return refuse("The working directory %s is not a folder.", path)
	}
	return dir, nil
}

// OwnFolders are the folders of Scorel itself.
func (st *Settings) OwnFolders() []string {
	if st.StoreDir == st.Dir {
		return []string{st.Dir}
	}
	return []string{st.Dir, st.StoreDir}
}

// Canonical returns a path without symlinks, as it is where it cannot be resolved.
func Canonical(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// inAny reports whether a path without symlinks lies in one of the folders. With /
// as the workspace, which cannot be confined, every program does: then none
// counts as lying in it.
func inAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		real := Canonical(dir)
		rel, err := filepath.Rel(real, path)
		return real != "/" && err == nil && filepath.IsLocal(rel)
	})
}

// Writable are the folders of a workspace, where its commands write: root and the
// additional ones.
func (st *Settings) Writable(cfg config.Config, over Overrides, root string) []string {
	return slices.Concat([]string{root}, cfg.Directories(st.UserHome), over.AdditionalDirs)
}
