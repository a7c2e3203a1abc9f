package lane

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"scorel/protocol"
)

// question is what people are asked: whether a call may run, or what a dialog asks. It is resolved once, under the lane's lock.
type question struct {
	id     string
	ask    protocol.Body // a permission_request or a ui_request
	answer chan answer   // capacity 1
	stored chan error    // of a permission, capacity 1: what came of storing the answer
	won    *atomic.Bool  // it is resolved, in whichever session it is shown
	above  *Above        // where it is shown too
	shown  *Above        // a sub-agent asks, whose own lane waits; nil: this lane does
	apart  bool          // it belongs to no run, and the end of one does not close it
}

// stays says whether the question outlives the end of a run.
func (w *question) stays() bool { return w.shown != nil || w.apart }

// answer is how a question was resolved. A dialog that was answered is allowed.
type answer struct {
	decision   protocol.Decision
	client     protocol.ClientID
	cause      *protocol.Cause
	suggestion protocol.Suggestion // of an allow
	reason     string
	value      json.RawMessage // of a dialog
	lane       *Lane           // in which it was given
}

// resolved is what clients are told of an answer.
func (w *question) resolved(a answer) protocol.Body {
	if b, ok := w.ask.(*protocol.PermissionRequest); ok {
		return &protocol.PermissionResolved{PermissionID: b.PermissionID, Decision: a.decision}
	}
	r := &protocol.UIResolved{UIID: w.id}
	if a.decision != protocol.DecisionAllow {
		r.Decision = a.decision
	}
	return r
}

// put puts a question to the attached people, of a sub-agent also to those of the
// sessions above. Where nobody is attached and nobody
// is to be waited for, it is over at once, and nobody says so.
func (l *Lane) put(w *question) (nobody bool, err error) {
	w.answer, w.stored, w.won = make(chan answer, 1), make(chan error, 1), &atomic.Bool{}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.above = l.above()
	if err := l.tell(w.ask); err != nil {
		return false, err
	}
	if l.unattended() && l.attended == 0 && !w.above.attended() {
		over := answer{decision: protocol.DecisionExpired, client: protocol.HostClient}
		w.above.show(w)
		w.above.close(w, over)
		return true, l.tell(w.resolved(over))
	}
	l.questions[w.id] = w
	w.above.show(w)
	l.notified(w.ask)
	if l.stopping && l.turn != nil && !w.apart {
		l.turn.cancel(errHostStops) // nobody is waited for any more
	}
	return false, nil
}

// above is the tie of the running turn, nil for none. mu is held.
func (l *Lane) above() *Above {
	if l.turn == nil || l.turn.setup == nil {
		return nil
	}
	return l.turn.setup.Above
}

// notified tells those who watch that people are waited for.
func (l *Lane) notified(ask protocol.Body) {
	message, about := "Somebody is asked something.", "question"
	switch b := ask.(type) {
	case *protocol.PermissionRequest:
		message, about = b.ToolName+" needs permission. "+b.Reason, "permission"
	case *protocol.UIRequest:
		if about = b.Data.Kind; b.Data.Title != "" {
			message = b.Data.Title
		}
	}
	l.happened("notification", struct {
		Message string `json:"message"`
		About   string `json:"about"`
	}{message, about})
}

// await waits until a question is resolved: by the first answer, the end of ctx,
// or d, unless that is 0.
func (l *Lane) await(ctx context.Context, w *question, d time.Duration) answer {
	a := l.first(ctx, w, d)
	if w.above != nil {
		l.unshow(w.id, a)
		w.above.close(w, a)
	}
	return a
}

func (l *Lane) first(ctx context.Context, w *question, d time.Duration) answer {
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
		return l.resolve(w, answer{decision: protocol.DecisionCancelled, client: protocol.HostClient})
	case <-timeout:
		return l.resolve(w, answer{decision: protocol.DecisionExpired, client: protocol.HostClient})
	}
}

// resolve closes a question, unless an answer was first, which it then gives.
func (l *Lane) resolve(w *question, a answer) answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.questions[w.id]; !open {
		return <-w.answer
	}
	l.settle(w, a)
	return <-w.answer
}

// settle resolves an open question. It is false when that was done in another
// session a moment ago; who waits for the answer takes the question back. mu is held.
func (l *Lane) settle(w *question, a answer) bool {
	if !w.won.CompareAndSwap(false, true) {
		return false
	}
	delete(l.questions, w.id)
	a.lane = l
	w.answer <- a
	l.tellResolved(w, a)
	return true
}

// tellResolved tells clients that a question is closed. mu is held.
func (l *Lane) tellResolved(w *question, a answer) {
	if err := l.tellNow(a.client, w.resolved(a)); err != nil {
		l.cfg.Report("tell an answer: "+err.Error(), nil)
	}
}

// tellNow is tellOf for what is true also when something of the running turn was lost,
// whose other events are refused then. mu is held.
func (l *Lane) tellNow(client protocol.ClientID, body protocol.Body) error {
	e := protocol.NewEvent(body)
	e.ClientID = client
	if l.turn != nil {
		e.TurnID = l.turn.id
	}
	_, _, err := l.pub.Put(context.Background(), "", e)
	return err
}

// closeQuestions resolves all open questions of the lane, and when nobody is there who
// could answer those of sub-agents, too. mu is held.
func (l *Lane) closeQuestions(d protocol.Decision) {
	for _, w := range l.questions {
		if w.stays() && d != protocol.DecisionExpired {
			continue
		}
		l.settle(w, answer{decision: d, client: protocol.HostClient})
	}
}

// retellQuestions tells those again that stay open, because with the end of a run, and
// when something could not be stored, clients forget what was asked. mu is held.
func (l *Lane) retellQuestions() {
	for _, w := range l.questions {
		if !w.stays() {
			continue
		}
		if err := l.tellNow(protocol.HostClient, w.ask); err != nil {
			l.cfg.Report("tell a question again: "+err.Error(), nil)
		}
	}
}

// waitsForPeople says whether the running turn waits for an answer, itself or in a
// sub-agent that it waits for. mu is held.
func (l *Lane) waitsForPeople() bool {
	for _, w := range l.questions {
		if !w.stays() || w.shown != nil && !w.shown.order.Background {
			return true
		}
	}
	return false
}

// errNotOpen answers who comes too late.
func errNotOpen() error {
	return protocol.Errorf(protocol.CodeConflict, "The question is no longer open; it was answered elsewhere or the turn has ended.")
}
