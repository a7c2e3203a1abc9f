package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// linked begins with the session that was asked for.
func (m *Model) linked(l linked) tea.Cmd {
	m.project = l.project
	if l.err != nil {
		m.conn = client.Change{State: client.StateDisconnected, Err: l.err}
		m.fail(l.err)
		if text := m.cfg.Start.Prompt; text != "" {
			m.cfg.Start.Prompt = ""
			m.giveBack(text, text)
		}
		return m.typed()
	}
	if m.conn.Err != nil { // an earlier try has failed
		m.conn = client.Change{State: client.StateConnected}
	}
	var cmds []tea.Cmd
	if p := l.project; p != nil {
		for _, n := range p.Notices {
			m.toast(levelWarning, n)
		}
		cmds = append(cmds, m.offerWide(p), m.offerTrust(p))
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
			return tea.Batch(m.noneHere(), m.firstPrompt())
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

// noneHere says that the project has no session, and where the next one is.
func (m *Model) noneHere() tea.Cmd {
	return ask(m, "", &protocol.ListSessions{}, func(m *Model, all *protocol.SessionList, err error) tea.Cmd {
		text := "there is no session here yet; this is a new one"
		if err == nil && m.project != nil {
			if below := display.Below(all.Sessions, m.project.WorkDir); below != "" {
				text += ". The newest below is of " + below + ": scorel -c --cwd " + below
			}
		}
		m.toast(levelInfo, text)
		return nil
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
