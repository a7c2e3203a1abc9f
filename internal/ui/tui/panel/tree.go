package panel

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/theme"
	"scorel/internal/ui/tui/tree"
	"scorel/protocol"
)

// treePage is how many events the tree asks for at once.
const treePage = 5000

// treeView is the navigator of all branches of the conversation.
type treeView struct {
	*Branches
	tree    *tree.Tree
	loading bool
	missed  bool // something has happened while the log was being read
}

// Tree shows the tree: of all branches, or (with mine) the person's messages of the
// active path, to go back to.
func (x *Branches) Tree(mine bool) tea.Cmd {
	if x.Session.ID() == "" {
		x.Toasts.Info("nothing has been sent yet")
		return nil
	}
	t := &treeView{Branches: x, tree: tree.New(tree.Config{Summaries: true, Keys: x.Overlays.Keys()})}
	if mine {
		t.tree.SetFilter(tree.UserOnly)
	}
	t.tree.SetLoading(true)
	t.loading = true
	x.Overlays.Open(t)
	return t.load(0)
}

// Changed shows what has happened in the session in the tree that is open.
func (x *Branches) Changed(events []protocol.Event) {
	for _, o := range x.Overlays.All() {
		if t, ok := o.(*treeView); ok {
			if t.loading {
				t.missed = true
			} else {
				t.tree.Add(events)
			}
		}
	}
}

// Close closes the tree of the session before.
func (x *Branches) Close() {
	x.Overlays.CloseIf(func(o overlay.Overlay) bool { _, is := o.(*treeView); return is })
}

// load asks for the events of the log, page by page.
func (t *treeView) load(after protocol.Seq) tea.Cmd {
	return link.Ask(t.Link, t.Session.ID(), &protocol.GetTree{AfterSeq: after, Limit: treePage}, func(page *protocol.Events, err error) tea.Cmd {
		if err != nil {
			t.loading = false
			t.tree.SetLoading(false)
			t.Toasts.Fail(err)
			return nil
		}
		t.tree.Add(page.Events)
		after := after
		if n := len(page.Events); n > 0 {
			after = page.Events[n-1].Seq
		} else {
			page.More = false
		}
		if page.More || t.missed {
			t.missed = false
			return t.load(after)
		}
		t.loading = false
		t.tree.SetLoading(false)
		return nil
	})
}

// outcome moves the conversation, or labels an event.
func (t *treeView) outcome(o tree.Outcome) tea.Cmd {
	switch o.Kind {
	case tree.Closed:
		t.Overlays.Close(t)
	case tree.Labels:
		return act(t.Base, &protocol.SetLabel{TargetEventID: o.Event, Label: o.Label}, "")
	case tree.Moves:
		t.Overlays.Close(t)
		return t.move(o.Go)
	}
	return nil
}

// move moves the conversation; a turn that runs is cancelled before.
func (x *Branches) move(g tree.Go) tea.Cmd {
	leaf, turn := x.Session.Live().LeafID, x.Session.Live().TurnID
	if g.Summarise {
		x.working.Other("Summarising what is left", time.Now())
	}
	return link.Ask(x.Link, x.Session.ID(), g.Request(leaf, turn), func(moved *protocol.Moved, err error) tea.Cmd {
		x.working.Other("", time.Now())
		if err != nil || g.Text == "" {
			return x.moved(moved, "", err)
		}
		return link.Ask(x.Link, x.Session.ID(), &protocol.GetPath{LeafID: g.Text, Limit: 1}, func(page *protocol.Events, err error) tea.Cmd {
			text := ""
			if err == nil && len(page.Events) > 0 {
				text = userText(page.Events[0])
			}
			return x.moved(moved, text, err)
		})
	})
}

func (t *treeView) Places() []keymap.Place { return t.tree.Places() }

func (t *treeView) Do(a keymap.Action) tea.Cmd { return t.outcome(t.tree.Do(a)) }

func (t *treeView) Insert(text string) tea.Cmd { return t.outcome(t.tree.Insert(text)) }

func (t *treeView) Paste(text string) tea.Cmd {
	t.tree.Paste(text)
	return nil
}

func (t *treeView) Render(th *theme.Theme, width, height int) ([]string, *overlay.Cursor) {
	return t.tree.Render(th, width, height)
}
