package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"scorel/internal/platform/sandbox/stage"
)

// namespaced returns the attributes of a process in namespaces of its own. The
// ids are those of this process: as root all that it has, so that files keep
// their owners; else its own.
func namespaced(flags uintptr) *syscall.SysProcAttr {
	uids, gids := idMap("/proc/self/uid_map", os.Geteuid()), idMap("/proc/self/gid_map", os.Getegid())
	return &syscall.SysProcAttr{
		Cloneflags:   unix.CLONE_NEWUSER | unix.CLONE_NEWIPC | flags,
		Unshareflags: unix.CLONE_NEWNS, // which Go makes private at once
		UidMappings:  uids, GidMappings: gids,
		// An ordinary user loses its capabilities in the new namespace by
		// execve, but for these.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
	}
}

// idMap returns the map of a namespace in which every id means what it means here.
func idMap(file string, own int) []syscall.SysProcIDMap {
	only := []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	if os.Geteuid() != 0 || !mayMapIDs() {
		return only
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return only
	}
	var out []syscall.SysProcIDMap
	for line := range strings.Lines(string(data)) {
		var inside, outside, n int
		if _, err := fmt.Sscan(line, &inside, &outside, &n); err != nil {
			return only
		}
		out = append(out, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: n})
	}
	if len(out) == 0 {
		return only
	}
	return out
}

// mayMapIDs reports whether this process may map ids that are not its own.
func mayMapIDs() bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	const need = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	return unix.Capget(&hdr, &data[0]) == nil && data[0].Effective&need == need
}

// confined is a command under a profile, in the making.
type confined struct {
	plan stage.Plan
	attr *syscall.SysProcAttr
}

// confine makes ready what the stage is told. It fails where the system cannot
// hold what the profile promises.
func (p Profile) confine(c Cmd, path string) (*launch, error) {
	s := Detect()
	if p.noNamespaces {
		s = s.without()
	}
	if s.Level == Unconfined {
		return nil, fmt.Errorf("the sandbox cannot be made: %s %sSet mode = \"off\" under [sandbox] in ~/.scorel/config.toml to run commands without one", s.Missing, advice(s))
	}
	if err := p.resolve(); err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(p.Agent); err == nil && hasSocket(real, 0) {
		p.Agent = real
	} else {
		p.Agent = ""
	}
	closed, services, err := p.closedPlaces(s.namespaces && os.Geteuid() == 0)
	if err != nil {
		return nil, err
	}
	g := guards(p.Roots, closed)
	k := &confined{attr: &syscall.SysProcAttr{}}
	k.plan = stage.Plan{Namespaces: s.namespaces, Network: stage.NetworkOpen, Hidden: closed, Extra: len(c.Extra),
		Dir: c.Dir, Path: path, Args: append([]string{filepath.Base(path)}, c.Args...), Temp: p.TempDir}
	k.plan.Shown = p.shown(closed)
	if p.CacheDir != "" {
		k.plan.Writable = append(k.plan.Writable, p.CacheDir)
	}
	if p.Mode == WorkspaceWrite {
		outer, inner := nested(p.Roots)
		k.plan.Writable = append(append(k.plan.Writable, outer...), g.writable...)
		k.plan.Pinned, k.plan.ReadOnly = append(g.pinned, inner...), g.readOnly
		for _, held := range [][]string{closed, g.readOnly, g.pinned, inner, {p.TempDir}} {
			k.plan.Pinned = append(k.plan.Pinned, above(held, k.plan.Writable)...)
		}
		slices.Sort(k.plan.Pinned)
		k.plan.Pinned = slices.Compact(k.plan.Pinned)
	}
	if k.plan.Dir, err = filepath.EvalSymlinks(c.Dir); err != nil {
		return nil, err
	}
	k.plan.FileCaps = os.Geteuid() == 0 && p.foreign()
	if p.Agent != "" && s.namespaces {
		k.plan.Socket, k.plan.SocketAt = p.Agent, filepath.Join(p.TempDir, "ssh-agent")
		if p.Agent, err = k.plan.SocketAt, touch(k.plan.SocketAt); err != nil {
			return nil, fmt.Errorf("make a place for the SSH agent: %w", withoutPath(err))
		}
	}
	if s.namespaces {
		err = k.spaces(p, s)
	} else {
		err = k.landlocked(p, services)
	}
	if err != nil {
		return nil, err
	}
	l := &launch{attr: k.attr, env: p.confinedEnviron(c.Env, p.TempDir, append(k.plan.Writable, p.TempDir)),
		mark: filepath.Join("/", filepath.Base(filepath.Dir(p.TempDir)), filepath.Base(p.TempDir))}
	l.plan, err = k.plan.Encode()
	return l, err
}

// shown returns the folders to be shown that lie in what is closed, without those that
// lie in another.
func (p Profile) shown(closed []string) []string {
	var out []string
	for _, dir := range p.Shown {
		real, err := filepath.EvalSymlinks(dir)
		info, serr := os.Stat(dir)
		inside := slices.ContainsFunc(closed, func(c string) bool { return real != c && within(real, c) })
		if err == nil && serr == nil && real == filepath.Clean(dir) && info.IsDir() && inside {
			out = append(out, real)
		}
	}
	slices.Sort(out) // a folder before what lies in it
	var outer []string
	for _, dir := range out {
		if !slices.ContainsFunc(outer, func(o string) bool { return within(dir, o) }) {
			outer = append(outer, dir)
		}
	}
	return outer
}

// touch makes a file in a folder where commands write. What is there and is none
// is replaced.
func touch(name string) error {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// spaces completes a plan with namespaces.
func (k *confined) spaces(p Profile, s Status) error {
	var flags uintptr
	switch {
	case p.Network:
	case s.netns():
		flags, k.plan.Network = unix.CLONE_NEWNET, stage.NetworkLoopback
	case s.seccomp:
		k.plan.Network = stage.NetworkNone
	default:
		return errors.New("the network cannot be taken away here: there are no network namespaces and no seccomp; set network = true under [sandbox], or run Scorel on another system")
	}
	k.attr = namespaced(flags)
	return nil
}

// landlocked completes a plan without namespaces.
func (k *confined) landlocked(p Profile, services []string) error {
	k.plan.Readable = append(slices.Clone(p.Roots), k.plan.Shown...)
	for _, root := range append(slices.Clone(p.Roots), k.plan.Writable...) {
		for _, hidden := range k.plan.Hidden {
			if within(hidden, root) {
				return fmt.Errorf("%s lies in %s, where commands work, and cannot be closed without user namespaces; work in another folder, or set mode = \"off\" under [sandbox]", hidden, root)
			}
		}
	}
	if !p.Network {
		k.plan.Network = stage.NetworkNone
	}
	// A socket with a path can be reached by whoever can make one.
	k.plan.NoUnix = slices.ContainsFunc(services, func(path string) bool { return hasSocket(path, socketDepth) })
	return nil
}

// socketDepth is how far below a folder of services their sockets lie.
const socketDepth = 3

// hasSocket reports whether path is a socket or a folder that holds one.
func hasSocket(path string, depth int) bool {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return false
	case info.Mode().Type() == os.ModeSocket:
		return true
	case !info.IsDir() || depth == 0:
		return false
	}
	return slices.ContainsFunc(list(path), func(name string) bool { return hasSocket(filepath.Join(path, name), depth-1) })
}

// foreign reports whether a folder of the workspace belongs to another user.
func (p Profile) foreign() bool {
	for _, root := range p.Roots {
		if info, err := os.Stat(root); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
				return true
			}
		}
	}
	return false
}

// resolve returns the folders of the profile without symlinks.
func (p *Profile) resolve() error {
	given := slices.Clone(p.Roots)
	p.Roots = make([]string, len(given))
	for i, root := range given {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			return fmt.Errorf("the folder %s cannot be used: %w", root, err)
		}
		if real == "/" {
			return errors.New("the workspace is /, so everything would be writable; work in a folder of its own, or set mode = \"off\" under [sandbox]")
		}
		p.Roots[i] = real
	}
	for i, root := range given {
		real := p.Roots[i]
		if err := inPlace(i, root, real); err != nil {
			return err
		}
		if real != filepath.Clean(root) && p.commandsWrote(root, i) {
			return fmt.Errorf("%s is a symbolic link to %s that a command may have made; name the folder itself", root, real)
		}
	}
	if real, err := filepath.EvalSymlinks(p.Home); err == nil {
		p.Home = real
	}
	if real, err := filepath.EvalSymlinks(p.TempDir); err != nil || real != p.TempDir {
		// its path is the host's, and a model reads this
		return errors.New("the session's folder for temporary files is gone or was replaced; close the session and open it again")
	}
	if p.CacheDir != "" {
		real, err := filepath.EvalSymlinks(p.CacheDir)
		if err != nil || (real != p.CacheDir && p.commandsWrote(p.CacheDir, -1)) {
			real = "" // then the caches are in the folder for temporary files
		}
		p.CacheDir = real
	}
	return nil
}

// commandsWrote reports whether path lies in a root, other than the one of index
// but: there a command can have put a symlink in its way, which would make
// writable whatever it leads to.
func (p *Profile) commandsWrote(path string, but int) bool {
	for i, root := range p.Roots {
		if i != but && within(filepath.Clean(path), root) {
			return true
		}
	}
	return false
}

// nested parts folders from those that lie in others: these are writable with
// them, and must not be moved away from their protected files.
func nested(dirs []string) (outer, inner []string) {
	for _, dir := range dirs {
		if slices.ContainsFunc(dirs, func(other string) bool { return other != dir && within(dir, other) }) {
			inner = append(inner, dir)
		} else {
			outer = append(outer, dir)
		}
	}
	return outer, inner
}

// above returns the folders between writable ones and what is held in them. A mount
// point cannot be moved, but a folder with one in it can: the next command would
// not find there what is to be held.
func above(held, writable []string) []string {
	var out []string
	for _, path := range held {
		for dir := filepath.Dir(path); slices.ContainsFunc(writable, func(w string) bool { return dir != w && within(dir, w) }); dir = filepath.Dir(dir) {
			out = append(out, dir)
		}
	}
	return out
}

func advice(s Status) string {
	for _, a := range s.Abilities {
		if !a.Holds && a.Advice != "" {
			return a.Advice + " "
		}
	}
	return ""
}

// withoutPath returns what is behind an error about a file, without the file's path.
func withoutPath(err error) error {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err
	}
	return err
}
