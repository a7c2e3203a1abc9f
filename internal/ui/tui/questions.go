package tui

import (
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/dialog"
	"scorel/internal/ui/tui/diff"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/markdown"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// questions are what the host, and the UI itself, waits for answers to; the first one
// is open. Keys reach it through a guard, so that what was typed into the editor
// answers nothing.
type questions struct {
	all     []dialog.Dialog
	answers map[string]func(m *Model, yes bool) tea.Cmd // of those that the UI asks itself
	given   map[string]bool                             // answered here; the session does not say so yet
	guard   dialog.Guard
}

func (q *questions) open() dialog.Dialog {
	if len(q.all) == 0 {
		return nil
	}
	return q.all[0]
}

func (q *questions) clear() {
	q.all = slices.DeleteFunc(q.all, func(d dialog.Dialog) bool { return q.answers[d.ID()] == nil })
}

// sync opens what the session asks now, and closes what was answered elsewhere.
func (q *questions) sync(m *Model) tea.Cmd {
	live := m.live()
	asked := map[string]bool{}
	fresh := false
	add := func(id string, make func() dialog.Dialog) {
		asked[id] = true
		if !q.given[id] && !slices.ContainsFunc(q.all, func(d dialog.Dialog) bool { return d.ID() == id }) {
			d := make()
			d.SetKeys(m.keys.Map)
			q.all = append(q.all, d)
			fresh = true
		}
	}
	for _, p := range live.Permissions {
		add(string(p.PermissionID), func() dialog.Dialog { return dialog.NewPermission(p, m.consequence(p)) })
	}
	for _, u := range live.UI {
		add(u.UIID, func() dialog.Dialog { return dialog.New(u, m.planLines(u), newArea) })
	}
	q.all = slices.DeleteFunc(q.all, func(d dialog.Dialog) bool { return !asked[d.ID()] && q.answers[d.ID()] == nil })
	maps.DeleteFunc(q.given, func(id string, _ bool) bool { return !asked[id] })
	q.number()
	if fresh {
		return tea.Batch(m.notify("Scorel waits for you"), q.wake(m))
	}
	return nil
}

func (q *questions) number() {
	for i, d := range q.all {
		d.Place(i+1, len(q.all))
	}
}

// ask opens a question of the UI itself.
func (q *questions) ask(m *Model, d dialog.Dialog, answered func(m *Model, yes bool) tea.Cmd) tea.Cmd {
	if q.answers == nil {
		q.answers = map[string]func(*Model, bool) tea.Cmd{}
	}
	if q.answers[d.ID()] != nil {
		return nil
	}
	q.answers[d.ID()] = answered
	d.SetKeys(m.keys.Map)
	q.all = append(q.all, d)
	q.number()
	return q.wake(m)
}

// wake has the question drawn again when it begins to take keys.
func (q *questions) wake(m *Model) tea.Cmd {
	d := q.open()
	if d == nil {
		return nil
	}
	wait := q.guard.Wait(time.Now())
	if wait <= 0 {
		wait = dialog.Settle
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return screenReady{} })
}

// takes says whether a key is for the open question now.
func (q *questions) takes() bool {
	d := q.open()
	return d != nil && q.guard.Armed(d.ID(), time.Now())
}

// key counts a key, wherever it goes: who types is not asked until they pause.
func (q *questions) key() {
	id := ""
	if d := q.open(); d != nil {
		id = d.ID()
	}
	q.guard.Key(id, time.Now())
}

// arm has the open question show whether it takes keys.
func (q *questions) arm() {
	if d := q.open(); d != nil {
		d.Arm(q.takes())
	}
}

// drawn is told which question stands in the frame that is shown.
func (q *questions) drawn(id string) { q.guard.Drawn(id, time.Now()) }

func (q *questions) do(m *Model, a keymap.Action) tea.Cmd {
	return q.outcome(m, q.open().Do(a))
}

func (q *questions) insert(m *Model, text string) tea.Cmd {
	o := q.open().Insert(text)
	if o.Draft {
		q.guard.Drafting(time.Now())
		return tea.Batch(m.insert(onEditor, text), q.wake(m))
	}
	return q.outcome(m, o)
}

func (q *questions) paste(m *Model, text string) tea.Cmd {
	q.open().Paste(text)
	return nil
}

// outcome sends an answer, beside all that waits.
func (q *questions) outcome(m *Model, o dialog.Outcome) tea.Cmd {
	if !o.Done && o.Request == nil {
		return nil
	}
	d := q.open()
	own := q.answers[d.ID()]
	delete(q.answers, d.ID())
	q.all = q.all[1:]
	q.number()
	q.guard.Answered(time.Now())
	if own != nil {
		return tea.Batch(q.send(m, d.ID(), o.Request), own(m, o.Yes), q.wake(m))
	}
	if q.given == nil {
		q.given = map[string]bool{}
	}
	q.given[d.ID()] = o.Request != nil
	return tea.Batch(q.send(m, d.ID(), o.Request), q.wake(m))
}

func (q *questions) send(m *Model, id string, req protocol.Request) tea.Cmd {
	if req == nil {
		return nil
	}
	if t, ok := req.(*protocol.TrustProject); ok {
		return m.trust(t)
	}
	return ask(m, m.id, req, func(m *Model, _ *protocol.Done, err error) tea.Cmd {
		if err == nil {
			return nil
		}
		m.fail(err)
		delete(m.questions.given, id) // it is open again
		return m.questions.sync(m)
	})
}

// consequence draws what a call would do: the diff of an edit; nil is its input.
func (m *Model) consequence(p protocol.PermissionRequest) dialog.Lines {
	text, path, numbers := editDiff(p.ToolName, p.Args)
	if text == "" {
		return nil
	}
	return func(th *theme.Theme, width int) []string {
		return diff.Lines(th, text, diff.Options{Width: width, Path: path, Numberless: !numbers})
	}
}

// planLines draws the plan of a question.
func (m *Model) planLines(u protocol.UIRequest) dialog.Lines {
	return func(th *theme.Theme, width int) []string {
		s := markdown.New(th, width)
		s.Write([]byte(u.Data.Text))
		s.End()
		return s.Take()
	}
}

// area is the editor of a text that an extension asks for.
type area struct{ *editor.Editor }

func newArea(text string) dialog.Area {
	e := editor.New(editor.Config{})
	_ = e.Set(text) // the host bounds it below what an editor takes
	return area{e}
}

func (a area) Insert(text string) { _ = a.Editor.Insert(text) } // it tells itself
func (a area) Paste(text string)  { _ = a.Editor.Insert(text) }

func (a area) Render(th *theme.Theme, width, height int) (lines []string, x, y int) {
	lines, c := a.Editor.Render(th, width, height)
	return lines, c.X, c.Y
}
