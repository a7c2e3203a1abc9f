package schedule

import "time"

// Bounds of catching up.
const (
	// MaxLate is how late a missed instant may still fire.
	MaxLate = 24 * time.Hour
	// PromptLate is how late an instant may fire that is not caught up: the host looks at
	// the clock at least every 30 s, and may be busy.
	PromptLate = time.Minute
	// MaxMissed bounds the missed instants that are counted.
	MaxMissed = 10_000
)

// CatchUp is what becomes of due instants that were missed while the host was down, the
// device slept, or its clock jumped forward.
type CatchUp string

// The ways to catch up.
const (
	CatchUpOne  CatchUp = "one"  // the newest missed within MaxLate fires, once for all of them
	CatchUpNone CatchUp = "none" // nothing that is later than PromptLate fires
)

// Instant is a moment at which it is asked what is due.
type Instant struct {
	// Settled is the instant up to which everything is settled: the Settled of the
	// [Verdict] before, at first the moment of arming. After the device's time zone has
	// changed it is at least the moment at which that was seen, else a local time that has
	// passed in the new zone alone would be caught up.
	Settled time.Time
	// Now is the wall clock.
	Now time.Time
	// CatchUp is what becomes of missed instants; "" is CatchUpOne.
	CatchUp CatchUp
	// Local is the device's time zone; see [Local].
	Local *time.Location
}

// Verdict is what is due. Whoever stores it with the run that it starts, in one durable
// step, fires each instant at most once.
type Verdict struct {
	// Due is the instant that fires now, zero when none does. Its distance to Now is how
	// late it is.
	Due time.Time
	// Missed counts the due instants that are settled without firing, up to MaxMissed.
	Missed int
	// LastMissed is the newest of them, zero when there is none.
	LastMissed time.Time
	// MissedMore reports that there were more than MaxMissed.
	MissedMore bool
	// Settled is the instant up to which everything is settled now. It never moves back.
	Settled time.Time
	// Next is when something is due again, zero when nothing ever is. It is after Now, and
	// after Settled.
	Next time.Time
	// Ahead is how far Settled is after Now, 0 normally: the clock was set back, or was
	// wrong before. Nothing is due until it has passed Settled again. When it is
	// long, a person should be told; arming the schedule again ends it.
	Ahead time.Duration
}

// Due returns what is due at an instant: at most one, whatever number was missed. The
// newest due instant after Settled fires when it is no later than MaxLate, with
// CatchUpNone than PromptLate; all others up to Now are missed. A clock that is set back
// makes nothing due again.
func (s *Schedule) Due(in Instant) Verdict {
	late := MaxLate
	if in.CatchUp == CatchUpNone {
		late = PromptLate
	}
	v := Verdict{Settled: in.Settled}
	if in.Now.Before(in.Settled) {
		v.Ahead = in.Settled.Sub(in.Now)
		v.Next, _ = s.Next(in.Settled, in.Local)
		return v
	}
	miss := func() {
		v.LastMissed = v.Due
		if v.Missed == MaxMissed {
			v.MissedMore = true
			return
		}
		v.Missed++
	}
	recent := in.Now.Add(-MaxLate - 1) // the last instant that is too late
	for {
		next, ok := s.Next(v.Settled, in.Local)
		if !ok || next.After(in.Now) {
			v.Next = next
			break
		}
		if !v.Due.IsZero() {
			miss()
		}
		v.Settled, v.Due = next, next
		if v.MissedMore && next.Before(recent) {
			v.Settled = recent // what is between is not counted
		}
	}
	if !v.Due.IsZero() && in.Now.Sub(v.Due) > late {
		miss()
		v.Due = time.Time{}
	}
	return v
}
