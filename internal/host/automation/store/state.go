package store

import (
	"cmp"
	"fmt"
	"slices"

	"scorel/protocol"
)

// Bounds of what is kept. At the bound a new schedule is refused; ended runs and schedules that
// are never due again leave from the oldest on.
const (
	MaxSchedules = 1000
	MaxRuns      = 200 // that have ended; besides, a schedule has one that has not
	maxDone      = 100
)

// Schedule is a schedule as the file has it. Times are Unix milliseconds.
type Schedule struct {
	protocol.Schedule
	// Anchor is when it was armed: intervals count from it. Settled is the instant up to which
	// everything has been fired or skipped; it only grows.
	Anchor  int64 `json:"anchor"`
	Settled int64 `json:"settled"`
	// Root and Task are the project and the task of a heartbeat, and Sum what the project's
	// files were when it was made.
	Root string `json:"root,omitempty"`
	Task string `json:"task,omitempty"`
	Sum  string `json:"sum,omitempty"`
	// Held says that a heartbeat is paused by what its project's files are, and not by a
	// person.
	Held bool `json:"held,omitempty"`
}

// Hold pauses a heartbeat until its project's files let it go on.
func (x *Schedule) Hold(why string) {
	x.State, x.Why, x.PausedUntil, x.Held = protocol.SchedulePaused, why, 0, true
}

// Run is a run as the file has it.
type Run struct {
	protocol.ScheduleRun
	// Epoch is the host that works on it, and Starts how many hosts have begun to send it and
	// did not end as they should.
	Epoch  protocol.Epoch `json:"epoch"`
	Starts int            `json:"starts,omitempty"`
	Sum    string         `json:"sum,omitempty"` // of its schedule
	Manual bool           `json:"manual,omitempty"`
}

// State is what the file holds, oldest first. It is changed by its methods alone, in
// [Store.Update]; what is read from it elsewhere is not to be changed.
type State struct {
	Version   int         `json:"version"`
	Schedules []*Schedule `json:"schedules"`
	Runs      []*Run      `json:"runs"`
}

// copied returns a state that can be changed without the other.
func (s *State) copied() *State {
	return &State{Version: s.Version, Schedules: slices.Clone(s.Schedules), Runs: slices.Clone(s.Runs)}
}

// Schedule returns the schedule of that id, nil for none.
func (s *State) Schedule(id protocol.ScheduleID) *Schedule {
	if i := s.find(id); i >= 0 {
		return s.Schedules[i]
	}
	return nil
}

func (s *State) find(id protocol.ScheduleID) int {
	return slices.IndexFunc(s.Schedules, func(x *Schedule) bool { return x.ScheduleID == id })
}

// Run returns the run of that id, nil for none.
func (s *State) Run(id protocol.RunID) *Run {
	if i := s.findRun(id); i >= 0 {
		return s.Runs[i]
	}
	return nil
}

func (s *State) findRun(id protocol.RunID) int {
	return slices.IndexFunc(s.Runs, func(x *Run) bool { return x.RunID == id })
}

// Active returns the run of a schedule that has not ended, nil for none.
func (s *State) Active(id protocol.ScheduleID) *Run {
	for _, r := range s.Runs {
		if r.ScheduleID == id && !r.State.Final() {
			return r
		}
	}
	return nil
}

// Last returns the newest run of a schedule, nil for none.
func (s *State) Last(id protocol.ScheduleID) *Run {
	for _, r := range slices.Backward(s.Runs) {
		if r.ScheduleID == id {
			return r
		}
	}
	return nil
}

// Add adds a schedule. One of the same id is there already when the request that makes it is
// repeated, and stays.
func (s *State) Add(x *Schedule) error {
	if s.find(x.ScheduleID) >= 0 {
		return nil
	}
	if len(s.Schedules) >= MaxSchedules && !s.dropDone(0) {
		return protocol.Errorf(protocol.CodeRateLimited, "There are %d schedules already; delete one that is not needed.", MaxSchedules)
	}
	s.Schedules = append(s.Schedules, x)
	return nil
}

// Change returns the schedule of that id to be changed, nil when there is none.
func (s *State) Change(id protocol.ScheduleID) *Schedule {
	i := s.find(id)
	if i < 0 {
		return nil
	}
	x := *s.Schedules[i]
	s.Schedules[i] = &x
	return &x
}

// Remove takes a schedule away. A run of it that has not begun is cancelled.
func (s *State) Remove(id protocol.ScheduleID, now int64) bool {
	i := s.find(id)
	if i < 0 {
		return false
	}
	s.Schedules = slices.Delete(s.Schedules, i, i+1)
	if r := s.Active(id); r != nil && r.State == protocol.RunQueued {
		_ = s.End(r.RunID, protocol.RunCancelled, "its schedule was deleted", now) // it is there, and has not ended
	}
	return true
}

// Claim adds the run of a schedule for an instant, and settles the schedule up to that in the
// same change. It reports false, and records why, when the run before has not ended; a run that
// was claimed before is no other one.
func (s *State) Claim(r *Run, settled int64) (claimed bool) {
	x := s.Change(r.ScheduleID)
	if x == nil || s.Run(r.RunID) != nil {
		return false
	}
	x.Settled = max(x.Settled, settled)
	if before := s.Active(r.ScheduleID); before != nil {
		x.skip(r.Due, "the run before is still "+string(before.State))
		return false
	}
	s.Runs = append(s.Runs, r)
	s.trim()
	return true
}

// Skip settles a schedule up to an instant that has no run, and says why. n counts the
// instants that are left out.
func (s *State) Skip(id protocol.ScheduleID, at, settled int64, n int, why string) {
	if x := s.Change(id); x != nil {
		x.Settled = max(x.Settled, settled)
		x.skip(at, why)
		x.Skipped += n - 1
	}
}

func (x *Schedule) skip(at int64, why string) {
	x.LastSkip = &protocol.Skip{At: at, Why: why}
	x.Skipped++
}

// errFinal says that a run has ended.
func errFinal(r *Run) error {
	return protocol.Errorf(protocol.CodeConflict, "The run %s is %s already.", r.RunID, r.State)
}

// open returns a run to be changed that has not ended.
func (s *State) open(id protocol.RunID) (*Run, error) {
	i := s.findRun(id)
	if i < 0 {
		return nil, protocol.About("runId", "", protocol.CodeNotFound, "There is no run %.40q.", string(id))
	}
	if s.Runs[i].State.Final() {
		return nil, errFinal(s.Runs[i])
	}
	r := *s.Runs[i]
	s.Runs[i] = &r
	return &r, nil
}

// Begin notes that a host is about to send the message of a run that waits.
func (s *State) Begin(id protocol.RunID, epoch protocol.Epoch) error {
	r, err := s.open(id)
	switch {
	case err != nil:
		return err
	case r.State != protocol.RunQueued:
		return errFinal(r)
	}
	if r.Epoch != epoch || r.Starts == 0 {
		r.Starts++
	}
	r.Epoch = epoch
	return nil
}

// Began notes that the message of a run is stored.
func (s *State) Began(id protocol.RunID, event protocol.EventID, now int64) error {
	r, err := s.open(id)
	if err != nil {
		return err
	}
	r.State, r.EventID, r.Why, r.NotBefore = protocol.RunRunning, event, "", 0
	r.StartedAt = cmp.Or(r.StartedAt, now)
	return nil
}

// Spent notes what a run has cost, and how many of its calls were denied, also of one that was cancelled before that was known.
func (s *State) Spent(id protocol.RunID, usd float64, tokens int64, denied int) {
	if i := s.findRun(id); i >= 0 {
		r := *s.Runs[i]
		r.CostUSD, r.Tokens, r.Denied = usd, tokens, denied
		s.Runs[i] = &r
	}
}

// End ends a run.
func (s *State) End(id protocol.RunID, state protocol.RunState, why string, now int64) error {
	if !state.Final() {
		return fmt.Errorf("a run does not end as %s", state)
	}
	r, err := s.open(id)
	if err != nil {
		return err
	}
	r.State, r.Why, r.EndedAt, r.NotBefore = state, why, now, 0
	s.trim()
	return nil
}

// Rest has the runs of a host that ends as it should, and that have not begun, count as never
// started.
func (s *State) Rest(epoch protocol.Epoch) {
	for i, r := range s.Runs {
		if r.Epoch == epoch && r.State == protocol.RunQueued && r.Starts > 0 {
			next := *r
			next.Starts--
			s.Runs[i] = &next
		}
	}
}

// trim lets the oldest runs go that have ended, and schedules that are never due again. How
// many wait does not count: one that has just ended would go before anybody sees how.
func (s *State) trim() {
	over := -MaxRuns
	for _, r := range s.Runs {
		if r.State.Final() {
			over++
		}
	}
	s.Runs = slices.DeleteFunc(s.Runs, func(r *Run) bool {
		if over <= 0 || !r.State.Final() {
			return false
		}
		over--
		return true
	})
	s.dropDone(maxDone)
}

// dropDone removes the oldest schedules that are never due again and have no run that goes on,
// but for the newest most, and reports whether one went.
func (s *State) dropDone(most int) (dropped bool) {
	n := 0
	done := func(x *Schedule) bool {
		return x.State == protocol.ScheduleDone && s.Active(x.ScheduleID) == nil
	}
	for _, x := range s.Schedules {
		if done(x) {
			n++
		}
	}
	s.Schedules = slices.DeleteFunc(s.Schedules, func(x *Schedule) bool {
		if n <= most || !done(x) {
			return false
		}
		n, dropped = n-1, true
		return true
	})
	return dropped
}
