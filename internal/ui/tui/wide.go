package tui

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/dialog"
	"scorel/protocol"
)

// wideQuestion is the name of the question whether a home or / may be the workspace.
const wideQuestion = "wide"

// askWide asks again where something was refused because the person has said no, or nothing
// yet; it is nil for any other error.
func (m *Model) askWide(err error) tea.Cmd {
	if m.project == nil || protocol.AboutOf(err).Reason != protocol.ReasonWide {
		return nil
	}
	return m.offerWide(m.project)
}

// offerWide asks once whether a folder that is as wide as a home may be the workspace.
// Until a person has said so the host begins no session there.
func (m *Model) offerWide(p *protocol.Project) tea.Cmd {
	if p.Wide == "" || p.WideAllowed {
		return nil
	}
	what := p.Root + " is your whole home folder."
	if p.Wide == protocol.WidthRoot {
		what = p.Root + " is the whole file system."
	}
	d := dialog.NewConfirm(dialog.ConfirmConfig{ID: wideQuestion, Title: "Work in " + p.Root + "?", Danger: true,
		Message: what + " The model could read all of it without a question, and what it may write it could write everywhere in it. A project's folder is enough for most work.",
		Yes:     "Yes, and do not ask again", No: "No; start scorel in a project's folder"})
	return m.questions.ask(m, d, func(m *Model, yes bool) tea.Cmd {
		if !yes {
			m.toast(levelInfo, "nothing is begun in "+p.Root+"; /resume opens a session of another folder")
			return nil
		}
		return ask(m, "", &protocol.RegisterProject{WorkDir: p.WorkDir, Wide: true}, func(m *Model, allowed *protocol.Project, err error) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.project = allowed
			m.toast(levelInfo, allowed.Root+" is the workspace")
			return nil
		})
	})
}
