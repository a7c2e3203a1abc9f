package automation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// dying is a disk of which nothing changes any more from the n-th change after it was armed:
// what it holds is what a host leaves that is killed there.
type dying struct {
	disk.FS
	mu    sync.Mutex
	armed bool
	left  int // changes before it dies
	dead  bool
}

var errDead = errors.New("killed")

// arm has the disk die at the n-th change from now.
func (d *dying) arm(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed, d.left, d.dead = true, n, false
}

// revive makes the disk that of the next host; it reports whether it was dead.
func (d *dying) revive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.dead
	d.armed, d.dead = false, false
	return was
}

// change returns an error when nothing changes any more.
func (d *dying) change() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed && !d.dead {
		d.left--
		d.dead = d.left <= 0
	}
	if d.dead {
		return errDead
	}
	return nil
}

func (d *dying) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	if flag != 0 {
		if err := d.change(); err != nil {
			return nil, err
		}
	}
	f, err := d.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return dyingFile{f, d}, nil
}

func (d *dying) Rename(from, to string) error {
	return errors.Join(d.change(), d.unless(func() error { return d.FS.Rename(from, to) }))
}

func (d *dying) Remove(name string) error {
	return errors.Join(d.change(), d.unless(func() error { return d.FS.Remove(name) }))
}

func (d *dying) MkdirAll(name string) error {
	return errors.Join(d.change(), d.unless(func() error { return d.FS.MkdirAll(name) }))
}

// unless does what changes something, where that is possible.
func (d *dying) unless(do func() error) error {
	d.mu.Lock()
	dead := d.dead
	d.mu.Unlock()
	if dead {
		return nil
	}
	return do()
}

type dyingFile struct {
	disk.File
	d *dying
}

func (f dyingFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.d.change(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f dyingFile) Truncate(size int64) error {
	if err := f.d.change(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f dyingFile) Sync() error {
	if err := f.d.change(); err != nil {
		return err
	}
	return f.File.Sync()
}

// kill ends the host on a disk that does not change any more, and begins the next.
func (w *world) kill(d *dying) (died bool) {
	_ = w.Host.Close() // on a dead disk, which it says
	died = d.revive()
	w.start()
	return died
}

// accounted fails unless each instant at which a schedule was due has one message, or one
// recorded reason.
func (w *world) accounted(what string, x *protocol.Schedule, first int64, step time.Duration) {
	w.t.Helper()
	d := w.get(x.ScheduleID)
	runs := w.c.Do("", &protocol.ListRuns{ScheduleID: x.ScheduleID, Limit: 200}).(*protocol.RunList).Runs
	messages := map[protocol.RunID]int{}
	logs, err := filepath.Glob(filepath.Join(w.Home, ".scorel", "sessions", "*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range logs {
		for _, e := range w.Log(protocol.SessionID(strings.TrimSuffix(filepath.Base(name), ".jsonl"))) {
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Meta != nil && b.Message.Meta.RunID != "" {
				messages[b.Message.Meta.RunID]++
			}
		}
	}
	var due int
	for at := first; at <= time.Now().UnixMilli(); at += step.Milliseconds() {
		due++
		if n := messages[protocol.RunIDOf(x.ScheduleID, at)]; n > 1 {
			w.t.Errorf("%s: the instant %d has %d messages", what, at, n)
		}
	}
	silent := 0
	for _, r := range runs {
		switch n := messages[r.RunID]; {
		case !r.State.Final():
			w.t.Errorf("%s: the run %s is %s: %s", what, r.RunID, r.State, r.Why)
		case n == 0 && r.Why == "":
			w.t.Errorf("%s: the run %s is %s, has no message and no reason", what, r.RunID, r.State)
		case n == 0:
			silent++
		}
	}
	told := len(messages) + silent + d.Schedule.Skipped
	if paused := d.Schedule.State == protocol.SchedulePaused && strings.Contains(d.Schedule.Why, "the host died"); paused && told < due {
		return // it is due no more, and says why
	}
	if told != due {
		w.t.Errorf("%s: of %d instants %d have a message, %d runs have none, and %d were left out; runs %+v", what, due, len(messages), silent, d.Schedule.Skipped, runs)
	}
}

// TestEachInstantHasOneMessageHoweverOftenTheHostIsKilled kills the host at every change of
// the disk that one fire makes, and at a second one of the host after it.
func TestEachInstantHasOneMessageHoweverOftenTheHostIsKilled(t *testing.T) {
	const step = 10 * time.Second
	const every = hosttest.EveryKill
	rounds, died := 0, 0
	for _, target := range []string{"session", "fresh", "kept", "session", "fresh", "kept"} {
		for n, more := 1, true; more; n += every {
			what := fmt.Sprintf("%s, killed at change %d", target, n)
			d := &dying{FS: disk.OS()}
			within(t, func(w *world) {
				w.stop()
				w.Config.FS = d
				w.start()
				var in protocol.SessionID
				if target == "session" {
					in = w.c.NewSession()
				}
				x := w.add(in, protocol.CreateSchedule{When: "every 10s", Prompt: "look", Target: target})
				w.pass(5 * time.Second)
				d.arm(n)
				w.pass(7 * time.Second)
				if more = w.kill(d); more {
					died++
					second := 1 + rand.IntN(40)
					what += fmt.Sprintf(" and %d", second)
					d.arm(second)
				}
				w.pass(15 * time.Second)
				if w.kill(d) {
					died++
				}
				w.pass(8 * time.Second)
				w.accounted(what, x, x.CreatedAt+step.Milliseconds(), step)
			})
			if rounds++; n > 200 {
				t.Fatal("a fire changes the disk for ever")
			}
		}
	}
	t.Logf("%d rounds, %d kills", rounds, died)
	if rounds < 200/every {
		t.Errorf("only %d rounds: a fire is not seen to change the disk", rounds)
	}
}

// full is a disk on which nothing of schedules can be stored for a while, from the n-th change
// of them on.
type full struct{ dying }

func (f *full) Rename(from, to string) error {
	if strings.Contains(to, "/automation/") {
		return f.dying.Rename(from, to)
	}
	return f.FS.Rename(from, to)
}

func (f *full) Open(name string, flag disk.OpenFlag) (disk.File, error) { return f.FS.Open(name, flag) }
func (f *full) Remove(name string) error                                { return f.FS.Remove(name) }
func (f *full) MkdirAll(name string) error                              { return f.FS.MkdirAll(name) }

func TestWhatCannotBeStoredForAWhileIsSentOnce(t *testing.T) {
	const step = 10 * time.Second
	for n, more := 1, true; more; n++ {
		f := &full{dying{FS: disk.OS()}}
		within(t, func(w *world) {
			w.stop()
			w.Config.FS = f
			w.start()
			x := w.add(w.c.NewSession(), protocol.CreateSchedule{When: "every 10s", Prompt: "look"})
			w.pass(5 * time.Second)
			f.arm(n)
			w.pass(7 * time.Second)
			more = f.revive()
			w.pass(62 * time.Second)
			w.accounted(fmt.Sprintf("full at change %d", n), x, x.CreatedAt+step.Milliseconds(), step)
		})
		if n > 20 {
			t.Fatal("a fire changes the file for ever")
		}
	}
}
