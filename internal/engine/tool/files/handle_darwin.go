package files

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const openPath = unix.O_RDONLY

// realPath returns the present path of an open folder (F_GETPATH in fcntl(2)).
func realPath(dir *os.File) (string, error) {
	var buf [1024]byte
	_, _, errno := unix.Syscall(unix.SYS_FCNTL, dir.Fd(), unix.F_GETPATH, uintptr(unsafe.Pointer(&buf[0])))
	if errno != 0 {
		return "", errno
	}
	path, _, _ := bytes.Cut(buf[:], []byte{0})
	return string(path), nil
}

// InProc is always false: processes are not files here.
func InProc(*os.File) bool { return false }

// renameNew renames only when nothing has the new name.
func renameNew(dir *os.File, from, to string) error {
	fd := int(dir.Fd())
	return unix.RenameatxNp(fd, from, fd, to, unix.RENAME_EXCL)
}
