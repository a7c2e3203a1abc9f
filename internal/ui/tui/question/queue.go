package question

import (
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/dialog"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// Session is the one that is open.
type Session interface {
	ID() protocol.SessionID
	Live() *protocol.Live
}

// Person is who answers.
type Person interface {
	// Notify calls somebody who does not look.
	Notify(text string) tea.Cmd
	// Draft types into the editor what was typed and is no answer.
	Draft(text string) tea.Cmd
	// Size is that of the screen, in cells.
	Size() (width, height int)
}

// Config is what a queue needs.
type Config struct {
	Link    *link.Link
	Toasts  *status.Toasts
	Session Session
	Person  Person
}

// Answered is called with the outcome of a question of the UI itself.
type Answered func(o dialog.Outcome) tea.Cmd

// Queue holds the open questions; the first one is in front.
type Queue struct {
	cfg     Config
	keys    *keymap.Map
	all     []dialog.Dialog
	answers map[string]Answered // of those that the UI asks itself
	given   map[string]bool     // answered here; the session does not say so yet
	guard   dialog.Guard
	panels  panels
}

// New returns a queue without a question.
func New(cfg Config) *Queue {
	return &Queue{cfg: cfg, answers: map[string]Answered{}, given: map[string]bool{}, panels: panels{of: map[string]*panel{}}}
}

// SetKeys sets the keys that questions name.
func (q *Queue) SetKeys(keys *keymap.Map) { q.keys = keys }

// Front returns the question in front, nil when there is none.
func (q *Queue) Front() dialog.Dialog {
	if len(q.all) == 0 {
		return nil
	}
	return q.all[0]
}

// Clear closes the questions of the session, which is shown no more.
func (q *Queue) Clear() {
	q.all = slices.DeleteFunc(q.all, func(d dialog.Dialog) bool { return q.answers[d.ID()] == nil })
	q.panels = panels{of: map[string]*panel{}}
}

// Sync opens what the session asks now, and closes what was answered elsewhere.
func (q *Queue) Sync() tea.Cmd {
	live := q.cfg.Session.Live()
	asked := map[string]bool{}
	fresh := false
	add := func(id string, make func() dialog.Dialog) {
		asked[id] = true
		if !q.given[id] && !slices.ContainsFunc(q.all, func(d dialog.Dialog) bool { return d.ID() == id }) {
			d := make()
			d.SetKeys(q.keys)
			q.all = append(q.all, d)
			fresh = true
		}
	}
	for _, p := range live.Permissions {
		add(string(p.PermissionID), func() dialog.Dialog { return dialog.NewPermission(p, consequence(p)).From(firstChange(p)) })
	}
	for _, u := range live.UI {
		add(u.UIID, func() dialog.Dialog { return dialog.New(u, planLines(u), newArea) })
	}
	if d := q.Front(); d != nil && !asked[d.ID()] && q.answers[d.ID()] == nil {
		q.keepTyped(d)
	}
	q.all = slices.DeleteFunc(q.all, func(d dialog.Dialog) bool { return !asked[d.ID()] && q.answers[d.ID()] == nil })
	maps.DeleteFunc(q.given, func(id string, _ bool) bool { return !asked[id] })
	q.number()
	drawn := q.syncComponents(live.UI)
	if fresh {
		return tea.Batch(q.cfg.Person.Notify("Scorel waits for you"), q.wake(), drawn)
	}
	return drawn
}

// keepTyped puts another dialog in the place of the one in front, which is over, where somebody
// is typing the answer to it: the rest of that would be taken for a message.
func (q *Queue) keepTyped(d dialog.Dialog) {
	t, ok := d.(dialog.Typer)
	if !ok || t.Typed() == "" {
		return
	}
	gone := dialog.NewGone(d.ID(), t.Typed())
	gone.SetKeys(q.keys)
	q.all[0] = gone
	q.answers[d.ID()] = func(o dialog.Outcome) tea.Cmd {
		if !o.Yes {
			return nil
		}
		return q.cfg.Person.Draft(gone.Text())
	}
}

func (q *Queue) number() {
	for i, d := range q.all {
		d.Place(i+1, len(q.all))
	}
}

// Ask opens a question of the UI itself, unless one of its ID is open.
func (q *Queue) Ask(d dialog.Dialog, answered Answered) tea.Cmd {
	if q.answers[d.ID()] != nil {
		return nil
	}
	q.answers[d.ID()] = answered
	d.SetKeys(q.keys)
	q.all = append(q.all, d)
	q.number()
	return q.wake()
}

// wake has the question drawn again when it begins to take keys.
func (q *Queue) wake() tea.Cmd {
	if q.Front() == nil {
		return nil
	}
	wait := q.guard.Wait(time.Now())
	if wait <= 0 {
		wait = dialog.Settle
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return loop.Redraw{} })
}

// Takes reports whether a key is for the question in front now.
func (q *Queue) Takes() bool {
	d := q.Front()
	return d != nil && q.guard.Armed(d.ID(), time.Now())
}

// Wait is how long it takes until the question in front takes keys; 0 where time changes
// nothing.
func (q *Queue) Wait(now time.Time) time.Duration { return q.guard.Wait(now) }

// Key counts a key, wherever it goes: who types is not asked until they pause.
func (q *Queue) Key() {
	id := ""
	if d := q.Front(); d != nil {
		id = d.ID()
	}
	q.guard.Key(id, time.Now())
}

// Render draws the question in front, which shows whether it takes keys. There is one.
func (q *Queue) Render(th *theme.Theme, width, height int) ([]string, *overlay.Cursor) {
	d := q.Front()
	d.Arm(q.Takes())
	q.late(d)
	lines, at := d.Render(th, width, height)
	q.guard.Drawn(d.ID(), time.Now())
	return lines, at
}

// Hidden notes that a frame shows no question.
func (q *Queue) Hidden() { q.guard.Drawn("", time.Now()) }

// Places says where keys of the question in front count. There is one.
func (q *Queue) Places() []keymap.Place { return q.Front().Places() }

// Do does an action of the question in front. There is one.
func (q *Queue) Do(a keymap.Action) tea.Cmd { return q.outcome(q.Front().Do(a)) }

// Insert takes what was typed for the question in front. There is one.
func (q *Queue) Insert(text string) tea.Cmd {
	o := q.Front().Insert(text)
	if o.Draft {
		q.guard.Drafting(time.Now())
		return tea.Batch(q.cfg.Person.Draft(text), q.wake())
	}
	return q.outcome(o)
}

// Paste takes what was pasted for the question in front. There is one.
func (q *Queue) Paste(text string) tea.Cmd {
	q.Front().Paste(text)
	return nil
}

// outcome sends an answer, beside all that waits.
func (q *Queue) outcome(o dialog.Outcome) tea.Cmd {
	if o.Take {
		return q.take(q.Front().ID())
	}
	if !o.Done && o.Request == nil {
		return nil
	}
	id := q.Front().ID()
	own := q.answers[id]
	delete(q.answers, id)
	q.all = q.all[1:]
	q.number()
	q.guard.Answered(time.Now())
	if own != nil {
		return tea.Batch(own(o), q.wake())
	}
	q.given[id] = o.Request != nil
	return tea.Batch(q.send(id, o.Request), q.wake())
}

func (q *Queue) send(id string, req protocol.Request) tea.Cmd {
	if req == nil {
		return nil
	}
	return link.Ask(q.cfg.Link, q.cfg.Session.ID(), req, func(_ *protocol.Done, err error) tea.Cmd {
		if err == nil {
			return nil
		}
		q.cfg.Toasts.Fail(err)
		delete(q.given, id) // it is open again
		return q.Sync()
	})
}
