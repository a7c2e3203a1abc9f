package display

import (
	"fmt"
	"time"

	"scorel/protocol"
)

// Proactive returns in a few words how proactive mode stands, "" while it is off. It changes only
// with the state, so that it can be in a line that is not drawn every second.
func Proactive(a *protocol.Automation) string {
	clock := func(ms int64) string { return time.UnixMilli(ms).Format("15:04:05") }
	switch {
	case a == nil:
		return ""
	case a.State == protocol.AutomationSleeping:
		return "asleep until " + clock(a.Until)
	case a.Why != "":
		return "proactive: waits"
	case a.NextTickAt > 0:
		return "proactive: next " + clock(a.NextTickAt)
	}
	return "proactive"
}

// ProactiveText returns how proactive mode stands, in sentences without their last full stop.
func ProactiveText(a *protocol.Automation, now time.Time) []string {
	if a == nil {
		return []string{"proactive mode is off; /proactive on switches it on"}
	}
	line := fmt.Sprintf("proactive mode is on: a turn begins %v after the end of the one before", time.Duration(a.EverySeconds)*time.Second)
	if a.Files {
		line += ", and when something else changes a file that the session has read"
	}
	lines := []string{line}
	switch {
	case a.State == protocol.AutomationSleeping:
		lines = append(lines, "the model sleeps until "+Instant(a.Until, now))
	case a.Why != "":
		lines = append(lines, "no turn begins now, because "+Line(a.Why))
	case a.NextTickAt > 0:
		lines = append(lines, "next "+Instant(a.NextTickAt, now))
	}
	return append(lines, "/proactive off ends it")
}

// ProactiveNext returns in a few words when proactive mode goes on, or why it does not.
func ProactiveNext(a *protocol.Automation, now time.Time) string {
	switch {
	case a.State == protocol.AutomationSleeping:
		return "asleep until " + Instant(a.Until, now)
	case a.Why != "":
		return "waits: " + Line(a.Why)
	case a.NextTickAt > 0:
		return "next turn " + Instant(a.NextTickAt, now)
	}
	return "a turn is about to begin"
}
