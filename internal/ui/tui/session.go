package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxParting bounds the lines of a session that go into the scrollback when another one
// is shown: more do not fit on any screen.
const maxParting = 500

// part leaves in the scrollback what of the session was on the screen.
func (m *Model) part() {
	if m.scr.Full() {
		return
	}
	lines := append(m.transcript.Commit(m.theme, m.width), m.transcript.Region(m.theme, m.width, maxParting)...)
	if len(lines) == 0 {
		return
	}
	if m.header != nil {
		lines = slices.Concat(status.Header(m.theme, m.width, *m.header), []string{""}, lines)
		m.header = nil
	}
	m.parting = append(m.parting, append(lines, "")...)
}

// opened shows another session from here on.
func (m *Model) opened(o opened) tea.Cmd {
	m.readEnough()
	m.part()
	m.id, m.gen, m.said = o.id, o.gen, o.said
	m.overlays = slices.DeleteFunc(m.overlays, func(o overlay) bool { _, is := o.(*treeView); return is }) // of the session before
	m.projection = client.NewProjection()
	m.shown, m.filling, m.fetching, m.cancelling = shownPath{}, false, false, ""
	m.edits, m.answered, m.toldEnd = queueEdits{}, "", ""
	m.images.forget()
	m.transcript.Reset()
	m.questions.clear()
	m.attach(o.said.Summary.State)
	if !o.fresh {
		m.banner(o.said.Summary)
	}
	for _, f := range o.said.Findings {
		m.toast(levelWarning, "the session log: "+f)
	}
	if o.said.ReadOnly != "" {
		text := "nothing can be written: " + o.said.ReadOnly
		if o.said.NeedsLeaf {
			text += ": scorel sessions repair " + string(o.id) + " --leaf EVENT"
		}
		m.toast(levelError, text)
	}
	m.keepPlace()
	m.statusChanged()
	m.newest, m.contextTokens = nil, 0
	m.popup.Forget()
	return tea.Batch(m.loadConfig(), m.loadBranch(), m.typed())
}

// loadBranch asks which branch of Git is checked out.
func (m *Model) loadBranch() tea.Cmd {
	return ask(m, m.id, &protocol.GetProjectState{WorkDir: m.workDir()}, func(m *Model, s *protocol.ProjectState, err error) tea.Cmd {
		if err == nil { // without it the status line shows less
			m.branch = line(s.Branch)
		}
		return nil
	})
}

// arrived takes what came of the session.
func (m *Model) arrived() tea.Cmd {
	var cmds []tea.Cmd
	var moves []protocol.Event
	var ends []protocol.LiveEnd
	for _, u := range m.link.news.take() {
		if u.gen != m.gen {
			continue
		}
		if u.err != nil {
			m.ended(u.err)
			continue
		}
		before := m.live().Running
		for _, e := range u.Events {
			cmds = append(cmds, m.event(e))
			if b, ok := e.Body.(*protocol.RuntimeEnd); ok {
				ends = append(ends, protocol.LiveEnd{TurnID: e.TurnID, RuntimeEnd: *b})
			}
			if _, is := e.Leaf(); is {
				moves = append(moves, e)
			} else if e.Control && (display.InConversation(e.Body) || display.WithCall(e.Body)) { // of no path, but seen
				m.transcript.Append(e)
			}
		}
		if end := u.live.Ended; u.Fresh && end != nil && (before || end.Error != nil) {
			ends = append(ends, *end) // it came while nobody told us
		}
		m.treeChanged(u.Events)
		m.projection.Apply(u.Update, &u.live)
		m.contextStale = m.contextStale || u.Fresh
		if before && !m.live().Running {
			cmds = append(cmds, m.turnEnded())
		}
	}
	if m.contextStale {
		m.contextStale = false
		m.contextTokens = protocol.ContextTokens(func(yield func(protocol.Event) bool) {
			for _, e := range slices.Backward(m.projection.Path()) {
				if !yield(e) {
					return
				}
			}
		})
		m.statusChanged()
	}
	m.sync()
	for _, end := range ends { // below what the turn has said
		if end.TurnID != m.toldEnd {
			m.toldEnd = end.TurnID
			m.tellEnd(&end.RuntimeEnd)
		}
	}
	if n := len(moves); n > 0 && moves[n-1].ID == m.live().PersistentLastID { // a line says that the path leads elsewhere
		m.transcript.Append(moves[n-1])
	}
	m.refreshTasks()
	cmds = append(cmds, m.fill(), m.nextEdit(), m.questions.sync(m), m.land())
	return tea.Batch(cmds...)
}

// tellEnd says in the conversation why a turn has not come to its end, where no message
// of it does.
func (m *Model) tellEnd(end *protocol.RuntimeEnd) {
	if end.Reason == protocol.EndCompleted {
		return
	}
	if path := m.projection.Path(); len(path) > 0 {
		b, ok := path[len(path)-1].Body.(*protocol.MessageBody)
		if ok && b.Message.Role == protocol.RoleAssistant && b.Message.StopReason != protocol.StopToolUse {
			if end.Error == nil {
				return // it says so itself
			}
		}
	}
	switch {
	case end.Reason == protocol.EndCancelled:
		m.transcript.Note("warning", "Cancelled.")
	case end.Error != nil:
		m.transcript.Note("error", display.Text(end.Error.Message))
	default:
		m.transcript.Note("warning", "The turn has ended: "+strings.ReplaceAll(line(string(end.Terminal)), "_", " ")+".")
	}
}

// ended says that the session is not to be had any more.
func (m *Model) ended(err error) {
	if errors.Is(err, client.ErrClosed) {
		return
	}
	m.fail(err)
}

// event takes what of an event is not the transcript's.
func (m *Model) event(e protocol.Event) tea.Cmd {
	if _, moves := e.Leaf(); moves {
		m.contextStale = true
		m.statusChanged()
	}
	switch b := e.Body.(type) {
	case *protocol.SessionInfo:
		m.statusChanged()
	case *protocol.Compact:
		m.contextStale = true
		m.statusChanged()
	case *protocol.TaskUpdate:
		if end := display.TaskEnd(b.Task.State, b.Task.Agent, b.Task.ExitCode, b.Task.Signal); end != "" {
			m.toast(levelInfo, line(b.Task.Command)+" "+end)
		}
	case *protocol.Notice:
		m.tell(status.LevelOf(b.Level), b.Source, b.Text)
	case *protocol.MessageBody:
		if b.Message.Role == protocol.RoleAssistant {
			m.answered = b.Message.Model
			m.statusChanged()
			if b.Message.Usage != nil {
				m.contextStale = true
				u := b.Message.Usage
				m.newest = &status.InputUsage{Input: u.InputTokens, Output: u.OutputTokens, CacheCreation: u.CacheWriteTokens, CacheRead: u.CacheReadTokens}
			}
		}
	}
	return nil
}

// deviceChanged takes who is attached to the session, and that the host ends.
func (m *Model) deviceChanged(d client.DeviceChanges) tea.Cmd {
	for _, c := range d.Sessions {
		if c.Summary.SessionID == m.id {
			m.attach(c.Summary.State)
		}
	}
	if d.Stopping != nil && !d.Stopping.Restarting {
		m.link.stopped.Store(true)
		text := "somebody stops the host; it is started again when you send something"
		if m.live().Running {
			text += "; the turn ends at its next step"
		}
		m.toast(levelWarning, text)
	}
	return nil
}

// attach takes how many clients are attached to the session.
func (m *Model) attach(s *protocol.SessionState) {
	m.attached = 1
	if s != nil {
		m.attached = s.Clients
	}
}

// stateChanged tells how the connection stands.
func (m *Model) stateChanged(c client.Change) tea.Cmd {
	was := m.conn.State
	m.conn = c
	if c.State == client.StateConnected && was == client.StateReconnecting {
		m.toast(levelInfo, "connected again")
	}
	if c.State == client.StateDisconnected && c.Err != nil {
		m.fail(c.Err)
	}
	return nil
}

// turnEnded tells the person that it is their turn.
func (m *Model) turnEnded() tea.Cmd {
	m.cancelling = ""
	return m.notify("the turn has ended")
}
