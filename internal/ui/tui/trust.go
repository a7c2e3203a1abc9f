package tui

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/dialog"
	"scorel/protocol"
)

// offerTrust says how the project's files stand, when any could act.
func (m *Model) offerTrust(p *protocol.Project) tea.Cmd {
	if p.Trust == nil {
		return nil
	}
	switch p.Trust.State {
	case protocol.TrustNothing, protocol.TrustPart:
		m.toast(levelInfo, counted(p.Trust.Count, "file")+" of this project that could act "+map[bool]string{true: "is", false: "are"}[p.Trust.Count == 1]+" ignored until trusted; /trust shows what they would do")
	case protocol.TrustNotPossible:
		m.toast(levelWarning, "this project has more files that could act than can be trusted; they are ignored")
	}
	for _, n := range p.Trust.Notices {
		m.toast(levelWarning, n)
	}
	return nil
}

// openTrust shows what of the project could act, and asks whether it may.
func (m *Model) openTrust() tea.Cmd {
	if m.project == nil {
		m.toast(levelInfo, "no project is open here")
		return nil
	}
	return ask(m, "", &protocol.GetTrust{ProjectID: m.project.ProjectID}, func(m *Model, r *protocol.TrustReport, err error) tea.Cmd {
		switch {
		case err != nil:
			m.fail(err)
		case r.State == protocol.TrustNone:
			m.toast(levelInfo, "there is nothing in this project that could act")
		default:
			return m.questions.ask(m, dialog.NewTrust(*r), func(*Model, bool) tea.Cmd { return nil })
		}
		return nil
	})
}

// trust trusts what was shown. Where it has changed meanwhile it is shown again.
func (m *Model) trust(req *protocol.TrustProject) tea.Cmd {
	return ask(m, "", req, func(m *Model, t *protocol.ProjectTrust, err error) tea.Cmd {
		switch {
		case err != nil && protocol.AsError(err).Code == protocol.CodeConflict:
			m.toast(levelWarning, "the files have changed meanwhile; look again")
			return m.openTrust()
		case err != nil:
			m.fail(err)
		case req.Trusted:
			m.toast(levelInfo, "trusted; it counts from the next message on")
		default:
			m.toast(levelInfo, "the project's files are text again")
		}
		m.popup.Forget()
		return m.typed()
	})
}
