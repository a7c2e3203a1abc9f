package automation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func TestAClockThatWasYearsAheadLeavesTheDaysLimitAsItWas(t *testing.T) {
	within(t, func(w *world) {
		clock := &jumping{}
		w.configure("maxDayTokens = 150")
		w.stop()
		w.Config.Clock = clock
		w.start()
		x := w.add("", protocol.CreateSchedule{When: "every 24h", Prompt: "look"})
		clock.by.Store(int64(3 * 365 * 24 * time.Hour))
		run := w.c.Do("", &protocol.RunSchedule{ScheduleID: x.ScheduleID}).(*protocol.ScheduleRun)
		w.pass(time.Second)
		if s := w.status(); s.DayTokens != 110 {
			t.Fatalf("the run %s has used %d tokens", run.RunID, s.DayTokens)
		}
		clock.by.Store(0)
		for day := range 3 {
			begins := int64(0)
			if day == 0 { // what was spent by the wrong clock
				begins = 110
			}
			if s := w.status(); s.DayTokens != begins {
				t.Errorf("day %d begins with %d tokens, want %d", day, s.DayTokens, begins)
			}
			w.c.Do("", &protocol.RunSchedule{ScheduleID: x.ScheduleID})
			w.pass(time.Second)
			if s := w.status(); s.DayTokens != begins+110 {
				t.Errorf("day %d: %d tokens are counted", day, s.DayTokens)
			}
			if day == 1 { // what was stored counts, too
				w.stop()
				w.start()
			}
			w.pass(24 * time.Hour)
		}
		w.c.Do("", &protocol.RunSchedule{ScheduleID: x.ScheduleID})
		w.pass(time.Second)
		clock.by.Store(-int64(24 * time.Hour)) // as a journey may set it
		if s := w.status(); s.DayTokens != 110 {
			t.Errorf("a clock that goes back by a day has %d tokens counted", s.DayTokens)
		}
	})
}

func TestARunThatWaitsIsTriedThoughTheClockWasSetBack(t *testing.T) {
	f := &full{dying{FS: disk.OS()}}
	within(t, func(w *world) {
		clock := &jumping{}
		w.stop()
		w.Config.Clock, w.Config.FS = clock, f
		w.start()
		x := w.add("", protocol.CreateSchedule{When: "every 24h", Prompt: "look"})
		clock.by.Store(int64(20 * time.Hour))
		f.arm(2) // the run is stored, and that it begins is not
		w.c.Do("", &protocol.RunSchedule{ScheduleID: x.ScheduleID})
		w.pass(time.Second)
		w.expect(x.ScheduleID, "queued")
		clock.by.Store(0)
		f.revive()
		w.pass(15 * time.Minute)
		w.expect(x.ScheduleID, "completed")
	})
}

func TestARunThatEndsIsKeptHoweverManyWait(t *testing.T) {
	within(t, func(w *world) {
		now := time.Now()
		w.configure(fmt.Sprintf("quietHours = \"%s-%s\"", now.Format("15:04"), now.Add(12*time.Hour).Format("15:04")))
		var all []*protocol.Schedule
		for range 205 { // more than the runs that are kept
			all = append(all, w.add("", protocol.CreateSchedule{When: "in 1m", Prompt: "look"}))
		}
		w.pass(2 * time.Minute)
		run := w.get(all[7].ScheduleID).Runs[0]
		got, err := w.c.Try("", &protocol.CancelRun{RunID: run.RunID})
		if r, ok := got.(*protocol.ScheduleRun); err != nil || !ok || r.State != protocol.RunCancelled {
			t.Errorf("cancelling one of 205: %+v %v", got, err)
		}
		if d := w.get(all[7].ScheduleID); len(d.Runs) != 1 || d.Runs[0].State != protocol.RunCancelled || !strings.Contains(d.Runs[0].Why, "cancelled") {
			t.Errorf("it is kept as %+v", d.Runs)
		}
	})
}
