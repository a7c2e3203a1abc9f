package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
)

// linked begins with the session that was asked for.
func (m *Model) linked(l linked) tea.Cmd {
	m.project = l.project
	if l.err != nil {
		m.conn = client.Change{State: client.StateDisconnected, Err: l.err}
		m.fail(l.err)
		return nil
	}
	var cmds []tea.Cmd
	if p := l.project; p != nil {
		for _, n := range p.Notices {
			m.toast(levelWarning, n)
		}
		cmds = append(cmds, m.offerTrust(p))
	}
	m.popup.Forget()
	return tea.Batch(append(cmds, m.choose(), m.loadConfig(), m.loadModels(), m.typed())...) // what is typed may want the host's files
}

// choose shows the session that the command line named, the one that a crashed UI
// showed here, or one that runs or waits for somebody.
func (m *Model) choose() tea.Cmd {
	start := m.cfg.Start
	switch {
	case start.Pick:
		return m.openSessions()
	case start.Session != "":
		return m.find(start.Session)
	case m.left != nil && m.left.SessionID != "":
		m.toast(levelInfo, "this is where the UI ended without being left; /new begins another session")
		return tea.Batch(m.show(m.left.SessionID), m.firstPrompt())
	}
	req := &protocol.ListSessions{Limit: 1}
	if m.project != nil {
		req.ProjectID = m.project.ProjectID
	}
	return ask(m, "", req, func(m *Model, list *protocol.SessionList, err error) tea.Cmd {
		switch {
		case err != nil:
			m.fail(err)
		case m.id != "": // something was sent meanwhile
		case len(list.Sessions) == 0 && start.Continue:
			m.toast(levelInfo, "there is no session here yet; this is a new one")
		case len(list.Sessions) == 0:
		case start.Continue:
			return tea.Batch(m.show(list.Sessions[0].SessionID), m.firstPrompt())
		case m.project != nil && busy(list.Sessions[0].State):
			m.toast(levelInfo, "this session is at work; /new begins another")
			return tea.Batch(m.show(list.Sessions[0].SessionID), m.firstPrompt())
		}
		return m.firstPrompt()
	})
}

// busy says that something goes on in a session, or waits for a person.
func busy(s *protocol.SessionState) bool { return s != nil && (s.Running || s.Asking) }

// firstPrompt sends what the command line gave, once.
func (m *Model) firstPrompt() tea.Cmd {
	text := m.cfg.Start.Prompt
	m.cfg.Start.Prompt = ""
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return m.sendText(text)
}

// find shows the session of an id, the beginning of one, or a name.
func (m *Model) find(name string) tea.Cmd {
	return ask(m, "", &protocol.ListSessions{Query: name, Limit: 50}, func(m *Model, list *protocol.SessionList, err error) tea.Cmd {
		if err != nil {
			m.fail(err)
			return nil
		}
		var found []protocol.SessionSummary
		for _, s := range list.Sessions {
			if string(s.SessionID) == name || s.Meta.Name == name {
				found = []protocol.SessionSummary{s}
				break
			}
			if strings.HasPrefix(string(s.SessionID), name) {
				found = append(found, s)
			}
		}
		if len(found) == 1 {
			return tea.Batch(m.show(found[0].SessionID), m.firstPrompt())
		}
		m.toast(levelWarning, "no single session is called "+line(name)+"; pick one")
		text := m.cfg.Start.Prompt // the person sees first where it goes
		m.cfg.Start.Prompt = ""
		return tea.Batch(m.openSessions(), m.editorSet(text))
	})
}

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
	m.projection = client.NewProjection()
	m.shown, m.filling, m.fetching, m.cancelling = nil, false, false, ""
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
		m.toast(levelError, "nothing can be written: "+o.said.ReadOnly)
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
	var ends []*protocol.RuntimeEnd
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
			switch b := e.Body.(type) {
			case *protocol.PermissionDecision, *protocol.FileSnapshot: // of no path, but of a call
				m.transcript.Append(e)
			case *protocol.Rewind, *protocol.Branch:
				moves = append(moves, e)
			case *protocol.RuntimeEnd:
				ends = append(ends, b)
			}
		}
		m.treeChanged(u.Events)
		m.projection.Apply(u.Update, &u.live)
		if before && !m.live().Running {
			cmds = append(cmds, m.turnEnded())
		}
	}
	m.sync()
	for _, end := range ends { // below what the turn has said
		m.tellEnd(end)
	}
	if n := len(moves); n > 0 && moves[n-1].ID == m.live().PersistentLastID { // a line says that the path leads elsewhere
		m.transcript.Append(moves[n-1])
	}
	m.refreshTasks()
	cmds = append(cmds, m.fill(), m.questions.sync(m), m.land())
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
	switch b := e.Body.(type) {
	case *protocol.SessionInfo, *protocol.Rewind, *protocol.Branch, *protocol.Compact:
		m.statusChanged()
	case *protocol.Notice:
		m.tell(status.LevelOf(b.Level), b.Source, b.Text)
	case *protocol.MessageBody:
		if b.Message.Role == protocol.RoleAssistant {
			m.answered = b.Message.Model
			m.statusChanged()
			if b.Message.Usage != nil {
				m.contextTokens = b.Message.Usage.ContextTokens()
				u := b.Message.Usage
				m.newest = &status.InputUsage{Input: u.InputTokens, Output: u.OutputTokens, CacheCreation: u.CacheWriteTokens, CacheRead: u.CacheReadTokens}
			}
		}
	}
	return nil
}

// sync brings the transcript to where the projection is: mostly by what came behind it.
func (m *Model) sync() {
	path := m.projection.Path()
	from := 0
	if len(m.shown) > 0 {
		from = m.common(path)
	}
	for _, e := range path[from:] {
		m.transcript.Append(e)
	}
	m.shown = m.shown[:0]
	for _, e := range path {
		m.shown = append(m.shown, e.ID)
	}
	if len(path) > 0 && m.transcript.Oldest() == path[0].ID { // else whoever fetched older ones knows
		m.transcript.More(path[0].ParentID != "")
	}
	m.transcript.Live(m.live())
}

// common cuts the transcript to what it has in common with a path, adds what of the path
// is older than that, and gives the place of the first event that is new.
func (m *Model) common(path []protocol.Event) (next int) {
	newest := m.shown[len(m.shown)-1]
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].ID == newest { // nothing has moved
			m.prepend(path[:i])
			return i + 1
		}
	}
	have := map[protocol.EventID]bool{}
	for _, id := range m.shown {
		have[id] = true
	}
	for i := len(path) - 1; i >= 0; i-- {
		if have[path[i].ID] {
			m.transcript.Cut(path[i].ID)
			return i + 1
		}
	}
	m.transcript.Cut("")
	return 0
}

// prepend adds the events that stand before all that the transcript has.
func (m *Model) prepend(before []protocol.Event) {
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].ID == m.shown[0] {
			if i > 0 && m.shown[0] == m.transcript.Oldest() {
				m.transcript.Prepend(before[:i])
			}
			return
		}
	}
}

// fill asks for events of the path that belong on the screen and are not there.
func (m *Model) fill() tea.Cmd {
	asked := m.projection.Missing()
	if asked == nil || m.filling {
		return nil
	}
	m.filling = true
	gen := m.gen
	return ask(m, m.id, asked, func(m *Model, page *protocol.Events, err error) tea.Cmd {
		if m.gen != gen {
			return nil
		}
		m.filling = false
		if err != nil { // its beginning is what is there, then
			m.fail(err)
			page = &protocol.Events{}
		}
		m.projection.Fill(asked, page)
		m.sync()
		return m.fill()
	})
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

// older fetches events before those that the transcript has.
func (m *Model) older(n int) tea.Cmd {
	before := m.transcript.Oldest()
	if n <= 0 || m.fetching || before == "" {
		return nil
	}
	m.fetching = true
	gen := m.gen
	return ask(m, m.id, &protocol.GetPath{BeforeID: before, Limit: n}, func(m *Model, page *protocol.Events, err error) tea.Cmd {
		if m.gen != gen {
			return nil
		}
		m.fetching = false
		if err != nil {
			m.fail(err)
			return nil
		}
		if m.transcript.Oldest() == before { // else the path leads elsewhere
			slices.Reverse(page.Events) // it came newest first
			m.transcript.Prepend(page.Events)
			m.transcript.More(page.More)
			m.transcript.Earlier(page.Older)
		}
		return m.older(m.transcript.WantOlder())
	})
}

// turnEnded tells the person that it is their turn.
func (m *Model) turnEnded() tea.Cmd {
	m.cancelling = ""
	return m.notify("the turn has ended")
}
