package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	robfig "github.com/robfig/cron/v3"
)

// searchYears bounds how far a cron expression is looked for: February 29 is at most eight
// years away.
const searchYears = 10

// starBit is the bit with which the library marks a field with a star.
const starBit = 1 << 63

// field is one of the five of a cron expression.
type field struct {
	name     string
	min, max int
	names    string // what can be written instead of numbers
}

// parser reads what the fields of an expression mean. It may be used concurrently.
var parser = robfig.NewParser(robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)

var fields = [5]field{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of the month", 1, 31, ""},
	{"month", 1, 12, ", jan to dec"},
	{"day of the week", 0, 7, ", sun to sat"},
}

// nickname returns the five fields of an expression with a name, false when there is none.
func nickname(name string) (string, bool) {
	switch strings.ToLower(name) {
	case "@hourly":
		return "0 * * * *", true
	case "@daily":
		return "0 0 * * *", true
	case "@weekly":
		return "0 0 * * 0", true
	case "@monthly":
		return "0 0 1 * *", true
	case "@yearly":
		return "0 0 1 1 *", true
	}
	return "", false
}

// cron is a cron expression: a set of bits for each field.
type cron struct {
	minute, hour, day, month, weekday uint64
	anyDay, anyWeekday                bool // has a star without a step
	fixed                             bool // names fixed local times, see [Schedule]
}

// parseCron reads an expression. The grammar is that of the library, which accepts too much
// (empty entries, steps beyond the field, zones) and does not know 7 as Sunday; both are
// handled here first.
func parseCron(text string) (*cron, error) {
	expression := strings.TrimSpace(text)
	if strings.HasPrefix(expression, "@") {
		var ok bool
		if expression, ok = nickname(expression); !ok {
			return nil, fmt.Errorf("the cron expression %s is unknown; it can be @hourly, @daily, @weekly, @monthly or @yearly", show(text))
		}
	}
	words := strings.Fields(expression)
	if len(words) != len(fields) {
		return nil, fmt.Errorf("the cron expression %s needs five fields, not %d: minute, hour, day of the month, month, day of the week", show(text), len(words))
	}
	for i, f := range fields {
		if !f.takes(words[i]) {
			return nil, f.fault(words[i], text)
		}
	}
	plain := [5]string{words[0], words[1], words[2], words[3], sundays(words[4])}
	spec, err := parser.Parse(strings.Join(plain[:], " "))
	if err != nil {
		return nil, faultOf(plain[:], words, text)
	}
	bitsOf, ok := spec.(*robfig.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("the cron expression %s is none; write five fields, such as 0 9 * * 1-5", show(text))
	}
	c := &cron{
		minute: bitsOf.Minute &^ starBit, hour: bitsOf.Hour &^ starBit,
		day: bitsOf.Dom &^ starBit, month: bitsOf.Month &^ starBit, weekday: bitsOf.Dow &^ starBit,
		anyDay: bitsOf.Dom&starBit != 0, anyWeekday: bitsOf.Dow&starBit != 0,
		fixed: !strings.ContainsAny(words[0]+words[1], "*?/"),
	}
	if !c.comes() {
		return nil, fmt.Errorf("the cron expression %s never comes: no month that it names has a day %d; choose another day of the month", show(text), bits.TrailingZeros64(c.day))
	}
	return c, nil
}

// takes reports whether a text has the form of a field. Numbers are looked at by the
// library.
func (f field) takes(text string) bool {
	for entry := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(entry, "/")
		if stepped {
			if n, err := strconv.Atoi(step); err != nil || len(step) > 2 || n < 1 || n > f.max {
				return false
			}
		}
		if span == "*" || span == "?" {
			continue
		}
		from, to, ranged := strings.Cut(span, "-")
		if !word(from) || ranged && !word(to) {
			return false
		}
	}
	return true
}

// word reports whether a text is a number of at most two digits, or a name of three
// letters.
func word(text string) bool {
	digits, letters := 0, 0
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letters++
		default:
			return false
		}
	}
	return letters == 0 && (digits == 1 || digits == 2) || digits == 0 && letters == 3
}

// fault is what is wrong with a field of an expression.
func (f field) fault(text, expression string) error {
	return fmt.Errorf("the cron expression %s has the %s %s; it can be numbers from %d to %d%s, ranges (%d-%d), lists (%d,%d), * and steps (*/2)",
		show(expression), f.name, show(text), f.min, f.max, f.names, f.min+1, f.min+3, f.min+1, f.min+3)
}

// faultOf returns what is wrong with the first field that the library refuses.
func faultOf(plain, words []string, expression string) error {
	for i, f := range fields {
		alone := []string{"*", "*", "*", "*", "*"}
		alone[i] = plain[i]
		if _, err := parser.Parse(strings.Join(alone, " ")); err != nil {
			return f.fault(words[i], expression)
		}
	}
	return fmt.Errorf("the cron expression %s is none; write five fields, such as 0 9 * * 1-5", show(expression))
}

// sundays writes days of the week without 7, which the library does not know: 7, and sun
// at the end of a range, are the Sunday after Saturday.
func sundays(text string) string {
	var all []string
	for entry := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(entry, "/")
		from, to, ranged := strings.Cut(span, "-")
		switch {
		case from == "7" && (!ranged || to == "7"):
			entry = "0"
		case ranged && (to == "7" || strings.EqualFold(to, "sun") && from != "0" && !strings.EqualFold(from, "sun")):
			entry = from + "-6"
			n := 1
			if stepped {
				entry += "/" + step
				n, _ = strconv.Atoi(step) // takes has seen it
			}
			if first, ok := weekday(from); ok && (7-first)%n == 0 {
				entry += ",0"
			}
		}
		all = append(all, entry)
	}
	return strings.Join(all, ",")
}

// weekday returns the number of a day of the week, by its number or name.
func weekday(text string) (int, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(text, d.String()[:3]) {
			return int(d), true
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// comes reports whether any date of any year matches.
func (c *cron) comes() bool {
	if c.anyDay || !c.anyWeekday {
		return true
	}
	for m := 1; m <= 12; m++ {
		if c.month&(1<<m) == 0 {
			continue
		}
		days := time.Date(2000, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() // a leap year
		if bits.TrailingZeros64(c.day) <= days {
			return true
		}
	}
	return false
}

// onDay reports whether a date matches.
func (c *cron) onDay(date time.Time) bool {
	if c.month&(1<<date.Month()) == 0 {
		return false
	}
	day, weekday := c.day&(1<<date.Day()) != 0, c.weekday&(1<<date.Weekday()) != 0
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// within returns the first wall time from one on that matches and is before another.
func (c *cron) within(from, end time.Time) (time.Time, bool) {
	if t := from.Truncate(time.Minute); t.Before(from) {
		from = t.Add(time.Minute)
	}
	y, m, d := from.Date()
	first := from.Hour()*60 + from.Minute()
	for day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC); day.Before(end); first = 0 {
		if c.month&(1<<day.Month()) == 0 {
			day = time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		}
		if c.onDay(day) {
			if minutes, ok := c.onClock(first); ok {
				t := day.Add(time.Duration(minutes) * time.Minute)
				return t, t.Before(end)
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

// onClock returns the first minute of the day from one on that matches.
func (c *cron) onClock(from int) (int, bool) {
	minute := from % 60
	for hour := from / 60; hour < 24; hour, minute = hour+1, 0 {
		if c.hour&(1<<hour) == 0 {
			continue
		}
		if rest := c.minute >> minute << minute; rest != 0 {
			return hour*60 + bits.TrailingZeros64(rest), true
		}
	}
	return 0, false
}

// next returns the first instant after one at which the expression is due in a zone; see
// [Schedule]. It goes from one stretch of the zone to the next.
func (c *cron) next(after time.Time, zone *time.Location) (time.Time, bool) {
	if y := after.UTC().Year(); y < 0 || y > lastYear {
		return time.Time{}, false
	}
	limit := after.AddDate(searchYears, 0, 0)
	from := after.Add(1)
	s := stretchAt(from, zone)
	for {
		end := limit
		if !s.end.IsZero() && s.end.Before(limit) {
			end = s.end
		}
		first := s.wall(from)
		if c.fixed && !s.start.IsZero() {
			shown := s.shown(zone)
			if s.start.After(after) && shown.Before(s.wall(s.start)) {
				if _, ok := c.within(shown, s.wall(s.start)); ok {
					return s.start, true
				}
			}
			if shown.After(first) {
				first = shown
			}
		}
		if wall, ok := c.within(first, s.wall(end)); ok {
			return s.instant(wall), true
		}
		if !end.Before(limit) {
			return time.Time{}, false
		}
		from = s.end
		s = stretchAt(from, zone)
	}
}
