package schedule_test

import (
	"testing"
	"time"

	"scorel/internal/engine/schedule"
	"scorel/protocol"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func TestDueFiresOneOfManyMissed(t *testing.T) {
	hourly := protocol.When{Cron: "0 * * * *", Zone: "UTC"}
	for name, test := range map[string]struct {
		when     protocol.When
		catchUp  schedule.CatchUp
		settled  time.Time
		now      time.Time
		due      time.Time
		missed   int
		nextIsIn time.Duration
	}{
		"nothing yet":                             {hourly, "one", noon, noon.Add(59 * time.Minute), time.Time{}, 0, time.Minute},
		"at its instant":                          {hourly, "one", noon, noon.Add(time.Hour), noon.Add(time.Hour), 0, time.Hour},
		"a little late":                           {hourly, "none", noon, noon.Add(61 * time.Minute), noon.Add(time.Hour), 0, 59 * time.Minute},
		"too late without catching up":            {hourly, "none", noon, noon.Add(61*time.Minute + 1), time.Time{}, 1, 59*time.Minute - 1},
		"many without catching up, the last late": {hourly, "none", noon, noon.Add(5*time.Hour + 30*time.Minute), time.Time{}, 5, 30 * time.Minute},
		"many without catching up, the last now":  {hourly, "none", noon, noon.Add(5 * time.Hour), noon.Add(5 * time.Hour), 4, time.Hour},
		"many, of which one is caught up":         {hourly, "one", noon, noon.Add(5*time.Hour + 30*time.Minute), noon.Add(5 * time.Hour), 4, 30 * time.Minute},
		"catching up is the default":              {hourly, "", noon, noon.Add(5*time.Hour + 30*time.Minute), noon.Add(5 * time.Hour), 4, 30 * time.Minute},
		"many of a long time":                     {hourly, "one", noon, noon.Add(100*time.Hour + time.Minute), noon.Add(100 * time.Hour), 99, 59 * time.Minute},
		"a day late":                              {protocol.When{Cron: "0 12 27 * *", Zone: "UTC"}, "one", noon, noon.Add(48 * time.Hour), noon.Add(24 * time.Hour), 0, 29 * 24 * time.Hour},
		"more than a day late":                    {protocol.When{Cron: "0 12 27 * *", Zone: "UTC"}, "one", noon, noon.Add(48*time.Hour + 1), time.Time{}, 1, 29*24*time.Hour - 1},
		"an interval":                             {protocol.When{EverySeconds: 10}, "one", noon, noon.Add(35 * time.Second), noon.Add(30 * time.Second), 2, 5 * time.Second},
		"a one-shot in time":                      {protocol.When{At: noon.Add(time.Hour).UnixMilli()}, "one", noon, noon.Add(time.Hour), noon.Add(time.Hour), 0, 0},
		"a one-shot that was missed":              {protocol.When{At: noon.Add(time.Hour).UnixMilli()}, "one", noon, noon.Add(25 * time.Hour), noon.Add(time.Hour), 0, 0},
		"a one-shot that was missed for too long": {protocol.When{At: noon.Add(time.Hour).UnixMilli()}, "one", noon, noon.Add(25*time.Hour + 1), time.Time{}, 1, 0},
		"a one-shot without catching up":          {protocol.When{At: noon.Add(time.Hour).UnixMilli()}, "none", noon, noon.Add(2 * time.Hour), time.Time{}, 1, 0},
		"a one-shot that is settled":              {protocol.When{At: noon.UnixMilli()}, "one", noon, noon.Add(time.Second), time.Time{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, test.when, noon)
			v := s.Due(schedule.Instant{Settled: test.settled, Now: test.now, CatchUp: test.catchUp})
			if v.LastMissed.IsZero() != (v.Missed == 0) || !v.Due.IsZero() && !v.LastMissed.Before(v.Due) {
				t.Errorf("%d were missed, the last %s, with %s due", v.Missed, v.LastMissed, v.Due)
			}
			if !v.Due.Equal(test.due) || v.Missed != test.missed || v.MissedMore || v.Ahead != 0 {
				t.Errorf("%+v; want %v due and %d missed", v, test.due, test.missed)
			}
			if test.nextIsIn == 0 && !v.Next.IsZero() || test.nextIsIn != 0 && !v.Next.Equal(test.now.Add(test.nextIsIn)) {
				t.Errorf("next is %v, want in %v after %v", v.Next, test.nextIsIn, test.now)
			}
			again := s.Due(schedule.Instant{Settled: v.Settled, Now: test.now, CatchUp: test.catchUp})
			if !again.Due.IsZero() || again.Missed != 0 || !again.Settled.Equal(v.Settled) || !again.Next.Equal(v.Next) {
				t.Errorf("asked again it is %+v", again)
			}
		})
	}
}

func TestDueCountsMissedUpToABound(t *testing.T) {
	s := compile(t, protocol.When{EverySeconds: 10}, noon)
	now := noon.AddDate(10, 0, 0).Add(3 * time.Second)
	v := s.Due(schedule.Instant{Settled: noon, Now: now})
	if v.Missed != schedule.MaxMissed || !v.MissedMore || !v.Due.Equal(noon.AddDate(10, 0, 0)) || !v.Settled.Equal(v.Due) {
		t.Errorf("%+v", v)
	}
}

func TestDueIsNothingAgainWhenTheClockIsSetBack(t *testing.T) {
	s := compile(t, protocol.When{Cron: "*/10 * * * *", Zone: "UTC"}, noon)
	settled := s.Due(schedule.Instant{Settled: noon, Now: noon.Add(time.Hour)}).Settled
	for _, now := range []time.Duration{0, 10 * time.Minute, 30 * time.Minute, time.Hour - 1, time.Hour} {
		v := s.Due(schedule.Instant{Settled: settled, Now: noon.Add(now)})
		if !v.Due.IsZero() || v.Missed != 0 || !v.Settled.Equal(settled) || v.Ahead != time.Hour-now || !v.Next.Equal(noon.Add(70*time.Minute)) {
			t.Errorf("set back to %v: %+v", now, v)
		}
	}
	if v := s.Due(schedule.Instant{Settled: settled, Now: noon.Add(70 * time.Minute)}); !v.Due.Equal(noon.Add(70*time.Minute)) || v.Missed != 0 {
		t.Errorf("when it has come again: %+v", v)
	}
}

func TestDueFiresAnInstantOnceWhenTheZoneOfTheDeviceChanges(t *testing.T) {
	s := compile(t, protocol.When{Cron: "0 13 * * *"}, noon)
	berlin, utc := location(t, "Europe/Berlin"), time.UTC
	v := s.Due(schedule.Instant{Settled: noon.Add(-time.Minute), Now: noon, Local: berlin}) // 13:00 there
	if !v.Due.Equal(noon) || !v.Next.Equal(noon.Add(24*time.Hour)) {
		t.Fatalf("in Berlin: %+v", v)
	}
	v = s.Due(schedule.Instant{Settled: v.Settled, Now: noon.Add(time.Minute), Local: utc})
	if !v.Due.IsZero() || !v.Next.Equal(noon.Add(time.Hour)) {
		t.Errorf("then in UTC: %+v", v)
	}
}
