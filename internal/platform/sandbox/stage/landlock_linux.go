package stage

import (
	"errors"
	"os"
	gopath "path"
	"strconv"
	"syscall"
	"unsafe"

	"scorel/internal/platform/sandbox/stage/kernel"
)

// The rights of Landlock, by the ABI that brought them
// (https://docs.kernel.org/userspace-api/landlock.html).
const (
	writeFile = kernel.LANDLOCK_ACCESS_FS_WRITE_FILE
	readFile  = kernel.LANDLOCK_ACCESS_FS_READ_FILE
	reads     = readFile | kernel.LANDLOCK_ACCESS_FS_READ_DIR
	writes1   = writeFile | kernel.LANDLOCK_ACCESS_FS_REMOVE_DIR | kernel.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		kernel.LANDLOCK_ACCESS_FS_MAKE_CHAR | kernel.LANDLOCK_ACCESS_FS_MAKE_DIR | kernel.LANDLOCK_ACCESS_FS_MAKE_REG |
		kernel.LANDLOCK_ACCESS_FS_MAKE_SOCK | kernel.LANDLOCK_ACCESS_FS_MAKE_FIFO | kernel.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		kernel.LANDLOCK_ACCESS_FS_MAKE_SYM
	onFiles = readFile | writeFile | kernel.LANDLOCK_ACCESS_FS_TRUNCATE // what a rule on a file may grant
)

// maxGrants bounds the rules of a command without namespaces.
const maxGrants = 8192

// LandlockABI returns the version of Landlock that the kernel offers, 0 for none.
func LandlockABI() int {
	v, _, errno := syscall.Syscall(kernel.SYS_LANDLOCK_CREATE_RULESET, 0, 0, kernel.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

func writeRights(abi int) uint64 {
	w := uint64(writes1)
	if abi >= 2 {
		w |= kernel.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		w |= kernel.LANDLOCK_ACCESS_FS_TRUNCATE
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
	attr := kernel.LandlockRulesetAttr{Handled_access_fs: writeRights(abi)}
	if !p.Namespaces {
		attr.Handled_access_fs |= reads
	}
	if abi >= 6 {
		attr.Scoped = kernel.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | kernel.LANDLOCK_SCOPE_SIGNAL
	}
	const size = 24 // the fields up to Scoped; older kernels accept zeros after theirs
	r, _, errno := syscall.Syscall(kernel.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return failed(errno, "make Landlock rules")
	}
	set := ruleset{fd: int(r), handled: attr.Handled_access_fs}
	defer syscall.Close(set.fd)
	if err := set.fill(p, writeRights(abi)); err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall(kernel.SYS_LANDLOCK_RESTRICT_SELF, r, 0, 0); errno != 0 {
		return failed(errno, "apply Landlock rules")
	}
	return nil
}

type ruleset struct {
	fd      int
	handled uint64
}

func (s ruleset) fill(p *Plan, write uint64) error {
	if !p.Namespaces {
		list, err := grants(append(p.Hidden, gopath.Dir(p.Temp)))
		if err != nil {
			return err
		}
		for _, path := range append(list, p.Readable...) {
			// What is gone or was replaced since it was listed is granted nothing.
			if err := s.allow(path, reads); err != nil && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.EACCES) && !errors.Is(err, errReplaced) {
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
		if err := s.allow(dev, reads|write); err != nil && !errors.Is(err, syscall.ENOENT) {
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
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return failed(err, "look at ", path)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		rights &= onFiles
	}
	rule := kernel.LandlockPathBeneathAttr{Allowed_access: rights & s.handled, Parent_fd: int32(fd)}
	if rule.Allowed_access == 0 {
		return nil
	}
	_, _, errno := syscall.Syscall6(kernel.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), kernel.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return failed(errno, "allow ", path)
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
		if errors.Is(err, os.ErrPermission) {
			return nil // what cannot be listed is not granted
		}
		if err != nil {
			return failed(err, "list ", dir)
		}
		for _, e := range entries {
			path := gopath.Join(dir, e.Name())
			if e.Type()&os.ModeSymlink != 0 {
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
					return errors.New("beside what is closed lie more than " + strconv.Itoa(maxGrants) + " files and folders, too many to name without user namespaces")
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
		above = above || below(c, path)
	}
	return above, false
}
