package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/client"
	"scorel/internal/platform/fault"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxTurns is how many of the newest turns of a session are known by their ids.
const maxTurns = 32

// maxQueued is how many messages that wait are named.
const maxQueued = 20

// closeTime is how long the host may take to end a subscription.
const closeTime = 5 * time.Second

// state is the state of a session.
type state struct {
	running   bool
	turn      protocol.TurnID
	ended     *protocol.LiveEnd // of the newest turn, nil where the host does not know
	questions []question
	queued    []string // the messages that wait, for people
	paused    bool     // until another one is sent
	step      string   // what it does, for people
	err       error    // why the session is not followed any more
}

// word is the status of a session.
func (st state) word() string {
	switch {
	case len(st.questions) > 0:
		return "asking"
	case st.running:
		return "running"
	}
	return "idle"
}

// watch follows one session. Its goroutine ends with the server, the session, or when
// another session needs its place.
type watch struct {
	id      protocol.SessionID
	session *client.Session

	mu      sync.Mutex // guards what follows
	state   state
	turns   []protocol.TurnID // that were seen, at most maxTurns
	sent    protocol.TurnID   // a turn that is known to have begun and was not seen yet
	changed chan struct{}     // closed with the next change of the state

	last int // [Server.used] when it was used; guarded by the server's lock
}

// watch returns what follows a session, which it begins to do when nobody does. It returns
// when the state is there.
func (s *Server) watch(ctx context.Context, id protocol.SessionID) (*watch, error) {
	if id.Check() != nil {
		return nil, fmt.Errorf("%q is not an id of a session; session_list has them", display.Line(clip(string(id), 80)))
	}
	if w := s.watched(id); w != nil {
		return w, nil
	}
	select { // one is opened at a time, so that none is opened twice
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if w := s.watched(id); w != nil {
		return w, nil
	}
	if err := s.room(); err != nil {
		return nil, err
	}
	session, err := s.cfg.Client.Open(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	w, err := s.begin(ctx, id, session)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.wg.Go(func() { s.leave(session) })
		return nil, errClosing
	}
	s.used++
	w.last, s.watches[id] = s.used, w
	s.mcp.AddResource(&mcp.Resource{URI: resourceURI(id), Name: string(id), Title: display.Line(clip(session.Live.Meta.Name, 200)), Description: "The conversation of a session.", MIMEType: "text/markdown"}, s.readResource)
	s.wg.Go(func() { // ends with the session or the server
		if p := fault.Attempt(func() { s.follow(w) }); p != nil {
			s.report("following the session "+string(w.id), p)
			s.leave(w.session)
			w.end(p)
		}
	})
	return w, nil
}

// errClosing is why nothing begins any more.
var errClosing = errors.New("the server is closing")

// watched returns what follows a session already, nil for nobody.
func (s *Server) watched(id protocol.SessionID) *watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watches[id]
	if w == nil {
		return nil
	}
	if w.now().err != nil {
		delete(s.watches, id)
		return nil
	}
	s.used++
	w.last = s.used
	return w
}

// room makes room for one more watch: the session goes that was used last of those in which
// nothing runs.
func (s *Server) room() error {
	s.mu.Lock()
	var oldest *watch
	full := len(s.watches) >= maxWatches
	for _, w := range s.watches {
		if st := w.now(); full && (!st.running || st.err != nil) && (oldest == nil || w.last < oldest.last) {
			oldest = w
		}
	}
	if oldest != nil {
		delete(s.watches, oldest.id)
		s.mcp.RemoveResources(resourceURI(oldest.id))
	}
	s.mu.Unlock()
	switch {
	case oldest != nil:
		s.leave(oldest.session) // its follow ends with it
	case full:
		return fmt.Errorf("%d sessions are worked with at once, and all of them run; cancel one, or wait for its end", maxWatches)
	}
	return nil
}

// begin takes updates of a session up to its first state.
func (s *Server) begin(ctx context.Context, id protocol.SessionID, session *client.Session) (*watch, error) {
	w := &watch{id: id, session: session, changed: make(chan struct{})}
	for {
		u, err := session.Next(ctx)
		if err != nil {
			s.leave(session)
			return nil, err
		}
		w.take(&u)
		if u.Fresh {
			return w, nil
		}
	}
}

// leave ends a subscription.
func (s *Server) leave(session *client.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = session.Close(ctx) // it is over when the connection is
}

// notifyEvery is the shortest time between two notices that a conversation has changed.
const notifyEvery = time.Second

// follow takes updates until the session or the server ends.
func (s *Server) follow(w *watch) {
	var told time.Time
	pending := false
	for {
		ctx, cancel := s.ctx, context.CancelFunc(func() {})
		if pending { // what came last is told, too
			ctx, cancel = context.WithDeadline(s.ctx, told.Add(notifyEvery))
		}
		u, err := w.session.Next(ctx)
		late := pending && ctx.Err() != nil && s.ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			pending = w.take(&u) || pending
		case !late:
			s.leave(w.session)
			w.end(err) // now it can be opened again
			return
		}
		if pending && time.Since(told) >= notifyEvery {
			told, pending = time.Now(), false
			_ = s.mcp.ResourceUpdated(s.ctx, &mcp.ResourceUpdatedNotificationParams{URI: resourceURI(w.id)}) // for those who are there
		}
	}
}

// take takes in an update, and reports whether the conversation has changed.
func (w *watch) take(u *client.Update) (changed bool) {
	live := &w.session.Live
	st := state{running: live.Running, turn: live.TurnID, ended: live.Ended, step: stepOf(live), questions: questionsOf(live)}
	st.queued, st.paused = queueOf(live)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range u.Events {
		w.saw(e.TurnID)
		changed = changed || e.Class() == protocol.Conversation
	}
	if u.Fresh {
		w.saw(live.TurnID)
		if live.Ended != nil {
			w.saw(live.Ended.TurnID)
		}
	}
	w.state = st
	close(w.changed)
	w.changed = make(chan struct{})
	return changed
}

// saw remembers a turn. The lock is held.
func (w *watch) saw(id protocol.TurnID) {
	if id == "" || slices.Contains(w.turns, id) {
		return
	}
	if w.turns = append(w.turns, id); len(w.turns) > maxTurns {
		w.turns = slices.Delete(w.turns, 0, 1)
	}
	if w.sent == id {
		w.sent = ""
	}
}

// expect says that a turn has begun: until it is seen, the session counts as running.
func (w *watch) expect(id protocol.TurnID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id != "" && !slices.Contains(w.turns, id) {
		w.sent = id
	}
}

// end says that the session is not followed any more.
func (w *watch) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, client.ErrClosed) || errors.Is(err, context.Canceled) {
		err = errors.New("the session is not followed any more; call again")
	}
	w.state.err = err
	close(w.changed)
	w.changed = make(chan struct{})
}

// now returns the state of the session.
func (w *watch) now() state {
	st, _ := w.look()
	return st
}

// look returns the state of the session, and what is closed when that changes.
func (w *watch) look() (state, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.state
	if w.sent != "" {
		st.running, st.turn = true, w.sent
	}
	return st, w.changed
}

// queueOf returns the messages that wait in a session, in one line each, and whether they
// wait for another message.
func queueOf(live *protocol.Live) (texts []string, paused bool) {
	for _, q := range live.Queues {
		paused = paused || q.Paused && len(q.Items) > 0
		for _, it := range q.Items {
			if len(texts) < maxQueued {
				texts = append(texts, clip(display.Line(protocol.Message{Content: it.Content}.PlainText()), maxStep))
			}
		}
	}
	return texts, paused
}

// stepOf says what a session does, in one line.
func stepOf(live *protocol.Live) string {
	if n := len(live.Tools); n > 0 {
		t := &live.Tools[n-1]
		if k := len(t.Process); k > 0 {
			if line := display.StepOf(&t.Process[k-1].Event).Line(); line != "" {
				return clip(display.Line(t.ToolName)+": "+line, maxStep)
			}
		}
		name, input := protocol.Target(t.ToolName, t.Args)
		return clip(display.Line(name)+" "+display.Summary(name, input), maxStep)
	}
	switch {
	case len(live.Permissions)+len(live.UI) > 0:
		return "waits for an answer"
	case live.Retry != nil:
		return "waits before it asks the model again"
	case live.Running:
		return "the model answers"
	}
	return ""
}
