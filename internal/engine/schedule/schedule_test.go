package schedule_test

import (
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/schedule"
	"scorel/protocol"
)

const stamp = "2006-01-02 15:04:05 -0700"

// instant reads a time with its offset.
func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(stamp, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestNextOfCronExpressions(t *testing.T) {
	for name, test := range map[string]struct {
		cron, zone, after string
		want              []string
	}{
		"a fixed time that is left out comes after the gap": {"30 2 * * *", "Europe/Berlin", "2026-03-28 12:00:00 +0100",
			[]string{"2026-03-29 03:00:00 +0200", "2026-03-30 02:30:00 +0200"}},
		"several in one gap come once": {"0,15,30 2 * * *", "Europe/Berlin", "2026-03-28 12:00:00 +0100",
			[]string{"2026-03-29 03:00:00 +0200", "2026-03-30 02:00:00 +0200"}},
		"one in the gap and one at its end come once": {"0 2,3 * * *", "Europe/Berlin", "2026-03-28 12:00:00 +0100",
			[]string{"2026-03-29 03:00:00 +0200", "2026-03-30 02:00:00 +0200"}},
		"a repeated fixed time comes the first time": {"30 2 * * *", "Europe/Berlin", "2026-10-24 12:00:00 +0200",
			[]string{"2026-10-25 02:30:00 +0200", "2026-10-26 02:30:00 +0100"}},
		"asked in the repeated hour, a fixed time has been": {"30 2 * * *", "Europe/Berlin", "2026-10-25 02:10:00 +0100",
			[]string{"2026-10-26 02:30:00 +0100"}},
		"half hours go on in spring": {"*/30 * * * *", "Europe/Berlin", "2026-03-29 01:00:00 +0100",
			[]string{"2026-03-29 01:30:00 +0100", "2026-03-29 03:00:00 +0200", "2026-03-29 03:30:00 +0200"}},
		"half hours go on in autumn": {"*/30 * * * *", "Europe/Berlin", "2026-10-25 02:00:00 +0200",
			[]string{"2026-10-25 02:30:00 +0200", "2026-10-25 02:00:00 +0100", "2026-10-25 02:30:00 +0100", "2026-10-25 03:00:00 +0100"}},
		"hours go on in autumn": {"0 * * * *", "Europe/Berlin", "2026-10-25 01:00:00 +0200",
			[]string{"2026-10-25 02:00:00 +0200", "2026-10-25 02:00:00 +0100", "2026-10-25 03:00:00 +0100"}},
		"quarters of some hours go on in spring": {"*/15 1-3 * * *", "Europe/Berlin", "2026-03-29 01:30:00 +0100",
			[]string{"2026-03-29 01:45:00 +0100", "2026-03-29 03:00:00 +0200"}},
		"half an hour that is left out": {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00:00 +1030",
			[]string{"2026-10-04 02:30:00 +1100", "2026-10-05 02:15:00 +1100"}},
		"half an hour that is repeated": {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04 12:00:00 +1100",
			[]string{"2026-04-05 01:45:00 +1100", "2026-04-06 01:45:00 +1030"}},
		"half hours of half an hour": {"*/30 1-2 * * *", "Australia/Lord_Howe", "2026-04-05 01:00:00 +1100",
			[]string{"2026-04-05 01:30:00 +1100", "2026-04-05 01:30:00 +1030", "2026-04-05 02:00:00 +1030"}},
		"a day that is left out": {"0 9 30 * *", "Pacific/Apia", "2011-12-29 12:00:00 -1000",
			[]string{"2011-12-31 00:00:00 +1400", "2012-01-30 09:00:00 +1400"}},
		"midnight that is left out": {"0 0 * * *", "America/Havana", "2026-03-07 12:00:00 -0500",
			[]string{"2026-03-08 01:00:00 -0400", "2026-03-09 00:00:00 -0400"}},
		"a leap day": {"0 0 29 2 *", "UTC", "2096-03-01 00:00:00 +0000",
			[]string{"2104-02-29 00:00:00 +0000"}},
		"the end of a year": {"59 23 31 12 *", "Asia/Kathmandu", "2026-12-31 23:58:30 +0545",
			[]string{"2026-12-31 23:59:00 +0545", "2027-12-31 23:59:00 +0545"}},
		"the last day of a leap year that only rules reach": {"30 3 * * *", "Europe/Berlin", "2040-12-30 12:00:00 +0100",
			[]string{"2040-12-31 03:30:00 +0100", "2041-01-01 03:30:00 +0100"}},
		"clocks that change long after the tables": {"30 2 * * *", "America/New_York", "2095-03-12 12:00:00 -0500",
			[]string{"2095-03-13 03:00:00 -0400", "2095-03-14 02:30:00 -0400"}},
		"either of both days": {"0 0 13 * 5", "UTC", "2026-02-01 00:00:00 +0000",
			[]string{"2026-02-06 00:00:00 +0000", "2026-02-13 00:00:00 +0000", "2026-02-20 00:00:00 +0000"}},
		"days with a star": {"0 0 * * 5", "UTC", "2026-02-07 00:00:00 +0000",
			[]string{"2026-02-13 00:00:00 +0000", "2026-02-20 00:00:00 +0000"}},
		"Sunday is 7, too": {"0 0 * * 7", "UTC", "2026-02-02 00:00:00 +0000",
			[]string{"2026-02-08 00:00:00 +0000", "2026-02-15 00:00:00 +0000"}},
		"a weekend": {"0 0 * * sat-SUN", "UTC", "2026-02-02 00:00:00 +0000",
			[]string{"2026-02-07 00:00:00 +0000", "2026-02-08 00:00:00 +0000", "2026-02-14 00:00:00 +0000"}},
		"every third day of a week up to its end": {"0 0 * * 1-7/3", "UTC", "2026-02-01 12:00:00 +0000",
			[]string{"2026-02-02 00:00:00 +0000", "2026-02-05 00:00:00 +0000", "2026-02-08 00:00:00 +0000"}},
		"names": {"0 0 * jan,DEC mon", "UTC", "2026-01-26 12:00:00 +0000",
			[]string{"2026-12-07 00:00:00 +0000"}},
		"@hourly":  {"@hourly", "UTC", "2026-01-01 00:00:00 +0000", []string{"2026-01-01 01:00:00 +0000"}},
		"@daily":   {"@daily", "UTC", "2026-01-01 00:00:00 +0000", []string{"2026-01-02 00:00:00 +0000"}},
		"@weekly":  {"@weekly", "UTC", "2026-01-01 00:00:00 +0000", []string{"2026-01-04 00:00:00 +0000"}},
		"@monthly": {"@monthly", "UTC", "2026-01-01 00:00:00 +0000", []string{"2026-02-01 00:00:00 +0000"}},
		"@yearly":  {"@yearly", "UTC", "2026-01-01 00:00:00 +0000", []string{"2027-01-01 00:00:00 +0000"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, protocol.When{Cron: test.cron, Zone: test.zone}, time.Time{})
			all := s.NextN(instant(t, test.after), len(test.want), nil)
			if len(all) != len(test.want) {
				t.Fatalf("%s: %d instants, want %d", test.cron, len(all), len(test.want))
			}
			for i, next := range all {
				if got := next.Format(stamp); got != test.want[i] {
					t.Errorf("%s: instant %d is %s, want %s", test.cron, i+1, got, test.want[i])
				}
			}
		})
	}
}

func TestNextFollowsTheZoneOfTheDevice(t *testing.T) {
	s := compile(t, protocol.When{Cron: "0 9 * * *"}, time.Time{})
	after := instant(t, "2026-06-01 00:00:00 +0000")
	for name, want := range map[string]string{"Europe/Berlin": "2026-06-01 09:00:00 +0200", "Asia/Tokyo": "2026-06-02 09:00:00 +0900"} {
		if next, _ := s.Next(after, location(t, name)); next.Format(stamp) != want {
			t.Errorf("in %s it is %v, want %s", name, next, want)
		}
	}
}

func TestNextOfAnIntervalCountsFromTheAnchor(t *testing.T) {
	anchor := instant(t, "2026-03-29 00:50:00 +0100").Add(250 * time.Millisecond)
	s := compile(t, protocol.When{EverySeconds: 3600}, anchor)
	berlin := location(t, "Europe/Berlin")
	for after, want := range map[time.Time]time.Time{
		anchor.Add(-48 * time.Hour):        anchor.Add(time.Hour),
		anchor:                             anchor.Add(time.Hour),
		anchor.Add(time.Hour - 1):          anchor.Add(time.Hour),
		anchor.Add(time.Hour):              anchor.Add(2 * time.Hour), // through the change to summer time
		anchor.Add(1000*time.Hour + 1):     anchor.Add(1001 * time.Hour),
		anchor.AddDate(400, 0, 0).Add(-10): anchor.AddDate(400, 0, 0),
	} {
		if next, ok := s.Next(after, berlin); !ok || !next.Equal(want) {
			t.Errorf("after %v comes %v, want %v", after, next, want)
		}
	}
}

func TestNextOfAOneShotComesOnce(t *testing.T) {
	at := instant(t, "2026-12-01 09:00:00 +0100")
	s := compile(t, protocol.When{At: at.UnixMilli()}, time.Time{})
	if next, ok := s.Next(at.Add(-1), nil); !ok || !next.Equal(at) {
		t.Errorf("before it: %v %v", next, ok)
	}
	if next, ok := s.Next(at, nil); ok {
		t.Errorf("after it: %v", next)
	}
}

func TestNextEndsWithTheCalendar(t *testing.T) {
	last := instant(t, "9999-12-31 23:59:59 +0000")
	for _, w := range []protocol.When{{Cron: "* * * * *"}, {EverySeconds: 10}, {Cron: "0 0 29 2 *"}, {Cron: "0 0 1 1 *"}} {
		if next, ok := compile(t, w, time.Time{}).Next(last, time.UTC); ok {
			t.Errorf("%+v comes at %v", w, next)
		}
	}
}

func TestNextNIsBounded(t *testing.T) {
	s := compile(t, protocol.When{EverySeconds: 10}, time.Unix(0, 0))
	if n := len(s.NextN(time.Unix(0, 0), 1_000_000, nil)); n != schedule.MaxNextN {
		t.Errorf("%d instants", n)
	}
}

func TestCompileRefusesWhatIsNoSchedule(t *testing.T) {
	for name, test := range map[string]struct {
		when protocol.When
		want string
	}{
		"nothing":           {protocol.When{}, "the schedule has no time"},
		"two":               {protocol.When{Cron: "* * * * *", EverySeconds: 60}, "both cron and everySeconds"},
		"too short":         {protocol.When{EverySeconds: 9}, "the shortest interval is 10 seconds"},
		"too long":          {protocol.When{EverySeconds: 366*86400 + 1}, "from 0 to 31622400"},
		"negative":          {protocol.When{EverySeconds: -1}, "from 0"},
		"before the epoch":  {protocol.When{At: -1}, "not negative"},
		"after year 9999":   {protocol.When{At: 253402300800000}, "after the year 9999"},
		"a zone for an at":  {protocol.When{At: 1, Zone: "UTC"}, "only for a cron expression"},
		"an unknown zone":   {protocol.When{Cron: "* * * * *", Zone: "Europe/Atlantis"}, "no time zone \"Europe/Atlantis\""},
		"the zone Local":    {protocol.When{Cron: "* * * * *", Zone: "Local"}, "no time zone"},
		"a path as a zone":  {protocol.When{Cron: "* * * * *", Zone: "../../etc/passwd"}, "no time zone"},
		"a control":         {protocol.When{Cron: "\x1b * * * *"}, "U+001B"},
		"an endless cron":   {protocol.When{Cron: strings.Repeat("1,", 200) + "1 * * * *"}, "at most 200"},
		"a library's zone":  {protocol.When{Cron: "TZ=UTC * * * *"}, "has the minute"},
		"a library's every": {protocol.When{Cron: "@every 1s"}, "can be @hourly"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := schedule.Compile(test.when, time.Time{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
		})
	}
}

func BenchmarkNextOfAYearlyCron(b *testing.B) {
	s := compile(b, protocol.When{Cron: "30 2 29 2 *", Zone: "Europe/Berlin"}, time.Time{})
	after := instant(b, "2024-03-01 00:00:00 +0000")
	b.ReportAllocs()
	for b.Loop() {
		s.Next(after, nil)
	}
}
