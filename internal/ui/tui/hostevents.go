package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/host/asides"
	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
)

// maxLast bounds the lines of a session that go into the scrollback when another one is
// shown: more do not fit on any screen.
const maxLast = 500

// hostSays takes what comes of the host.
func (m *Model) hostSays(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case link.StateChanged:
		m.stateChanged(msg.Change)
	case link.Linked:
		return m.linked(msg)
	case link.Opened:
		return m.opened(msg)
	case link.Returned:
		return m.returned()
	case link.Arrived:
		return m.arrived()
	case link.DeviceChanged:
		return tea.Batch(m.deviceChanged(msg.Changes), m.focus.questions.Frames(msg.Changes.Frames))
	case link.OtherBuild:
		m.toasts.Warn(msg.Text)
	case link.Failed:
		m.toasts.Fail(msg.Err)
	}
	return nil
}

// flushToScrollback leaves in the scrollback what of the session is on the screen.
func (m *Model) flushToScrollback() {
	if m.window.Full() {
		return
	}
	th, width := m.window.theme, m.window.width
	t := m.reading.transcript
	lines := append(t.Commit(th, width), t.Region(th, width, maxLast)...)
	if len(lines) == 0 {
		return
	}
	lines = slices.Concat(m.status.head(), lines)
	m.status.header = nil
	m.start.last = append(m.start.last, append(lines, "")...)
}

// opened shows another session from here on, or over the open one.
func (m *Model) opened(o link.Opened) tea.Cmd {
	kept := m.drawn.leave()
	if o.Over > 0 {
		m.agents.cover(o)
	} else {
		m.agents.uncover()
		m.reading.end()
		m.flushToScrollback()
		if o.ID == "" {
			m.host.Begins(o.Next)
		}
		m.forgetShown()
		if was := m.session.ID(); was != "" && was != o.ID {
			m.toasts.DismissProblems()
		}
		m.session.Open(o)
	}
	m.focus.questions.Clear()
	if !o.Fresh || o.ID == "" {
		m.status.banner(o.Opened.Summary)
	}
	for _, f := range o.Opened.Findings {
		m.toasts.Warn("the session log: " + f)
	}
	for _, text := range o.Opened.Holds {
		m.toasts.Warn(text)
	}
	if o.Opened.ReadOnly != "" {
		text := "the session is read-only: " + o.Opened.ReadOnly
		if o.Opened.NeedsLeaf {
			text += ": scorel sessions repair " + string(o.ID) + " --leaf EVENT"
		}
		m.toasts.Error(text)
	}
	return tea.Batch(kept, m.panels.setup.Decide(), m.shownElse())
}

// returned shows the session again that another one was shown over.
func (m *Model) returned() tea.Cmd {
	m.agents.uncover()
	return tea.Batch(m.shownElse(), m.focus.questions.Sync())
}

// forgetShown drops what belongs to the session that was shown.
func (m *Model) forgetShown() {
	m.panels.branches.Close()
	m.panels.queue.Reset()
	m.reading.images.Forget()
	m.reading.drawn.Forget()
}

// shownElse loads what belongs to the session that is shown now.
func (m *Model) shownElse() tea.Cmd {
	m.status.changed()
	m.agents.sync()
	m.input.Forget()
	return tea.Batch(m.host.LoadConfig(), m.host.LoadBranch(m.workDir()), m.input.Changed())
}

// workDir is what requests that may do without a session are about.
func (m *Model) workDir() string {
	if m.session.ID() != "" {
		return ""
	}
	return m.cfg.WorkDir
}

// arrived takes what came of the session.
func (m *Model) arrived() tea.Cmd {
	a, below := m.session.Arrive(m.link.Updates())
	m.takeTheme()
	m.agents.sync()
	if a.Facts {
		m.status.changed()
	}
	m.panels.branches.Changed(a.Events)
	cmds := []tea.Cmd{a.Cmd, below.Cmd, m.agents.mainAsks(), m.panels.tasks.Refresh(), m.panels.queue.Next(), m.focus.questions.Sync(), m.reading.land(), m.takeText(a.Events)}
	if a.Fresh {
		cmds = append(cmds, m.focus.questions.Again(), m.panels.setup.Offer())
	}
	if a.TurnEnded { // it is the person's turn
		m.input.Forget() // servers of the turn may have brought commands
		cmds = append(cmds, m.keys.refresh(), m.window.notify("the turn has ended"))
	}
	if below.TurnEnded {
		m.toasts.Info("the turn of the main conversation has ended")
		cmds = append(cmds, m.window.notify("the turn has ended"))
	}
	if a.Gone && m.session.Over() {
		cmds = append(cmds, m.agents.leave())
	}
	return tea.Batch(cmds...)
}

// takeTheme takes the theme that an extension of the session sets.
func (m *Model) takeTheme() {
	changed, problems := m.window.takeTheme(status.Word(m.session.Live().UIStates, protocol.PlaceTheme))
	for _, p := range problems {
		m.toasts.Warn(p)
	}
	if changed {
		m.reading.images.Changed()
	}
}

// deviceChanged takes who is attached to the session, and that the host ends.
func (m *Model) deviceChanged(d client.DeviceChanges) tea.Cmd {
	for _, c := range d.Sessions {
		if c.Summary.SessionID == m.session.ID() {
			m.session.Attach(c.Summary.State)
		}
	}
	if d.Stopping != nil && !d.Stopping.Restarting {
		m.link.HostStopped()
		text := "the host is stopping; it starts again when you send something"
		if m.session.Live().Running {
			text += "; the turn ends at its next step"
		}
		m.toasts.Warn(text)
	}
	var cmds []tea.Cmd
	if d.Missed || slices.Contains(d.MCP, m.session.ID()) {
		cmds = append(cmds, m.panels.mcp.Changed())
	}
	if d.Missed || len(d.Sessions) > 0 {
		cmds = append(cmds, m.panels.sessions.Changed())
	}
	if d.Missed || d.Automation {
		cmds = append(cmds, m.panels.tasks.ByItself())
	}
	return tea.Batch(cmds...)
}

// stateChanged shows how the connection is.
func (m *Model) stateChanged(c client.Change) {
	was := m.link.State().State
	m.link.SetState(c)
	if c.State == client.StateConnected && was == client.StateReconnecting {
		m.toasts.Info("connected again")
	}
	if c.State == client.StateDisconnected && c.Err != nil {
		m.toasts.Fail(c.Err)
	}
}

// linked begins with the session that was asked for.
func (m *Model) linked(l link.Linked) tea.Cmd {
	m.host.SetProject(l.Project)
	if l.Err != nil {
		m.link.SetState(client.Change{State: client.StateDisconnected, Err: l.Err})
		m.toasts.Fail(l.Err)
		if text := m.takePrompt(); text != "" {
			m.input.GiveBack(text, text)
		}
		return m.input.Changed()
	}
	if m.link.State().Err != nil { // an earlier try has failed
		m.link.SetState(client.Change{State: client.StateConnected})
	}
	var cmds []tea.Cmd
	if p := l.Project; p != nil {
		for _, n := range p.Notices {
			m.toasts.Warn(n)
		}
		cmds = append(cmds, m.panels.folder.OfferWide(p), m.panels.folder.OfferTrust(p))
	}
	m.input.Forget()
	return tea.Batch(append(cmds, m.tellAsides, m.begin(), m.host.LoadConfig(), m.host.LoadModels(), m.input.Changed())...) // what is typed may want the host's files
}

// tellAsides says which files of the user's Scorel folder were damaged and have been set
// aside, once of each.
func (m *Model) tellAsides() tea.Msg {
	texts := asides.Untold(disk.OS(), m.cfg.Dir)
	return loop.Then(func() tea.Cmd {
		for _, text := range texts {
			m.toasts.Warn(text)
		}
		return nil
	})
}
