package schedule_test

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"scorel/internal/engine/schedule"
	"scorel/protocol"
)

func TestParseReadsWhatAPersonSays(t *testing.T) {
	berlin := location(t, "Europe/Berlin")
	now := instant(t, "2026-11-26 10:00:00 +0100")
	at := func(text string) protocol.When { return protocol.When{At: instant(t, text).UnixMilli()} }
	for text, want := range map[string]protocol.When{
		"5m":                           {EverySeconds: 300},
		"  every   5m ":                {EverySeconds: 300},
		"every 2h30m":                  {EverySeconds: 9000},
		"Every 2 hours 30 minutes":     {EverySeconds: 9000},
		"every hour":                   {EverySeconds: 3600},
		"30s":                          {EverySeconds: 30},
		"10s":                          {EverySeconds: 10},
		"1d":                           {EverySeconds: 86_400},
		"366d":                         {EverySeconds: 366 * 86_400},
		"1w":                           {EverySeconds: 7 * 86_400},
		"in 10m":                       at("2026-11-26 10:10:00 +0100"),
		"in 1s":                        at("2026-11-26 10:00:01 +0100"),
		"at 11:00":                     at("2026-11-26 11:00:00 +0100"),
		"at 09:00":                     at("2026-11-27 09:00:00 +0100"),
		"at 9:00":                      at("2026-11-27 09:00:00 +0100"),
		"at 10:00":                     at("2026-11-27 10:00:00 +0100"),
		"at 10:00:01":                  at("2026-11-26 10:00:01 +0100"),
		"at 2026-12-01 09:00":          at("2026-12-01 09:00:00 +0100"),
		"at 2026-12-01T09:00":          at("2026-12-01 09:00:00 +0100"),
		"AT 2026-12-01T09:00:00+05:30": at("2026-12-01 09:00:00 +0530"),
		"at 2026-12-01t09:00:00z":      at("2026-12-01 09:00:00 +0000"),
		"at 2027-03-28 02:30":          at("2027-03-28 03:00:00 +0200"), // left out
		"at 2027-10-31 02:30":          at("2027-10-31 02:30:00 +0200"), // repeated
		"at 2028-02-29 00:00":          at("2028-02-29 00:00:00 +0100"),
		"0 9 * * 1-5":                  {Cron: "0 9 * * 1-5"},
		" */5  *  * * * ":              {Cron: "*/5 * * * *"},
		"@daily":                       {Cron: "@daily"},
		"0 9 * * MON-FRI":              {Cron: "0 9 * * MON-FRI"},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := schedule.Parse(text, "", now, berlin)
			if err != nil || got != want {
				t.Errorf("it is %+v (%v), want %+v", got, err, want)
			}
		})
	}
}

func TestParseReadsLocalTimesInTheZoneThatIsNamed(t *testing.T) {
	now := instant(t, "2026-11-26 10:00:00 +0100")
	got, err := schedule.Parse("at 09:00", "Asia/Tokyo", now, location(t, "Europe/Berlin"))
	if want := instant(t, "2026-11-27 09:00:00 +0900"); err != nil || got != (protocol.When{At: want.UnixMilli()}) {
		t.Errorf("at 09:00 is %+v (%v)", got, err)
	}
	got, err = schedule.Parse("0 9 * * *", "Asia/Tokyo", now, nil)
	if err != nil || got != (protocol.When{Cron: "0 9 * * *", Zone: "Asia/Tokyo"}) {
		t.Errorf("0 9 * * * is %+v (%v)", got, err)
	}
}

func TestParseFindsTheNextTimeOfDayWhenClocksChange(t *testing.T) {
	berlin := location(t, "Europe/Berlin")
	for now, want := range map[string]string{
		"2026-10-25 02:10:00 +0200": "2026-10-25 02:30:00 +0200",
		"2026-10-25 02:10:00 +0100": "2026-10-26 02:30:00 +0100", // it has been
		"2026-03-29 01:00:00 +0100": "2026-03-29 03:00:00 +0200",
		"2026-03-29 03:00:00 +0200": "2026-03-30 02:30:00 +0200",
	} {
		got, err := schedule.Parse("at 02:30", "", instant(t, now), berlin)
		if err != nil || got.At != instant(t, want).UnixMilli() {
			t.Errorf("at %s it is %v (%v), want %s", now, time.UnixMilli(got.At).In(berlin), err, want)
		}
	}
	got, err := schedule.Parse("at 09:00", "", instant(t, "2011-12-29 12:00:00 -1000"), location(t, "Pacific/Apia"))
	if want := instant(t, "2011-12-31 00:00:00 +1400"); err != nil || got.At != want.UnixMilli() {
		t.Errorf("before the day that is left out it is %v (%v)", time.UnixMilli(got.At), err)
	}
}

// bad are texts that nobody can mean, with what is said of them.
var bad = map[string]string{
	"":                        "no time was given",
	" \t ":                    "no time was given",
	"every":                   "the interval is missing",
	"in":                      "the interval is missing",
	"at":                      "after at is missing",
	"soon":                    "cannot be read; write for example 5m",
	"soon in the next year":   "cannot be read; write for example 5m",
	"5":                       `the interval "5" has no unit; write for example 5s, 5m or 5h`,
	"every 5":                 "has no unit",
	"5 x":                     "cannot be read",
	"5s":                      "the shortest is 10 seconds",
	"every 0m":                "the shortest is 10 seconds",
	"9s":                      "the shortest is 10 seconds",
	"367d":                    "the longest is 366 days",
	"9999999999999999999999s": "the longest is 366 days",
	"999999999w":              "the longest is 366 days",
	"1.5h":                    "write whole numbers",
	"every -5m":               "write whole numbers",
	"5m5m":                    "write whole numbers",
	"30m2h":                   "write whole numbers",
	"every m":                 "write whole numbers",
	"in 0s":                   "the shortest is in 1s",
	"in 400d":                 "too far away",
	"09:00":                   "write at 09:00 for once",
	"at noon":                 "cannot be read; write for example at 09:00",
	"at 25:00":                "no such date or time",
	"at 09:60":                "no such date or time",
	"at 2026-04-31 09:00":     "no such date or time",
	"at 2026-02-29 09:00":     "no such date or time",
	"at 2026-13-01 09:00":     "no such date or time",
	"at 2026-11-31T09:00:00Z": "no such date or time",
	"at 2026-12-01":           "cannot be read",
	"at 12026-12-01 09:00":    "cannot be read",
	"at 2025-12-01 09:00":     "is past: it is 2026-11-26 10:00:00 now",
	"at 2026-11-26 10:00":     "is past",
	"0 9 * *":                 "needs five fields, not 4:",
	"0 0 9 * * 1":             "needs five fields, not 6:",
	"*":                       "needs five fields, not 1:",
	"0 0 30 2 *":              "never comes: no month that it names has a day 30",
	"0 0 31 4,6,9,11 *":       "never comes",
	"0 0 31 2-2/1 *":          "never comes",
	"60 * * * *":              "the minute \"60\"; it can be numbers from 0 to 59",
	"* 24 * * *":              "the hour \"24\"; it can be numbers from 0 to 23",
	"* * 0 * *":               "the day of the month \"0\"; it can be numbers from 1 to 31",
	"* * 32 * *":              "the day of the month",
	"* * * 13 *":              "the month \"13\"; it can be numbers from 1 to 12, jan to dec",
	"* * * foo *":             "the month",
	"* * * * 8":               "the day of the week \"8\"; it can be numbers from 0 to 7, sun to sat",
	"* * * * mon":             "", // is good
	"* * mon * *":             "the day of the month",
	"5-1 * * * *":             "the minute \"5-1\"",
	"*/0 * * * *":             "the minute \"*/0\"",
	"*/60 * * * *":            "the minute",
	"*/9999999999999 * * * *": "the minute",
	"*/-1 * * * *":            "the minute",
	"*/2/2 * * * *":           "the minute",
	"1-2-3 * * * *":           "the minute",
	"*-5 * * * *":             "the minute",
	", * * * *":               "cannot be read",
	"1, * * * *":              "the minute",
	"1,,2 * * * *":            "the minute",
	"0 */x * * *":             "the hour",
	"0 ٣ * * *":               "the hour",
	"0 99999999999 * * *":     "the hour",
	"@reboot":                 "can be @hourly",
	"@every 5m":               "can be @hourly",
	"\x1b[31m * * * *":        "cannot be read",
	"at \x07":                 "cannot be read",
	"0 9 * * \u202e1":         "holds the character U+202E",
	"0 9 * * \xff":            "the day of the week",
	"0 " + strings.Repeat("1,", 60) + "x * * *": "the hour",
	strings.Repeat("5", 10_000):                 "can have at most 200",
}

func TestParseSaysWhatIsWrongInOneSentence(t *testing.T) {
	now := instant(t, "2026-11-26 10:00:00 +0100")
	for text, want := range bad {
		_, err := schedule.Parse(text, "", now, location(t, "Europe/Berlin"))
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: the error is %v, want one with %q", text, err, want)
			continue
		}
		checkSentence(t, err)
	}
}

func TestParseRefusesZonesThatMeanNothing(t *testing.T) {
	now := instant(t, "2026-11-26 10:00:00 +0100")
	for _, test := range []struct{ text, zone, want string }{
		{"5m", "UTC", "a time zone does not change"},
		{"every 5m", "UTC", "a time zone does not change"},
		{"in 5m", "UTC", "a time zone does not change"},
		{"at 2026-12-01T09:00:00Z", "Asia/Tokyo", "has an offset of its own"},
		{"at 09:00", "Mars/Olympus", "no time zone \"Mars/Olympus\""},
		{"0 9 * * *", "CET\x1b[0m", `no time zone "CET\x1b[0m"`},
		{"0 9 * * *", "local", "no time zone"},
		{"0 9 * * *", strings.Repeat("x", 5000), "no time zone"},
	} {
		_, err := schedule.Parse(test.text, test.zone, now, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s in %.20q: the error is %v, want one with %q", test.text, test.zone, err, test.want)
			continue
		}
		checkSentence(t, err)
	}
}

// checkSentence checks that an error can be shown to anybody.
func checkSentence(t testing.TB, err error) {
	t.Helper()
	text := err.Error()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%q has control characters", text)
	}
	if len(text) > 1200 || strings.HasSuffix(text, ".") {
		t.Errorf("%q is no single sentence", text)
	}
}

// TestParseReadsTheExamplesOfTheDocumentation reads the first column of the table in
// docs/schedules.md.
func TestParseReadsTheExamplesOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| you write |")
	table, _, _ = strings.Cut(table, "\n\n")
	now, n := instant(t, "2026-11-26 10:00:00 +0100"), 0
	for row := range strings.Lines(table) {
		column, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		for i, text := range strings.Split(column, "`") {
			if i%2 == 0 {
				continue
			}
			n++
			if _, err := schedule.Parse(text, "", now, nil); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	if n < 15 {
		t.Errorf("the table has %d examples", n)
	}
}

func TestDescribeSaysWhenAScheduleIsDue(t *testing.T) {
	berlin := location(t, "Europe/Berlin")
	unnamed := time.FixedZone("Local", 3600)
	for _, test := range []struct {
		when  protocol.When
		local *time.Location
		want  string
	}{
		{protocol.When{EverySeconds: 300}, berlin, "every 5 minutes"},
		{protocol.When{EverySeconds: 3600}, berlin, "every hour"},
		{protocol.When{EverySeconds: 90061}, berlin, "every 1 day 1 hour 1 minute 1 second"},
		{protocol.When{EverySeconds: 9000}, nil, "every 2 hours 30 minutes"},
		{protocol.When{At: instant(t, "2026-12-01 09:00:00 +0100").UnixMilli()}, berlin, "once at 2026-12-01 09:00 (Europe/Berlin)"},
		{protocol.When{At: instant(t, "2026-12-01 09:00:30 +0100").UnixMilli()}, nil, "once at 2026-12-01 08:00:30 (UTC)"},
		{protocol.When{Cron: "0 9 * * 1-5", Zone: "Asia/Tokyo"}, berlin, "cron 0 9 * * 1-5 (Asia/Tokyo)"},
		{protocol.When{Cron: "0 9 * * 1-5"}, berlin, "cron 0 9 * * 1-5 (Europe/Berlin)"},
		{protocol.When{Cron: "0 9 * * 1-5"}, unnamed, "cron 0 9 * * 1-5 (local time)"},
		{protocol.When{Cron: "\x1b[0m"}, berlin, `cron "\x1b[0m" (Europe/Berlin)`},
		{protocol.When{}, berlin, "never"},
	} {
		if got := schedule.Describe(test.when, test.local); got != test.want {
			t.Errorf("%+v is %q, want %q", test.when, got, test.want)
		}
	}
}

func TestParseReadsTheIntervalsOfDescribe(t *testing.T) {
	for _, seconds := range []int{10, 59, 60, 61, 3600, 3661, 86400, 90061, 366 * 86400} {
		w := protocol.When{EverySeconds: seconds}
		if got, err := schedule.Parse(schedule.Describe(w, nil), "", time.Unix(0, 0), nil); err != nil || got != w {
			t.Errorf("%s is %+v (%v)", schedule.Describe(w, nil), got, err)
		}
	}
}
