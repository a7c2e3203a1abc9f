package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/schedule"
	"scorel/protocol"
)

// seed returns the seed of a test that plays by chance, a new one each time unless
// SCHEDULE_SEED has one.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := rand.Uint64()
	if text := os.Getenv("SCHEDULE_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("again with: SCHEDULE_SEED=%d go test -run '%s' ./internal/engine/schedule", n, t.Name())
	return n
}

// minute is one minute of a year, with what a clock on the wall shows in it.
type minute struct {
	at      time.Time
	wall    wall
	again   bool   // the wall has shown it before
	skipped []wall // what the wall has left out just before
}

type wall struct{ month, day, weekday, hour, minute int }

// minutesOf walks through a year, minute by minute, and looks at the wall.
func minutesOf(t *testing.T, zone *time.Location, year int) []minute {
	t.Helper()
	var all []minute
	newest := int64(0) // the latest minute that the wall has shown, counted as if in UTC
	start, end := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := start.Add(-72 * time.Hour); at.Before(end); at = at.Add(time.Minute) {
		l := at.In(zone)
		if l.Second() != 0 {
			t.Fatalf("%v has an offset that is not a number of minutes", l)
		}
		number := time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC).Unix() / 60
		m := minute{at: at, wall: wallAt(number), again: number <= newest}
		for n := newest + 1; newest > 0 && n < number; n++ {
			m.skipped = append(m.skipped, wallAt(n))
		}
		newest = max(newest, number)
		if !at.Before(start) {
			all = append(all, m)
		}
	}
	return all
}

func wallAt(number int64) wall {
	u := time.Unix(number*60, 0).UTC()
	return wall{int(u.Month()), u.Day(), int(u.Weekday()), u.Hour(), u.Minute()}
}

// expression is a cron expression with what it means, made together.
type expression struct {
	text                            string
	minute, hour, day, month, week  [60]bool
	elapsed, dayIsOpen, weekdayOpen bool
}

// matches is the rule of a clock on the wall.
func (e *expression) matches(w wall) bool {
	if !e.minute[w.minute] || !e.hour[w.hour] || !e.month[w.month] {
		return false
	}
	if e.dayIsOpen || e.weekdayOpen {
		return e.day[w.day] && e.week[w.weekday]
	}
	return e.day[w.day] || e.week[w.weekday]
}

// due is the oracle: the instants of a year, minute by minute.
func (e *expression) due(year []minute) []time.Time {
	var all []time.Time
	for i := range year {
		m := &year[i]
		now := e.matches(m.wall) && (e.elapsed || !m.again)
		if !e.elapsed && slices.ContainsFunc(m.skipped, e.matches) {
			now = true
		}
		if now {
			all = append(all, m.at)
		}
	}
	return all
}

// Kinds of fields, of which one is drawn.
var (
	anyField   = []string{"star", "star", "star/", "range", "range/", "list", "number"}
	fixedField = []string{"range", "list", "number"}
	openField  = []string{"star", "star", "star", "range"}
)

// randomExpression makes an expression and what it means. Half of them are about the hours of
// the night in which clocks change, on most days.
func randomExpression(r *rand.Rand) *expression {
	e := &expression{}
	clock, date, lastHour := anyField, anyField, 23
	if r.IntN(2) == 0 {
		date, lastHour = openField, 4
		if r.IntN(3) > 0 {
			clock = fixedField
		}
	}
	var star, step bool
	texts := make([]string, 5)
	texts[0], star, step = randomField(r, clock, &e.minute, 0, 59, 59)
	e.elapsed = star || step
	texts[1], star, step = randomField(r, clock, &e.hour, 0, lastHour, 23)
	e.elapsed = e.elapsed || star || step
	texts[2], e.dayIsOpen, step = randomField(r, date, &e.day, 1, 31, 31)
	e.dayIsOpen = e.dayIsOpen && !step
	texts[3], _, _ = randomField(r, date, &e.month, 1, 12, 12)
	texts[4], e.weekdayOpen, step = randomField(r, date, &e.week, 0, 6, 6)
	e.weekdayOpen = e.weekdayOpen && !step
	e.text = strings.Join(texts, " ")
	return e
}

// randomField makes a field of one of the kinds: of numbers from low to high, of a field
// that ends at last.
func randomField(r *rand.Rand, kinds []string, set *[60]bool, low, high, last int) (text string, star, step bool) {
	add := func(from, to, by int) {
		for n := from; n <= to; n += by {
			set[n] = true
		}
	}
	number := func() int { return low + r.IntN(high-low+1) }
	a, b, by := number(), number(), 1+r.IntN(last)
	switch kinds[r.IntN(len(kinds))] {
	case "star":
		add(low, last, 1)
		return "*", true, false
	case "star/":
		add(low, last, by)
		return fmt.Sprintf("*/%d", by), true, by > 1 // a step of one is as good as none
	case "range":
		add(min(a, b), max(a, b), 1)
		return fmt.Sprintf("%d-%d", min(a, b), max(a, b)), false, false
	case "range/":
		add(min(a, b), max(a, b), by)
		return fmt.Sprintf("%d-%d/%d", min(a, b), max(a, b), by), false, true
	case "list":
		add(a, a, 1)
		add(b, b, 1)
		return fmt.Sprintf("%d,%d", a, b), false, false
	}
	add(a, a, 1)
	return strconv.Itoa(a), false, false
}

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func compile(t testing.TB, w protocol.When, anchor time.Time) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Compile(w, anchor)
	if err != nil {
		t.Fatalf("%+v: %v", w, err)
	}
	return s
}

// simulated are the years that are simulated. Apia left out a day; Casablanca sets its clocks
// back for Ramadan.
var simulated = []struct {
	zone string
	year int
}{{"Europe/Berlin", 2026}, {"Australia/Lord_Howe", 2026}, {"UTC", 2028}, {"Pacific/Apia", 2011}, {"Africa/Casablanca", 2026}}

// TestScheduleYearIsThatOfAnOracle compares Next, and Due of a host whose device sleeps
// and whose clock jumps, with an oracle that walks through each minute of a year.
func TestScheduleYearIsThatOfAnOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(seed(t), 1))
	for _, of := range simulated[:yearZones] {
		t.Run(of.zone, func(t *testing.T) {
			zone := location(t, of.zone)
			year := minutesOf(t, zone, of.year)
			for range yearExpressions {
				e := randomExpression(r)
				due := e.due(year)
				s, err := schedule.Compile(protocol.When{Cron: e.text, Zone: of.zone}, time.Time{})
				if err != nil {
					if len(due) > 0 || !strings.Contains(err.Error(), "never comes") {
						t.Errorf("%s: %v, and the oracle has %d instants", e.text, err, len(due))
					}
					continue
				}
				compareNext(t, e, s, due, year)
				playDevice(t, r, e, s, due, year)
				if t.Failed() {
					return
				}
			}
		})
	}
}

func compareNext(t *testing.T, e *expression, s *schedule.Schedule, due []time.Time, year []minute) {
	t.Helper()
	at := year[0].at.Add(-1)
	for i := 0; ; i++ {
		next, ok := s.Next(at, nil)
		if !ok || next.After(year[len(year)-1].at) {
			if i < len(due) {
				t.Errorf("%s: after %v comes %v, want %v", e.text, at, next, due[i])
			}
			return
		}
		if i >= len(due) || !next.Equal(due[i]) {
			t.Errorf("%s: after %v comes %v, want %v", e.text, at, next, due[min(i, len(due)):][:min(1, max(0, len(due)-i))])
			return
		}
		at = next
	}
}

// playDevice lets a device sleep, be switched off and be set for a year, and asks at each
// step what is due.
func playDevice(t *testing.T, r *rand.Rand, e *expression, s *schedule.Schedule, due []time.Time, year []minute) {
	t.Helper()
	catchUp, late := schedule.CatchUpOne, 24*time.Hour
	if r.IntN(2) == 0 {
		catchUp, late = schedule.CatchUpNone, time.Minute
	}
	start, end := year[0].at, year[len(year)-1].at
	settled, now, lastFired := start, start, start
	oracle := start
	for steps := 0; steps < 500 && now.Before(end); steps++ {
		switch r.IntN(10) {
		case 0:
			now = now.Add(-time.Duration(r.Int64N(int64(3 * time.Hour)))) // set back
		case 1:
			now = now.Add(time.Duration(r.Int64N(int64(20 * 24 * time.Hour)))) // off, or set forward
		case 2, 3:
			now = now.Add(time.Duration(r.Int64N(int64(26 * time.Hour)))) // asleep
		case 4, 5:
			now = now.Add(time.Duration(r.Int64N(int64(schedule.Reread))))
		default:
			if next, ok := s.Next(settled, nil); ok && next.After(now) {
				now = next.Add(time.Duration(r.Int64N(int64(2 * time.Minute))))
			}
		}
		if now.After(end) {
			return
		}
		v := s.Due(schedule.Instant{Settled: settled, Now: now, CatchUp: catchUp})

		first, _ := slices.BinarySearchFunc(due, oracle.Add(1), time.Time.Compare)
		last, _ := slices.BinarySearchFunc(due, now.Add(1), time.Time.Compare)
		wantMissed, wantDue := 0, time.Time{}
		if last > first {
			oracle = due[last-1]
			wantMissed = last - first
			if now.Sub(oracle) <= late {
				wantMissed, wantDue = wantMissed-1, oracle
			}
		}
		if !v.Due.Equal(wantDue) || v.Missed != min(wantMissed, schedule.MaxMissed) || v.MissedMore != (wantMissed > schedule.MaxMissed) {
			t.Errorf("%s (%s): at %v, settled up to %v, %+v; want %v due and %d missed", e.text, catchUp, now, settled, v, wantDue, wantMissed)
			return
		}
		if v.Settled.Before(settled) || v.Settled.Before(oracle) || v.Settled.After(now) && !v.Settled.Equal(settled) {
			t.Errorf("%s: at %v it is settled up to %v, which was %v; the oracle says %v", e.text, now, v.Settled, settled, oracle)
		}
		if !v.Due.IsZero() && !v.Due.After(lastFired) {
			t.Errorf("%s: %v fires after %v has", e.text, v.Due, lastFired)
		}
		if !v.Due.IsZero() {
			lastFired = v.Due
		}
		settled = v.Settled
	}
}
