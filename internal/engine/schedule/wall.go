package schedule

import "time"

// A wall time is what a clock on the wall shows, held as the instant at which a clock in
// UTC shows the same. This file relates wall times to instants.
//
// Bounds of the search around a change of a zone's offset.
const (
	// maxShift is more than any zone was ever set back or forward at once: a day, and
	// the hours of changes that are close to it.
	maxShift = 48 * time.Hour
	// maxChanges bounds the changes within maxShift. No zone has had two.
	maxChanges = 8
	// stretchStep is how far a stretch is searched when package time does not return its
	// end.
	stretchStep = time.Hour
)

// stretch is a time in which a zone has one offset. Neighbours may have the same.
type stretch struct {
	start, end time.Time // end is after it; zero is for ever, as for start
	offset     time.Duration
}

// wall returns the wall time of an instant in the stretch, or at its end.
func (s stretch) wall(t time.Time) time.Time { return t.UTC().Add(s.offset) }

// instant returns the instant of a wall time in the stretch.
func (s stretch) instant(wall time.Time) time.Time { return wall.Add(-s.offset) }

// stretchAt returns the stretch around an instant.
func stretchAt(t time.Time, zone *time.Location) stretch {
	local := t.In(zone)
	_, seconds := local.Zone()
	s := stretch{offset: time.Duration(seconds) * time.Second}
	s.start, s.end = local.ZoneBounds()
	if !s.start.IsZero() && s.start.After(t) {
		s.start = t
	}
	if !s.end.IsZero() && !s.end.After(t) {
		// Where a zone's rules only repeat each year, package time ends a leap year a
		// day early.
		s.end = changeWithin(t, t.Add(stretchStep), zone)
	}
	return s
}

// changeWithin returns the instant between two at which the offset of a zone changes, or
// the later one when it does not.
func changeWithin(from, to time.Time, zone *time.Location) time.Time {
	offset := func(t time.Time) int {
		_, seconds := t.In(zone).Zone()
		return seconds
	}
	before := offset(from)
	if offset(to) == before {
		return to
	}
	for to.Sub(from) > time.Second {
		middle := from.Add(to.Sub(from) / 2).Truncate(time.Second)
		if !middle.After(from) {
			break
		}
		if offset(middle) == before {
			from = middle
		} else {
			to = middle
		}
	}
	return to
}

// shown returns the latest wall time that was shown, or just not reached, before the
// start of a stretch: from there on a wall time is shown for the first time. When it is
// before the wall time of the start, what is between is left out.
func (s stretch) shown(zone *time.Location) time.Time {
	if s.start.IsZero() {
		return time.Time{}
	}
	var latest time.Time
	for x, i := s.start, 0; i < maxChanges && s.start.Sub(x) < maxShift; i++ {
		before := stretchAt(x.Add(-1), zone)
		if wall := before.wall(x); latest.IsZero() || wall.After(latest) {
			latest = wall
		}
		if before.start.IsZero() || !before.start.Before(x) {
			break
		}
		x = before.start
	}
	return latest
}

// firstAt returns the first instant at which a zone shows a wall time, or, when that is
// left out, the first instant after the gap.
func firstAt(wall time.Time, zone *time.Location) time.Time {
	s := stretchAt(wall.Add(-maxShift), zone)
	for !s.end.IsZero() && !wall.Before(s.wall(s.end)) {
		s = stretchAt(s.end, zone)
	}
	if !s.start.IsZero() && wall.Before(s.wall(s.start)) {
		return s.start.UTC()
	}
	return s.instant(wall)
}
