//go:build unix

package failure

import (
	"errors"
	"syscall"
)

func isReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
