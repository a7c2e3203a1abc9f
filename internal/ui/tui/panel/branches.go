package panel

import (
	"cmp"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/framed"
)

// Branches moves the conversation: back to before a message, to another branch, into a
// session of its own, or after a summary.
type Branches struct {
	Base
	editor   Editor
	working  *status.Working
	sessions *Sessions
}

// NewBranches returns the panel of branches. Working shows what takes a while.
func NewBranches(b Base, e Editor, working *status.Working, s *Sessions) *Branches {
	return &Branches{Base: b, editor: e, working: working, sessions: s}
}

// Compact summarises the older part of the conversation.
func (x *Branches) Compact(instructions string) tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Info("there is nothing to compact")
		return nil
	}
	leaf := x.Session.Live().LeafID
	x.working.Other("Compacting", time.Now())
	return link.Ask(x.Link, x.Session.ID(), &protocol.CompactSession{Instructions: instructions, ExpectedLeafID: &leaf}, func(c *protocol.Compacted, err error) tea.Cmd {
		x.working.Other("", time.Now())
		switch {
		case err != nil:
			x.Toasts.Fail(err)
		case c.EventID == "":
			x.Toasts.Info("there is nothing to compact")
		default:
			x.Toasts.Info(plain.Compacted(c))
		}
		return nil
	})
}

// moved shows what came of a move, and puts text into the editor.
func (x *Branches) moved(moved *protocol.Moved, text string, err error) tea.Cmd {
	if err != nil {
		x.Toasts.Fail(err)
		return nil
	}
	for _, s := range moved.Skipped {
		text := s.Path + " was not restored: " + s.Why
		switch {
		case s.Path == "":
			text = "a file was not restored: " + s.Why
		case s.Offered:
			text += fmt.Sprintf("; to take it back all the same: scorel sessions rewind %s %s --file %s", x.Session.ID(), cmp.Or(string(moved.LeafID), "start"), s.Path)
		}
		x.Toasts.Warn(text)
	}
	if n := len(moved.Restored); n > 0 {
		x.Toasts.Info(counted(n, "file") + " restored")
	}
	if n := len(moved.Removed); n > 0 {
		x.Toasts.Info(counted(n, "new file") + " removed")
	}
	if text == "" {
		return nil
	}
	return edit(x.Base, x.editor, text)
}

// Fork lets the person continue from before an earlier message in a session of its own.
func (x *Branches) Fork() tea.Cmd {
	return x.pickMessage("Fork before", func(e protocol.Event) tea.Cmd {
		if e.ParentID == "" {
			return tea.Batch(x.sessions.newLike(), edit(x.Base, x.editor, userText(e)))
		}
		return x.sessions.copyFrom(e.ParentID, "", userText(e))
	})
}

// pickMessage lets the person pick one of their messages.
func (x *Branches) pickMessage(title string, picked func(e protocol.Event) tea.Cmd) tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Info("nothing has been sent yet")
		return nil
	}
	found := map[string]protocol.Event{}
	p := &overlay.Picker{List: list.New(list.Config{Title: title, Can: list.Filter, Loading: true, Empty: "There is no message of yours."})}
	p.OnPick = func(ids []string) tea.Cmd { return picked(found[ids[0]]) }
	return tea.Batch(x.Overlays.Pick(p), link.Ask(x.Link, x.Session.ID(), &protocol.GetPath{Limit: 500}, func(page *protocol.Events, err error) tea.Cmd {
		if err != nil {
			p.List.SetProblem(err.Error())
			return nil
		}
		var items []list.Item
		for _, e := range page.Events {
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleUser {
				found[string(e.ID)] = e
				items = append(items, list.Item{ID: string(e.ID), Title: display.Line(userText(e))})
			}
		}
		p.List.SetItems(items)
		return nil
	}))
}

// userText returns the text of a message as it was typed.
func userText(e protocol.Event) string {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok {
		return ""
	}
	return display.Text(framed.Typed(b.Message.PlainText()))
}
