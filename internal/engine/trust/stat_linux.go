package trust

import (
	"io/fs"
	"syscall"
)

// statOf returns what changes when a file does.
func statOf(info fs.FileInfo) stat {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stat{}
	}
	return stat{Inode: st.Ino, Size: st.Size, Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano()}
}
