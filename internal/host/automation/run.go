package automation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/host/automation/store"
	"scorel/internal/host/lane"
	"scorel/protocol"
	"scorel/protocol/display"
)

// lost ends a run whose turn is gone, when it has had none for long enough.
func (a *Automation) lost(r *store.Run, now time.Time) {
	if now.Sub(time.UnixMilli(r.StartedAt)) > lostAfter {
		a.finish(r.RunID, protocol.RunFailed, "lost: no turn works on it any more")
	}
}

// maxStarts is how many hosts may have died while they sent one message. With that its schedule
// is paused: what it does may be what kills them.
const maxStarts = 2

// lostAfter is how long a run may have no turn.
const lostAfter = 5 * time.Minute

// job is a run that this host works on. Its lock is held while its message is sent, so that
// who cancels it does so before or after.
type job struct {
	mu   sync.Mutex
	work *lane.Work // the turn, nil before
}

// begin sends the message of a run that waits, and follows the turn that it begins.
func (a *Automation) begin(ctx context.Context, j *job, id protocol.RunID) {
	defer func() {
		a.mu.Lock()
		delete(a.jobs, id)
		a.mu.Unlock()
		a.poke() // another may begin
	}()
	defer a.rescue(id)
	work, err := a.send(ctx, j, id)
	switch {
	case err == nil && work == nil:
	case errors.As(err, new(*notStoredError)): // nothing was done for it
		a.wait(id, waiting{why: err.Error(), until: a.cfg.Clock.Now().Add(tryAgain)})
	case err != nil && protocol.AsError(err).Code == protocol.CodeRuntimeBusy:
		a.waitForSession(id, err)
	case err != nil && a.cfg.Sessions.Ending(): // it is left to the next host
	case err != nil:
		a.failed(id, err)
	default:
		a.follow(id, work)
	}
}

// send sends the message of a run that waits; the work is nil when none runs.
func (a *Automation) send(ctx context.Context, j *job, id protocol.RunID) (*lane.Work, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := a.update(func(st *store.State) error { return st.Begin(id, a.epoch) }); err != nil {
		if ignoreEnded(err) == nil {
			return nil, nil
		}
		return nil, &notStoredError{err}
	}
	st := a.store.State()
	r := st.Run(id)
	x := st.Schedule(r.ScheduleID)
	switch {
	case x == nil:
		a.finish(id, protocol.RunCancelled, "its schedule was deleted")
		return nil, nil
	case r.Starts > maxStarts:
		a.pause(x.ScheduleID, 0, fmt.Sprintf("the host died %d times while it began the run %s", maxStarts, id))
		a.finish(id, protocol.RunFailed, fmt.Sprintf("the host died %d times while it began this run; its schedule is paused", maxStarts))
		return nil, nil
	}
	prompt, why := x.Prompt, ""
	if x.Source == protocol.ScheduleHeartbeat {
		_, prompt, why = a.ready(ctx, x)
	}
	if why != "" && r.Starts <= 1 {
		a.finish(id, protocol.RunCancelled, why)
		return nil, nil
	}
	by := lane.Caller{Client: protocol.HostClient, Request: protocol.RequestIDOf(id)}
	if err := a.openTarget(ctx, x, r); err != nil {
		return nil, err
	}
	s, err := a.cfg.Sessions.Acquire(ctx, r.SessionID)
	if err != nil {
		return nil, err
	}
	defer a.cfg.Sessions.Release(s)
	l := s.Lane()
	if r.Starts > 1 { // a host that died may have sent it
		event, found, err := l.Log().Index().FindCause(ctx, by.Client, by.Request)
		if err != nil {
			return nil, err
		}
		if found && event != "" {
			return nil, a.taken(ctx, id, r.SessionID, event)
		}
		if why != "" {
			a.finish(id, protocol.RunCancelled, why)
			return nil, nil
		}
	}
	limits, err := a.limits()
	if err != nil {
		return nil, err
	}
	options := a.options(limits, x)
	sent, work, err := l.Begin(ctx, by, lane.Message{Content: []protocol.Block{protocol.Text(prompt)}, Options: options, Source: "schedule", Day: a.day.budget(limits),
		Meta: &protocol.MessageMeta{Source: protocol.SourceSchedule, ScheduleID: x.ScheduleID, RunID: id}})
	switch {
	case err != nil:
		return nil, err
	case work == nil:
		a.finish(id, protocol.RunCompleted, sent.Handled+" has done all there was to do")
		return nil, nil
	}
	j.work = work
	event := protocol.EventID("")
	if sent != nil {
		event = sent.EventID
	}
	if err := a.update(func(st *store.State) error { return st.Began(id, event, a.cfg.Now().UnixMilli()) }); err != nil {
		a.report("note that the run "+string(id)+" has begun", err) // its end may be noted
		if ignoreEnded(err) == nil {
			work.Stop(errors.New("cancelled")) // its schedule was deleted while the message was on its way
		}
	}
	return work, nil
}

// notStoredError is why a run was not begun: that it is could not be stored.
type notStoredError struct{ err error }

func (e *notStoredError) Error() string { return "it cannot be stored: " + e.err.Error() }

// ignoreEnded is nil for a run that has ended in the meantime: somebody has cancelled it.
func ignoreEnded(err error) error {
	if err != nil && protocol.AsError(err).Code == protocol.CodeConflict {
		return nil
	}
	return err
}

// gone reports whether a session is not there.
func gone(err error) bool {
	return errors.Is(err, session.ErrNotFound) || err != nil && protocol.AsError(err).Code == protocol.CodeSessionNotFound
}

// openTarget makes the session of a run that has one of its own.
func (a *Automation) openTarget(ctx context.Context, x *store.Schedule, r *store.Run) error {
	if x.Target == protocol.TargetSession {
		return nil
	}
	_, _, done, err := a.cfg.Sessions.View(ctx, r.SessionID)
	if err == nil {
		done()
		return nil
	}
	if !gone(err) {
		return err
	}
	meta := protocol.Meta{WorkDir: x.WorkDir, Name: x.Name}
	if o := x.Options; o != nil {
		meta.Model, meta.ThinkingLevel = o.Model, o.Thinking
	}
	// Another request than that of the message, which is looked for by its cause.
	by := lane.Caller{Client: protocol.HostClient, Request: protocol.RequestIDOf(protocol.RunID("session of " + r.RunID))}
	_, err = a.cfg.Library.CreateSession(ctx, by, r.SessionID, &protocol.CreateSession{Meta: meta})
	return err
}

// options returns what a run asks of its turn.
func (a *Automation) options(limits config.Automation, x *store.Schedule) *protocol.TurnOptions {
	o := protocol.TurnOptions{}
	if x.Options != nil {
		o = *x.Options
	}
	wait := x.OnQuestion == "wait" || x.OnQuestion == "" && limits.OnQuestion == "wait"
	o.Unattended = !wait
	if o.Mode == "" && !wait {
		o.Mode = "dontAsk"
	} else if o.Mode == "" {
		o.Mode = "default"
	}
	lower(&o, limits)
	return &o
}

// lower holds options to the limits of a run.
func lower(o *protocol.TurnOptions, limits config.Automation) {
	o.MaxBudgetUSD = runtime.Lower(o.MaxBudgetUSD, limits.MaxRunUSD)
	o.MaxTokens = runtime.Lower(o.MaxTokens, limits.MaxRunTokens)
	o.MaxMinutes = runtime.Lower(o.MaxMinutes, limits.MaxRunMinutes)
}

// follow waits for the end of a turn and notes how it ended.
func (a *Automation) follow(id protocol.RunID, work *lane.Work) {
	<-work.Done()
	end := work.End()
	state, why := protocol.RunCompleted, ""
	switch {
	case end.Terminal == protocol.TerminalCancelled && a.cfg.Sessions.Ending():
		state, why = protocol.RunCancelled, "the host ended"
	case end.Terminal == protocol.TerminalCancelled:
		state, why = protocol.RunCancelled, "its turn was cancelled"
	case end.Terminal == protocol.TerminalBudget:
		state, why = protocol.RunBudget, sentence(end)
	case end.Terminal != protocol.TerminalCompleted:
		state, why = protocol.RunFailed, sentence(end)
	}
	spent := work.Spent()
	a.change("note what a run has cost", func(st *store.State) { st.Spent(id, spent.USD, int64(spent.Tokens), work.Denied()) })
	a.finish(id, state, why)
	if state == protocol.RunBudget {
		a.atLimit(id, why)
	}
}

// sentence is why a turn has not completed.
func sentence(end *protocol.RuntimeEnd) string {
	if end.Error != nil {
		return end.Error.Message
	}
	return display.Ended(end.Terminal)
}

// finish notes the end of a run, unless somebody has before.
func (a *Automation) finish(id protocol.RunID, state protocol.RunState, why string) {
	err := ignoreEnded(a.update(func(st *store.State) error { return st.End(id, state, why, a.cfg.Now().UnixMilli()) }))
	if err != nil {
		a.report("note the end of the run "+string(id), err)
	}
	a.mu.Lock()
	delete(a.busy, id)
	if delete(a.ends, id); err != nil {
		a.ends[id] = ended{state, why} // else it would be sent again, or be lost
	}
	a.mu.Unlock()
}

// failed notes that a run could not be begun. What will be so the next time pauses its
// schedule.
func (a *Automation) failed(id protocol.RunID, err error) {
	why := protocol.AsError(err).Message
	r := a.store.State().Run(id)
	a.finish(id, protocol.RunFailed, why)
	if gone(err) {
		a.pause(r.ScheduleID, 0, "its session is gone")
	}
}

// How long a run waits for its session before it is tried again: normally it is told that the
// session is free.
const (
	tryAgain     = 30 * time.Second
	tryAgainSoon = time.Second
)

// waitForSession has a run wait until its session is free.
func (a *Automation) waitForSession(id protocol.RunID, busy error) {
	r := a.store.State().Run(id)
	if r == nil {
		return
	}
	now := a.cfg.Clock.Now()
	if errors.Is(busy, lane.ErrQueuePaused) {
		a.wait(id, waiting{why: "the queue of its session is paused, and messages wait there", until: now.Add(tryAgain), in: r.SessionID})
		return
	}
	a.wait(id, waiting{why: "its session is busy", until: now.Add(tryAgain), in: r.SessionID})
	if l := a.cfg.Sessions.Lane(r.SessionID); l == nil || !l.Working() { // it may have been told so before
		a.wait(id, waiting{why: "its session is busy", until: now.Add(tryAgainSoon), in: r.SessionID})
	}
}

// wait notes why a run waits.
func (a *Automation) wait(id protocol.RunID, w waiting) {
	a.mu.Lock()
	changed := a.busy[id].why != w.why
	a.busy[id] = w
	a.mu.Unlock()
	if changed {
		a.cfg.Announcer.Broadcast(&protocol.AutomationChanged{})
	}
}

// taken notes of a run whose message a host before has stored how that went.
func (a *Automation) taken(ctx context.Context, id protocol.RunID, in protocol.SessionID, event protocol.EventID) error {
	if err := a.update(func(st *store.State) error { return st.Began(id, event, a.cfg.Now().UnixMilli()) }); err != nil {
		return err
	}
	a.settle(ctx, id, in, event)
	return nil
}

// settle notes how a run ended that an earlier host worked on.
func (a *Automation) settle(ctx context.Context, id protocol.RunID, in protocol.SessionID, event protocol.EventID) {
	completed, err := a.completed(ctx, in, event)
	switch {
	case completed:
		a.finish(id, protocol.RunCompleted, "")
	case err != nil:
		a.finish(id, protocol.RunFailed, "lost: the host ended while it ran, and its session cannot be read: "+protocol.AsError(err).Message)
	default:
		a.finish(id, protocol.RunFailed, "lost: the host ended while it ran")
	}
}

// completed reports whether the log has the last answer to a message.
func (a *Automation) completed(ctx context.Context, in protocol.SessionID, event protocol.EventID) (bool, error) {
	index, _, done, err := a.cfg.Sessions.View(ctx, in)
	if err != nil {
		return false, err
	}
	defer done()
	e, err := index.Event(ctx, event)
	if err != nil {
		return false, err
	}
	for next, err := range index.EventsAfter(ctx, e.Seq) {
		if err != nil {
			return false, err
		}
		b, ok := next.Body.(*protocol.MessageBody)
		if !ok {
			continue
		}
		switch m := b.Message; {
		case m.Role == protocol.RoleAssistant && m.StopReason == protocol.StopEndTurn:
			return true, nil
		case m.Role == protocol.RoleUser && (m.Meta == nil || m.Meta.Source != protocol.SourceSteer): // somebody has gone on
			return false, nil
		}
	}
	return false, nil
}

// cancelRun ends a run that has not ended.
func (a *Automation) cancelRun(id protocol.RunID) error {
	a.mu.Lock()
	j := a.jobs[id]
	a.mu.Unlock()
	if j != nil { // before its message is sent, or after
		j.mu.Lock()
		defer j.mu.Unlock()
	}
	now := a.cfg.Now().UnixMilli()
	err := a.update(func(st *store.State) error { return st.End(id, protocol.RunCancelled, "somebody cancelled it", now) })
	if err == nil && j != nil && j.work != nil {
		j.work.Stop(errors.New("cancelled"))
	}
	a.mu.Lock()
	delete(a.busy, id)
	a.mu.Unlock()
	return err
}
