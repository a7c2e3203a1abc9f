package disk

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// MountOf returns what file system an existing path lies on. It may block where the
// file system does.
func MountOf(name string) (Mount, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(name, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Mount{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
		}
		break
	}
	magic := uint32(st.Type)
	m := Mount{Type: fmt.Sprintf("%#x", magic), Remote: remoteMagic(magic), Volatile: magic == unix.TMPFS_MAGIC || magic == unix.RAMFS_MAGIC,
		ReadOnly: st.Flags&unix.ST_RDONLY != 0, NoExec: st.Flags&unix.ST_NOEXEC != 0}
	switch magic { // statfs(2)
	case unix.EXT4_SUPER_MAGIC:
		m.Type = "ext4"
	case unix.XFS_SUPER_MAGIC:
		m.Type = "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		m.Type = "btrfs"
	case unix.F2FS_SUPER_MAGIC:
		m.Type = "f2fs"
	case unix.TMPFS_MAGIC:
		m.Type = "tmpfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		m.Type = "overlay"
	case 0x2fc12fc1:
		m.Type = "zfs"
	case unix.ECRYPTFS_SUPER_MAGIC:
		m.Type = "ecryptfs"
	case magicNFS:
		m.Type = "nfs"
	case magicSMB, magicSMB2, magicCIFS:
		m.Type = "cifs"
	case magic9P:
		m.Type = "9p"
	case magicFUSE:
		m.Type = "fuse"
	}
	return m, nil
}

func remoteMagic(magic uint32) bool {
	switch magic {
	case magicNFS, magicSMB, magicSMB2, magicCIFS, magic9P, magicFUSE:
		return true
	}
	return false
}
