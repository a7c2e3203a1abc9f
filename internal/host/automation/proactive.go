package automation

import (
	"scorel/internal/engine/runtime"
	"scorel/protocol"
)

// Allowed returns why no turn may begin by itself now, "" when one may. It implements
// [lane.Limits].
func (a *Automation) Allowed() (why string) {
	limits, err := a.limits()
	switch {
	case err != nil:
		return "the limits in config.toml cannot be read"
	case !limits.Enabled:
		return "automation.enabled is false in config.toml"
	}
	if a.day != nil {
		if why := a.dayOver(limits); why != "" {
			return why
		}
	}
	if until, quiet := a.quiet(limits); quiet {
		return "the quiet hours last until " + until.Format("15:04")
	}
	return ""
}

// Bound holds the options of a turn that begins by itself to the limits of a run, and returns
// what all of the day may spend together. It implements [lane.Limits].
func (a *Automation) Bound(o *protocol.TurnOptions) *runtime.Budget {
	limits, err := a.limits()
	if err != nil || a.day == nil { // [Automation.Allowed] says so
		return nil
	}
	lower(o, limits)
	return a.day.budget(limits)
}
