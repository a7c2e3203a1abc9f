package link

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
)

// Show opens a session. failed is called when it cannot be opened, or extensions of the open
// one refuse to leave that; what was typed for it until then goes to no other. Show reports
// false when too many requests wait.
func (l *Link) Show(id protocol.SessionID, failed func(error) tea.Cmd) bool {
	return l.move(func(ctx context.Context, w *worker) error {
		if id != w.id {
			if err := w.mayLeave(ctx, "resume", id); err != nil {
				return err
			}
		}
		return w.open(ctx, id, false)
	}, failed)
}

// Follow opens the session that a command of the open one leads to, which was asked whether
// it may be left. fresh: it was made just now.
func (l *Link) Follow(id protocol.SessionID, fresh bool, f func(struct{}, error) tea.Cmd) tea.Cmd {
	return inOrder(l, func(ctx context.Context, w *worker) (struct{}, error) { return struct{}{}, w.open(ctx, id, fresh) }, f)
}

// move has a job carried out that shows another session.
func (l *Link) move(do func(ctx context.Context, w *worker) error, failed func(error) tea.Cmd) bool {
	return l.do(func(ctx context.Context, w *worker) loop.Then {
		err := do(ctx, w)
		if err == nil {
			return nil
		}
		w.missed++
		n := w.missed
		return func() tea.Cmd {
			l.known = n
			return failed(err)
		}
	})
}

// mayLeave asks whether the open session may be left for another one: the one below, while
// one is shown over it. Only a refusal keeps the person there: a host that cannot be asked
// does not.
func (w *worker) mayLeave(ctx context.Context, reason string, to protocol.SessionID) error {
	id := w.id
	if w.under != nil {
		id = w.under.id
	}
	if id == "" || w.client == nil {
		return nil
	}
	_, err := client.Call[*protocol.Done](ctx, w.client, id, &protocol.LeaveSession{Reason: reason, TargetSessionID: to})
	if err != nil && protocol.AsError(err).Code == protocol.CodePermissionDenied {
		return err
	}
	return nil
}

// ShowOver shows a session over the open one, which is followed meanwhile: updates of both
// come, and requests go to the one on top. It replaces one that is shown so already. failed
// is as in [Link.Show]. ShowOver reports false when too many requests wait.
func (l *Link) ShowOver(id protocol.SessionID, failed func(error) tea.Cmd) bool {
	return l.move(func(ctx context.Context, w *worker) error { return w.openOver(ctx, id) }, failed)
}

// BackUnder ends what [Link.ShowOver] began: [Returned] is sent. It reports false when too
// many requests wait.
func (l *Link) BackUnder() bool {
	return l.do(func(_ context.Context, w *worker) loop.Then { w.back(); return nil })
}

func (w *worker) openOver(ctx context.Context, id protocol.SessionID) error {
	switch {
	case w.err != nil:
		return w.err
	case id == w.id:
		return nil
	case w.id == "":
		return w.open(ctx, id, false)
	}
	s, err := w.client.Open(ctx, id, client.DefaultWindow)
	if err != nil {
		return err
	}
	if w.under != nil {
		w.subscription.end()
	} else {
		under := w.subscription
		w.under = &under
	}
	follow := w.subscribe(ctx, id, s)
	w.notifications.begin(w.gen, w.under.gen)
	w.cfg.Send(Opened{ID: id, Gen: w.gen, Opened: s.Opened, Over: w.under.gen})
	follow()
	return nil
}

// back makes the session below the open one again.
func (w *worker) back() {
	if w.under == nil {
		return
	}
	w.subscription.end()
	w.subscription, w.under = *w.under, nil
	w.notifications.begin(w.gen)
	w.cfg.Send(Returned{w.gen})
}

// first is how a session begins of which only the command line says something.
func (l *Link) first() Next {
	return Next{WorkDir: l.cfg.WorkDir, Model: l.cfg.Model, Thinking: l.cfg.Thinking, Mode: l.cfg.Mode}
}

// Leave closes the open session: [Opened] is sent without an ID, and the next request makes
// a session, with what the command line says of new ones, and with from, when that is not
// nil. A from without a ProjectID says the model and the thinking level alone. failed is
// called when extensions refuse it; what was typed for the next session until then goes to
// no other. It reports false when too many requests wait.
func (l *Link) Leave(from *Next, failed func(error) tea.Cmd) bool {
	return l.move(func(ctx context.Context, w *worker) error {
		if err := w.mayLeave(ctx, "new", ""); err != nil {
			return err
		}
		w.close()
		next := l.first()
		switch {
		case from == nil: // none was open: the model that was to be is still
			next.Model, next.Thinking = w.next.Model, w.next.Thinking
		case from.ProjectID == "":
			next.Model, next.Thinking = from.Model, from.Thinking
		default:
			next = *from
		}
		w.next = next
		l.cfg.Send(Opened{Fresh: true, Next: next})
		return nil
	}, failed)
}

// SetMode sets the permission mode of the session, or of the next one where none is open.
func (l *Link) SetMode(mode string, f func(error) tea.Cmd) tea.Cmd {
	return inOrder(l, func(ctx context.Context, w *worker) (struct{}, error) {
		return struct{}{}, w.setMode(ctx, mode)
	}, func(_ struct{}, err error) tea.Cmd { return f(err) })
}

// Clone opens a copy of the session that ends with an event (the leaf where it is "").
func (l *Link) Clone(event protocol.EventID, name string, f func(notices []string, err error) tea.Cmd) tea.Cmd {
	return inOrder(l, func(ctx context.Context, w *worker) ([]string, error) {
		if err := w.need(ctx); err != nil {
			return nil, err
		}
		id := newID()
		s, err := client.Call[*protocol.SessionSummary](ctx, w.client, id, &protocol.CloneSession{FromSessionID: w.id, FromEventID: event, Name: name})
		if err != nil {
			return nil, err
		}
		return s.Notices, w.open(ctx, id, false)
	}, f)
}

// Begin opens a new session with a model in a folder, which prepare makes beside the
// loop. It reports false when too many requests wait.
func (l *Link) Begin(dir, model string, prepare func() error, f func(error) tea.Cmd) bool {
	return l.do(func(ctx context.Context, w *worker) loop.Then {
		err := w.beginIn(ctx, dir, model, prepare)
		return func() tea.Cmd { return f(err) }
	})
}

func (w *worker) beginIn(ctx context.Context, dir, model string, prepare func() error) error {
	if w.err != nil {
		return w.err
	}
	if err := prepare(); err != nil {
		return err
	}
	project, err := client.Call[*protocol.Project](ctx, w.client, "", &protocol.RegisterProject{WorkDir: dir})
	if err != nil {
		return err
	}
	id := newID()
	req := &protocol.CreateSession{ProjectID: project.ProjectID, Meta: protocol.Meta{WorkDir: dir, Model: model}}
	if _, err := client.Call[*protocol.SessionSummary](ctx, w.client, id, req); err != nil {
		return err
	}
	return w.open(ctx, id, true)
}

// Background makes a session beside the open one, with its folder and model, and sends it
// a message; f is called with its id.
func (l *Link) Background(text string, f func(protocol.SessionID, error) tea.Cmd) tea.Cmd {
	return inOrder(l, func(ctx context.Context, w *worker) (protocol.SessionID, error) { return w.background(ctx, text) }, f)
}

func (w *worker) background(ctx context.Context, text string) (protocol.SessionID, error) {
	project, meta := w.next.meta()
	switch {
	case w.err != nil:
		return "", w.err
	case w.session != nil:
		open := w.session.Live.Meta
		project, meta = open.ProjectID, protocol.Meta{WorkDir: open.WorkDir, Model: open.Model, ThinkingLevel: open.ThinkingLevel}
	case project != "":
	case w.project != nil:
		project = w.project.ProjectID
	default:
		return "", errors.New("no project is open; pick a session with /resume")
	}
	id := newID()
	if _, err := client.Call[*protocol.SessionSummary](ctx, w.client, id, &protocol.CreateSession{ProjectID: project, Meta: meta}); err != nil {
		return "", err
	}
	_, err := client.Call[*protocol.Sent](ctx, w.client, id, &protocol.SendMessage{Content: []protocol.Block{{Type: protocol.BlockText, Text: text}}, WhenBusy: "reject"})
	return id, err
}

// need makes a session where none is open.
func (w *worker) need(ctx context.Context) error {
	switch {
	case w.err != nil:
		return w.err
	case w.id != "":
		return nil
	}
	project, meta := w.next.meta()
	switch {
	case project != "":
	case w.project != nil:
		project = w.project.ProjectID
	default:
		return errors.New("no project is open; pick a session with /resume")
	}
	id := newID()
	if _, err := client.Call[*protocol.SessionSummary](ctx, w.client, id, &protocol.CreateSession{ProjectID: project, Meta: meta}); err != nil {
		return err
	}
	return w.open(ctx, id, true)
}

// meta is what the session is made with, and its project, "" for that of the folder.
func (n Next) meta() (protocol.ProjectID, protocol.Meta) {
	return n.ProjectID, protocol.Meta{WorkDir: n.WorkDir, Model: n.Model, ThinkingLevel: n.Thinking}
}

func newID() protocol.SessionID { return protocol.NewSessionID(time.Now(), rand.Reader) }

// open opens another session. When it cannot be opened the one before stays.
func (w *worker) open(ctx context.Context, id protocol.SessionID, fresh bool) error {
	switch {
	case w.err != nil:
		return w.err
	case w.under != nil && id == w.under.id:
		w.back()
		return nil
	case id == w.id && w.under == nil:
		return nil
	case id == w.id: // it is shown over another one, and is to be the only one
		w.subscription.end()
	}
	s, err := w.client.Open(ctx, id, client.DefaultWindow)
	if err != nil {
		if w.session == nil {
			w.back()
		}
		return err
	}
	w.close()
	follow := w.subscribe(ctx, id, s)
	if err := w.begin(ctx, fresh); err != nil {
		w.cfg.Send(Failed{err})
	}
	w.notifications.begin(w.gen)
	w.cfg.Send(Opened{ID: id, Gen: w.gen, Opened: s.Opened, Fresh: fresh})
	follow()
	return nil
}

// subscribe makes s the open session. What it returns begins to take updates of it.
func (w *worker) subscribe(ctx context.Context, id protocol.SessionID, s *client.Session) (follow func()) {
	w.opened++
	reading, stop := context.WithCancel(ctx)
	sub := subscription{id: id, gen: w.opened, session: s, stop: stop, ended: make(chan struct{})}
	w.subscription = sub
	return func() {
		go func() { // ends with stop or the session
			defer close(sub.ended)
			w.read(reading, s, sub.gen)
		}()
	}
}

// begin sets in the first session what the command line says, before anything is sent to
// it, and in one that was made just now, which has all else, the mode.
func (w *worker) begin(ctx context.Context, fresh bool) error {
	if w.channels, w.servers = nil, nil; w.started && !fresh {
		return nil
	}
	w.started, w.channels, w.servers = true, w.cfg.Channels, w.cfg.MCPConfig
	var changes protocol.MetaChanges
	if w.cfg.Model != "" {
		changes.Model = &w.cfg.Model
	}
	if w.cfg.Thinking != "" {
		changes.ThinkingLevel = &w.cfg.Thinking
	}
	if !fresh && changes != (protocol.MetaChanges{}) {
		if _, err := client.Call[*protocol.Done](ctx, w.client, w.id, &protocol.UpdateInfo{Changes: changes}); err != nil {
			return err
		}
	}
	if w.next.Mode == "" {
		return nil
	}
	return w.setMode(ctx, w.next.Mode)
}

func (w *worker) setMode(ctx context.Context, mode string) error {
	if w.id == "" {
		w.next.Mode = mode
		return nil
	}
	_, err := client.Call[*protocol.Done](ctx, w.client, w.id, &protocol.SetMode{Mode: mode})
	return err
}

// close ends all subscriptions; the sessions go on.
func (w *worker) close() {
	w.subscription.end()
	if w.under != nil {
		w.under.end()
		w.under = nil
	}
}

// read takes updates until the session or ctx ends.
func (w *worker) read(ctx context.Context, s *client.Session, gen int) {
	defer loop.Rescue(w.cfg.Send)
	for {
		u, err := s.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		n := Update{Gen: gen, Update: u, Err: err}
		if u.Fresh {
			n.Live = s.Live.Clone()
		}
		if !w.notifications.put(ctx, n) || err != nil {
			return
		}
	}
}
