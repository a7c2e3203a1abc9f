package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxClosed bounds the places that are closed to one command.
const maxClosed = 2_000

// socketPlaces are where services listen that would do for a command what it may
// not do itself: containers, D-Bus, systemd, agents, terminals, the screen.
func socketPlaces() []string {
	var out []string
	for _, name := range []string{"docker.sock", "docker", "containerd", "podman", "crio", "buildkit", "dbus", "user",
		"systemd/private", "systemd/notify", "snapd.socket", "snapd-snap.socket", "libvirt", "incus", "lxd.socket", "udev", "initctl", "screen", "screens"} {
		out = append(out, "/run/"+name, "/var/run/"+name)
	}
	return append(out, "/tmp/.X11-unix", "/tmp/.ICE-unix", "/var/lib/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket")
}

// closedPlaces returns what a command may not see, resolved, as far as it exists
// now, with every other place where it can be seen. services are those of them
// where something listens, or may. With system the keys of the system, which
// root could read, are among them.
func (p Profile) closedPlaces(system bool) (all, services []string, err error) {
	mounts, err := readMounts()
	if err != nil {
		return nil, nil, err
	}
	list := closedList{have: map[string]bool{}, mounts: mounts}
	paths := append(slices.Clone(p.Closed), p.keys()...)
	if system {
		paths = append(paths, systemKeys()...)
	}
	files := len(paths)
	paths = append(append(paths, socketPlaces()...), p.socketsOfUser()...)
	for i, path := range paths {
		had := len(list.places)
		if err := list.add(path); err != nil {
			return nil, nil, err
		}
		if i >= files {
			services = append(services, list.places[had:]...)
		}
	}
	if len(list.places) > maxClosed {
		return nil, nil, fmt.Errorf("more than %d places would have to be closed to a command", maxClosed)
	}
	// Beside the folder for temporary files lie those of other sessions.
	for _, path := range append(slices.Clone(list.places), filepath.Dir(p.TempDir)) {
		for _, root := range p.needed() {
			if root == p.TempDir && path == filepath.Dir(root) {
				continue
			}
			if within(root, path) {
				return nil, nil, fmt.Errorf("%s lies in %s, which is closed to commands; work in another folder, or set mode = \"off\" under [sandbox]", root, path)
			}
		}
	}
	return list.places, services, nil
}

// systemKeys are the files with which somebody could become another user, or
// this machine. Without namespaces they are not closed: /etc could not be listed
// then.
func systemKeys() []string {
	out := []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"}
	for _, name := range list("/etc/ssh") {
		if strings.HasSuffix(name, "_key") {
			out = append(out, filepath.Join("/etc/ssh", name))
		}
	}
	return out
}

// closedList collects places.
type closedList struct {
	places []string
	have   map[string]bool
	mounts []mount
}

// add closes path where it leads to, and wherever else that can be seen.
func (l *closedList) add(path string) error {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		// What this user cannot reach no command of this user can. With
		// capabilities it could, and then it was reached here.
		return nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", path, err)
	}
	for _, at := range append([]string{real}, aliases(real, l.mounts)...) {
		if l.have[at] {
			continue
		}
		if _, err := os.Lstat(at); err != nil {
			continue // another mount covers it
		}
		l.have[at] = true
		l.places = append(l.places, at)
	}
	return nil
}

// socketsOfUser are the places of sockets that differ between users and logins.
func (p Profile) socketsOfUser() []string {
	var out []string
	uid := strconv.Itoa(os.Getuid())
	temps := []string{"/tmp"}
	for _, name := range []string{"TMPDIR", "TMUX_TMPDIR"} {
		if dir := lookup(p.Environ, name); filepath.IsAbs(dir) {
			temps = append(temps, filepath.Clean(dir))
		}
	}
	for _, dir := range temps {
		out = append(out, filepath.Join(dir, "tmux-"+uid))
		for _, name := range listSockets(dir) {
			if path := filepath.Join(dir, name); !p.needs(path) {
				out = append(out, path)
			}
		}
	}
	if dir := lookup(p.Environ, "XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if dir = filepath.Clean(dir); !p.needs(dir) {
			out = append(out, dir)
		} else {
			for _, name := range list(dir) { // somebody set it to a folder of work
				out = appendSocket(out, filepath.Join(dir, name))
			}
		}
	}
	for _, name := range []string{"SSH_AUTH_SOCK", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "WAYLAND_DISPLAY", "NVIM",
		"KITTY_LISTEN_ON", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE"} {
		out = appendSocket(out, socketPath(lookup(p.Environ, name)))
	}
	return out
}

// listSockets returns what is a socket in a folder for temporary files, or has the
// name of a folder in which agents, terminals and editors put theirs.
func listSockets(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxListed)
	var out []string
	for _, e := range entries {
		known := slices.ContainsFunc([]string{"tmux-", "ssh-", "gpg-", "dbus-", "emacs", "nvim", "zellij-", "kitty", "screen"}, func(front string) bool {
			return strings.HasPrefix(e.Name(), front) && e.IsDir()
		})
		if known || e.Type() == fs.ModeSocket {
			out = append(out, e.Name())
		}
	}
	return out
}

// needs reports whether the work lies in dir.
func (p Profile) needs(dir string) bool {
	return slices.ContainsFunc(append(p.needed(), p.Home), func(n string) bool { return n != "" && within(n, dir) })
}

// socketPath returns the path in a variable that names a socket: the path itself,
// unix:///path, unix:path=/path,guid=… or, for tmux, /path,pid,window.
func socketPath(value string) string {
	value, _, _ = strings.Cut(value, ",")
	for _, front := range []string{"unix://", "unix:path=", "unix:"} {
		value = strings.TrimPrefix(value, front)
	}
	if !filepath.IsAbs(value) {
		return ""
	}
	return filepath.Clean(value)
}

func appendSocket(to []string, path string) []string {
	if path == "" {
		return to
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Type() != fs.ModeSocket {
		return to
	}
	return append(to, path)
}
