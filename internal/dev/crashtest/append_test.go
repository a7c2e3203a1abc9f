package crashtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

const (
	appendRounds  = 400
	roundsPerDir  = 5  // then a new session, so that checking stays cheap
	appendedLines = 16 // at most, before the kill
)

func TestKillWhileAppendingLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	child := filepath.Join(binaries(t), "appender")
	parent, seed, want := t.TempDir(), newSeed(t), rounds(appendRounds)
	var done, told, torn atomic.Int64
	each(t, func(worker int) error {
		r := random(t, seed, worker)
		for done.Load() < int64(want) {
			dir, err := os.MkdirTemp(parent, "")
			if err != nil {
				return err
			}
			var before []byte
			for range roundsPerDir {
				got := kill(exec.Command(child, dir), randomMoment(r, appendedLines, 3*time.Millisecond))
				if got.err != nil {
					return got.err
				}
				if !got.killed {
					return fmt.Errorf("%s: the child ended by itself: %s", dir, tail(bytes.NewReader(got.stderr)))
				}
				log, n, err := judge(dir, got.printed, before)
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				done.Add(1)
				told.Add(int64(n))
				if log != nil {
					before = log.Whole
					if len(log.Tail) > 0 {
						torn.Add(1)
					}
				}
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		return nil
	})
	t.Logf("%d rounds of appending, %d acknowledged events, %d unfinished last lines", done.Load(), told.Load(), torn.Load())
	if done.Load() < int64(want) || told.Load() < int64(want) {
		t.Errorf("%d rounds with %d acknowledged events; at least %d of each must be", done.Load(), told.Load(), want)
	}
}

// judge checks the only log of dir, if there is one.
func judge(dir string, printed, before []byte) (log *Log, n int, err error) {
	names := logs(dir)
	if len(names) > 1 {
		return nil, 0, fmt.Errorf("there are %d logs", len(names))
	}
	if len(names) == 0 {
		return judgeLog("", printed, before)
	}
	return judgeLog(names[0], printed, before)
}
