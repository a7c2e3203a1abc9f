package node

import (
	"syscall"
	"time"
)

func times(s *syscall.Stat_t) (access, change time.Time) {
	return time.Unix(s.Atim.Unix()), time.Unix(s.Ctim.Unix())
}
