package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// group is what is recorded of a running child. Start and Boot together name the
// process for good: a pid alone is used again.
type group struct {
	PGID  int    `json:"pgid"` // also the session and the pid of the leader
	Start string `json:"start"`
	Boot  string `json:"boot"`
	// Namespace is the user namespace of a confined child, and Mark is in the
	// mounts of whatever is in it: the number alone is used again.
	Namespace uint64 `json:"namespace,omitempty"`
	Mark      string `json:"mark,omitempty"`
	// Folder is which folder the record was written in: in a copy of it, the child is that of
	// the host that has the original, and may be at work.
	Folder string `json:"folder,omitempty"`
}

// identityOf names a folder, whatever its path; "" where that cannot be told.
func identityOf(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// writeRecord records the group of pid in dir and returns the file's name. The
// file is whole and synced before its name appears.
func writeRecord(dir string, pid int, namespace uint64, mark string) (name string, err error) {
	if dir == "" {
		return "", nil
	}
	start, _, err := startTime(pid)
	if err != nil {
		return "", fmt.Errorf("record child %d: %w", pid, err)
	}
	name = filepath.Join(dir, strconv.Itoa(pid))
	f, err := os.OpenFile(name+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			f, err = os.OpenFile(name+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		}
	}
	if err != nil {
		return "", fmt.Errorf("record child: %w", err)
	}
	data, err := json.Marshal(group{PGID: pid, Start: start, Boot: BootID(), Namespace: namespace, Mark: mark, Folder: identityOf(dir)})
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		_ = os.Remove(name + ".new")
		return "", fmt.Errorf("record child: %w", err)
	}
	return name, nil
}

// Reap ends the children that a host which died has left running: it kills each
// group recorded in runDir whose leader still has the recorded start time, or,
// when the leader is gone, what still runs in its session; of confined ones
// whatever is left in their namespace. It removes the records and says how many
// groups it ended. Records in a copy of the folder end nobody. Call it while no spawner uses runDir. A folder that is not
// there is not an error.
func Reap(runDir string) (n int, err error) {
	entries, err := os.ReadDir(runDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read recorded children: %w", err)
	}
	boot, folder := BootID(), identityOf(runDir)
	var errs []error
	for _, e := range entries {
		name := filepath.Join(runDir, e.Name())
		if !e.Type().IsRegular() {
			continue
		}
		if !strings.HasSuffix(e.Name(), ".new") { // else its child was still held back
			data, err := os.ReadFile(name)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			var g group
			// A record that cannot be read, or is a copy, names nobody that may be killed.
			if json.Unmarshal(data, &g) == nil && g.Boot == boot && g.PGID > 1 && (g.Folder == "" || g.Folder == folder) && end(g) {
				n++
			}
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return n, errors.Join(errs...)
}

// MayRun returns how many children recorded in runDir [Reap] would look for: not those of a copy
// of the folder, nor of before the machine was started. It changes nothing.
func MayRun(runDir string) (n int) {
	entries, err := os.ReadDir(runDir)
	if err != nil {
		return 0
	}
	boot, folder := BootID(), identityOf(runDir)
	for _, e := range entries {
		var g group
		if !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".new") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(runDir, e.Name()))
		if err != nil || json.Unmarshal(data, &g) != nil || (g.Boot == "" || g.Boot == boot) && (g.Folder == "" || g.Folder == folder) {
			n++
		}
	}
	return n
}

// end kills what is left of a recorded child.
func end(g group) bool {
	left := g.Mark != "" && killNamespace(g.Namespace, g.Mark, 0)
	return endGroup(g) || left
}

// endGroup kills the group if it is still the recorded one.
func endGroup(g group) bool {
	start, zombie, err := startTime(g.PGID)
	switch {
	case err == nil && start != g.Start:
		return false // the pid belongs to somebody else
	case err == nil && zombie && len(members(g.PGID)) == 0:
		return false
	case err != nil && (g.Namespace != 0 || len(members(g.PGID)) == 0):
		// Nobody has that session, or who has it need not be ours: the number may
		// have been given again while nobody had it. What was in the namespace is
		// named by that. Without one, members are most likely ours.
		return false
	}
	if err == nil {
		_ = syscall.Kill(-g.PGID, syscall.SIGKILL)
	}
	killSession(g.PGID)
	return true
}
