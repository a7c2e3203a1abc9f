package schedule

import (
	"errors"
	"time"

	"scorel/protocol"
)

// MaxNextN bounds the instants that [Schedule.NextN] returns.
const MaxNextN = 100

// lastYear is the last year with an instant: later ones have no RFC 3339 form.
const lastYear = 9999

// Schedule is a compiled [protocol.When]. It is immutable.
//
// A cron expression is of one of two kinds, by its minutes and hours as they were written:
//
//   - It follows elapsed time when its minutes or hours have a star (*, or ?) or a step
//     (/): "*/30 * * * *", "0 * * * *", "*/15 1-4 * * *". Each minute that passes is due
//     when its local time matches. When the clocks are set back, the repeated hour is
//     due twice, like any other hour that passes; when they are set forward, the hour that
//     is left out is not due.
//   - It names fixed local times when both are only numbers, ranges and lists: "30 2 * * *",
//     "0 9-17 * * 1-5". Each local time is due once. A repeated one is due the first
//     time. One that is left out is due at the first instant after the gap; several in
//     one gap are due once.
//
// When both the day of the month and the day of the week are restricted, either matches.
// A day is restricted unless it has a star without a step.
//
// An interval is counted in elapsed time from the anchor, and never in local time.
type Schedule struct {
	when   protocol.When
	anchor time.Time
	cron   *cron          // nil when the schedule has no cron expression
	zone   *time.Location // of the cron expression, nil for the device's
}

// Compile reads a schedule that was armed at an anchor, from which an interval is counted
// in milliseconds; cron expressions and one-shots do not use it. The error is one
// sentence about what is wrong with the schedule, for a person.
func Compile(w protocol.When, anchor time.Time) (*Schedule, error) {
	if p := w.Check(); p != nil {
		return nil, errors.New(sentence(p.Text))
	}
	s := &Schedule{when: w, anchor: anchor.Truncate(time.Millisecond)}
	if w.Cron == "" {
		return s, nil
	}
	var err error
	if w.Zone != "" {
		if s.zone, err = loadZone(w.Zone); err != nil {
			return nil, err
		}
	}
	if s.cron, err = parseCron(w.Cron); err != nil {
		return nil, err
	}
	return s, nil
}

// When returns what the schedule was compiled of.
func (s *Schedule) When() protocol.When { return s.when }

// Next returns the first due instant strictly after one, and false when there is none:
// a one-shot that has been, and what is after the year 9999. local is the device's time zone,
// for a cron expression without a zone; see [Local]. nil is UTC.
func (s *Schedule) Next(after time.Time, local *time.Location) (time.Time, bool) {
	if local == nil {
		local = time.UTC
	}
	if s.zone != nil {
		local = s.zone
	}
	var next time.Time
	var ok bool
	switch {
	case s.cron != nil:
		next, ok = s.cron.next(after, local)
	case s.when.EverySeconds != 0:
		next, ok = s.nextInterval(after)
	default:
		next = time.UnixMilli(s.when.At)
		ok = next.After(after)
	}
	if !ok || next.UTC().Year() > lastYear {
		return time.Time{}, false
	}
	return next.In(local), true
}

// nextInterval returns anchor + k × interval with the smallest k >= 1 that is after an instant.
// It computes in seconds, because a Duration ends after 292 years.
func (s *Schedule) nextInterval(after time.Time) (time.Time, bool) {
	if after.UTC().Year() > lastYear {
		return time.Time{}, false
	}
	elapsed := after.Unix() - s.anchor.Unix()
	if after.Nanosecond() < s.anchor.Nanosecond() {
		elapsed--
	}
	every, k := int64(s.when.EverySeconds), int64(1)
	if elapsed >= 0 {
		k = elapsed/every + 1
	}
	return time.Unix(s.anchor.Unix()+k*every, int64(s.anchor.Nanosecond())), true
}

// NextN returns the next n due instants after one, fewer when there are no more, and at
// most [MaxNextN].
func (s *Schedule) NextN(after time.Time, n int, local *time.Location) []time.Time {
	var all []time.Time
	for len(all) < min(n, MaxNextN) {
		next, ok := s.Next(after, local)
		if !ok {
			break
		}
		all = append(all, next)
		after = next
	}
	return all
}
