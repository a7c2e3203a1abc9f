package input

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/editor"
	"scorel/protocol"
)

// maxAside bounds the sessions whose drafts are kept while they are not shown; the one that
// was left first goes first.
const maxAside = 8

// aside are drafts of sessions that are not shown: of the main one, while an agent is shown
// over it, and of agents.
type aside struct {
	main   *editor.Editor // nil while the main session is shown
	agents []laidBy       // the one that was left last at the end
}

type laidBy struct {
	session protocol.SessionID
	editor  *editor.Editor
}

func (in *Input) newEditor() *editor.Editor {
	return editor.New(editor.Config{History: in.past.Entries, Vim: in.cfg.Vim})
}

// Cover puts aside what is typed, and takes up what was typed to an agent before. Left is the
// agent that was shown until now, "" for the main session.
func (in *Input) Cover(left, agent protocol.SessionID) {
	if in.aside.main == nil {
		in.aside.main = in.editor
	} else {
		in.keepDraft(left)
	}
	in.editor = nil
	for i, d := range in.aside.agents {
		if d.session == agent {
			in.editor = d.editor
			in.aside.agents = append(in.aside.agents[:i:i], in.aside.agents[i+1:]...)
			break
		}
	}
	if in.editor == nil {
		in.editor = in.newEditor()
	}
	in.editor.SetVim(in.cfg.Vim)
}

// Uncover takes up what was typed to the main session, after an agent was shown.
func (in *Input) Uncover(left protocol.SessionID) tea.Cmd {
	if in.aside.main == nil {
		return nil
	}
	in.keepDraft(left)
	in.editor, in.aside.main = in.aside.main, nil
	in.editor.SetVim(in.cfg.Vim)
	return in.Changed()
}

func (in *Input) keepDraft(session protocol.SessionID) {
	if in.editor.Empty() {
		return
	}
	in.aside.agents = append(in.aside.agents, laidBy{session, in.editor})
	if len(in.aside.agents) > maxAside {
		in.aside.agents = in.aside.agents[1:]
	}
}

// typed returns the drafts of the sessions that are shown, the main one's first.
func (in *Input) typed() (texts []string) {
	for _, e := range []*editor.Editor{in.aside.main, in.editor} {
		if e != nil && !e.Empty() {
			texts = append(texts, e.Marked())
		}
	}
	return texts
}
