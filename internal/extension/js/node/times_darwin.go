package node

import (
	"syscall"
	"time"
)

func times(s *syscall.Stat_t) (access, change time.Time) {
	return time.Unix(s.Atimespec.Unix()), time.Unix(s.Ctimespec.Unix())
}
