package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock, by the ABI that brought them
// (https://docs.kernel.org/userspace-api/landlock.html).
const (
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	readFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	reads     = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writes1   = writeFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	onFiles = readFile | writeFile | unix.LANDLOCK_ACCESS_FS_TRUNCATE // what a rule on a file may grant
)

// maxGrants bounds the rules of a command without namespaces.
const maxGrants = 8192

// LandlockABI returns the version of Landlock that the kernel offers, 0 for none.
func LandlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

func writeRights(abi int) uint64 {
	w := uint64(writes1)
	if abi >= 2 {
		w |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		w |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	return w
}

// landlock restricts this thread to the writes of the plan and, where the plan
// has no mounts to hide things, to reads of what is not hidden. Signals and
// abstract sockets stay among the command's own processes from ABI 6 on. Without
// Landlock in the kernel the mounts stand alone.
func landlock(p *Plan) error {
	abi := LandlockABI()
	if abi == 0 {
		if p.Namespaces {
			return nil
		}
		return errors.New("this kernel has no Landlock")
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: writeRights(abi)}
	if !p.Namespaces {
		attr.Handled_access_fs |= reads
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	const size = 24 // the fields up to Scoped; older kernels accept zeros after theirs
	r, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make Landlock rules: %w", errno)
	}
	set := ruleset{fd: int(r), handled: attr.Handled_access_fs}
	defer unix.Close(set.fd)
	if err := set.fill(p, writeRights(abi)); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, r, 0, 0); errno != 0 {
		return fmt.Errorf("apply Landlock rules: %w", errno)
	}
	return nil
}

type ruleset struct {
	fd      int
	handled uint64
}

func (s ruleset) fill(p *Plan, write uint64) error {
	if !p.Namespaces {
		list, err := grants(append(p.Hidden, filepath.Dir(p.Temp)))
		if err != nil {
			return err
		}
		for _, path := range append(list, p.Readable...) {
			// What is gone or was replaced since it was listed is granted nothing.
			if err := s.allow(path, reads); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) && !errors.Is(err, errReplaced) {
				return err
			}
		}
	}
	for _, dir := range append(p.Writable, p.Temp) {
		if err := s.allow(dir, reads|write); err != nil {
			return err
		}
	}
	devs := devices()
	if p.Namespaces { // they are new and belong to the command alone
		devs = append(devs, "/dev/ptmx", "/dev/pts", "/dev/shm")
	}
	for _, dev := range devs {
		if err := s.allow(dev, reads|write); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// allow grants what it can of rights below path. A path that is or has become a
// symlink is granted nothing.
func (s ruleset) allow(path string, rights uint64) error {
	fd, err := open(path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & s.handled, Parent_fd: int32(fd)}
	if rule.Allowed_access == 0 {
		return nil
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}

// grants returns what may be read so that hidden stays closed: Landlock can only
// allow, and what it allows holds for all below. So each folder above something
// hidden is left out and its other entries are named one by one. Such a folder
// cannot be listed, and what is made in it later cannot be read.
func grants(hidden []string) ([]string, error) {
	closed := append([]string{"/dev"}, hidden...) // of /dev only the devices that are named
	var out []string
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrPermission) {
			return nil // what cannot be listed is not granted
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", dir, err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if e.Type()&fs.ModeSymlink != 0 {
				continue // where it leads to is granted, or not, by itself
			}
			above, same := relation(path, closed)
			switch {
			case same:
			case above:
				if err := walk(path); err != nil {
					return err
				}
			default:
				if out = append(out, path); len(out) > maxGrants {
					return fmt.Errorf("beside what is closed lie more than %d files and folders, too many to name without user namespaces", maxGrants)
				}
			}
		}
		return nil
	}
	if err := walk("/"); err != nil {
		return nil, err
	}
	return out, nil
}

func relation(path string, closed []string) (above, same bool) {
	for _, c := range closed {
		if c == path {
			return false, true
		}
		above = above || strings.HasPrefix(c, path+"/")
	}
	return above, false
}
