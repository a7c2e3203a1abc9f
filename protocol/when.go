package protocol

import (
	"fmt"
	"time"
)

// Bounds of [When].
const (
	MaxCron         = 200                 // bytes of a cron expression; any useful one is far shorter
	MaxZone         = 64                  // bytes of the name of a time zone; the longest of IANA has 32
	MinEverySeconds = 10                  // the shortest interval
	MaxEverySeconds = 366 * 86_400        // the longest interval, a year
	maxMilliseconds = 253_402_300_799_999 // the end of the year 9999; later ones have no RFC 3339 form
)

// whenAlternatives names what a schedule can be due by.
const whenAlternatives = "cron (an expression of five fields), everySeconds (an interval) or at (milliseconds since the epoch)"

// When is what a schedule is due by: exactly one of Cron, EverySeconds and At. docs/schedules.md
// describes the grammar of cron expressions, and which instants each of the three means.
type When struct {
	// Cron is an expression of five fields (minute, hour, day of the month, month, day of
	// the week), or @hourly, @daily, @weekly, @monthly or @yearly. [When.Check] does not
	// read it; the host does.
	Cron string `json:"cron,omitempty" check:"max=MaxCron,line"`
	// Zone is the IANA name of the time zone of Cron, as Europe/Berlin. "" is the host's
	// zone at the time of asking. Only with Cron.
	Zone string `json:"zone,omitempty" check:"max=MaxZone,line"`
	// EverySeconds is an interval of MinEverySeconds to MaxEverySeconds seconds, counted
	// from the moment at which the schedule was armed.
	EverySeconds int `json:"everySeconds,omitempty" check:"min=0,max=MaxEverySeconds"`
	// At is one instant in milliseconds since the epoch, up to the year 9999. A schedule
	// with it is due once.
	At int64 `json:"at,omitempty" check:"min=0"`
}

// Check returns why the schedule is due by nothing, or by more than one thing, nil when it is
// due by exactly one. It does not read the cron expression.
func (w When) Check() *Problem {
	if p := w.checkFields(); p != nil {
		return p
	}
	var named []string
	if w.Cron != "" {
		named = append(named, "cron")
	}
	if w.EverySeconds != 0 {
		named = append(named, "everySeconds")
	}
	if w.At != 0 {
		named = append(named, "at")
	}
	switch {
	case len(named) == 0:
		return &Problem{"cron", "The schedule has no time; give it one of " + whenAlternatives + "."}
	case len(named) > 1:
		return &Problem{named[1], fmt.Sprintf("The schedule has both %s and %s; give it only one of %s.", named[0], named[1], whenAlternatives)}
	case w.Zone != "" && w.Cron == "":
		return &Problem{"zone", fmt.Sprintf("The field zone is only for a cron expression; leave it out beside %s.", named[0])}
	case w.EverySeconds != 0 && w.EverySeconds < MinEverySeconds:
		return &Problem{"everySeconds", fmt.Sprintf("The field everySeconds is %d; the shortest interval is %d seconds.", w.EverySeconds, MinEverySeconds)}
	case w.At > maxMilliseconds:
		return &Problem{"at", fmt.Sprintf("The field at is %d, which is after the year 9999; it counts milliseconds since %s.", w.At, time.Unix(0, 0).UTC().Format(time.DateOnly))}
	}
	return nil
}
