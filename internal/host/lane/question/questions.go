package question

import (
	"context"
	"io"
	"time"

	"scorel/internal/host/lane/journal"
	"scorel/internal/host/lane/listener"
	"scorel/protocol"
)

// Run is what questions know of the lane in which they are asked. Its methods are called
// with the journal locked.
type Run interface {
	// Asking returns what counts for a question that is asked now.
	Asking() Asking
	// StopRun ends the run that goes on, because its host ends.
	StopRun()
}

// Asking is what counts for a question that is asked now.
type Asking struct {
	Above *Above // of the turn that runs, nil for none
	// Wait says that the turn which runs waits for a person, and done that it no longer does;
	// nil where none runs. It is called with the journal locked, and done without.
	Wait       func() (done func())
	Unattended bool // nobody is waited for who could be asked
	Stopping   bool // the host ends
	Closed     bool // the session is being closed
}

// Config is what [Questions] need.
type Config struct {
	Journal   *journal.Journal
	Listeners *listener.Listeners
	Run       Run
	Rand      io.Reader
	Now       func() time.Time
	// Life ends with the session.
	Life context.Context
}

// Questions are those that are open in one session, and who is there to answer them.
type Questions struct {
	j         *journal.Journal
	listeners *listener.Listeners
	run       Run
	rand      io.Reader
	now       func() time.Time
	life      context.Context

	// The journal's lock guards the rest.
	asked    map[string]*question     // by the id of permission or dialog
	attended int                      // interactive subscriptions
	relays   int                      // channels that can answer permissions
	waits    map[string]time.Duration // for dialogs of calls that run, by the id of the call; at most maxWaits
}

// New returns the questions of a session, of which none is open.
func New(cfg Config) *Questions {
	return &Questions{j: cfg.Journal, listeners: cfg.Listeners, run: cfg.Run, rand: cfg.Rand, now: cfg.Now, life: cfg.Life, asked: map[string]*question{}, waits: map[string]time.Duration{}}
}

// Attach says that a client watches the session, and detach, which is called once, that it
// no longer does. When the last interactive one has gone and nobody else may come, open
// questions are refused as unattended ones are.
func (q *Questions) Attach(interactive bool) (detach func()) {
	if !interactive {
		return func() {}
	}
	q.j.Lock()
	defer q.j.Unlock()
	q.attended++
	return func() {
		q.j.Lock()
		defer q.j.Unlock()
		if q.attended--; q.attended > 0 {
			return
		}
		q.closeUnasked()
	}
}

// AttachRelay says that a channel passes permissions on to somebody who can answer them, and
// detach, which is called once, that it no longer does.
func (q *Questions) AttachRelay() (detach func()) {
	q.j.Lock()
	defer q.j.Unlock()
	q.relays++
	return func() {
		q.j.Lock()
		defer q.j.Unlock()
		q.relays--
		q.closeUnasked()
	}
}

// closeUnasked refuses open questions that nobody is there for any more and that nobody is
// waited for. The journal is locked.
func (q *Questions) closeUnasked() {
	run := q.run.Asking()
	if !run.Unattended && !run.Above.unattended() || q.attended > 0 || run.Above.Attended() {
		return
	}
	for _, w := range q.asked {
		if !q.canAsk(w) && !run.Above.canAsk(w) {
			q.settle(w, over(protocol.DecisionExpired))
		}
	}
}

// canAsk reports whether somebody is there who could answer a question. The journal is locked.
func (q *Questions) canAsk(w *question) bool {
	_, permission := w.ask.(*protocol.PermissionRequest)
	return q.attended > 0 || permission && q.relays > 0
}

// Attended reports whether somebody interactive watches the session.
func (q *Questions) Attended() bool {
	q.j.Lock()
	defer q.j.Unlock()
	return q.attended > 0
}

// settle resolves an open question. It is false when that was done in another session a
// moment ago; who waits for the answer takes the question back. The journal is locked.
func (q *Questions) settle(w *question, a Answer) bool {
	if !w.won.CompareAndSwap(false, true) {
		return false
	}
	delete(q.asked, w.id)
	a.At = q
	w.answer <- a // has room: only who has won sends
	q.notifyResolved(w, a)
	return true
}

// notifyResolved tells clients that a question is closed. The journal is locked.
func (q *Questions) notifyResolved(w *question, a Answer) {
	if err := q.j.NotifyAnyway(a.Client, w.resolved(a)); err != nil {
		q.j.Report("tell an answer: " + err.Error())
	}
}

// unshow takes a question back that was resolved elsewhere.
func (q *Questions) unshow(id string, a Answer) {
	q.j.Lock()
	defer q.j.Unlock()
	w := q.asked[id]
	if w == nil {
		return
	}
	delete(q.asked, id)
	q.notifyResolved(w, a)
}

// Close resolves all open questions of the lane, and when nobody is there who could answer
// those of sub-agents ([protocol.DecisionExpired]), too. The journal is locked.
func (q *Questions) Close(d protocol.Decision) {
	for _, w := range q.asked {
		if w.stays() && d != protocol.DecisionExpired {
			continue
		}
		q.settle(w, over(d))
	}
}

// Repeat shows those again that stay open, because with the end of a run, and when
// something could not be stored, clients forget what was asked. The journal is locked.
func (q *Questions) Repeat() {
	for _, w := range q.asked {
		if !w.stays() {
			continue
		}
		if err := q.j.NotifyAnyway(protocol.HostClient, w.ask); err != nil {
			q.j.Report("tell a question again: " + err.Error())
		}
	}
}

// Awaited reports whether the turn that runs waits for an answer, itself or in a sub-agent
// that it waits for. The journal is locked.
func (q *Questions) Awaited() bool {
	for _, w := range q.asked {
		if !w.stays() || w.shown != nil && !w.shown.Background {
			return true
		}
	}
	return false
}

// maxWaits is how many calls are known for which people were waited for.
const maxWaits = 256

// waited notes for how long a dialog of a running call was open.
func (q *Questions) waited(w *question) {
	b, ok := w.ask.(*protocol.UIRequest)
	if !ok || b.Data.ToolCallID == "" {
		return
	}
	q.j.Lock()
	defer q.j.Unlock()
	if _, known := q.waits[b.Data.ToolCallID]; known || len(q.waits) < maxWaits {
		q.waits[b.Data.ToolCallID] += q.now().Sub(w.opened)
	}
}

// Waited returns for how long dialogs of a call were open while it ran, and forgets it.
func (q *Questions) Waited(callID string) time.Duration {
	q.j.Lock()
	defer q.j.Unlock()
	d := q.waits[callID]
	delete(q.waits, callID)
	return d
}
