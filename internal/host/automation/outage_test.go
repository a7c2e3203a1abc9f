package automation_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// fullDisk has no room for the file of schedules while it is full.
type fullDisk struct {
	disk.FS
	full atomic.Bool
}

func (f *fullDisk) Rename(from, to string) error {
	if f.full.Load() && strings.HasPrefix(filepath.Base(to), "state.json") && filepath.Base(filepath.Dir(to)) == "automation" {
		return &fs.PathError{Op: "rename", Path: from, Err: syscall.ENOSPC}
	}
	return f.FS.Rename(from, to)
}

// skip is what was left out of a schedule.
func (w *world) skip(id protocol.ScheduleID) protocol.Skip {
	w.t.Helper()
	if s := w.get(id).Schedule.LastSkip; s != nil {
		return *s
	}
	return protocol.Skip{}
}

func TestThatRunsCannotBeStoredIsTold(t *testing.T) {
	within(t, func(w *world) {
		w.stop()
		full := &fullDisk{FS: disk.OS()}
		var said []string
		w.Config.FS, w.Config.Say = full, func(text string) { said = append(said, text) }
		w.start()
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "look"})
		w.pass(61 * time.Second)
		w.expect(x.ScheduleID, "completed")
		full.full.Store(true)
		w.pass(5 * time.Minute)
		const cause = "state.json: no space left on device"
		if p := w.status().Problem; !strings.HasPrefix(p, "Runs cannot be stored, so none begins: ") || !strings.Contains(p, cause) {
			t.Errorf("the status says %q", p)
		}
		if s := w.get(x.ScheduleID).Schedule; !strings.Contains(s.Why, "runs cannot be stored") || !strings.Contains(s.Why, cause) {
			t.Errorf("the schedule is %s: %q", s.State, s.Why)
		}
		full.full.Store(false)
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "completed completed completed")
		if s := w.skip(x.ScheduleID); !strings.HasPrefix(s.Why, "runs could not be stored: ") || !strings.Contains(s.Why, cause) {
			t.Errorf("what was left out: %+v", s)
		}
		if p, why := w.status().Problem, w.get(x.ScheduleID).Schedule.Why; p+why != "" {
			t.Errorf("after that it says %q, %q", p, why)
		}
		if len(said) != 2 || !strings.Contains(said[0], "cannot be stored") || !strings.Contains(said[0], cause) || !strings.Contains(said[1], "can be stored again") {
			t.Errorf("the log of the host has %q", said)
		}
	})
}

func TestThatRunsCanBeStoredAgainIsFoundOutThoughNothingIsDue(t *testing.T) {
	within(t, func(w *world) {
		w.stop()
		full := &fullDisk{FS: disk.OS()}
		w.Config.FS = full
		w.start()
		w.add("", protocol.CreateSchedule{When: "every 1d", Prompt: "look"})
		full.full.Store(true)
		if _, err := w.c.Try("", &protocol.CreateSchedule{When: "every 1d", Prompt: "look", Target: "fresh", WorkDir: w.Project}); err == nil {
			t.Error("one was stored on a full disk")
		}
		if p := w.status().Problem; !strings.HasPrefix(p, "Runs cannot be stored") {
			t.Errorf("the status says %q", p)
		}
		full.full.Store(false)
		w.pass(time.Minute)
		if p := w.status().Problem; p != "" {
			t.Errorf("the status says %q", p)
		}
	})
}

func TestWhatWasLeftOutHasTheTrueReason(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "look"})
		w.pass(61 * time.Second)
		for _, each := range []struct{ line, want string }{
			{"enabled = false", "automation was off (automation.enabled = false)"},
			{"enabled = 7", "the configuration could not be read: "},
		} {
			w.configure(each.line)
			w.pass(5 * time.Minute)
			w.configure("")
			w.pass(time.Minute)
			if s := w.skip(x.ScheduleID); !strings.HasPrefix(s.Why, each.want) {
				t.Errorf("%s: what was left out: %+v", each.line, s)
			}
		}
		w.stop()
		w.pass(5 * time.Minute)
		w.start()
		w.pass(time.Second)
		if s := w.skip(x.ScheduleID); s.Why != "the host was not there, or the machine slept" {
			t.Errorf("what was left out: %+v", s)
		}
	})
}

func TestTheLastLeftOutIsNotTheOneThatRuns(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 10s", Prompt: "look"})
		w.pass(15 * time.Second)
		w.stop()
		w.pass(36 * time.Second)
		w.start()
		w.pass(time.Second)
		w.expect(x.ScheduleID, "completed completed")
		d := w.get(x.ScheduleID)
		if s := d.Schedule.LastSkip; s == nil || s.At != d.Runs[0].Due-10_000 || d.Schedule.Skipped != 3 {
			t.Errorf("left out: %d, the last %+v; the run is for %d", d.Schedule.Skipped, s, d.Runs[0].Due)
		}
	})
}
