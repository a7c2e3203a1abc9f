package order

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestWhenIsTakenFromTheFrontOfTheWords(t *testing.T) {
	for text, want := range map[string]string{
		"every 5m check the build":        "every 5m|check the build",
		"5m check":                        "5m|check",
		"1h30m check":                     "1h30m|check",
		"in 2h look":                      "in 2h|look",
		"at 09:00 look":                   "at 09:00|look",
		"at 2026-12-01 09:00 look at it":  "at 2026-12-01 09:00|look at it",
		"at 2026-12-01T09:00:00Z 5 times": "at 2026-12-01T09:00:00Z|5 times",
		"*/5 * * * * look":                "*/5 * * * *|look",
		"0 9 * * mon-fri stand up":        "0 9 * * mon-fri|stand up",
		"@daily tidy":                     "@daily|tidy",
		"look 1 2 3 4 5":                  "|look 1 2 3 4 5",
		"every":                           "every|",
		"":                                "|",
	} {
		when, rest := SplitWhen(strings.Fields(text))
		if got := when + "|" + strings.Join(rest, " "); got != want {
			t.Errorf("%q gives %q, not %q", text, got, want)
		}
	}
	if when, rest := SplitWhen([]string{"0 9 * * *", "look"}); when != "0 9 * * *" || len(rest) != 1 {
		t.Errorf("in quotes: %q %q", when, rest)
	}
}

func TestAWordThatCouldBeSeveralIsNone(t *testing.T) {
	list := []protocol.Schedule{{ScheduleID: "sch_aaaaaaaaaaaaaaa1", Name: "build"}, {ScheduleID: "sch_aaaaaaaaaaaaaaa2", Name: "twice"}, {ScheduleID: "sch_bbbbbbbbbbbbbbbb", Name: "twice"}}
	for word, want := range map[string]string{
		"build": "sch_aaaaaaaaaaaaaaa1", "sch_aaaaaaaaaaaaaaa2": "sch_aaaaaaaaaaaaaaa2", "bbbbbb": "sch_bbbbbbbbbbbbbbbb", "sch_bbbbbb": "sch_bbbbbbbbbbbbbbbb",
		"twice": "", "aaaaaa": "", "bbb": "", "sch_bb": "", "none": "", "": "",
	} {
		x, err := Find(list, word)
		got := ""
		if x != nil {
			got = string(x.ScheduleID)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q gives %q and %v, not %q", word, got, err, want)
		}
	}
}
