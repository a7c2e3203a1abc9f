package question

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"scorel/protocol"
)

// question is what people are asked. It is resolved once, with the journal locked.
type question struct {
	id     string
	ask    protocol.Body // a permission_request or a ui_request
	answer chan Answer   // capacity 1
	opened time.Time     // when it was put to people
	done   func()        // ends the wait of the turn that asks; nil: none waits
	stored chan error    // of a permission, capacity 1: what came of storing the answer
	won    *atomic.Bool  // it is resolved, in whichever session it is shown
	above  *Above        // where it is shown too
	shown  *Above        // a sub-agent asks, whose own lane waits; nil: this lane does
	apart  bool          // it belongs to no run, and the end of one does not close it
	here   bool          // it is shown in this session alone, not in those above it
}

// newQuestion returns a question that nobody knows yet.
func newQuestion(ask protocol.Body, apart bool) *question {
	w := &question{ask: ask, apart: apart, answer: make(chan Answer, 1), stored: make(chan error, 1), won: &atomic.Bool{}}
	switch b := ask.(type) {
	case *protocol.PermissionRequest:
		w.id = string(b.PermissionID)
	case *protocol.UIRequest:
		w.id = b.UIID
	}
	return w
}

// stays reports whether the question outlives the end of a run.
func (w *question) stays() bool { return w.shown != nil || w.apart }

// halts reports whether the turn waits for the answer: not for what an extension draws, nor
// for what belongs to no call of it.
func (w *question) halts() bool {
	b, ok := w.ask.(*protocol.UIRequest)
	return !w.here && (!w.apart || ok && b.Data.ToolCallID != "")
}

// Answer is how a question was resolved. A dialog that was answered is allowed.
type Answer struct {
	Decision   protocol.Decision
	Client     protocol.ClientID
	Cause      *protocol.Cause
	Suggestion protocol.Suggestion // of an allow
	Reason     string
	Value      json.RawMessage // of a dialog
	// At are the questions of the session in which it was given.
	At *Questions
	// Nobody reports that nobody could be asked, so that it was over at once.
	Nobody bool
	stored chan<- error
}

// Stored tells who has answered a permission what came of storing the answer. It is called
// once, unless the question was resolved without an answer.
func (a Answer) Stored(err error) { a.stored <- err }

// over is the answer of a question that the host resolves.
func over(d protocol.Decision) Answer { return Answer{Decision: d, Client: protocol.HostClient} }

// resolved is what clients are told of an answer.
func (w *question) resolved(a Answer) protocol.Body {
	if b, ok := w.ask.(*protocol.PermissionRequest); ok {
		return &protocol.PermissionResolved{PermissionID: b.PermissionID, Decision: a.Decision}
	}
	r := &protocol.UIResolved{UIID: w.id}
	if a.Decision != protocol.DecisionAllow {
		r.Decision = a.Decision
	}
	return r
}

// Ask puts a permission_request or a ui_request to the attached people, of a sub-agent also
// to those of the sessions above, and returns how it was resolved: by the first answer, the
// end of ctx, or timeout, unless that is 0. Where nobody is attached and nobody is to be
// waited for, it is over at once, and nobody says so.
func (q *Questions) Ask(ctx context.Context, ask protocol.Body, timeout time.Duration) (Answer, error) {
	w := newQuestion(ask, false)
	nobody, err := q.put(w)
	if err != nil || nobody {
		return Answer{Decision: protocol.DecisionExpired, Client: protocol.HostClient, Nobody: nobody}, err
	}
	return q.await(ctx, w, timeout), nil
}

// ShowDenied shows people a question that was decided without them.
func (q *Questions) ShowDenied(ask *protocol.PermissionRequest) error {
	q.j.Lock()
	defer q.j.Unlock()
	w, denied := newQuestion(ask, false), over(protocol.DecisionDeny)
	if err := q.j.Notify(w.ask); err != nil {
		return err
	}
	above := q.run.Asking().Above
	above.show(w)
	above.close(w, denied)
	return q.j.Notify(w.resolved(denied))
}

// put shows a question; it reports that nobody is there.
func (q *Questions) put(w *question) (nobody bool, err error) {
	q.j.Lock()
	defer q.j.Unlock()
	w.opened = q.now()
	run := q.run.Asking()
	if !w.here {
		w.above = run.Above
	}
	if err := q.j.Notify(w.ask); err != nil {
		return false, err
	}
	if (run.Unattended || w.above.unattended()) && !q.canAsk(w) && !w.above.canAsk(w) {
		a := over(protocol.DecisionExpired)
		w.above.show(w)
		w.above.close(w, a)
		return true, q.j.Notify(w.resolved(a))
	}
	if run.Wait != nil && w.halts() {
		w.done = run.Wait()
	}
	q.asked[w.id] = w
	w.above.show(w)
	q.announce(w.ask)
	if run.Stopping && !w.apart {
		q.run.StopRun() // nobody is waited for any more
	}
	return false, nil
}

// announce tells those who watch that people are waited for.
func (q *Questions) announce(ask protocol.Body) {
	message, about := "There is a question.", "question"
	switch b := ask.(type) {
	case *protocol.PermissionRequest:
		message, about = b.ToolName+" needs permission. "+b.Reason, "permission"
	case *protocol.UIRequest:
		if about = b.Data.Kind; b.Data.Title != "" {
			message = b.Data.Title
		}
	}
	q.listeners.EmitEvent("notification", struct {
		Message string `json:"message"`
		About   string `json:"about"`
	}{message, about})
}

// await waits until a question is resolved.
func (q *Questions) await(ctx context.Context, w *question, timeout time.Duration) Answer {
	if w.done != nil {
		defer w.done()
	}
	a := q.first(ctx, w, timeout)
	q.waited(w)
	a.stored = w.stored
	if w.above != nil {
		q.unshow(w.id, a)
		w.above.close(w, a)
	}
	return a
}

func (q *Questions) first(ctx context.Context, w *question, d time.Duration) Answer {
	var timeout <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case a := <-w.answer:
		return a
	case <-ctx.Done():
		return q.resolve(w, over(protocol.DecisionCancelled))
	case <-timeout:
		return q.resolve(w, over(protocol.DecisionExpired))
	}
}

// resolve closes a question, unless an answer was first, which it then returns.
func (q *Questions) resolve(w *question, a Answer) Answer {
	q.j.Lock()
	if _, open := q.asked[w.id]; open {
		q.settle(w, a)
	}
	q.j.Unlock()
	return <-w.answer
}
