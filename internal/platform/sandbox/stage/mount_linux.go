package stage

import (
	"errors"
	gopath "path"
	"slices"
	"strconv"
	"syscall"

	"scorel/internal/platform/sandbox/stage/kernel"
)

// sharedMemory bounds the /dev/shm of a command, in bytes.
const sharedMemory = 1 << 30

// devices are what a command finds in /dev; everything else there cannot be
// opened. A disk's node must not: root would read through it what is closed.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

// mounts returns the process its view of the files. The namespace is new and
// private; what it has inherited is locked by the kernel, so nothing that is
// covered here can be uncovered without capabilities that the command lacks.
//
// The copies of what stays writable are taken first. Then everything becomes
// read-only and without devices in one call, which only adds flags and so keeps
// those that are locked (nosuid, noexec, ro). Then the copies are put back.
func mounts(p *Plan) error {
	var list, temp attached
	defer list.close()
	defer temp.close()
	if err := temp.copyOf(p.Temp, kernel.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	writable := slices.Clone(p.Writable)
	slices.Sort(writable) // a parent before what lies in it
	for _, dir := range writable {
		if err := list.copyOf(dir, kernel.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	for _, dev := range devices() {
		if err := list.copyOf(dev, 0); err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	var socket attached
	defer socket.close()
	if p.Socket != "" {
		if err := socket.copyOf(p.Socket, 0); err != nil {
			return err
		}
		socket[0].path = p.SocketAt
	}
	attr := kernel.MountAttr{Attr_set: kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NODEV}
	if err := kernel.MountSetattr(kernel.AT_FDCWD, "/", kernel.AT_RECURSIVE, &attr); err != nil {
		return failed(err, "make the system read-only")
	}
	var shown attached
	defer shown.close()
	for _, dir := range p.Shown {
		if err := shown.copyOf(dir, kernel.MOUNT_ATTR_RDONLY|kernel.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	if err := list.attach(); err != nil {
		return err
	}
	void := gopath.Dir(p.Temp)
	if err := makeVoid(void, gopath.Base(p.Temp)); err != nil {
		return err
	}
	if err := temp.attach(); err != nil {
		return err
	}
	if err := terminals(); err != nil {
		return err
	}
	if err := memory(); err != nil {
		return err
	}
	// A folder that is a mount point cannot be renamed: nobody can put another
	// one with hooks of its own into its place.
	pinned := slices.Clone(p.Pinned)
	slices.Sort(pinned)
	pinned = slices.Compact(pinned)
	for _, dir := range pinned {
		if err := bindOnItself(dir, 0); err != nil {
			return err
		}
	}
	for _, path := range p.ReadOnly {
		if err := bindOnItself(path, kernel.MOUNT_ATTR_RDONLY); err != nil {
			return err
		}
	}
	for _, path := range p.Hidden {
		if err := cover(path, void, p.Shown); err != nil {
			return err
		}
	}
	if err := shown.attach(); err != nil {
		return err
	}
	return socket.attach()
}

// attached are copies of mounts that have a place to go to.
type attached []copied

type copied struct {
	fd   int
	path string
}

func (a *attached) close() {
	for _, c := range *a {
		syscall.Close(c.fd)
	}
}

// copyOf takes a copy of the tree at path, with what is mounted in it.
func (a *attached) copyOf(path string, set uint64) error {
	at, err := open(path)
	if err != nil {
		return err
	}
	defer syscall.Close(at)
	fd, err := kernel.OpenTree(at, "", kernel.OPEN_TREE_CLONE|kernel.OPEN_TREE_CLOEXEC|kernel.AT_RECURSIVE|kernel.AT_EMPTY_PATH)
	if err == nil && set != 0 {
		attr := kernel.MountAttr{Attr_set: set}
		err = kernel.MountSetattr(fd, "", kernel.AT_RECURSIVE|kernel.AT_EMPTY_PATH, &attr)
	}
	if err != nil {
		return failed(err, "copy the mount of ", path)
	}
	*a = append(*a, copied{fd, path})
	return nil
}

func (a *attached) attach() error {
	for _, c := range *a {
		if err := put(c.fd, c.path); err != nil {
			return err
		}
	}
	return nil
}

// open returns a handle of what is at path, on top of all mounts. It follows no
// symlink: the host has resolved the path, so a link there is a trick.
func open(path string) (int, error) {
	how := kernel.OpenHow{Flags: kernel.O_PATH | syscall.O_CLOEXEC, Resolve: kernel.RESOLVE_NO_SYMLINKS}
	fd, err := kernel.Openat2(kernel.AT_FDCWD, path, &how)
	if errors.Is(err, syscall.ELOOP) {
		return -1, &failure{path + " ", errReplaced}
	}
	if err != nil {
		return -1, failed(err, path, " cannot be opened for the sandbox")
	}
	return fd, nil
}

// replaced is an error without a variable: nothing is initialised for it.
type replaced struct{}

func (replaced) Error() string {
	return "was replaced by a symbolic link while the command was started; look at it and try again"
}

var errReplaced replaced

// put mounts a copy on path.
func put(fd int, path string) error {
	to, err := open(path)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	if err := kernel.MoveMount(fd, "", to, "", kernel.MOVE_MOUNT_F_EMPTY_PATH|kernel.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return failed(err, "mount on ", path)
	}
	return nil
}

// bindOnItself makes path a mount point that shows itself. What is gone since
// the host looked is left out.
func bindOnItself(path string, set uint64) error {
	var one attached
	defer one.close()
	if err := one.copyOf(path, set); err != nil {
		if errors.Is(err, syscall.ENOENT) {
			return nil
		}
		return err
	}
	return one.attach()
}

// fresh returns a new file system with the options, not attached anywhere.
func fresh(kind string, attrs int, options ...string) (int, error) {
	fs, err := kernel.Fsopen(kind, kernel.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(fs)
	for _, o := range options {
		name, value, _ := cut(o, '=')
		if err := kernel.FsconfigSetString(fs, name, value); err != nil {
			return -1, err
		}
	}
	if err := kernel.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return kernel.Fsmount(fs, kernel.FSMOUNT_CLOEXEC, attrs)
}

// The two things in the void, whose names no session has.
const (
	voidDir  = "/.d"
	voidFile = "/.f"
)

// makeVoid mounts a small file system on dir, the folder of all temporary
// folders of the user, that holds an empty folder and an empty file to hide
// things with, and a place for the command's own temporary folder. It is
// read-only.
func makeVoid(dir, own string) error {
	const attrs = kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV | kernel.MOUNT_ATTR_NOEXEC
	fd, err := fresh("tmpfs", attrs, "size=4096", "nr_inodes=8", "mode=0755")
	if err != nil {
		return failed(err, "make an empty file system")
	}
	defer syscall.Close(fd)
	for _, name := range []string{voidDir[1:], own} {
		if err := syscall.Mkdirat(fd, name, 0o555); err != nil {
			return failed(err, "make an empty folder")
		}
	}
	file, err := syscall.Openat(fd, voidFile[1:], syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o444)
	if err != nil {
		return failed(err, "make an empty file")
	}
	syscall.Close(file)
	attr := kernel.MountAttr{Attr_set: kernel.MOUNT_ATTR_RDONLY}
	if err := kernel.MountSetattr(fd, "", kernel.AT_EMPTY_PATH, &attr); err != nil {
		return failed(err, "make the void read-only")
	}
	return put(fd, dir)
}

// cover hides a path. When folders in it are to be shown it becomes a new file system
// that has nothing but the places of these.
func cover(path, void string, shown []string) error {
	var inside []string
	for _, dir := range shown {
		if below(dir, path) {
			inside = append(inside, dir[len(path)+1:])
		}
	}
	if len(inside) == 0 {
		return hide(path, void)
	}
	const attrs = kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV | kernel.MOUNT_ATTR_NOEXEC
	fd, err := fresh("tmpfs", attrs, "size=65536", "nr_inodes="+strconv.Itoa(2+maxPaths), "mode=0755")
	if err != nil {
		return failed(err, "make an empty file system")
	}
	defer syscall.Close(fd)
	for _, rel := range inside {
		for i := 1; i <= len(rel); i++ {
			if i < len(rel) && rel[i] != '/' {
				continue
			}
			if err := syscall.Mkdirat(fd, rel[:i], 0o755); err != nil && !errors.Is(err, syscall.EEXIST) {
				return failed(err, "make a place for ", path, "/", rel)
			}
		}
	}
	attr := kernel.MountAttr{Attr_set: kernel.MOUNT_ATTR_RDONLY}
	if err := kernel.MountSetattr(fd, "", kernel.AT_EMPTY_PATH, &attr); err != nil {
		return failed(err, "make the empty file system read-only")
	}
	return put(fd, path)
}

// hide lays the empty folder or file over path, and looks whether it is there.
func hide(path, void string) error {
	at, err := open(path)
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	var st syscall.Stat_t
	err = syscall.Fstat(at, &st)
	syscall.Close(at)
	if err != nil {
		return failed(err, "look at ", path)
	}
	empty := void + voidFile
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		empty = void + voidDir
	}
	fd, err := kernel.OpenTree(kernel.AT_FDCWD, empty, kernel.OPEN_TREE_CLONE|kernel.OPEN_TREE_CLOEXEC)
	if err != nil {
		return failed(err, "copy the void for ", path)
	}
	defer syscall.Close(fd)
	if err := put(fd, path); err != nil {
		return err
	}
	var want syscall.Stat_t
	if err := syscall.Lstat(empty, &want); err != nil {
		return failed(err, "look at the void")
	}
	if err := syscall.Lstat(path, &st); err != nil || st.Dev != want.Dev || st.Ino != want.Ino {
		return errors.New(path + " could not be closed")
	}
	return nil
}

// terminals returns the command pseudo-terminals of its own, so that it can neither
// read from nor write to those of the user.
func terminals() error {
	if !isDir("/dev/pts") {
		return nil
	}
	fd, err := fresh("devpts", kernel.MOUNT_ATTR_NOSUID|kernel.MOUNT_ATTR_NOEXEC, "ptmxmode=0666", "mode=0600")
	if err != nil {
		return failed(err, "make new terminals")
	}
	defer syscall.Close(fd)
	if err := put(fd, "/dev/pts"); err != nil {
		return err
	}
	var st syscall.Stat_t
	if err := syscall.Lstat("/dev/ptmx", &st); err != nil || st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		return nil // the link leads into the new one
	}
	var ptmx attached
	defer ptmx.close()
	if err := ptmx.copyOf("/dev/pts/ptmx", 0); err != nil {
		return err
	}
	return put(ptmx[0].fd, "/dev/ptmx")
}

// memory returns the command a /dev/shm of its own.
func memory() error {
	if !isDir("/dev/shm") {
		return nil
	}
	fd, err := fresh("tmpfs", kernel.MOUNT_ATTR_NOSUID|kernel.MOUNT_ATTR_NODEV, "size="+strconv.Itoa(sharedMemory), "mode=1777")
	if err != nil {
		return failed(err, "make shared memory")
	}
	defer syscall.Close(fd)
	return put(fd, "/dev/shm")
}

func isDir(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR
}
