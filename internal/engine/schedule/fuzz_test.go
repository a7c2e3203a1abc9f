package schedule_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"scorel/internal/engine/schedule"
	"scorel/protocol"
)

// checkNext checks that the instants of a schedule grow strictly, and that what is due fits
// them.
func checkNext(t *testing.T, s *schedule.Schedule, from time.Time, local *time.Location) {
	t.Helper()
	at := from
	for range 20 {
		next, ok := s.Next(at, local)
		if !ok {
			if !next.IsZero() {
				t.Errorf("%+v: after %v comes nothing, and %v", s.When(), at, next)
			}
			return
		}
		if !next.After(at) {
			t.Fatalf("%+v: after %v comes %v", s.When(), at, next)
		}
		if before, ok := s.Next(next.Add(-1), local); !ok || !before.Equal(next) {
			t.Fatalf("%+v: %v is due, and just before it %v is next", s.When(), next, before)
		}
		v := s.Due(schedule.Instant{Settled: at, Now: next, Local: local})
		if !v.Due.Equal(next) || v.Missed != 0 || !v.Settled.Equal(next) {
			t.Fatalf("%+v: at %v, settled up to %v, %+v", s.When(), next, at, v)
		}
		at = next
	}
}

func FuzzParse(f *testing.F) {
	for text := range bad {
		f.Add(text, "", int64(1_795_682_400_000))
	}
	for _, text := range []string{"5m", "every 2h30m", "in 10m", "at 09:00", "at 2026-12-01T09:00:00+01:00", "*/15 1-4 * * *", "@daily", "0 0 29 2 *", "1-7/2 sat-sun 1 2 3-7"} {
		f.Add(text, "Australia/Lord_Howe", int64(1_790_949_600_000))
	}
	f.Fuzz(func(t *testing.T, text, zone string, ms int64) {
		now := time.UnixMilli(ms % 253_402_300_799_999)
		w, err := schedule.Parse(text, zone, now, nil)
		if err != nil {
			checkSentence(t, err)
			return
		}
		if p := w.Check(); p != nil {
			t.Fatalf("%q is %+v: %s", text, w, p.Text)
		}
		s, err := schedule.Compile(w, now)
		if err != nil {
			t.Fatalf("%q is %+v: %v", text, w, err)
		}
		if _, ok := s.Next(now, nil); !ok {
			t.Errorf("%q is %+v, which is never due", text, w)
		}
		checkNext(t, s, now, nil)
		if d := schedule.Describe(w, nil); strings.ContainsFunc(d, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is described as %q", text, d)
		}
		if w.Cron != "" {
			if again, err := schedule.Parse(w.Cron, w.Zone, now, nil); err != nil || again != w {
				t.Errorf("%q is %+v, and that %+v (%v)", text, w, again, err)
			}
		}
	})
}

func FuzzNext(f *testing.F) {
	f.Add("30 2 * * *", "Europe/Berlin", 0, int64(0), int64(1_774_742_400_000), int64(0))
	f.Add("*/30 * * * *", "Australia/Lord_Howe", 0, int64(0), int64(1_790_949_600_000), int64(0))
	f.Add("0 9 30 * *", "Pacific/Apia", 0, int64(0), int64(1_325_200_000_000), int64(0))
	f.Add("", "", 10, int64(0), int64(-62_135_596_800_000), int64(1_000_000_000_000))
	f.Add("", "", 0, int64(253_402_300_799_999), int64(0), int64(0))
	f.Add("0 0 29 2 *", "Africa/Monrovia", 0, int64(0), int64(-2_000_000_000_000), int64(0))
	f.Add("0 0 29 2 *", "America/Juneau", 0, int64(0), int64(-3_225_309_600_000), int64(0))
	f.Fuzz(func(t *testing.T, cron, zone string, every int, at, from, anchor int64) {
		s, err := schedule.Compile(protocol.When{Cron: cron, Zone: zone, EverySeconds: every, At: at}, time.UnixMilli(anchor))
		if err != nil {
			checkSentence(t, err)
			return
		}
		checkNext(t, s, time.UnixMilli(from), nil)
	})
}
