package tool

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openPath opens a folder that need not be readable.
const openPath = unix.O_PATH

// realPath gives the present path of an open folder.
func realPath(dir *os.File) (string, error) {
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
}

// renameNew renames only when nothing has the new name.
func renameNew(dir *os.File, from, to string) error {
	fd := int(dir.Fd())
	return unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
}
