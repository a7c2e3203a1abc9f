package tui

import (
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/conversation"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/input"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/panel"
	"scorel/internal/ui/tui/question"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// statusArea is what is around the editor: the header of a session, what goes on, what
// waits, notices and the status line.
type statusArea struct {
	cfg       *Config
	link      *link.Link
	window    *window
	prefs     *preferences
	session   *conversation.View
	host      *hostinfo.Info
	input     *input.Input
	questions *question.Queue
	queue     *panel.Queue
	agents    *agentView
	toasts    *status.Toasts

	working status.Working
	header  *status.Welcome // until it is in the scrollback
	command statusCommand
	next    time.Time // when time alone changes something, zero when never
}

// tick is the message that time alone has changed what is to be seen.
type tick struct{}

// tick has the screen drawn again when time alone changes what is to be seen.
func (s *statusArea) tick() tea.Cmd {
	now := time.Now()
	s.working.CancelKey = s.prefs.hint(keymap.Cancel)
	if s.session.Over() {
		s.working.CancelKey = s.prefs.hint(keymap.Interrupt)
	}
	s.working.Pictures, s.working.Each = status.Indicator(s.session.Live().UIStates)
	s.working.Observe(s.session.Live(), s.session.Began(), now)
	next := time.Duration(0)
	sooner := func(d time.Duration) {
		if d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	sooner(s.working.Next(s.window.theme, now))
	sooner(s.toasts.Next(now))
	sooner(s.questions.Wait(now))
	sooner(s.agents.strip.Next(now))
	command, due := s.commandDue(now)
	sooner(due)
	if s.link.State().State == client.StateReconnecting || len(s.session.Main().Tasks) > 0 {
		sooner(time.Second)
	}
	if next == 0 {
		return command
	}
	at := now.Add(next)
	if !s.next.IsZero() && !at.Before(s.next) {
		return command
	}
	s.next = at
	return tea.Batch(command, tea.Tick(next, func(time.Time) tea.Msg { return tick{} }))
}

// above returns what is between the transcript and the editor.
func (s *statusArea) above(height int) []string {
	now := time.Now()
	th, width, live := s.window.theme, s.window.width, s.session.Live()
	var lines []string
	for _, text := range s.input.Sending() {
		lines = append(lines, th.Dim.On(cell.Cut(display.Line("… "+display.Line(text)), width, "…")))
	}
	if live.Running { // what is left open is in the conversation
		lines = append(lines, status.TodoStrip(th, width, max(0, height-len(lines)-2), live.Todos)...)
	}
	if s.working.On() && status.Word(live.UIStates, protocol.PlaceWorking) == "" {
		lines = append(lines, s.working.Render(th, width, now))
	}
	if strip := status.TaskStrip(th, width, s.inBackground(), "/tasks", now); strip != "" {
		lines = append(lines, strip)
	}
	lines = append(lines, status.QueueStrip(th, width, live.Queues, s.prefs.hint(keymap.EditQueue), s.prefs.name(keymap.Submit))...)
	lines = append(lines, s.toasts.Render(th, width, now)...)
	lines = append(lines, status.Widgets(th, width, height, live.UIStates, "above")...)
	if n := len(lines) - height; n > 0 {
		lines = lines[n:]
	}
	return lines
}

// below returns what is between the editor and the status line.
func (s *statusArea) below(height int) []string {
	return status.Widgets(s.window.theme, s.window.width, height, s.session.Live().UIStates, "below")
}

// frameStyle is that of the rules around the editor. Focused says that it has the focus.
func (s *statusArea) frameStyle(focused bool) theme.Style {
	th := s.window.theme
	typed, _ := s.input.Mode()
	mode := s.host.Mode()
	switch {
	case typed == editor.Shell || typed == editor.ShellApart:
		return th.Warning
	case typed == editor.NoteHere || typed == editor.NoteUser:
		return th.Info
	case mode == "plan":
		return th.ModePlan
	case mode == "acceptEdits":
		return th.ModeEdits
	case mode == "bypassPermissions":
		return th.ModeBypass
	case focused:
		return th.BorderFocus
	}
	return th.Border
}

// rule draws a line across the screen; none in a plain theme.
func (s *statusArea) rule(style theme.Style) string {
	th := s.window.theme
	if th.Plain || th.Box.Horizontal == "" {
		return ""
	}
	return style.On(strings.Repeat(th.Box.Horizontal, s.window.width/max(1, cell.Width(th.Box.Horizontal))))
}

// line draws the status line, and the keys of a sequence that was begun.
func (s *statusArea) line() string {
	live, conn, figures := s.session.Live(), s.link.State(), s.session.Figures()
	f := status.Facts{Model: s.host.ModelName(), Thinking: s.host.Thinking(), Mode: s.host.Mode(), Vim: s.input.VimMode(), ContextTokens: figures.ContextTokens, Usage: live.Usage,
		Place: s.place(), Clients: figures.Clients, Queued: s.queue.Count(), Proactive: display.Proactive(live.Automation), Words: status.Words(s.window.theme, live.UIStates), State: conn.State, Replaced: s.replaced()}
	if x, ok := s.host.Model(); ok {
		f.ContextWindow = x.ContextWindow
	}
	for _, t := range s.inBackground() {
		if t.State == protocol.TaskRunning {
			f.Tasks++
		}
	}
	if conn.State == client.StateReconnecting && conn.RetryIn > 0 {
		f.Reconnect = "in " + status.Elapsed(conn.RetryIn)
	}
	if keys := s.prefs.keys.Pending(); keys != "" {
		f.Words = append([]string{keys + " …"}, f.Words...)
	}
	if conn.State == "" {
		f.State = client.StateConnecting
	}
	return status.Line(s.window.theme, s.window.width, f)
}

// inBackground are the tasks that are counted as in the background, with those that have
// ended. Sub-agents of the main conversation have lines of their own.
func (s *statusArea) inBackground() []protocol.TaskInfo {
	tasks := s.session.Live().Tasks
	if s.session.Over() {
		return tasks
	}
	return commandsOf(tasks)
}

// place is the branch of Git, or the session's name.
func (s *statusArea) place() string {
	if name := s.session.Live().Meta.Name; name != "" {
		return name
	}
	return s.host.Branch()
}

// placeholder is what an empty editor shows. Reading says that the transcript has the
// focus.
func (s *statusArea) placeholder(reading bool) string {
	hint := s.prefs.hint
	switch {
	case reading:
		return hint(keymap.Leave) + " comes back; " + hint(keymap.Search) + " searches, " + hint(keymap.ItemUp) + " and " + hint(keymap.ItemDown) + " pick, " + hint(keymap.Expand) + " unfolds, " + hint(keymap.Copy) + " copies"
	case s.session.Over():
		return "message to " + s.agents.name() + "; " + hint(keymap.Cancel) + " goes back to the main conversation"
	case s.session.Live().Running && s.prefs.settings.WhenBusy == "steer":
		return s.prefs.name(keymap.Submit) + " sends it at the next step; " + hint("editor.followUp") + " sends after this turn"
	case s.session.Live().Running:
		return s.prefs.name(keymap.Submit) + " sends after this turn; " + hint("editor.followUp") + " sends it at the next step"
	case s.queue.Paused():
		return s.prefs.name(keymap.Submit) + " continues with queued messages"
	}
	return "ask something, / for commands, @ for files, ! for the shell"
}

// banner shows which session this is.
func (s *statusArea) banner(of protocol.SessionSummary) {
	w := status.Welcome{Name: "Scorel", Version: s.cfg.Version, Folder: s.folder(), Model: s.host.ModelName(), Session: display.Line(of.Title())}
	if of.SessionID == "" {
		w.Tips = []string{s.prefs.hint(keymap.ShowHelp) + " keys and commands", s.prefs.hint(keymap.CycleMode) + " change permission mode"}
	}
	s.header = &w
}

// head draws the header, nil once it is in the scrollback.
func (s *statusArea) head() []string {
	if s.header == nil {
		return nil
	}
	return append(status.Header(s.window.theme, s.window.width, *s.header), "")
}

// folder is the project's folder, with ~ for the home.
func (s *statusArea) folder() string {
	home := strings.TrimSuffix(s.cfg.Dir, "/.scorel")
	if rest, ok := strings.CutPrefix(s.cfg.WorkDir, home+"/"); ok {
		return "~/" + rest
	}
	return s.cfg.WorkDir
}

// title is that of the window.
func (s *statusArea) title() string {
	if t := status.Title(s.session.Live().UIStates); t != "" { // of an extension
		return t
	}
	name := filepath.Base(s.cfg.WorkDir)
	if n := s.session.Live().Meta.Name; n != "" {
		name = n
	}
	mark := ""
	switch {
	case s.questions.Front() != nil:
		mark = "? "
	case s.session.Live().Running:
		mark = "● "
	}
	return mark + display.Line(name) + " - scorel"
}
