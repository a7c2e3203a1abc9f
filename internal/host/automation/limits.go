package automation

import (
	"cmp"
	"fmt"
	"strings"
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
	a.tell(x.SessionID, pausedText(x, until, why))
}

// Holds returns sentences about the schedules of a session that are paused at a limit.
func (a *Automation) Holds(id protocol.SessionID) (out []string) {
	if a.store == nil {
		return nil
	}
	for _, x := range a.store.State().Schedules {
		if x.SessionID != id || x.State != protocol.SchedulePaused || x.PausedUntil == 0 {
			continue
		}
		if len(out) == maxHolds {
			return append(out, "More schedules of this session are paused; scorel schedule list has them.")
		}
		until := time.UnixMilli(x.PausedUntil).In(a.cfg.Clock.Zone())
		out = append(out, pausedText(x, until, x.Why))
	}
	return out
}

// maxHolds bounds the schedules that are named to who opens a session.
const maxHolds = 3

// pausedText says that a schedule is paused until a moment.
func pausedText(x *store.Schedule, until time.Time, why string) string {
	return fmt.Sprintf("The schedule %s pauses until %s: %s.", cmp.Or(x.Name, string(x.ScheduleID)), until.Format("2006-01-02 15:04"), strings.TrimRight(why, "."))
}

// tell tells the people of a session.
func (a *Automation) tell(id protocol.SessionID, text string) {
	if id != "" {
		a.cfg.Sessions.Notify(id, "warning", text)
	}
}
