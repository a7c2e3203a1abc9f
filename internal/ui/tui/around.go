package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Levels of what is told.
const (
	levelInfo    = status.Info
	levelWarning = status.Warning
	levelError   = status.Error
)

// toast tells something that the person need not answer.
func (m *Model) toast(l status.Level, text string) { m.tell(l, "", text) }

func (m *Model) tell(l status.Level, source, text string) {
	m.toasts.Add(l, source, text, time.Now())
}

// fail tells of an error.
func (m *Model) fail(err error) { m.toast(levelError, strings.TrimSuffix(err.Error(), ".")) }

// tick says that time alone has changed what is to be seen.
type tick struct{}

// animate has the screen drawn again when time alone changes what is to be seen.
func (m *Model) animate() tea.Cmd {
	now := time.Now()
	m.working.CancelKey = m.hint(keymap.Cancel)
	m.working.Observe(m.live(), now)
	next := time.Duration(0)
	sooner := func(d time.Duration) {
		if d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	sooner(m.working.Next(m.theme, now))
	sooner(m.toasts.Next(now))
	sooner(m.questions.guard.Wait(now))
	status, due := m.statusDue(now)
	sooner(due)
	if m.conn.State == client.StateReconnecting || len(m.live().Tasks) > 0 {
		sooner(time.Second)
	}
	if next == 0 {
		return status
	}
	if at := now.Add(next); m.nextTick.IsZero() || at.Before(m.nextTick) {
		m.nextTick = at
	} else {
		return status
	}
	return tea.Batch(status, tea.Tick(next, func(time.Time) tea.Msg { return tick{} }))
}

// aboveEditor gives what stands between the transcript and the editor.
func (m *Model) aboveEditor(height int) []string {
	now := time.Now()
	var lines []string
	for _, d := range m.sending {
		lines = append(lines, m.theme.Dim.On(cut("… "+display.Line(d.text), m.width)))
	}
	if m.live().Running { // what is left open is in the conversation
		lines = append(lines, status.TodoStrip(m.theme, m.width, max(0, height-len(lines)-2), m.live().Todos)...)
	}
	if m.working.On() {
		lines = append(lines, m.working.Render(m.theme, m.width, now))
	}
	if s := status.TaskStrip(m.theme, m.width, m.live().Tasks, "/tasks", now); s != "" {
		lines = append(lines, s)
	}
	lines = append(lines, status.QueueStrip(m.theme, m.width, m.live().Queues, m.hint(keymap.EditQueue))...)
	lines = append(lines, m.toasts.Render(m.theme, m.width, now)...)
	lines = append(lines, status.Widgets(m.theme, m.width, height, m.live().UIStates, "above")...)
	if n := len(lines) - height; n > 0 {
		lines = lines[n:]
	}
	return lines
}

// belowEditor gives what stands between the editor and the status line.
func (m *Model) belowEditor(height int) []string {
	return status.Widgets(m.theme, m.width, height, m.live().UIStates, "below")
}

// editorLines draws the editor between two rules, with the cursor in it.
func (m *Model) editorLines(height int) ([]string, *cursor) {
	style := m.theme.Border
	mode, _ := m.editor.Mode()
	switch {
	case mode == editor.Shell || mode == editor.ShellApart:
		style = m.theme.Warning
	case mode == editor.NoteHere || mode == editor.NoteUser:
		style = m.theme.Info
	case m.mode() == "plan":
		style = m.theme.ModePlan
	case m.mode() == "acceptEdits":
		style = m.theme.ModeEdits
	case m.mode() == "bypassPermissions":
		style = m.theme.ModeBypass
	case m.focus() == onEditor:
		style = m.theme.BorderFocus
	}
	m.editor.SetGhost(m.ghost()) // it says what keys do now
	text, at := m.editor.Render(m.theme, m.width, height)
	rule := m.rule(style)
	if rule == "" {
		return text, &cursor{X: at.X, Y: at.Y}
	}
	lines := append([]string{rule}, text...)
	return append(lines, rule), &cursor{X: at.X, Y: at.Y + 1}
}

// rule draws a line across the screen; none in a plain theme.
func (m *Model) rule(style theme.Style) string {
	if m.theme.Plain || m.theme.Box.Horizontal == "" {
		return ""
	}
	return style.On(strings.Repeat(m.theme.Box.Horizontal, m.width/max(1, cell.Width(m.theme.Box.Horizontal))))
}

// statusLines draws the status line, and the keys of a sequence that was begun.
func (m *Model) statusLines() []string {
	l := m.live()
	f := status.Facts{Model: m.modelName(), Thinking: m.thinking(), Mode: m.mode(), ContextTokens: m.contextTokens, Usage: l.Usage,
		Place: m.place(), Clients: m.attached, Queued: m.queued(), Words: status.Words(m.theme, l.UIStates), State: m.conn.State, Replaced: m.replaced()}
	if x, ok := m.model(); ok {
		f.ContextWindow = x.ContextWindow
	}
	for _, t := range l.Tasks {
		if t.State == protocol.TaskRunning {
			f.Tasks++
		}
	}
	if m.conn.State == client.StateReconnecting && m.conn.RetryIn > 0 {
		f.Reconnect = "in " + status.Elapsed(m.conn.RetryIn)
	}
	if keys := m.keys.Pending(); keys != "" {
		f.Words = append([]string{keys + " …"}, f.Words...)
	}
	if m.conn.State == "" {
		f.State = client.StateConnecting
	}
	return []string{status.Line(m.theme, m.width, f)}
}

// replaced is what the command of the status line printed.
func (m *Model) replaced() string {
	if text := m.statusLine.scheduler.Text(); text != "" {
		return strings.Repeat(" ", m.settings.StatusLine.Padding) + text
	}
	return ""
}

// place is the branch of Git, or the session's name.
func (m *Model) place() string {
	if name := m.live().Meta.Name; name != "" {
		return name
	}
	return m.branch
}

// placeholder is what an empty editor shows.
func (m *Model) placeholder() string {
	switch {
	case m.reading:
		return m.hint(keymap.Leave) + " comes back; " + m.hint(keymap.Search) + " searches, " + m.hint(keymap.ItemUp) + " and " + m.hint(keymap.ItemDown) + " pick, " + m.hint(keymap.Expand) + " unfolds, " + m.hint(keymap.Copy) + " copies"
	case m.live().Running && m.settings.WhenBusy == "steer":
		return "Enter tells the model at its next step; " + m.hint("editor.followUp") + " sends after this turn"
	case m.live().Running:
		return "Enter sends after this turn; " + m.hint("editor.followUp") + " tells the model at its next step"
	case m.paused():
		return "Enter goes on with what waits"
	}
	return "ask something, / for commands, @ for files, ! for the shell"
}

// banner tells which session is shown.
func (m *Model) banner(s protocol.SessionSummary) {
	w := status.Welcome{Name: "Scorel", Version: m.cfg.Version, Folder: m.folder(), Model: m.modelName(), Session: display.Line(s.Title())}
	if s.SessionID == "" {
		w.Tips = []string{m.hint(keymap.ShowHelp) + " keys and commands", m.hint(keymap.CycleMode) + " what runs without a question"}
	}
	m.header = &w
}

// folder is the project's folder, with ~ for the home.
func (m *Model) folder() string {
	home := strings.TrimSuffix(m.cfg.Dir, "/.scorel")
	if rest, ok := strings.CutPrefix(m.cfg.WorkDir, home+"/"); ok {
		return "~/" + rest
	}
	return m.cfg.WorkDir
}
