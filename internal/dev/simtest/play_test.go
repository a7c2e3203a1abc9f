package simtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var seed = flag.Uint64("seed", 0, "play the schedule of this seed alone")

// timeout is how long one schedule may take before its seed is told: a bubble in
// which somebody waits for a mutex for ever does not end.
const timeout = 2 * time.Minute

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // with little that lives, a quarter of the time would be for collecting
	m.Run()
}

// place makes a project folder for one worker.
func place(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// usualSeed is the first that is played without a soak: the same schedules each time, so
// that a change is judged by what it does. A soak plays others.
const usualSeed = 1753324534674128

// one plays a schedule in a bubble of its own, in which no goroutine may be left.
func one(t *testing.T, seed uint64, size Size, project string) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	late := time.AfterFunc(timeout, func() {
		fmt.Fprintf(os.Stderr, "the schedule of seed %d has been played for %v and is not over\n", seed, timeout)
	})
	defer late.Stop()
	synctest.Test(t, func(*testing.T) { r, err = Play(seed, size, project) })
	return r, err
}

// CI plays schedules twice: some with the race detector among the other tests, and the
// most without it, for which a schedule takes a sixth of the time.
func TestEveryScheduleLeavesAllClientsWithTheLog(t *testing.T) {
	n, size, workers, how := schedules, Small(), 2, ""
	if os.Getenv("SCOREL_SOAK") != "" {
		n, size, how = 1<<62, Large(), "SCOREL_SOAK=1 "
		if v, err := strconv.Atoi(os.Getenv("N")); err == nil {
			n = v
		}
	} else if testing.Short() {
		n = 500
	}
	if *seed != 0 {
		n, workers = 1, 1
	}
	first := *seed
	switch {
	case first != 0:
	case os.Getenv("SCOREL_SOAK") != "":
		first = uint64(time.Now().UnixNano()) >> 10
	default:
		first = usualSeed
	}
	begun := time.Now()
	var total Result
	var mu sync.Mutex
	var played, failed atomic.Int64
	t.Run("all", func(t *testing.T) {
		for range workers {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				project := place(t)
				for failed.Load() == 0 {
					i := played.Add(1) - 1
					if i >= int64(n) {
						return
					}
					s := first + uint64(i)
					r, err := one(t, s, size, project)
					if err != nil {
						failed.Add(1)
						t.Errorf("seed %d: %v\nrepeat it with: %sgo test -race ./internal/dev/simtest -run Schedule -seed %d", s, err, how, s)
						return
					}
					mu.Lock()
					total.Add(r)
					mu.Unlock()
				}
			})
		}
	})
	if played.Load() >= 500 && failed.Load() == 0 {
		for what, n := range map[string]int{"kills": total.Kills, "power cuts": total.Crashes, "clean stops": total.Stops, "failed syncs": total.Failures,
			"torn logs": total.Tears, "lost answers": total.Lost, "repeats": total.Repeats, "resumes": total.Resumes, "fallbacks": total.Fallbacks,
			"reloads": total.Reloads, "looks in mid-turn": total.Quiet, "retries of the model": total.Retries, "tools": total.Tools} {
			if n < 10 {
				t.Errorf("the schedules had %d %s: they try too little", n, what)
			}
		}
	}
	t.Logf("%d schedules from seed %d in %v: %+v", min(int64(n), played.Load()), first, time.Since(begun).Round(time.Millisecond), total)
}
