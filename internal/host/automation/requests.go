package automation

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/runtime"
	"scorel/internal/engine/schedule"
	"scorel/internal/host/asides"
	"scorel/internal/host/automation/store"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// Handle enters the handlers of requests about schedules and runs.
func (a *Automation) Handle(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.CreateSchedule) (protocol.Response, error) {
		return a.Create(ctx, at.By, protocol.SchedulePerson, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.PlanSchedule) (protocol.Response, error) {
		return a.Plan(ctx, at.Call.SessionID, (*protocol.CreateSchedule)(r))
	})
	request.On(t, func(_ context.Context, at *request.Target, _ *protocol.ListSchedules) (protocol.Response, error) {
		list, err := a.List(at.Call.SessionID)
		return &protocol.ScheduleList{Schedules: list}, err
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.GetSchedule) (protocol.Response, error) {
		return a.Get(r.ScheduleID)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.SetSchedule) (protocol.Response, error) {
		return a.Set(ctx, r.ScheduleID, r.Paused)
	})
	request.On(t, func(_ context.Context, at *request.Target, r *protocol.DeleteSchedule) (protocol.Response, error) {
		return &protocol.Done{}, a.Delete(r.ScheduleID, at.Call.Repeat)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.RunSchedule) (protocol.Response, error) {
		return a.RunNow(ctx, at.By, r.ScheduleID)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.ListRuns) (protocol.Response, error) {
		return a.Runs(r)
	})
	request.On(t, func(_ context.Context, at *request.Target, r *protocol.CancelRun) (protocol.Response, error) {
		return a.Cancel(r.RunID, at.Call.Repeat)
	})
	request.On(t, func(_ context.Context, _ *request.Target, _ *protocol.GetAutomation) (protocol.Response, error) {
		return a.Status()
	})
}

// usable returns why nothing can be changed.
func (a *Automation) usable() error {
	switch {
	case a.fault != nil:
		return protocol.Errorf(protocol.CodeStorageError, "The schedules cannot be used: %v.", a.fault)
	case a.store == nil || !a.cfg.Settings.Serving:
		return protocol.Errorf(protocol.CodeInvalidRequest, "This host ends with its command, so nothing would be due; make schedules at a host that stays.")
	}
	return nil
}

func errNoSchedule(id protocol.ScheduleID) error {
	return protocol.About("scheduleId", "", protocol.CodeNotFound, "There is no schedule %.40q; list_schedules has them.", string(id))
}

// Create arms a schedule for a client, of a session or, with "", of sessions of its own. A
// request that is repeated finds what it made.
func (a *Automation) Create(ctx context.Context, by lane.Caller, source protocol.ScheduleSource, in protocol.SessionID, r *protocol.CreateSchedule) (*protocol.Schedule, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	id := protocol.ScheduleIDOf(by.Client, by.Request)
	if x := a.store.State().Schedule(id); x != nil {
		return a.shown(a.store.State(), x), nil
	}
	x, err := a.made(ctx, in, r)
	if err != nil {
		return nil, err
	}
	x.ScheduleID, x.Source, x.ClientID = id, source, by.Client
	err = a.update(func(st *store.State) error {
		if err := named(st, x.Name); err != nil { // of a request at the same time
			return err
		}
		return st.Add(x)
	})
	if err != nil {
		return nil, err
	}
	a.poke()
	return a.shown(a.store.State(), x), nil
}

// named refuses the name of a schedule that may be due: people name schedules by it.
func named(st *store.State, name string) error {
	for _, x := range st.Schedules {
		if name != "" && x.Name == name && x.State != protocol.ScheduleDone {
			return protocol.About("name", "", protocol.CodeInvalidRequest, "The schedule %s is named %q already; choose another name, or delete that schedule.", x.ScheduleID, name)
		}
	}
	return nil
}

// Plan returns what a schedule would be, and when it would be due next, without arming it.
func (a *Automation) Plan(ctx context.Context, in protocol.SessionID, r *protocol.CreateSchedule) (*protocol.ScheduleDetails, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	x, err := a.made(ctx, in, r)
	if err != nil {
		return nil, err
	}
	return &protocol.ScheduleDetails{Schedule: *a.shown(a.store.State(), x), Next: a.next(x, 3), Runs: []protocol.ScheduleRun{}}, nil
}

// made makes a schedule that nobody has yet.
func (a *Automation) made(ctx context.Context, in protocol.SessionID, r *protocol.CreateSchedule) (*store.Schedule, error) {
	for _, p := range []*protocol.Problem{r.Check(), r.CheckPlace(in), r.Options.CheckAlone()} {
		if p != nil {
			return nil, p.Err()
		}
	}
	if strings.TrimSpace(r.Prompt) == "" {
		return nil, protocol.About("prompt", "", protocol.CodeInvalidRequest, "The prompt is empty; say what is to be done.")
	}
	if err := named(a.store.State(), r.Name); err != nil {
		return nil, err
	}
	now, local := a.cfg.Clock.Now(), a.cfg.Clock.Zone()
	when, err := schedule.Parse(r.When, r.Zone, now, local)
	if err != nil {
		return nil, protocol.About("when", "", protocol.CodeInvalidRequest, "%s.", strings.TrimRight(err.Error(), "."))
	}
	x := &store.Schedule{Schedule: protocol.Schedule{Name: r.Name, When: when, Prompt: r.Prompt, Target: protocol.ScheduleTarget(r.Target), SessionID: in, WorkDir: r.WorkDir,
		Options: r.Options, OnQuestion: r.OnQuestion, CreatedAt: now.UnixMilli(), State: protocol.ScheduleArmed}, Anchor: now.UnixMilli(), Settled: now.UnixMilli()}
	if x.Target == "" {
		x.Target = protocol.TargetSession
	}
	meta, err := a.place(ctx, x)
	if err != nil {
		return nil, err
	}
	if _, err := schedule.Compile(when, now); err != nil {
		return nil, protocol.About("when", "", protocol.CodeInvalidRequest, "%s.", strings.TrimRight(err.Error(), "."))
	}
	return x, a.checkLimits(ctx, meta, x)
}

// place finds out where the runs of a schedule work.
func (a *Automation) place(ctx context.Context, x *store.Schedule) (meta protocol.Meta, err error) {
	if x.SessionID != "" {
		index, _, done, err := a.cfg.Sessions.View(ctx, x.SessionID)
		if err != nil {
			return meta, err
		}
		defer done()
		if index.Header().Parent != nil {
			return meta, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s is the session of a sub-agent, which ends with its work; name the session that it works for.", x.SessionID)
		}
		meta = index.Meta()
		if x.Target == protocol.TargetSession {
			return meta, nil
		}
		if x.WorkDir == "" {
			x.WorkDir = meta.WorkDir
		}
		x.SessionID = ""
	}
	x.WorkDir, err = a.cfg.Settings.WorkDir(x.WorkDir)
	return protocol.Meta{WorkDir: x.WorkDir, Model: meta.Model}, err
}

// checkLimits refuses a schedule with which no turn could run, or whose cost would have a
// limit that nobody can count.
func (a *Automation) checkLimits(ctx context.Context, meta protocol.Meta, x *store.Schedule) error {
	limits, err := a.limits()
	if err != nil {
		return err
	}
	info, err := a.cfg.Turns.Try(ctx, meta, x.Options)
	if err != nil {
		return err
	}
	if limits.MaxRunUSD == 0 && limits.MaxDayUSD == 0 && (x.Options == nil || x.Options.MaxBudgetUSD == 0) {
		return nil
	}
	if err := runtime.Unpriced(info); err != nil { // a nil of another type
		return err
	}
	return nil
}

// List returns the schedules, of a session where one is named, as a list shows them.
func (a *Automation) List(id protocol.SessionID) ([]protocol.Schedule, error) {
	list := []protocol.Schedule{}
	if a.fault != nil {
		return list, a.usable()
	}
	if a.store == nil {
		return list, nil
	}
	st := a.store.State()
	for _, x := range st.Schedules {
		if id != "" && x.SessionID != id {
			continue
		}
		s := a.shown(st, x)
		if len(s.Prompt) > protocol.MaxShownPrompt {
			s.Prompt = strings.ToValidUTF8(s.Prompt[:protocol.MaxShownPrompt], "") + "…"
		}
		list = append(list, *s)
	}
	return list, nil
}

// farAhead is how far a schedule may be settled ahead of the clock before people are told.
const farAhead = time.Hour

// shown returns a schedule as clients are told of it.
func (a *Automation) shown(st *store.State, x *store.Schedule) *protocol.Schedule {
	s := x.Schedule
	s.Words = schedule.Describe(x.When, a.cfg.Clock.Zone())
	if next := a.next(x, 1); len(next) > 0 && s.State == protocol.ScheduleArmed {
		s.NextAt = next[0]
	}
	settled, now := time.UnixMilli(x.Settled), a.cfg.Clock.Now()
	if s.State == protocol.ScheduleArmed && settled.Sub(now) > farAhead {
		s.Why = "the clock was set back; nothing is due before it shows " + settled.In(a.cfg.Clock.Zone()).Format("2006-01-02 15:04") + " again, unless you pause and resume it"
	}
	if why := a.outages.notStored(); why != "" && s.State == protocol.ScheduleArmed {
		s.Why = "runs cannot be stored, so none begins: " + why
	}
	if r := st.Last(x.ScheduleID); r != nil {
		s.LastRun = a.shownRun(r)
	}
	return &s
}

// next returns the next n instants at which a schedule is due.
func (a *Automation) next(x *store.Schedule, n int) (at []int64) {
	at = []int64{}
	plan, err := schedule.Compile(x.When, time.UnixMilli(x.Anchor))
	if err != nil {
		return at
	}
	from := time.UnixMilli(max(x.Settled, a.cfg.Clock.Now().UnixMilli()))
	for _, t := range plan.NextN(from, n, a.cfg.Clock.Zone()) {
		at = append(at, t.UnixMilli())
	}
	return at
}

// shownRun returns a run as clients are told of it.
func (a *Automation) shownRun(r *store.Run) *protocol.ScheduleRun {
	s := r.ScheduleRun
	if s.State == protocol.RunQueued && s.Why == "" {
		a.mu.Lock()
		s.Why = a.busy[r.RunID].why
		a.mu.Unlock()
	}
	return &s
}

// Get returns one schedule, when it is due next, and its newest runs.
func (a *Automation) Get(id protocol.ScheduleID) (*protocol.ScheduleDetails, error) {
	if a.store == nil {
		return nil, a.usable()
	}
	st := a.store.State()
	x := st.Schedule(id)
	if x == nil {
		return nil, errNoSchedule(id)
	}
	d := &protocol.ScheduleDetails{Schedule: *a.shown(st, x), Next: []int64{}, Runs: []protocol.ScheduleRun{}}
	if x.State == protocol.ScheduleArmed {
		d.Next = a.next(x, 3)
	}
	for _, r := range slices.Backward(st.Runs) {
		if r.ScheduleID == id && len(d.Runs) < 20 {
			d.Runs = append(d.Runs, *a.shownRun(r))
		}
	}
	return d, nil
}

// Set pauses a schedule or lets it go on.
func (a *Automation) Set(ctx context.Context, id protocol.ScheduleID, paused bool) (*protocol.Schedule, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	if !paused {
		if err := a.refuse(ctx, id); err != nil {
			return nil, err
		}
	}
	var x *store.Schedule // another request may delete it as soon as this is stored
	err := a.update(func(st *store.State) error {
		x = st.Change(id)
		switch {
		case x == nil:
			return errNoSchedule(id)
		case x.State == protocol.ScheduleDone:
			return protocol.About("scheduleId", "", protocol.CodeInvalidRequest, "%s is never due again; add a new one.", id)
		case paused:
			x.State, x.Why, x.PausedUntil, x.Held = protocol.SchedulePaused, "somebody paused it", 0, false
		default:
			a.rearm(x)
			x.Settled = a.cfg.Clock.Now().UnixMilli() // also where the clock was set back
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.poke()
	return a.shown(a.store.State(), x), nil
}

// rearm lets a paused schedule go on from now.
func (a *Automation) rearm(x *store.Schedule) {
	x.State, x.Why, x.PausedUntil, x.Held = protocol.ScheduleArmed, "", 0, false
	x.Settled = max(x.Settled, a.cfg.Clock.Now().UnixMilli())
}

// pause stops a schedule, until a moment or, with 0, until somebody resumes it.
func (a *Automation) pause(id protocol.ScheduleID, until int64, why string) {
	err := a.update(func(st *store.State) error {
		if x := st.Change(id); x != nil && x.State != protocol.ScheduleDone {
			x.State, x.Why, x.PausedUntil = protocol.SchedulePaused, why, until
		}
		return nil
	})
	if err != nil {
		a.report("pause the schedule "+string(id), err)
	}
}

// Delete ends a schedule. A repeat that does not find it has done it before.
func (a *Automation) Delete(id protocol.ScheduleID, repeat bool) error {
	if err := a.usable(); err != nil {
		return err
	}
	return a.update(func(st *store.State) error {
		if x := st.Schedule(id); x != nil && x.Source == protocol.ScheduleHeartbeat {
			return errOfFile(x)
		}
		if !st.Remove(id, a.cfg.Now().UnixMilli()) && !repeat {
			return errNoSchedule(id)
		}
		return nil
	})
}

// RunNow makes a run that nothing but the request asks for.
func (a *Automation) RunNow(ctx context.Context, by lane.Caller, id protocol.ScheduleID) (*protocol.ScheduleRun, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	if err := a.refuse(ctx, id); err != nil {
		return nil, err
	}
	now := a.cfg.Clock.Now().UnixMilli()
	run := protocol.ManualRunIDOf(id, by.Client, by.Request)
	err := a.update(func(st *store.State) error {
		x := st.Schedule(id)
		if x == nil {
			return errNoSchedule(id)
		}
		if st.Run(run) != nil {
			return nil
		}
		if before := st.Active(id); before != nil {
			return protocol.Errorf(protocol.CodeConflict, "The run %s of this schedule is still %s; wait for its end or cancel it.", before.RunID, before.State)
		}
		st.Claim(a.newRun(st, x, run, now, true), x.Settled)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.poke()
	return a.shownRun(a.store.State().Run(run)), nil
}

// Runs returns runs, newest first.
func (a *Automation) Runs(r *protocol.ListRuns) (*protocol.RunList, error) {
	list := &protocol.RunList{Runs: []protocol.ScheduleRun{}}
	if a.store == nil {
		return list, a.fault
	}
	limit := r.Limit
	if limit == 0 {
		limit = 20
	}
	for _, run := range slices.Backward(a.store.State().Runs) {
		if len(list.Runs) < limit && (r.ScheduleID == "" || run.ScheduleID == r.ScheduleID) && !(r.Active && run.State.Final()) {
			list.Runs = append(list.Runs, *a.shownRun(run))
		}
	}
	return list, nil
}

// Cancel ends a run. A repeat that finds it ended has done it before.
func (a *Automation) Cancel(id protocol.RunID, repeat bool) (*protocol.ScheduleRun, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	if err := a.cancelRun(id); err != nil && !(repeat && ignoreEnded(err) == nil) {
		return nil, err
	}
	return a.shownRun(a.store.State().Run(id)), nil
}

// damaged are sentences about files of automation that were damaged, for as long as what was
// set aside of them is there.
func (a *Automation) damaged() (texts []string) {
	for _, name := range []string{store.Name, dayFile} {
		texts = append(texts, asides.Of(a.cfg.Settings.FS, a.cfg.Settings.Dir, filepath.Join(folder, name))...)
	}
	return texts
}

// Status returns what the host does by itself.
func (a *Automation) Status() (*protocol.AutomationStatus, error) {
	limits, err := a.limits()
	if err != nil {
		return nil, err
	}
	s := &protocol.AutomationStatus{Enabled: limits.Enabled, Notices: append(a.damaged(), a.Notices()...), MaxParallel: limits.MaxParallel, MaxDayUSD: limits.MaxDayUSD, MaxDayTokens: int64(limits.MaxDayTokens),
		MaxRunUSD: limits.MaxRunUSD, MaxRunTokens: int64(limits.MaxRunTokens), MaxRunMinutes: limits.MaxRunMinutes, QuietHours: limits.QuietHours}
	for _, each := range a.cfg.Sessions.States() {
		if each.Automation != nil {
			s.Proactive++
		}
	}
	switch {
	case a.usable() != nil:
		s.Problem = protocol.AsError(a.usable()).Message
		return s, nil
	case a.outages.notStored() != "":
		s.Problem = "Runs cannot be stored, so none begins: " + a.outages.notStored() + "."
	case !limits.Enabled:
		s.Problem = "automation.enabled is false in the configuration, so nothing is due."
	}
	st := a.store.State()
	for _, x := range st.Schedules {
		switch x.State {
		case protocol.ScheduleArmed:
			s.Armed++
			if next := a.next(x, 1); len(next) > 0 && (s.NextAt == 0 || next[0] < s.NextAt) {
				s.NextAt = next[0]
			}
		case protocol.SchedulePaused:
			s.Paused++
		}
	}
	for _, r := range st.Runs {
		switch r.State {
		case protocol.RunRunning:
			s.Running++
		case protocol.RunQueued:
			s.Queued++
		}
	}
	if until, quiet := a.quiet(limits); quiet {
		s.QuietUntil = until.UnixMilli()
	}
	today := a.day.spent()
	s.DayUSD, s.DayTokens = today.USD, int64(today.Tokens)
	return s, nil
}
