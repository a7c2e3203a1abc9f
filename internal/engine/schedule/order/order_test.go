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
		"2 hours look":                    "2 hours|look",
		"every 2 hours 30 minutes look":   "every 2 hours 30 minutes|look",
		"every hour look":                 "every hour|look",
		"every 5m 2 hours of work":        "every 5m|2 hours of work",
		"1w look":                         "1w|look",
		"1.5h look":                       "|1.5h look",
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
	list := []protocol.Schedule{{ScheduleID: "sch_aaaaaaaaaaaaaaa1", Name: "build"}, {ScheduleID: "sch_aaaaaaaaaaaaaaa2", Name: "twice"}, {ScheduleID: "sch_bbbbbbbbbbbbbbbb", Name: "twice"},
		{ScheduleID: "sch_ccccccccccccccc1", Name: "again", State: protocol.ScheduleDone}, {ScheduleID: "sch_ccccccccccccccc2", Name: "again"}}
	for word, want := range map[string]string{
		"build": "sch_aaaaaaaaaaaaaaa1", "sch_aaaaaaaaaaaaaaa2": "sch_aaaaaaaaaaaaaaa2", "bbbbbb": "sch_bbbbbbbbbbbbbbbb", "sch_bbbbbb": "sch_bbbbbbbbbbbbbbbb",
		"again": "sch_ccccccccccccccc2", "sch_ccccccccccccccc1": "sch_ccccccccccccccc1",
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

func TestLoopReadsAnIntervalAtItsFront(t *testing.T) {
	for text, want := range map[string]string{
		"hello":                            "every 10m|hello",
		"5m hello":                         "every 5m|hello",
		"every 1h hello":                   "every 1h|hello",
		"Every 1H hello":                   "Every 1H|hello",
		"every 2 hours 30 minutes hello":   "every 2 hours 30 minutes|hello",
		"2 hours hello":                    "every 2 hours|hello",
		"every day look":                   "every day|look",
		"\"every 5m\" hello":               "every 5m|hello",
		"\"Hello\" is what you say":        "every 10m|\"Hello\" is what you say",
		"10m in the morning,  look\n- two": "every 10m|in the morning,  look\n- two",
		"5m look at what runs every 20m":   "every 5m|look at what runs every 20m",
		"look at every file":               "every 10m|look at every file",
		"mon tue wed":                      "every 10m|mon tue wed",
	} {
		r, err := LoopSchedule(text, "10m")
		if err != nil || r.When+"|"+r.Prompt != want {
			t.Errorf("%q gives %+v and %v, not %q", text, r, err, want)
		}
	}
}

func TestLoopRefusesATimeThatIsNoInterval(t *testing.T) {
	for _, text := range []string{"1.5h hello", "hourly hello", "daily hello", "@hourly hello", "at 09:00 hello", "in 2h hello", "0 9 * * * hello", "*/5 * * * * hello",
		"90 hello", "90", "every hello", "every", "5x hello", "09:00 hello", "hello every 20m", "hello every 2 hours", "hello every hour", "5m", "every 5m", ""} {
		if r, err := LoopSchedule(text, "10m"); err == nil {
			t.Errorf("%q gives %+v", text, r)
		}
	}
}

func TestAnEmptyWordIsNoTime(t *testing.T) {
	for _, words := range [][]string{{"", "x"}, {"every", "", "x"}, {"in", "", "x"}, {"5m", "", "x"}, {"at", "", "x"}, {""}} {
		if when, rest := SplitWhen(words); len(rest)+len(strings.Fields(when)) > len(words) {
			t.Errorf("%q: %q and %q", words, when, rest)
		}
	}
}
