package automation

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/schedule"
	"scorel/internal/host/automation/store"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

// longest is how far the loop looks ahead, so that what it has not been told of (a file that
// another program changed, other limits) counts soon.
const longest = 10 * time.Minute

// staleAfter is how long after it was due a run that a host left waiting may still begin.
const staleAfter = 24 * time.Hour

// manySchedules is from how many on it is worth to give back what reading them took: a host that
// only waits makes no garbage that would have it collected.
const manySchedules = 100

// loop has schedules make runs until the host ends.
func (a *Automation) loop(ctx context.Context) {
	a.outages.begin(a.cfg.Clock.Now())
	a.recover(ctx)
	a.alignAll(ctx)
	first := true
	for ctx.Err() == nil {
		a.poked.Store(false)
		a.alarm.Arm(a.tick(ctx))
		if first && len(a.store.State().Schedules) >= manySchedules {
			debug.FreeOSMemory()
		}
		first = false
		if a.poked.Load() { // what it was for may have been looked at too early
			continue
		}
		if _, err := a.alarm.Wait(ctx); err != nil {
			return
		}
	}
}

// poke has the loop look again now.
func (a *Automation) poke() {
	a.poked.Store(true)
	a.alarm.Arm(a.cfg.Clock.Now())
}

// recover settles what an earlier host has left.
func (a *Automation) recover(ctx context.Context) {
	for _, r := range a.store.State().Runs {
		if r.State == protocol.RunRunning && r.Epoch != a.epoch {
			a.settle(ctx, r.RunID, r.SessionID, r.EventID)
		}
	}
}

// tick makes the runs that are due and begins those that may begin. It returns when it is to
// be called again, the zero time when nothing is to come.
func (a *Automation) tick(ctx context.Context) (next time.Time) {
	limits, err := a.limits()
	now := a.cfg.Clock.Now()
	if err != nil {
		if a.outages.bad(now, "the configuration could not be read: "+failure.Sentence(err)) {
			a.say("no run of a schedule begins, because the configuration cannot be read: " + err.Error())
		}
		return now.Add(time.Minute)
	}
	if !limits.Enabled {
		a.outages.bad(now, "automation was off (automation.enabled = false)")
		if a.Waits() {
			return now.Add(time.Minute) // a change of the configuration is seen
		}
		return time.Time{}
	}
	next = sooner(a.alignHeld(ctx, now), a.tryToStore(now))
	all := a.store.State().Schedules
	a.upcoming.keep(len(all), a.cfg.Clock.Zone())
	for _, x := range all {
		if ctx.Err() != nil {
			return time.Time{}
		}
		next = sooner(next, a.look(ctx, limits, x, now))
	}
	a.outages.end(now)
	next = sooner(next, a.beginWaiting(limits, now))
	if !next.IsZero() && next.Sub(now) > longest {
		next = now.Add(longest)
	}
	return next
}

// sooner returns the earlier of two instants, of which zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// look makes the run of a schedule that is due, and returns when it is next.
func (a *Automation) look(ctx context.Context, limits config.Automation, x *store.Schedule, now time.Time) time.Time {
	switch {
	case x.State == protocol.SchedulePaused && x.PausedUntil > 0 && x.PausedUntil <= now.UnixMilli():
		a.change("let a schedule go on", func(st *store.State) {
			if x := st.Change(x.ScheduleID); x != nil && x.State == protocol.SchedulePaused && x.PausedUntil > 0 {
				a.rearm(x)
			}
		})
		if x = a.store.State().Schedule(x.ScheduleID); x == nil {
			return time.Time{}
		}
		if x.State == protocol.SchedulePaused && x.PausedUntil > 0 { // that could not be stored
			return now.Add(tryAgain)
		}
	case x.State == protocol.SchedulePaused && x.PausedUntil > 0:
		return time.UnixMilli(x.PausedUntil)
	}
	if x.State != protocol.ScheduleArmed {
		return time.Time{}
	}
	if next, ok := a.upcoming.of[x]; ok && now.Before(next) {
		return next
	}
	plan, err := schedule.Compile(x.When, time.UnixMilli(x.Anchor))
	if err != nil {
		a.pause(x.ScheduleID, 0, err.Error())
		return time.Time{}
	}
	due := plan.Due(schedule.Instant{Settled: time.UnixMilli(x.Settled), Now: now, CatchUp: schedule.CatchUp(limits.CatchUp), Local: a.cfg.Clock.Zone()})
	if !due.Due.IsZero() && !a.unchanged(ctx, x) {
		return now.Add(tryAgain)
	}
	stored := due.Missed == 0 && due.Due.IsZero() || a.settleDue(limits, x, due)
	if stored && due.Next.IsZero() {
		stored = a.change("end a schedule", func(st *store.State) {
			if x := st.Change(x.ScheduleID); x != nil {
				x.State = protocol.ScheduleDone
			}
		})
	}
	if !stored {
		return sooner(due.Next, now.Add(tryAgain))
	}
	if due.Due.IsZero() && due.Missed == 0 { // else the schedule is another one now
		a.upcoming.of[x] = due.Next
	}
	return due.Next
}

// upcoming knows when schedules are due next, so that a look at all of them reads no expression
// again. It belongs to the loop. A schedule that is changed is another [store.Schedule].
type upcoming struct {
	zone *time.Location
	of   map[*store.Schedule]time.Time
}

// keep forgets what was found in another zone, and what has become too much because schedules
// were changed; n is how many there are.
func (u *upcoming) keep(n int, zone *time.Location) {
	if u.of == nil || u.zone != zone || len(u.of) > 2*n+100 {
		u.zone, u.of = zone, make(map[*store.Schedule]time.Time, n)
	}
}

// missed is why an instant had no run that came too late, where nothing else is known.
const missed = "the host was not there, or the machine slept"

// settleDue makes the run of a schedule that is due, or records why there is none. What was
// missed before it is recorded in the same change. It reports whether that is stored.
func (a *Automation) settleDue(limits config.Automation, x *store.Schedule, due schedule.Verdict) bool {
	settled := due.Settled.UnixMilli()
	before := func(st *store.State) {
		if due.Missed > 0 {
			st.Skip(x.ScheduleID, due.LastMissed.UnixMilli(), x.Settled, due.Missed, a.outages.at(due.LastMissed))
		}
	}
	if due.Due.IsZero() {
		return a.change("record what was missed", func(st *store.State) {
			st.Skip(x.ScheduleID, due.LastMissed.UnixMilli(), settled, due.Missed, a.outages.at(due.LastMissed))
		})
	}
	at := due.Due.UnixMilli()
	skip := func(why string) bool {
		return a.change("record what was left out", func(st *store.State) { before(st); st.Skip(x.ScheduleID, at, settled, 1, why) })
	}
	if why := a.dayOver(limits); why != "" {
		stored := skip(why)
		a.pauseToday(x, why)
		return stored
	}
	until, quiet := a.quiet(limits)
	if quiet && x.When.EverySeconds > 0 {
		return skip("quiet hours")
	}
	return a.change("make a run", func(st *store.State) {
		x := st.Schedule(x.ScheduleID)
		if x == nil || x.State != protocol.ScheduleArmed {
			return
		}
		before(st)
		r := a.newRun(st, x, protocol.RunIDOf(x.ScheduleID, at), at, false)
		if quiet {
			r.NotBefore, r.Why = until.UnixMilli(), "quiet hours"
		}
		st.Claim(r, settled)
	})
}

// change changes the file and reports whether it did. That it could not is kept for people;
// whoever calls it tries again later.
func (a *Automation) change(what string, do func(*store.State)) bool {
	err := a.update(func(st *store.State) error { do(st); return nil })
	if err != nil {
		a.report(what, err)
	}
	return err == nil
}

// newRun makes the run of a schedule for an instant, with the session that it works in.
func (a *Automation) newRun(st *store.State, x *store.Schedule, id protocol.RunID, due int64, manual bool) *store.Run {
	now := a.cfg.Clock.Now()
	in := x.SessionID
	if x.Target == protocol.TargetFresh || in == "" {
		in = protocol.NewSessionID(now, a.cfg.Rand)
	}
	if x.Target == protocol.TargetKept && x.SessionID == "" {
		st.Change(x.ScheduleID).SessionID = in
	}
	return &store.Run{ScheduleRun: protocol.ScheduleRun{RunID: id, ScheduleID: x.ScheduleID, Name: x.Name, Due: due, State: protocol.RunQueued,
		SessionID: in, CreatedAt: now.UnixMilli()}, Epoch: a.epoch, Manual: manual}
}

// beginWaiting begins the runs that wait and may, in the order in which they were due. It
// returns when it is to be called again.
func (a *Automation) beginWaiting(limits config.Automation, now time.Time) (next time.Time) {
	until, quiet := a.quiet(limits)
	for _, r := range a.store.State().Runs {
		if r.State.Final() {
			continue
		}
		a.mu.Lock()
		j, all, w := a.jobs[r.RunID], len(a.jobs), a.busy[r.RunID]
		end, over := a.ends[r.RunID]
		a.mu.Unlock()
		notBefore := time.UnixMilli(r.NotBefore)
		if quiet && !r.Manual && until.After(notBefore) {
			notBefore = until
		}
		switch {
		case j != nil:
		case over: // and that could not be stored
			if a.finish(r.RunID, end.state, end.why); a.unstored(r.RunID) {
				next = sooner(next, now.Add(tryAgain))
			}
		case r.State == protocol.RunRunning: // of no job of this host: its turn is gone
			a.lost(r, now)
		case now.Sub(time.UnixMilli(r.Due)) > staleAfter && !r.Manual && r.NotBefore == 0:
			a.finish(r.RunID, protocol.RunCancelled, "it was due more than a day ago")
		case notBefore.After(now):
			next = sooner(next, notBefore)
		case w.until.After(now) && w.until.Sub(now) <= tryAgain: // a clock that was set back is no reason to wait
			next = sooner(next, w.until)
		case a.dayOver(limits) != "":
			a.finish(r.RunID, protocol.RunBudget, a.dayOver(limits))
		case all >= limits.MaxParallel:
			a.wait(r.RunID, waiting{why: fmt.Sprintf("%d runs work already (automation.maxParallel)", all)})
		default:
			a.start(r.RunID)
		}
	}
	return next
}

// unstored reports whether the end of a run waits to be stored.
func (a *Automation) unstored(id protocol.RunID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, is := a.ends[id]
	return is
}

// start begins a run in a goroutine of its own.
func (a *Automation) start(id protocol.RunID) {
	j := &job{}
	a.mu.Lock()
	a.jobs[id] = j
	a.mu.Unlock()
	if !a.cfg.Sessions.Go("a run of a schedule", func(ctx context.Context) { a.begin(ctx, j, id) }) {
		a.mu.Lock()
		delete(a.jobs, id)
		a.mu.Unlock()
	}
}
