package status

import "time"

// When a command that makes the status line runs.
const (
	// Debounce is how long a run waits for further reasons to run: a new one begins the
	// wait again.
	Debounce = 300 * time.Millisecond
	// Timeout ends a run.
	Timeout = 5 * time.Second
)

// Scheduler says when the command runs: after something has changed, and at intervals.
// At most one run is under way; a new one ends the one before. It starts nothing itself:
// whoever drives it calls Due at the time that Next gives, does what it says, and tells
// of the end of a run with Ended.
type Scheduler struct {
	command string
	every   time.Duration
	wanted  time.Time // when a run is due, zero when none is
	timer   time.Time // when the interval is over, zero without one
	run     int       // the number of the run that is under way, 0 without one
	last    int
	ends    time.Time // when it is ended
	text    string
	loud    bool // the next result is of a command that was just set
}

// Step is what is to be done. Cancel comes before Start.
type Step struct {
	Cancel int    // the run that is to be ended, 0 for none
	Start  int    // the run that begins, 0 for none
	Run    string // its command
	// Warn says that a command that was just set was ended because it took too long,
	// which is worth telling once.
	Warn bool
}

// Set sets the command and the interval between runs, 0 for none. Another command runs
// at once, and its first result is worth telling when it fails (see Ended); none clears
// the text. The step may end a run.
func (s *Scheduler) Set(command string, every time.Duration, now time.Time) Step {
	var step Step
	if command != s.command {
		step.Cancel, s.run = s.run, 0
		s.command, s.loud = command, true
		s.wanted = now
		if command == "" {
			s.wanted, s.text = time.Time{}, ""
		}
	}
	if every != s.every || s.timer.IsZero() {
		s.timer = time.Time{}
		if every > 0 {
			s.timer = now.Add(every)
		}
	}
	s.every = every
	if command == "" {
		s.timer = time.Time{}
	}
	return step
}

// Changed tells that something has changed that the command is told: a new answer,
// another mode or model.
func (s *Scheduler) Changed(now time.Time) {
	if s.command != "" {
		s.wanted = now.Add(Debounce)
	}
}

// Next returns the time at which Due is to be called, false when there is none.
func (s *Scheduler) Next() (time.Time, bool) {
	var next time.Time
	for _, t := range []time.Time{s.wanted, s.timer} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if s.run != 0 && (next.IsZero() || s.ends.Before(next)) {
		next = s.ends
	}
	return next, !next.IsZero()
}

// Due returns what is to be done now.
func (s *Scheduler) Due(now time.Time) Step {
	var step Step
	if s.run != 0 && !now.Before(s.ends) {
		step.Cancel, s.run = s.run, 0
		step.Warn, s.loud = s.loud, false
	}
	if !s.timer.IsZero() && !now.Before(s.timer) {
		s.timer = now.Add(s.every)
		s.Changed(now)
	}
	if !s.wanted.IsZero() && !now.Before(s.wanted) {
		if s.run != 0 {
			step.Cancel = s.run
		}
		s.wanted = time.Time{}
		s.last++
		s.run, s.ends = s.last, now.Add(Timeout)
		step.Start, step.Run = s.run, s.command
	}
	return step
}

// Ended tells of the end of a run: that it went well, and what it printed. Changed says
// that the text is another now. Warn says that a command that was just set has failed,
// which is worth telling once. The end of a run that was cancelled changes nothing.
func (s *Scheduler) Ended(run int, ok bool, printed string) (changed, warn bool) {
	if run != s.run || run == 0 {
		return false, false
	}
	s.run = 0
	warn = s.loud && !ok
	s.loud = false
	if !ok {
		return false, warn
	}
	text := Output(printed)
	changed = text != s.text
	s.text = text
	return changed, false
}

// Text is what is shown, "" when there is nothing.
func (s *Scheduler) Text() string { return s.text }
