package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/tree"
	"scorel/protocol"
)

// treePage is how many events the tree asks for at once.
const treePage = 5000

// treeView is the navigator of all branches of the conversation.
type treeView struct {
	tree    *tree.Tree
	loading bool
	missed  bool // something has happened while the log was being read
}

// openTree shows the tree: of all branches, or (with mine) the person's messages of the
// active path, to go back to.
func (m *Model) openTree(mine bool) tea.Cmd {
	if m.id == "" {
		m.toast(levelInfo, "nothing was said yet")
		return nil
	}
	t := &treeView{tree: tree.New(tree.Config{Summaries: true, Keys: m.keys.Map})}
	if mine {
		t.tree.SetFilter(tree.UserOnly)
	}
	t.tree.SetLoading(true)
	t.loading = true
	m.open(t)
	return t.load(m, 0)
}

// treeChanged shows what happens in the session in the tree that is open.
func (m *Model) treeChanged(events []protocol.Event) {
	for _, o := range m.overlays {
		if t, ok := o.(*treeView); ok {
			if t.loading {
				t.missed = true
			} else {
				t.tree.Add(events)
			}
		}
	}
}

// load asks for the events of the log, page by page.
func (t *treeView) load(m *Model, after protocol.Seq) tea.Cmd {
	return ask(m, m.id, &protocol.GetTree{AfterSeq: after, Limit: treePage}, func(m *Model, page *protocol.Events, err error) tea.Cmd {
		if err != nil {
			t.loading = false
			t.tree.SetLoading(false)
			m.fail(err)
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
			return t.load(m, after)
		}
		t.loading = false
		t.tree.SetLoading(false)
		return nil
	})
}

// outcome moves the conversation, or labels an event.
func (t *treeView) outcome(m *Model, o tree.Outcome) tea.Cmd {
	switch o.Kind {
	case tree.Closed:
		m.closeOverlay(t)
	case tree.Labels:
		return m.act(&protocol.SetLabel{TargetEventID: o.Event, Label: o.Label}, "")
	case tree.Moves:
		m.closeOverlay(t)
		return m.move(o.Go)
	}
	return nil
}

// move moves the conversation; a turn that runs is cancelled before.
func (m *Model) move(g tree.Go) tea.Cmd {
	leaf, turn := m.live().LeafID, m.live().TurnID
	if g.Summarise {
		m.working.Other("Summarising what is left", time.Now())
	}
	return ask(m, m.id, g.Request(leaf, turn), func(m *Model, moved *protocol.Moved, err error) tea.Cmd {
		m.working.Other("", time.Now())
		if err != nil || g.Text == "" {
			return m.moved(moved, "", err)
		}
		return ask(m, m.id, &protocol.GetPath{LeafID: g.Text, Limit: 1}, func(m *Model, page *protocol.Events, err error) tea.Cmd {
			text := ""
			if err == nil && len(page.Events) > 0 {
				text = userText(page.Events[0])
			}
			return m.moved(moved, text, err)
		})
	})
}

func (t *treeView) places() []keymap.Place { return t.tree.Places() }

func (t *treeView) do(m *Model, a keymap.Action) tea.Cmd { return t.outcome(m, t.tree.Do(a)) }

func (t *treeView) insert(m *Model, text string) tea.Cmd { return t.outcome(m, t.tree.Insert(text)) }

func (t *treeView) paste(_ *Model, text string) tea.Cmd {
	t.tree.Paste(text)
	return nil
}

func (t *treeView) render(m *Model, width, height int) ([]string, *cursor) {
	return t.tree.Render(m.theme, width, height)
}
