package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/protocol"
	"scorel/protocol/display"
)

// start is how the UI began.
type start struct {
	ahead []byte             // was typed before that
	left  protocol.SessionID // was shown by a UI that crashed here
	last  []string           // lines of the session before, on their way into the scrollback
}

// begin shows the first session, unless the command line names a model that there is not.
// One that only lacks its key is fine: the person is asked for that.
func (m *Model) begin() tea.Cmd {
	p := m.host.Project()
	if m.cfg.Start.Model == "" || p == nil {
		return m.choose()
	}
	r := &protocol.CheckSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: m.cfg.WorkDir, Model: m.cfg.Start.Model}}
	return link.Ask(m.link, "", r, func(_ *protocol.Done, err error) tea.Cmd {
		if protocol.AboutOf(err).Field == "meta.model" {
			return m.refuse(err)
		}
		return m.choose() // whatever else is wrong is said when it is in the way
	})
}

// choose shows the session that the command line named, the one that a crashed UI
// showed here, or one that runs or waits for somebody.
func (m *Model) choose() tea.Cmd {
	start := m.cfg.Start
	switch {
	case start.Pick:
		return m.panels.sessions.Open()
	case start.Session != "":
		return m.panels.sessions.Find(start.Session, m.found)
	case m.start.left != "":
		m.toasts.Info("Restored your last session. /new starts a new one.")
		return tea.Batch(m.panels.sessions.Show(m.start.left), m.firstPrompt())
	}
	req := &protocol.ListSessions{Limit: display.NewestLook}
	if p := m.host.Project(); p != nil {
		req.ProjectID = p.ProjectID
	}
	return link.Ask(m.link, "", req, func(list *protocol.SessionList, err error) tea.Cmd {
		return tea.Batch(m.newest(list, err), m.firstPrompt())
	})
}

// newest shows the newest session where it was asked for, or is busy.
func (m *Model) newest(list *protocol.SessionList, err error) tea.Cmd {
	if err != nil {
		m.toasts.Fail(err)
		return m.panels.setup.Decide()
	}
	newest, damaged := display.Newest(list.Sessions)
	if damaged != nil && m.cfg.Start.Continue {
		m.toasts.Warn(display.DamagedSession(damaged))
	}
	switch {
	case m.session.ID() != "": // something was sent meanwhile
	case newest == nil && m.cfg.Start.Continue:
		return tea.Batch(m.noneHere(), m.panels.setup.Decide())
	case newest == nil:
	case m.cfg.Start.Continue:
		return m.panels.sessions.Show(newest.SessionID)
	case m.host.Project() != nil && busy(newest.State):
		m.toasts.Info("this session is at work; /new begins another")
		return m.panels.sessions.Show(newest.SessionID)
	}
	return m.panels.setup.Decide()
}

// noneHere says that the project has no session, and where the next one is.
func (m *Model) noneHere() tea.Cmd {
	return link.Ask(m.link, "", &protocol.ListSessions{}, func(all *protocol.SessionList, err error) tea.Cmd {
		text := "there is no session here yet; this is a new one"
		if p := m.host.Project(); err == nil && p != nil {
			if below := display.Below(all.Sessions, p.WorkDir); below != "" {
				text += ". The newest below is of " + below + ": scorel -c --cwd " + below
			}
		}
		m.toasts.Info(text)
		return nil
	})
}

// busy reports whether something goes on in a session, or waits for a person.
func busy(s *protocol.SessionState) bool { return s != nil && (s.Running || s.Asking) }

// found sends the prompt of the command line to the session that this named; where there
// is none the person sees first where it goes.
func (m *Model) found(found bool) tea.Cmd {
	if found {
		return m.firstPrompt()
	}
	return m.input.Set(m.takePrompt())
}

// firstPrompt sends what the command line has, and shows the way in for a phone where that is
// wanted, once.
func (m *Model) firstPrompt() tea.Cmd {
	var remote tea.Cmd
	if m.cfg.Start.RemoteControl {
		m.cfg.Start.RemoteControl = false
		remote = m.panels.remote.Open()
	}
	text := m.takePrompt()
	if strings.TrimSpace(text) == "" {
		return remote
	}
	return tea.Batch(remote, m.input.SendText(text))
}

// takePrompt returns the prompt of the command line, "" once it was taken.
func (m *Model) takePrompt() string {
	text := m.cfg.Start.Prompt
	m.cfg.Start.Prompt = ""
	return text
}
