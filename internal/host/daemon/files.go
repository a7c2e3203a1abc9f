package daemon

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Names of what a serving host keeps in the folder of Scorel.
const (
	lockName   = "host.lock"
	infoName   = "host.json"
	socketName = "host.sock"
	headerName = "host.header"
	logName    = "host.log"
	certName   = "host.crt"
	keyName    = "host.key"
)

// Header returns the file that holds the token: one line, which is the header of a
// request (curl -H @FILE).
func Header(dir string) string { return filepath.Join(dir, headerName) }

// Log returns the file in which a host notes what it does.
func Log(dir string) string { return filepath.Join(dir, logName) }

// exposed reports whether a secret file is not this user's alone: it is a link, or others
// may read it, or have put it there. The folder was not always closed to them,
// perhaps. A file of the folder's owner counts as one's own: root may serve for him.
func exposed(name string) (bool, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return false, err
	}
	dir, err := os.Stat(filepath.Dir(name))
	if err != nil {
		return false, err
	}
	uid := uidOf(info)
	return !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || uid != os.Geteuid() && (os.Geteuid() != 0 || uid != uidOf(dir)), nil
}

// foreign returns what lies in the folder and belongs neither to this user, nor to the
// owner of the folder, nor to root: somebody put it there while the folder was open.
// What lies deeper is found by its folder.
func foreign(dir string) ([]string, error) {
	own, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		if uid := uidOf(info); uid != os.Geteuid() && uid != uidOf(own) && uid != 0 {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

func uidOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
