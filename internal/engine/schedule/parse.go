package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"scorel/protocol"
)

// maxText bounds the words of a person that [Parse] reads, in bytes.
const maxText = protocol.MaxCron

// Parse reads what a person says of when a schedule is due:
//
//	5m, every 5m, every 2h30m     an interval
//	in 10m                        once, counted from now
//	at 09:00                      once, at the next such time of a clock on the wall
//	at 2026-12-01 09:00           once; also with a T between, seconds, or an offset (RFC 3339)
//	0 9 * * 1-5, @daily           a cron expression
//
// zone is the IANA name of the zone of "at" and of a cron expression, "" for the device's,
// which is local (nil is UTC). A local time that is left out or repeated when the clocks
// change is the instant that [Schedule] says. Next of what it returns has an instant after
// now. The error is one sentence that says what to write instead.
func Parse(text, zone string, now time.Time, local *time.Location) (protocol.When, error) {
	w, err := parse(text, zone, now, local)
	if err != nil {
		return protocol.When{}, err
	}
	s, err := Compile(w, now)
	if err != nil {
		return protocol.When{}, err
	}
	if _, ok := s.Next(now, local); !ok {
		return protocol.When{}, fmt.Errorf("the time %s never comes; name a later one", show(text))
	}
	return w, nil
}

func parse(text, zone string, now time.Time, local *time.Location) (protocol.When, error) {
	if len(text) > maxText {
		return protocol.When{}, fmt.Errorf("the time %s has %d bytes; it can have at most %d", show(text), len(text), maxText)
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return protocol.When{}, errors.New("no time was given; write for example 5m, in 10m, at 09:00 or 0 9 * * 1-5")
	}
	if zone != "" {
		named, err := loadZone(zone)
		if err != nil {
			return protocol.When{}, err
		}
		local = named
	}
	if local == nil {
		local = time.UTC
	}
	first, rest := strings.ToLower(words[0]), strings.Join(words[1:], " ")
	switch first {
	case "at":
		return parseAt(rest, zone, now, local)
	case "in", "every":
		if zone != "" {
			return protocol.When{}, fmt.Errorf("a time zone does not change %s; leave the zone out", show(text))
		}
		seconds, err := parseSpan(rest)
		if err != nil {
			return protocol.When{}, err
		}
		if first == "every" {
			return every(seconds, rest)
		}
		return in(seconds, rest, now)
	}
	whole := strings.Join(words, " ")
	if strings.ContainsAny(whole[:1], "@*?") || len(words) > 3 && whole[0] >= '0' && whole[0] <= '9' {
		return protocol.When{Cron: whole, Zone: zone}, nil
	}
	if _, err := wallOf(whole, now, local); err == nil {
		return protocol.When{}, fmt.Errorf("the time %s has no word before it; write at %s for once", show(whole), whole)
	}
	seconds, err := parseSpan(whole)
	switch {
	case err != nil && whole[0] >= '0' && whole[0] <= '9' && len(words) == 1:
		return protocol.When{}, err
	case err != nil:
		return protocol.When{}, fmt.Errorf("the time %s cannot be read; write for example 5m, in 10m, at 09:00 or 0 9 * * 1-5", show(whole))
	case zone != "":
		return protocol.When{}, fmt.Errorf("a time zone does not change %s; leave the zone out", show(text))
	}
	return every(seconds, whole)
}

// every returns an interval that was written in a text.
func every(seconds int64, text string) (protocol.When, error) {
	switch {
	case seconds < protocol.MinEverySeconds:
		return protocol.When{}, fmt.Errorf("the interval %s is too short; the shortest is %d seconds", show(text), protocol.MinEverySeconds)
	case seconds > protocol.MaxEverySeconds:
		return protocol.When{}, fmt.Errorf("the interval %s is too long; the longest is 366 days", show(text))
	}
	return protocol.When{EverySeconds: int(seconds)}, nil
}

// in returns the instant a while from now that was written in a text.
func in(seconds int64, text string, now time.Time) (protocol.When, error) {
	switch {
	case seconds < 1:
		return protocol.When{}, fmt.Errorf("in %s is now; the shortest is in 1s", show(text))
	case seconds > protocol.MaxEverySeconds:
		return protocol.When{}, fmt.Errorf("in %s is too far away; the longest is in 366d, or write at with a date", show(text))
	}
	return protocol.When{At: now.UnixMilli() + seconds*1000}, nil
}

// units of intervals, the longest first.
var units = []struct {
	seconds int64
	names   []string // the second is what Describe writes
}{
	{7 * 86_400, []string{"w", "week", "weeks"}},
	{86_400, []string{"d", "day", "days"}},
	{3600, []string{"h", "hour", "hours", "hr", "hrs"}},
	{60, []string{"m", "minute", "minutes", "min", "mins"}},
	{1, []string{"s", "second", "seconds", "sec", "secs"}},
}

// maxDigits bounds a number of an interval, so that nothing overflows.
const maxDigits = 9

// parseSpan reads a length of time, such as 2h30m, 90 minutes or hour, in seconds.
func parseSpan(text string) (int64, error) {
	unreadable := fmt.Errorf("the interval %s cannot be read; write whole numbers with s, m, h, d or w, such as 30s, 5m or 2h30m", show(text))
	rest := strings.ToLower(text)
	if rest == "" {
		return 0, errors.New("the interval is missing; write for example 30s, 5m or 2h30m")
	}
	var total int64
	longest := 0 // the first of units that may be next
	for first := true; rest != ""; first = false {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, number := int64(0), rest[:digits]
		switch {
		case len(strings.TrimLeft(number, "0")) > maxDigits:
			return 0, fmt.Errorf("the interval %s is too long; the longest is 366 days", show(text))
		case digits > 0:
			for _, r := range number {
				n = n*10 + int64(r-'0')
			}
		case !first || len(rest) < 3: // "every hour", but not "every h"
			return 0, unreadable
		default:
			n = 1
		}
		rest = strings.TrimPrefix(rest[digits:], " ")
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))
		if letters == 0 && rest == "" {
			return 0, fmt.Errorf("the interval %s has no unit; write for example %ss, %sm or %sh", show(text), number, number, number)
		}
		unit := -1
		for i := longest; i < len(units); i++ {
			for _, name := range units[i].names {
				if name == rest[:letters] {
					unit = i
				}
			}
		}
		if unit < 0 {
			return 0, unreadable
		}
		total += n * units[unit].seconds
		longest = unit + 1
		rest = strings.TrimPrefix(rest[letters:], " ")
	}
	return total, nil
}

// parseAt reads one instant.
func parseAt(text, zone string, now time.Time, local *time.Location) (protocol.When, error) {
	if text == "" {
		return protocol.When{}, errors.New("the time after at is missing; write for example at 09:00 or at 2026-12-01 09:00")
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if err == nil && zone != "" {
		return protocol.When{}, fmt.Errorf("the time %s has an offset of its own; leave the zone out", show(text))
	}
	if err != nil {
		if t, err = wallOf(text, now, local); err != nil {
			return protocol.When{}, err
		}
	}
	if !t.After(now) {
		return protocol.When{}, fmt.Errorf("the time %s is past: it is %s now; name a later one", show(text), now.In(local).Format("2006-01-02 15:04:05"))
	}
	return protocol.When{At: t.UnixMilli()}, nil
}

// wallOf reads a wall time: with its date, or the next one of a time of day.
func wallOf(text string, now time.Time, zone *time.Location) (time.Time, error) {
	var impossible bool
	read := func(layout string) (time.Time, bool) {
		wall, err := time.Parse(layout, strings.ToUpper(text))
		var fault *time.ParseError
		impossible = impossible || errors.As(err, &fault) && strings.Contains(fault.Message, "out of range")
		return wall, err == nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if wall, ok := read(layout); ok {
			return firstAt(wall, zone), nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		wall, ok := read(layout)
		if !ok {
			continue
		}
		y, m, d := now.In(zone).Date()
		for after := 0; ; after++ { // a day that is repeated is passed on the second
			t := firstAt(time.Date(y, m, d+after, wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC), zone)
			if t.After(now) {
				return t, nil
			}
		}
	}
	read(time.RFC3339)
	if impossible {
		return time.Time{}, fmt.Errorf("there is no such date or time as %s; check the day, the hour and the minute", show(text))
	}
	return time.Time{}, fmt.Errorf("the time %s cannot be read; write for example at 09:00, at 2026-12-01 09:00 or at 2026-12-01T09:00:00+01:00", show(text))
}
