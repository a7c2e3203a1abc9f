package automation

import (
	"fmt"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/schedule"
	"scorel/internal/host/automation/store"
	"scorel/protocol"
)

// quiet reports whether the quiet hours of the configuration hold now, and until when.
func (a *Automation) quiet(limits config.Automation) (until time.Time, quiet bool) {
	q, err := schedule.ParseQuiet(limits.QuietHours)
	if err != nil { // it was checked when the configuration was read
		return time.Time{}, false
	}
	return q.Until(a.cfg.Clock.Now(), a.cfg.Clock.Zone())
}

// tomorrow returns when the next day begins.
func (a *Automation) tomorrow() time.Time {
	now := a.cfg.Clock.Now().In(a.cfg.Clock.Zone())
	return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
}

// dayOver says which limit of a day is reached, "" for none.
func (a *Automation) dayOver(limits config.Automation) string {
	today := a.day.spent()
	switch {
	case limits.MaxDayUSD > 0 && today.USD >= limits.MaxDayUSD:
		return fmt.Sprintf("the day's limit of $%.2f is reached (automation.maxDayUSD)", limits.MaxDayUSD)
	case limits.MaxDayTokens > 0 && today.Tokens >= limits.MaxDayTokens:
		return fmt.Sprintf("the day's limit of %d tokens is reached (automation.maxDayTokens)", limits.MaxDayTokens)
	}
	return ""
}

// atLimit pauses the schedule of a run that has reached a limit until the next day.
func (a *Automation) atLimit(id protocol.RunID, why string) {
	if r := a.store.State().Run(id); r != nil {
		if x := a.store.State().Schedule(r.ScheduleID); x != nil {
			a.pauseToday(x, why)
		}
	}
}

// pauseToday pauses a schedule until the next day, and says so once.
func (a *Automation) pauseToday(x *store.Schedule, why string) {
	until := a.tomorrow()
	a.pause(x.ScheduleID, until.UnixMilli(), why)
	name := x.Name
	if name == "" {
		name = string(x.ScheduleID)
	}
	a.tell(x.SessionID, fmt.Sprintf("The schedule %s pauses until %s: %s.", name, until.Format("2006-01-02 15:04"), why))
}

// tell tells the people of a session.
func (a *Automation) tell(id protocol.SessionID, text string) {
	if id != "" {
		a.cfg.Sessions.Notify(id, "warning", text)
	}
}
