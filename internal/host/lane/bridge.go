package lane

import (
	"context"
	"errors"

	"scorel/internal/engine/runtime"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/partial"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// bridge takes what a run yields into the log and to the clients: it gives each event its
// parent and author. It returns when what an effect depends on is durable. What cannot be
// stored cancels the turn.
func (l *Lane) bridge(t *turn, raw runtime.RawEvent) {
	if end := t.tally.note(raw.Body, l.cfg.Now); end != "" {
		l.j.Report(end)
	}
	if t.config.Observe != nil {
		t.config.Observe(raw.Body)
	}
	if l.keepsTurn(t) {
		switch b := raw.Body.(type) {
		case *protocol.ToolExecutionStart: // the call begins when bridge has returned
			l.cfg.Kept.Turn.Call(b.ToolCallID)
		case *protocol.RuntimeEnd: // all that says how it has ended is durable
			if b.Reason == protocol.EndCompleted || !errors.Is(context.Cause(t.ctx), errHostStops) {
				l.cfg.Kept.Turn.End()
			} // else the next host says what is owed
		}
	}
	ticket, err := l.enter(t, raw)
	if m, ok := raw.Body.(*protocol.MessageBody); ok && m.Message.Role == protocol.RoleAssistant && !m.Message.Partial {
		t.view.progress.Accepted()
	}
	if b, ok := raw.Body.(*protocol.RuntimeEnd); ok && !t.command && t.summary == nil {
		l.emitEnd(t, b)
	}
	answer := isAnswer(raw.Body)
	if err == nil && ticket != nil && (answer || gatesEffect(raw.Body)) {
		if err = ticket.Wait(context.Background()); err == nil && answer && l.cfg.Kept.Step != nil {
			l.cfg.Kept.Step.End()
		}
	}
	if err != nil {
		if answer && storageError(err).Code == protocol.CodeStorageError {
			l.oweAnswer(raw.ID, t.view.parent, raw.Body.(*protocol.MessageBody).Message)
		}
		t.cancel(storageError(err))
	}
}

// enter lets one event of a run enter; a transient one has no ticket.
func (l *Lane) enter(t *turn, raw runtime.RawEvent) (*publish.Ticket, error) {
	l.j.Lock()
	defer l.j.Unlock()
	l.notifyUnkept(t)
	switch b := raw.Body.(type) {
	case *protocol.RuntimeStart: // start has announced it
		return nil, nil
	case *protocol.MessageStart:
		b.ParentID = l.j.Leaf()
		t.view.parent = b.ParentID
		l.keepStep(t, b)
		return nil, l.j.Notify(b)
	case *protocol.RuntimeEnd:
		return nil, l.enterEnd(t, b)
	}
	if protocol.NewEvent(raw.Body).IsTransient() {
		l.keepStep(t, raw.Body)
		return nil, l.j.Notify(raw.Body)
	}
	e, ticket, err := l.j.Append(context.Background(), raw.Body, journal.Author{Client: protocol.HostClient, ID: raw.ID})
	if err == nil && t.view.work != nil {
		t.view.work.Apply(e)
	}
	if err != nil && raw.ID != "" && !l.j.Lost() { // it was announced and does not come
		err = errors.Join(err, l.j.Notify(&protocol.MessageCancelled{EventID: raw.ID, Reason: protocol.CancelStorage}))
	}
	return ticket, err
}

// enterEnd tells clients of the end of a run; nothing more is taken. The journal is locked.
func (l *Lane) enterEnd(t *turn, end *protocol.RuntimeEnd) error {
	t.Over.Store(true)
	t.end = end
	l.questions.Close(protocol.DecisionCancelled)
	if end.Terminal != protocol.TerminalCompleted && !errors.Is(context.Cause(t.ctx), errHostStops) && !l.j.Lost() {
		l.pauseQueues()
	}
	err := l.j.Notify(end)
	if !l.j.Lost() { // else that was done when it was lost
		l.questions.Repeat()
	}
	return err
}

// emitEnd tells those who watch how a turn has ended.
func (l *Lane) emitEnd(t *turn, end *protocol.RuntimeEnd) {
	if end.Error != nil {
		l.listeners.EmitEvent("turn_error", struct {
			Error string `json:"error"`
		}{end.Error.Message})
	}
	l.listeners.EmitEvent("turn_finish", struct {
		Usage      protocol.Usage `json:"usage"`
		DurationMS int64          `json:"durationMs"`
		Reason     string         `json:"reason"`
		Terminal   string         `json:"terminal"`
	}{t.tally.usage, l.cfg.Now().Sub(t.tally.began).Milliseconds(), string(end.Reason), string(end.Terminal)})
}

// isAnswer reports whether an event is what a model answered, whose text is kept apart
// until it is stored.
func isAnswer(body protocol.Body) bool {
	b, ok := body.(*protocol.MessageBody)
	return ok && b.Message.Role == protocol.RoleAssistant
}

// gatesEffect reports whether an effect follows that the event must precede on disk.
func gatesEffect(body protocol.Body) bool {
	switch b := body.(type) {
	case *protocol.MessageBody:
		return b.Message.Role == protocol.RoleAssistant && len(b.Message.Calls()) > 0
	case *protocol.FileSnapshot:
		return true
	}
	return false
}

// keepStep tells the keeper of the running step what a run yields. It is called by the
// goroutine of the run, before the event is told.
func (l *Lane) keepStep(t *turn, body protocol.Body) {
	step := l.cfg.Kept.Step
	if step == nil {
		return
	}
	switch b := body.(type) {
	case *protocol.TextDelta:
		step.Add(b.BlockIndex, b.Delta)
	case *protocol.MessageStart:
		if b.Role == protocol.RoleAssistant {
			info := t.config.Models.named(b.Model)
			step.Begin(partial.Answer{SessionID: l.ID(), EventID: b.EventID, ParentID: b.ParentID, Provider: info.Provider, Model: info.ID})
		}
	case *protocol.MessageCancelled:
		step.End()
	}
}

// notifyUnkept tells people once a turn that what is shown of it is not on disk. It is called
// with each event of the run, because the keepers learn that while they write. The journal is
// locked.
func (l *Lane) notifyUnkept(t *turn) {
	if l.cfg.Kept.Unkept == nil {
		return
	}
	why := l.cfg.Kept.Unkept()
	if why == "" || t.tally.unkept {
		return
	}
	t.tally.unkept = true
	l.notices.Put("", "warning", "What a running turn shows cannot be stored before it ends, and is lost if the host is killed: "+why+". scorel doctor says what to do.")
}
