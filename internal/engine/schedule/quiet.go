package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Quiet is a part of each day in which nothing begins, from one local time to another,
// also over midnight. The zero Quiet is never.
type Quiet struct {
	from, to *cron // fixed local times, nil for never
	over     bool  // over midnight
}

// ParseQuiet reads quiet hours, such as 22:00-07:00. "" is never. The error is one
// sentence for a person.
func ParseQuiet(text string) (Quiet, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Quiet{}, nil
	}
	first, last, ok := strings.Cut(text, "-")
	from, errFrom := time.Parse("15:04", strings.TrimSpace(first))
	to, errTo := time.Parse("15:04", strings.TrimSpace(last))
	switch {
	case !ok || errFrom != nil || errTo != nil:
		return Quiet{}, fmt.Errorf("the quiet hours %s cannot be read; write two times of day, such as 22:00-07:00", show(text))
	case from.Equal(to):
		return Quiet{}, fmt.Errorf("the quiet hours %s begin and end at the same time; write two different ones, or nothing for none", show(text))
	}
	return Quiet{from: daily(from), to: daily(to), over: to.Before(from)}, nil
}

// daily returns the expression of a time of day.
func daily(t time.Time) *cron {
	return &cron{minute: 1 << t.Minute(), hour: 1 << t.Hour(), day: 1<<32 - 1, month: 1<<13 - 1, weekday: 1<<7 - 1,
		anyDay: true, anyWeekday: true, fixed: true}
}

// Until reports whether an instant is in the quiet hours of a time zone, and when they
// end. nil is UTC. The hours begin and end at fixed local times, each once a day as
// [Schedule] says: when the clocks are set back, not again in the repeated hour.
func (q Quiet) Until(now time.Time, local *time.Location) (time.Time, bool) {
	if q.from == nil {
		return time.Time{}, false
	}
	if local == nil {
		local = time.UTC
	}
	from, ok := q.from.next(now, local)
	to, okTo := q.to.next(now, local)
	if !ok || !okTo {
		return time.Time{}, false
	}
	if to.Equal(from) && q.over { // both in one gap: they end and begin again
		if to, okTo = q.to.next(to, local); !okTo {
			return time.Time{}, false
		}
		return to.In(local), true
	}
	if !to.Before(from) {
		return time.Time{}, false
	}
	return to.In(local), true
}
