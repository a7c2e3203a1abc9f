package question

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/dialog"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
)

const (
	// unanswered is how long an extension may take to draw what comes of a key before the
	// person is told.
	unanswered = 250 * time.Millisecond
	// twice is within which time Esc is pressed twice to close a component.
	twice = time.Second
	// again is within which time Esc is pressed once more by who has not seen yet that the
	// first one has closed a component.
	again = 500 * time.Millisecond
	// maxEarly bounds the frames that came before the dialog that they are of.
	maxEarly = 64
)

// panels are the components of the session on this screen.
type panels struct {
	of    map[string]*panel
	early []*protocol.UIFrame
	esc   time.Time // when Esc was pressed last in one that is closed now
}

// panel is a component on this screen. Keys go to the host one request after the other:
// those that are pressed meanwhile wait for the next one, so that their order stays.
type panel struct {
	rev     int64     // of the newest key that was sent, or waits
	drawn   int64     // of the newest frame
	since   time.Time // of the oldest key that was not answered; zero for none
	esc     time.Time // when Esc was pressed, if that was the last key
	keys    []string  // that wait
	bytes   int       // of them
	resized bool
	width   int // that the extension knows
	height  int
	taking  bool // the host was asked for it
	sending bool // a request is under way
}

// Component returns the component that has the keys now, nil for none.
func (q *Queue) Component() *dialog.Component {
	d, ok := q.Front().(*dialog.Component)
	if !ok || !d.Here() || !q.Takes() {
		return nil
	}
	return d
}

// Press sends a key or a paste, as a terminal sends it, to the component in front. Esc twice
// closes that, whatever the extension does.
func (q *Queue) Press(data string) tea.Cmd {
	d := q.Component()
	now := time.Now()
	p := q.panel(d.ID())
	if data == "\x1b" {
		if now.Sub(p.esc) < twice {
			return q.outcome(d.Close())
		}
		p.esc = now
	} else {
		p.esc = time.Time{}
	}
	if len(p.keys) == protocol.MaxInputKeys || p.bytes+len(data) > protocol.MaxInputBytes {
		q.cfg.Toasts.Warn("What was typed is lost: the extension does not take it. Esc twice closes what it draws.")
		return nil
	}
	p.keys, p.bytes = append(p.keys, data), p.bytes+len(data)
	return tea.Batch(q.sendKeys(d.ID(), p), q.soon(p))
}

// SecondEsc reports whether an Esc that is pressed now is the second of two, the first of which
// has closed a component: it was meant for that, and not for what has the keys now. It is
// asked for each key.
func (q *Queue) SecondEsc() bool {
	late := time.Since(q.panels.esc) < again
	q.panels.esc = time.Time{}
	return late
}

// Resized tells the components on this screen its size.
func (q *Queue) Resized() tea.Cmd {
	var cmds []tea.Cmd
	for id, p := range q.panels.of {
		if w, h := q.cfg.Person.Size(); w != p.width || h != p.height {
			p.resized = true
			cmds = append(cmds, q.sendKeys(id, p))
		}
	}
	return tea.Batch(cmds...)
}

// Again brings what was on this screen back to it, after the connection was another one.
func (q *Queue) Again() tea.Cmd {
	var cmds []tea.Cmd
	for id := range q.panels.of {
		cmds = append(cmds, q.take(id))
	}
	return tea.Batch(cmds...)
}

// Frames takes what extensions have drawn.
func (q *Queue) Frames(frames []*protocol.UIFrame) tea.Cmd {
	var cmds []tea.Cmd
	for _, f := range frames {
		if f.SessionID == q.cfg.Session.ID() {
			cmds = append(cmds, q.frame(f))
		}
	}
	return tea.Batch(cmds...)
}

func (q *Queue) frame(f *protocol.UIFrame) tea.Cmd {
	d := q.component(f.UIID)
	if d == nil {
		q.panels.early = slices.DeleteFunc(q.panels.early, func(o *protocol.UIFrame) bool { return o.UIID == f.UIID })
		if len(q.panels.early) == maxEarly {
			q.panels.early = slices.Delete(q.panels.early, 0, 1)
		}
		q.panels.early = append(q.panels.early, f)
		return nil
	}
	switch f.State {
	case protocol.FrameGiven:
		return q.take(f.UIID)
	case protocol.FrameTaken:
		d.SetHere(false)
		delete(q.panels.of, f.UIID)
	case protocol.FrameDrawn:
		p := q.panels.of[f.UIID]
		if p == nil {
			return nil // it was taken away
		}
		d.Show(f)
		if f.Rev > p.drawn {
			p.drawn, p.since = f.Rev, time.Now() // those after it have begun to wait now
		}
		if p.drawn >= p.rev && !p.sending && len(p.keys) == 0 {
			p.since = time.Time{}
		}
	}
	return nil
}

// component returns the open component of an id, nil for none.
func (q *Queue) component(id string) *dialog.Component {
	for _, d := range q.all {
		if c, ok := d.(*dialog.Component); ok && c.ID() == id {
			return c
		}
	}
	return nil
}

func (q *Queue) panel(id string) *panel {
	p := q.panels.of[id]
	if p == nil {
		p = &panel{}
		q.panels.of[id] = p
	}
	return p
}

// syncComponents tells components what the host says of them, and forgets those that are
// closed.
func (q *Queue) syncComponents(asked []protocol.UIRequest) tea.Cmd {
	var cmds []tea.Cmd
	for _, u := range asked {
		d := q.component(u.UIID)
		if d == nil {
			continue
		}
		d.Update(u.Data)
		if i := slices.IndexFunc(q.panels.early, func(f *protocol.UIFrame) bool { return f.UIID == u.UIID }); i >= 0 {
			f := q.panels.early[i]
			q.panels.early = slices.Delete(q.panels.early, i, i+1)
			cmds = append(cmds, q.frame(f))
		}
	}
	for id, p := range q.panels.of {
		if q.component(id) == nil {
			if p.esc.After(q.panels.esc) {
				q.panels.esc = p.esc
			}
			delete(q.panels.of, id)
		}
	}
	return tea.Batch(cmds...)
}

// take brings a component to this screen.
func (q *Queue) take(id string) tea.Cmd {
	p := q.panel(id)
	if p.taking {
		return nil
	}
	p.taking = true
	width, height := q.cfg.Person.Size()
	return link.Ask(q.cfg.Link, q.cfg.Session.ID(), &protocol.TakeUI{UIID: id, Width: width, Height: height}, func(r *protocol.UITaken, err error) tea.Cmd {
		if q.panels.of[id] != p {
			return nil // it was closed
		}
		p.taking = false
		d := q.component(id)
		if err != nil || d == nil {
			delete(q.panels.of, id)
			if err != nil && d != nil {
				d.SetHere(false)
				q.cfg.Toasts.Fail(err)
			}
			return nil
		}
		d.SetHere(true)
		p.rev, p.drawn, p.width, p.height, p.since = r.Rev, r.Rev, width, height, time.Time{}
		return tea.Batch(q.sendKeys(id, p), q.Resized())
	})
}

// sendKeys sends what waits for a component, unless a request of it is under way.
func (q *Queue) sendKeys(id string, p *panel) tea.Cmd {
	if p.sending || p.taking || len(p.keys) == 0 && !p.resized {
		return nil
	}
	p.rev++
	in := &protocol.UIInput{UIID: id, Rev: p.rev, Data: p.keys}
	if p.since.IsZero() {
		p.since = time.Now()
	}
	if p.resized {
		in.Width, in.Height = q.cfg.Person.Size()
		p.width, p.height = in.Width, in.Height
	}
	p.keys, p.bytes, p.resized, p.sending = nil, 0, false, true
	return link.Ask(q.cfg.Link, q.cfg.Session.ID(), in, func(_ *protocol.Done, err error) tea.Cmd {
		p.sending = false
		if q.panels.of[id] != p {
			return nil // it was closed, or another client has taken it
		}
		if err != nil && protocol.AsError(err).Code != protocol.CodeConflict { // it is being closed, or taken
			q.cfg.Toasts.Fail(err)
		} else if p.drawn >= p.rev && len(p.keys) == 0 {
			p.since = time.Time{}
		}
		return q.sendKeys(id, p)
	})
}

// soon has the screen drawn when the person is to be told that the extension does not answer.
func (q *Queue) soon(p *panel) tea.Cmd {
	if p.since.IsZero() {
		return nil
	}
	return tea.Tick(time.Until(p.since.Add(unanswered)), func(time.Time) tea.Msg { return loop.Redraw{} })
}

// late tells a component whether its extension has not answered a key for long.
func (q *Queue) late(d dialog.Dialog) {
	c, ok := d.(*dialog.Component)
	if !ok {
		return
	}
	p := q.panels.of[c.ID()]
	c.SetLate(p != nil && !p.since.IsZero() && time.Since(p.since) >= unanswered)
}
