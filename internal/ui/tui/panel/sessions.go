package panel

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/overlay"
	"scorel/protocol"
)

// Reader is the conversation, which a person reads.
type Reader interface {
	// JumpTo shows the place of a text in a session, as soon as that is there; "" is none.
	JumpTo(id protocol.SessionID, text string) tea.Cmd
}

// Sessions opens, begins, names and copies sessions.
type Sessions struct {
	Base
	info   *hostinfo.Info
	editor Editor
	reader Reader
	atWork *overlay.Picker // the list of sessions at work, while it is open
	asked  bool            // how they are now, and the answer is on its way
	again  bool            // they have changed since
}

// NewSessions returns the panel of sessions.
func NewSessions(b Base, info *hostinfo.Info, e Editor, r Reader) *Sessions {
	return &Sessions{Base: b, info: info, editor: e, reader: r}
}

// Open lets the person pick a session, by its title or by what was said in it.
func (x *Sessions) Open() tea.Cmd {
	p := &overlay.Picker{List: list.New(list.Config{Title: "Sessions", PickWord: "open", Can: list.Filter | list.Query | list.Preview | list.Delete | list.Rename,
		Scopes: []string{"this project", "all"}, Scope: scopeOf(x.WorkDir != ""), Loading: true, Empty: "No sessions yet.", On: string(x.Session.ID()),
		Confirm: "Delete %s with its log for good?"})}
	s := &sessionList{Sessions: x, picker: p, all: x.WorkDir == ""}
	p.OnPick = func(ids []string) tea.Cmd { return s.pick(ids[0]) }
	p.OnOther = func(o list.Outcome) tea.Cmd { return s.other(o) }
	p.OnWants = func(w list.Wants) tea.Cmd { return s.wants(w) }
	return tea.Batch(x.Overlays.Pick(p), x.Link.WhenReady(func() tea.Cmd {
		if s.query == "" {
			return s.load()
		}
		return tea.Batch(s.load(), s.search())
	}))
}

func scopeOf(project bool) int {
	if project {
		return 0
	}
	return 1
}

// New begins another session, with the model and the thinking level of the one that is left.
// It is made when something is sent.
func (x *Sessions) New() tea.Cmd {
	if x.Session.ID() == "" {
		return x.leave(nil)
	}
	meta := x.Session.Main().Meta
	return x.leave(&link.Next{Model: meta.Model, Thinking: meta.ThinkingLevel})
}

// newLike begins a session like the open one, of which nothing is copied: it is of the same
// project, folder, model and thinking level. Of permission modes plan goes along, because it
// allows no more than any other; any other is said to be left.
func (x *Sessions) newLike() tea.Cmd {
	live := x.Session.Live()
	next := &link.Next{ProjectID: live.Meta.ProjectID, WorkDir: live.Meta.WorkDir, Model: live.Meta.Model, Thinking: live.Meta.ThinkingLevel}
	switch live.Mode {
	case "":
	case "plan":
		next.Mode = live.Mode
	default:
		x.Toasts.Info("the permission mode " + live.Mode + " does not go along into the new session; /mode sets one there")
	}
	return x.leave(next)
}

func (x *Sessions) leave(next *link.Next) tea.Cmd {
	if !x.Link.Leave(next, func(err error) tea.Cmd { x.Toasts.Fail(err); return nil }) {
		x.Toasts.Warn(busy)
	}
	return nil
}

// Show opens another session, or resumes it.
func (x *Sessions) Show(id protocol.SessionID) tea.Cmd {
	if !x.Link.Show(id, func(err error) tea.Cmd { x.Toasts.Fail(err); return nil }) {
		x.Toasts.Warn(busy)
	}
	return nil
}

// Resume shows the session of an id, the beginning of one, or a name; "" has one picked.
func (x *Sessions) Resume(name string) tea.Cmd {
	if name == "" {
		return x.Open()
	}
	return x.Find(name, func(bool) tea.Cmd { return nil })
}

// Find shows the session of an id, the beginning of one, or a name. Where there is no
// single one it has one picked. f is called with whether it is shown.
func (x *Sessions) Find(name string, f func(found bool) tea.Cmd) tea.Cmd {
	return askOf(x.Base, "", &protocol.ListSessions{Query: name, Limit: 50}, func(list *protocol.SessionList) tea.Cmd {
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
			return tea.Batch(x.Show(found[0].SessionID), f(true))
		}
		x.Toasts.Warn("no session, or more than one, matches " + line(name) + "; pick one")
		return tea.Batch(x.Open(), f(false))
	})
}

// Rename names the session.
func (x *Sessions) Rename(name string) tea.Cmd {
	if name == "" {
		x.Toasts.Warn("give a name: /rename NAME")
		return nil
	}
	return act(x.Base, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}, "renamed to \""+name+"\"")
}

// Clone opens a copy of the session.
func (x *Sessions) Clone(name string) tea.Cmd { return x.copyFrom("", name, "") }

// copyFrom opens a copy that ends with an event (the leaf where it is ""), with text in
// the editor.
func (x *Sessions) copyFrom(event protocol.EventID, name, text string) tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Warn("there is nothing to copy yet")
		return nil
	}
	return x.Link.Clone(event, name, func(notices []string, err error) tea.Cmd {
		if err != nil {
			x.Toasts.Fail(err)
			return nil
		}
		x.Toasts.Info("this is a copy; the original session is unchanged")
		for _, n := range notices {
			x.Toasts.Warn(n)
		}
		if text == "" {
			return nil
		}
		return edit(x.Base, x.editor, text)
	})
}
