package rpc

import (
	"os"

	"golang.org/x/sys/unix"
)

func pageFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("scorel-extensions", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "page"), nil
}
