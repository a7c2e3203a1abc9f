package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what the panel shows beside the tasks; the rest is in /schedule list and
// /autonomy runs.
const (
	maxShownSchedules = 50
	maxShownRuns      = 20
)

// byItself is what the host does by itself, as the panel of tasks shows it.
type byItself struct {
	problems  []string // with all of it
	schedules []protocol.Schedule
	runs      []protocol.ScheduleRun
}

// ByItself asks for schedules and runs again, while the panel is open.
func (x *Tasks) ByItself() tea.Cmd {
	if x.picker == nil {
		return nil
	}
	return link.Ask(x.Link, "", &protocol.GetAutomation{}, func(st *protocol.AutomationStatus, err error) tea.Cmd {
		if err != nil { // an older host has none
			return nil
		}
		now := byItself{problems: append(nonEmpty(st.Problem), st.Notices...)}
		return link.Ask(x.Link, "", &protocol.ListSchedules{}, func(s *protocol.ScheduleList, err error) tea.Cmd {
			if err != nil { // the problem says why
				return x.show(now)
			}
			now.schedules = s.Schedules
			return link.Ask(x.Link, "", &protocol.ListRuns{Limit: maxShownRuns}, func(r *protocol.RunList, err error) tea.Cmd {
				if err == nil {
					now.runs = r.Runs
				}
				return x.show(now)
			})
		})
	})
}

// show shows what the host does by itself.
func (x *Tasks) show(now byItself) tea.Cmd {
	x.byItself = now
	if x.picker == nil {
		return nil
	}
	x.picker.List.SetItems(x.items())
	return x.picker.Wants()
}

// items are the rows of schedules, those that are due next first, and of runs.
func (b *byItself) items(base Base, now time.Time) []list.Item {
	out := problems(b.problems)
	box := base.Screen.Theme().Box
	for i := range b.schedules[:min(len(b.schedules), maxShownSchedules)] {
		row := display.ScheduleRow(&b.schedules[i], now)
		it := list.Item{ID: row[0], Title: row[4], Detail: strings.Join(nonEmpty(row[2], row[1], row[3]), " · "), Group: "Schedules", Mark: box.Dot, Tone: list.Quiet}
		if len(row) > 5 {
			it.Right = row[5]
		}
		switch b.schedules[i].State {
		case protocol.ScheduleArmed:
			it.Tone = list.Good
		case protocol.SchedulePaused:
			it.Mark, it.Tone = "!", list.Warn
		}
		out = append(out, it)
	}
	if n := len(b.schedules) - maxShownSchedules; n > 0 {
		out = append(out, list.Item{ID: "\x00schedules", Title: fmt.Sprintf("%d more: /schedule list", n), Group: "Schedules", Mark: box.Dot, Tone: list.Quiet, Disabled: "/schedule list shows all"})
	}
	for i := range b.runs {
		row := display.RunRow(&b.runs[i], now)
		if s := b.schedule(string(b.runs[i].ScheduleID)); s != nil {
			row[5] = display.ScheduleName(s)
		}
		it := list.Item{ID: row[0], Title: row[5], Detail: strings.Join(nonEmpty(row[1], row[6]), ": "), Right: strings.Join(nonEmpty(row[3], row[2]), " · "), Group: "Runs", Mark: box.Dot, Tone: list.Quiet}
		switch b.runs[i].State {
		case protocol.RunCompleted:
			it.Mark, it.Tone = box.Check, list.Good
		case protocol.RunFailed:
			it.Mark, it.Tone = box.Cross, list.Bad
		case protocol.RunRunning:
			it.Tone = list.Good
		}
		out = append(out, it)
	}
	return out
}

func nonEmpty(texts ...string) (out []string) {
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

func (b *byItself) schedule(id string) *protocol.Schedule {
	i := slices.IndexFunc(b.schedules, func(s protocol.Schedule) bool { return string(s.ScheduleID) == id })
	if i < 0 {
		return nil
	}
	return &b.schedules[i]
}

func (b *byItself) run(id string) *protocol.ScheduleRun {
	i := slices.IndexFunc(b.runs, func(r protocol.ScheduleRun) bool { return string(r.RunID) == id })
	if i < 0 {
		return nil
	}
	return &b.runs[i]
}

// lookAt shows a schedule on a page of its own.
func (x *Tasks) lookAt(id string) tea.Cmd {
	cmd, _ := x.look(id, func(lines []string) { x.Overlays.Page("Schedule", lines) })
	return cmd
}

// pick opens a schedule or the session of a run, and reports whether it is one of them.
func (x *Tasks) pick(id string) (tea.Cmd, bool) {
	if s := x.byItself.schedule(id); s != nil {
		return x.lookAt(id), true
	}
	if r := x.byItself.run(id); r != nil {
		return x.agents.ViewAgent(r.SessionID), true
	}
	return nil, false
}

// look shows a schedule, a run or a problem beside the list, and reports whether it is one of
// them.
func (x *Tasks) look(id string, show func(lines []string)) (tea.Cmd, bool) {
	if strings.HasPrefix(id, "\x00") { // a problem, or how many schedules are not shown
		for i, it := range problems(x.byItself.problems) {
			if it.ID == id {
				show(cell.Wrap(line(x.byItself.problems[i]), list.PreviewWidth(x.Screen.Width())))
			}
		}
		return nil, true
	}
	if s := x.byItself.schedule(id); s != nil {
		return link.Ask(x.Link, "", &protocol.GetSchedule{ScheduleID: s.ScheduleID}, func(d *protocol.ScheduleDetails, err error) tea.Cmd {
			if err != nil {
				show([]string{x.Screen.Theme().Dim.On(line(err.Error()))})
			} else {
				show(display.ScheduleText(d, time.Now()))
			}
			return nil
		}), true
	}
	if r := x.byItself.run(id); r != nil {
		row := display.RunRow(r, time.Now())
		show(nonEmpty(row[0], "state: "+row[1], row[6], "at: "+row[2], row[3], "session: "+row[4]))
		return nil, true
	}
	return nil, false
}

// stop pauses a schedule or cancels a run, and reports whether it is one of them.
func (x *Tasks) stop(id string) (tea.Cmd, bool) {
	if s := x.byItself.schedule(id); s != nil {
		return asked(x, &protocol.SetSchedule{ScheduleID: s.ScheduleID, Paused: true}, func(s *protocol.Schedule) string {
			return "the schedule " + display.ScheduleName(s) + " is paused; /schedule resume resumes it"
		}), true
	}
	if r := x.byItself.run(id); r != nil {
		return asked(x, &protocol.CancelRun{RunID: r.RunID}, func(r *protocol.ScheduleRun) string { return "the run is " + string(r.State) }), true
	}
	return nil, false
}

// asked sends a request, and tells what came of it.
func asked[R protocol.Response](x *Tasks, req protocol.Request, text func(R) string) tea.Cmd {
	return link.Ask(x.Link, "", req, func(r R, err error) tea.Cmd {
		if err != nil {
			x.Toasts.Fail(err)
		} else {
			x.Toasts.Info(text(r))
		}
		return x.ByItself()
	})
}
