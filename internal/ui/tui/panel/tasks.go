package panel

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Tasks shows background commands and sub-agents, and what the host does by itself.
type Tasks struct {
	Base
	agents   Agents
	picker   *overlay.Picker // while it is open
	detail   *taskDetail     // of one task, while it is open
	byItself byItself
}

// Agents shows what sub-agents do.
type Agents interface {
	// ViewAgent shows the session of an agent over the one that it works for.
	ViewAgent(id protocol.SessionID) tea.Cmd
}

// taskDetail shows the output of a command as it grows.
type taskDetail struct {
	id    string
	page  *overlay.Pager // nil until there is something to show
	shown protocol.TaskInfo
	asked bool // an answer is on its way
}

// NewTasks returns the panel of background tasks.
func NewTasks(b Base, a Agents) *Tasks { return &Tasks{Base: b, agents: a} }

// Open shows background commands and sub-agents, and how calls go.
func (x *Tasks) Open() tea.Cmd {
	p := &overlay.Picker{List: list.New(list.Config{Title: "Background tasks", PickWord: "open", Items: x.items(), Can: list.Filter | list.Preview | list.Delete, TwoLines: true,
		Empty: "Nothing runs in the background.", Confirm: "Stop %s?", DeleteWord: "stop"})}
	x.picker = p
	p.OnClose = func() tea.Cmd { x.picker = nil; return nil }
	p.OnPick = func(ids []string) tea.Cmd {
		x.picker = nil
		if cmd, ok := x.pick(ids[0]); ok {
			return cmd
		}
		t, ok := x.task(ids[0])
		if ok && t.SessionID != "" {
			return x.agents.ViewAgent(t.SessionID)
		}
		x.detail = &taskDetail{id: ids[0]}
		return x.follow()
	}
	p.OnWants = func(w list.Wants) tea.Cmd {
		if w.Preview == "" {
			return nil
		}
		if cmd, ok := x.look(w.Preview, func(lines []string) { p.List.SetPreview(w.Preview, lines) }); ok {
			return cmd
		}
		return x.output(w.Preview, func(_ protocol.TaskInfo, lines []string) { p.List.SetPreview(w.Preview, lines) })
	}
	p.OnOther = func(o list.Outcome) tea.Cmd {
		if o.Kind != list.Deleted {
			return nil
		}
		if cmd, ok := x.stop(o.IDs[0]); ok {
			return cmd
		}
		return link.Ask(x.Link, x.Session.ID(), &protocol.StopTask{TaskID: o.IDs[0]}, func(t *protocol.TaskInfo, err error) tea.Cmd {
			if err != nil {
				x.Toasts.Fail(err)
			}
			return nil
		})
	}
	return tea.Batch(x.Overlays.Pick(p), x.ByItself())
}

// Refresh shows in the panel of background tasks as they are now.
func (x *Tasks) Refresh() tea.Cmd {
	if x.picker != nil {
		x.picker.List.SetItems(x.items())
	}
	if d := x.detail; d != nil && !d.asked {
		if !x.Overlays.Has(d.page) {
			x.detail = nil
			return nil
		}
		if t, ok := x.task(d.id); ok && (t.Bytes != d.shown.Bytes || t.State != d.shown.State) {
			return x.follow()
		}
	}
	return nil
}

// follow asks for the output of the task whose detail is open, and shows it.
func (x *Tasks) follow() tea.Cmd {
	d := x.detail
	d.asked = true
	return x.output(d.id, func(t protocol.TaskInfo, lines []string) {
		d.asked, d.shown = false, t
		switch {
		case x.detail != d: // another one was opened
		case d.page == nil:
			d.page = x.Overlays.Follow("Task "+line(t.Command), lines, x.Open)
		default:
			d.page.SetText(lines)
		}
	})
}

// output calls f with the newest lines that a command printed, or, of what the session no
// longer remembers and of sub-agents, with its process log.
func (x *Tasks) output(id string, f func(t protocol.TaskInfo, lines []string)) tea.Cmd {
	known, _ := x.task(id)
	if known.SessionID != "" {
		return x.log(id, func(lines []string) { f(known, lines) })
	}
	return link.Ask(x.Link, x.Session.ID(), &protocol.GetTaskOutput{TaskID: id}, func(got *protocol.TaskOutput, err error) tea.Cmd {
		if err != nil {
			return x.log(id, func(lines []string) { f(known, lines) })
		}
		th := x.Screen.Theme()
		var lines []string
		if got.Omitted > 0 {
			lines = append(lines, th.Dim.On("… "+plain.Count(int(got.Omitted), "earlier byte")))
		}
		for l := range strings.SplitSeq(strings.TrimRight(display.Text(got.Text), "\n"), "\n") {
			lines = append(lines, th.ToolOutput.On(l))
		}
		if got.Text == "" {
			lines = []string{th.Dim.On("(no output yet)")}
		}
		if t := got.Task; t.State != protocol.TaskRunning {
			lines = append(lines, th.Dim.On(line(display.TaskEnd(t.State, t.Agent, t.ExitCode, t.Signal))))
		}
		f(got.Task, lines)
		return nil
	})
}

func (x *Tasks) task(id string) (protocol.TaskInfo, bool) {
	i := slices.IndexFunc(x.Session.Live().Tasks, func(t protocol.TaskInfo) bool { return t.TaskID == id })
	if i < 0 {
		return protocol.TaskInfo{}, false
	}
	return x.Session.Live().Tasks[i], true
}

func (x *Tasks) items() []list.Item {
	now := time.Now()
	return append(status.TaskItems(x.Screen.Theme(), x.Session.Live().Tasks, now), x.byItself.items(x.Base, now)...)
}

// log calls f with the first lines of the log of an operation.
func (x *Tasks) log(operation string, f func(lines []string)) tea.Cmd {
	return link.Ask(x.Link, x.Session.ID(), &protocol.GetProcessLog{OperationID: operation, Limit: 1000}, func(log *protocol.ProcessLog, err error) tea.Cmd {
		if err != nil {
			f([]string{x.Screen.Theme().Dim.On(line(err.Error()))})
			return nil
		}
		var lines []string
		for _, l := range log.Lines {
			switch {
			case l.Event != nil:
				step := display.StepOf(l.Event)
				style := x.Screen.Theme().Text
				if step.Warning || step.Status == display.Failed {
					style = x.Screen.Theme().Error
				}
				lines = append(lines, style.On(step.Line()))
			case l.Note != "":
				lines = append(lines, x.Screen.Theme().Dim.On(line(l.Note)))
			default:
				lines = append(lines, x.Screen.Theme().ToolOutput.On(line(l.Stderr)))
			}
		}
		f(lines)
		return nil
	})
}
