package display

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"scorel/protocol"
)

// Instant is a moment as people near it read it: the time alone on the same day.
func Instant(at int64, now time.Time) string {
	t := time.UnixMilli(at).In(now.Location())
	switch {
	case at == 0:
		return ""
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

// ScheduleName is what a schedule is called.
func ScheduleName(s *protocol.Schedule) string {
	return Line(cmp.Or(s.Name, firstOf(s.Prompt, 40)))
}

// firstOf is the first line of a text, cut to n characters.
func firstOf(text string, n int) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > n {
		line, more = string(r[:n]), true
	}
	if more {
		line += "…"
	}
	return line
}

// ScheduleRow is a schedule as a line of a table: its id, state, when it is due, when next,
// and what it is called.
func ScheduleRow(s *protocol.Schedule, now time.Time) []string {
	state, next := string(s.State), ""
	switch {
	case s.State == protocol.SchedulePaused && s.PausedUntil > 0:
		state = "paused until " + Instant(s.PausedUntil, now)
	case s.NextAt > 0:
		next = "next " + Instant(s.NextAt, now)
	case s.Missed():
		state = "missed"
	}
	row := []string{string(s.ScheduleID), state, Line(s.Words), next, ScheduleName(s)}
	if r := s.LastRun; r != nil {
		row = append(row, "last "+string(r.State)+" "+Instant(cmp.Or(r.EndedAt, r.StartedAt, r.CreatedAt), now))
	}
	return row
}

// RunRow is a run as a line of a table.
func RunRow(r *protocol.ScheduleRun, now time.Time) []string {
	cost := ""
	if r.CostUSD > 0 {
		cost = fmt.Sprintf("$%.2f", r.CostUSD)
	}
	why := Line(r.Why)
	if r.Denied > 0 {
		denied := "1 call was denied"
		if r.Denied > 1 {
			denied = fmt.Sprintf("%d calls were denied", r.Denied)
		}
		why = strings.TrimPrefix(why+"; "+denied, "; ")
	}
	return []string{string(r.RunID), string(r.State), Instant(cmp.Or(r.EndedAt, r.StartedAt, r.CreatedAt), now), cost, string(r.SessionID), Line(cmp.Or(r.Name, string(r.ScheduleID))), why}
}

// ScheduleText is all of a schedule, a line each.
func ScheduleText(d *protocol.ScheduleDetails, now time.Time) []string {
	s := &d.Schedule
	out := []string{
		string(s.ScheduleID) + "  " + ScheduleName(s),
		"when: " + Line(s.Words),
	}
	add := func(name, value string) {
		if value != "" {
			out = append(out, name+": "+value)
		}
	}
	if s.ScheduleID != "" { // else it is proposed
		state := string(s.State)
		if s.Missed() {
			state = "missed"
		}
		add("state", state)
	}
	add("why", Line(s.Why))
	add("paused until", Instant(s.PausedUntil, now))
	var next []string
	for _, at := range d.Next {
		next = append(next, Instant(at, now))
	}
	add("next", strings.Join(next, ", "))
	add("works in", worksIn(s))
	add("made by", string(s.Source))
	add("rights", rights(s))
	if s.LastSkip != nil {
		add("left out", fmt.Sprintf("%d, the last of %s: %s", s.Skipped, Instant(s.LastSkip.At, now), Line(s.LastSkip.Why)))
	}
	out = append(out, "prompt:")
	for line := range strings.SplitSeq(Text(s.Prompt), "\n") {
		out = append(out, "    "+line)
	}
	return out
}

// worksIn says where the runs of a schedule work.
func worksIn(s *protocol.Schedule) string {
	switch {
	case s.Target == protocol.TargetFresh:
		return "a new session each time, in " + Line(s.WorkDir)
	case s.Target == protocol.TargetKept && s.SessionID == "":
		return "a session of its own, in " + Line(s.WorkDir)
	}
	return "the session " + string(s.SessionID)
}

// rights says what the runs of a schedule may do.
func rights(s *protocol.Schedule) string {
	o := s.Options
	if o == nil {
		o = &protocol.TurnOptions{}
	}
	mode := cmp.Or(o.Mode, "dontAsk")
	if o.Mode == "" && s.OnQuestion == "wait" {
		mode = "default"
	}
	text := "mode " + mode
	if s.OnQuestion == "wait" {
		text += ", questions wait for somebody"
	}
	if len(o.Allow) > 0 {
		text += ", allowed " + Line(strings.Join(o.Allow, " "))
	}
	if len(o.Deny) > 0 {
		text += ", denied " + Line(strings.Join(o.Deny, " "))
	}
	if o.Model != "" {
		text += ", model " + Line(o.Model)
	}
	if o.MaxBudgetUSD > 0 {
		text += fmt.Sprintf(", at most $%.2f a run", o.MaxBudgetUSD)
	}
	return text
}

// limitsOf says what something may use at most; 0 means no limit.
func limitsOf(usd float64, tokens int64, minutes float64) string {
	var limits []string
	if usd > 0 {
		limits = append(limits, fmt.Sprintf("$%.2f", usd))
	}
	if tokens > 0 {
		limits = append(limits, fmt.Sprintf("%d tokens", tokens))
	}
	if minutes > 0 {
		limits = append(limits, fmt.Sprintf("%g minutes", minutes))
	}
	return cmp.Or(strings.Join(limits, ", "), "none")
}

// AutomationText is what a host does by itself, a line each.
func AutomationText(s *protocol.AutomationStatus, now time.Time) []string {
	out := []string{}
	if s.Problem != "" {
		out = append(out, Line(s.Problem))
	}
	out = append(out, fmt.Sprintf("schedules: %d armed, %d paused", s.Armed, s.Paused),
		fmt.Sprintf("runs: %d running, %d waiting (at most %d at once)", s.Running, s.Queued, s.MaxParallel))
	if s.Proactive > 0 {
		out = append(out, fmt.Sprintf("sessions in proactive mode: %d (scorel ps shows them)", s.Proactive))
	}
	if s.NextAt > 0 {
		out = append(out, "next due: "+Instant(s.NextAt, now))
	}
	if s.QuietUntil > 0 {
		out = append(out, "quiet hours until "+Instant(s.QuietUntil, now))
	}
	today := fmt.Sprintf("today: $%.2f", s.DayUSD)
	if s.MaxDayUSD > 0 {
		today += fmt.Sprintf(" of $%.2f", s.MaxDayUSD)
	}
	today += fmt.Sprintf(", %d tokens", s.DayTokens)
	if s.MaxDayTokens > 0 {
		today += fmt.Sprintf(" of %d", s.MaxDayTokens)
	}
	out = append(out, today, "limits of a run: "+limitsOf(s.MaxRunUSD, s.MaxRunTokens, s.MaxRunMinutes), "limits of a day: "+limitsOf(s.MaxDayUSD, s.MaxDayTokens, 0))
	if s.QuietHours != "" {
		out = append(out, "quiet hours: "+Line(s.QuietHours))
	}
	for _, n := range s.Notices {
		out = append(out, Line(n))
	}
	return out
}
