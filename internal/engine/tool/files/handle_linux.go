package files

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openPath opens a folder that need not be readable.
const openPath = unix.O_PATH

// realPath returns the present path of an open folder.
func realPath(dir *os.File) (string, error) {
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
}

// InProc reports whether an open file or folder is on a procfs: there are the host's
// own environment and memory, and files whose reading never ends.
func InProc(f *os.File) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &fs) != nil || fs.Type == unix.PROC_SUPER_MAGIC
}

// renameNew renames only when nothing has the new name.
func renameNew(dir *os.File, from, to string) error {
	fd := int(dir.Fd())
	return unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
}
