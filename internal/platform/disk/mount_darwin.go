package disk

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// MountOf returns what file system an existing path lies on. It may block where the
// file system does.
func MountOf(name string) (Mount, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(name, &st); err != nil {
		return Mount{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	return Mount{Type: unix.ByteSliceToString(st.Fstypename[:]), Remote: st.Flags&unix.MNT_LOCAL == 0,
		ReadOnly: st.Flags&unix.MNT_RDONLY != 0, NoExec: st.Flags&unix.MNT_NOEXEC != 0}, nil
}
