package schedule_test

import (
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/schedule"
)

func TestQuietHoursBeginAndEndAtLocalTimes(t *testing.T) {
	berlin := location(t, "Europe/Berlin")
	for _, test := range []struct{ hours, now, until string }{
		{"22:00-07:00", "2026-11-26 21:59:59 +0100", ""},
		{"22:00-07:00", "2026-11-26 22:00:00 +0100", "2026-11-27 07:00:00 +0100"},
		{"22:00-07:00", "2026-11-26 23:59:59 +0100", "2026-11-27 07:00:00 +0100"},
		{"22:00-07:00", "2026-11-27 00:00:00 +0100", "2026-11-27 07:00:00 +0100"},
		{"22:00-07:00", "2026-11-27 06:59:59 +0100", "2026-11-27 07:00:00 +0100"},
		{"22:00-07:00", "2026-11-27 07:00:00 +0100", ""},
		{"12:00-13:30", "2026-11-27 13:00:00 +0100", "2026-11-27 13:30:00 +0100"},
		{"12:00-13:30", "2026-11-27 11:00:00 +0100", ""},
		{"12:00-00:00", "2026-11-27 13:00:00 +0100", "2026-11-28 00:00:00 +0100"},
		{" 9:00 - 8:59 ", "2026-11-27 09:00:00 +0100", "2026-11-28 08:59:00 +0100"},
		// The night in which 02:00 to 03:00 is left out.
		{"22:00-02:30", "2026-03-29 01:59:00 +0100", "2026-03-29 03:00:00 +0200"},
		{"22:00-02:30", "2026-03-29 03:00:00 +0200", ""},
		{"02:30-05:00", "2026-03-29 03:00:00 +0200", "2026-03-29 05:00:00 +0200"},
		{"02:15-02:45", "2026-03-29 01:59:00 +0100", ""},
		{"02:15-02:45", "2026-03-29 03:00:00 +0200", ""},
		{"02:45-02:15", "2026-03-29 01:59:00 +0100", "2026-03-30 02:15:00 +0200"},
		// The night in which 02:00 to 03:00 is repeated.
		{"22:00-02:30", "2026-10-25 02:15:00 +0200", "2026-10-25 02:30:00 +0200"},
		{"22:00-02:30", "2026-10-25 02:15:00 +0100", ""},
		{"22:00-03:00", "2026-10-25 02:15:00 +0200", "2026-10-25 03:00:00 +0100"},
		{"02:30-02:45", "2026-10-25 02:35:00 +0200", "2026-10-25 02:45:00 +0200"},
		{"02:30-02:45", "2026-10-25 02:35:00 +0100", ""},
		{"", "2026-11-27 00:00:00 +0100", ""},
	} {
		q, err := schedule.ParseQuiet(test.hours)
		if err != nil {
			t.Errorf("%s: %v", test.hours, err)
			continue
		}
		got := ""
		if until, ok := q.Until(instant(t, test.now), berlin); ok {
			got = until.Format(stamp)
		}
		if got != test.until {
			t.Errorf("%s at %s ends at %q, want %q", test.hours, test.now, got, test.until)
		}
	}
}

func TestParseQuietSaysWhatIsWrongInOneSentence(t *testing.T) {
	for text, want := range map[string]string{
		"00:00-00:00":            "begin and end at the same time",
		"9:00-09:00":             "begin and end at the same time",
		"22:00":                  "cannot be read",
		"22:00-":                 "cannot be read",
		"22-07":                  "cannot be read",
		"22:00-24:00":            "cannot be read",
		"22:00-07:60":            "cannot be read",
		"22:00-07:00-08:00":      "cannot be read",
		"22:00 to 07:00":         "cannot be read",
		"\x1b[31m-07:00":         "cannot be read",
		strings.Repeat("9", 1e4): "cannot be read",
	} {
		_, err := schedule.ParseQuiet(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: the error is %v, want one with %q", text, err, want)
			continue
		}
		checkSentence(t, err)
	}
}

func TestTheZeroQuietIsNever(t *testing.T) {
	if until, ok := (schedule.Quiet{}).Until(time.Now(), nil); ok {
		t.Errorf("it is quiet until %v", until)
	}
}
