package lane

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// turn is a run that is going on. Its goroutine ends when done is closed.
type turn struct {
	id     protocol.TurnID
	epoch  protocol.Epoch
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	// announced is settled when clients can be told that the turn runs; nil when nothing
	// leaves any more. It is set before the turn is one of the lane.
	announced *publish.Ticket
	setup     *Setup
	before    protocol.EventID // the leaf when it began
	over      atomic.Bool      // nothing more is taken; set with Lane.mu held
	void      atomic.Bool      // something of it could not be stored; set with Lane.mu held
	ended     sync.Once        // of done
	shut      sync.Once        // of Setup.Close
	// options are those of the message that began it, nil without.
	options *protocol.TurnOptions
	modeSeq protocol.Seq     // Lane.modeSeq when it began
	waits   bool             // before it tries its model again; guarded by Lane.mu
	between bool             // it is at a step border and stays there; guarded by Lane.mu
	command bool             // it is a run of [Lane.AtBorder]
	prompt  []protocol.Block // the message that opens a turn, until hooks are asked of it; guarded by Lane.mu

	// The rest belongs to the goroutine of the run.
	builder  *history.Builder
	progress history.Progress
	items    []protocol.Item // what must stand in the context before each call
	work     *history.State
	env      *tool.Env
	budget   *runtime.Budget // shared with the sub-agents that work for the turn
	system   string          // the system prompt
	base     string          // the session's own
	tally    tally
	told     int // Lane.told before the last call

	own protocol.Instructions // base with its sections

	leave *leaving // a branch is left with a summary, and nothing is compacted

	// Of a compaction that was asked for.
	compactNote string
	cause       *Caller
	compacted   *protocol.Compacted
	end         *protocol.RuntimeEnd
}

// errCancelled cancels a turn because somebody asked for it.
var errCancelled = errors.New("cancelled")

// runs says whether the turn of that id takes messages. mu is held.
func (l *Lane) runs(id protocol.TurnID) bool {
	return l.turn != nil && l.turn.id == id && !l.turn.over.Load()
}

// ending gives what to wait for before the next turn may begin: the end of one
// that takes nothing more, or a move that comes first. mu is held.
func (l *Lane) ending() <-chan struct{} {
	switch {
	case l.moving != nil:
		return l.moving
	case l.turn != nil && (l.turn.over.Load() || l.lost()):
		return l.turn.done
	}
	return nil
}

// lost says whether something of the running turn could not be stored, so that it
// is about to end. mu is held.
func (l *Lane) lost() bool { return l.turn != nil && l.turn.epoch != l.epoch }

// lock takes mu when no turn is ending because something of it was lost: what a
// client asks for has nothing to do with that. What a function asks for that such a turn
// runs ([Lane.AtBorder]), and so waits for, is refused.
func (l *Lane) lock(ctx context.Context) error {
	for {
		l.mu.Lock()
		if !l.lost() {
			return nil
		}
		done, own := l.turn.done, atBorder(ctx, l.turn)
		l.mu.Unlock()
		if own {
			return protocol.Errorf(protocol.CodeStorageError, "An earlier event of this command could not be stored, so nothing that follows it is.")
		}
		if err := await(ctx, done); err != nil {
			return err
		}
	}
}

// newTurn makes a turn, and the system prompt when the session has none. mu is
// held.
func (l *Lane) newTurn(ctx context.Context, setup *Setup) (*turn, error) {
	if !l.hasInstructions() {
		in, sentences, err := setup.Instructions()
		if err != nil {
			return nil, err
		}
		for _, s := range sentences {
			l.notice("", "warning", s)
		}
		if _, _, err := l.append(ctx, &protocol.InstructionSnapshot{Snapshot: in}, byHost()); err != nil {
			return nil, err
		}
	}
	if err := l.indexSkills(ctx, setup.Skills); err != nil {
		return nil, err
	}
	builder, err := l.builder(setup.Hooks, setup.Model.Info())
	if err != nil {
		return nil, err
	}
	t := &turn{id: protocol.NewTurnID(l.cfg.Rand), epoch: l.epoch, setup: setup, done: make(chan struct{}), before: l.leaf, builder: builder, modeSeq: l.modeSeq}
	var above *runtime.Budget
	if setup.Above != nil {
		above = setup.Above.order.turn.budget
	}
	t.budget = runtime.NewBudget(above)
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t, nil
}

// start announces a turn and runs it in a goroutine of its own, which ends with the run.
// The runtime_start enters here, directly after the message that begins the turn, so that
// whoever is given the id of the turn finds it running ([turn.awaitAnnounced]). mu is
// held.
func (l *Lane) start(t *turn, execute func(context.Context, runtime.Run) iter.Seq[runtime.RawEvent]) {
	l.turn, l.fresh = t, nil
	l.running.Store(t)
	if err := l.tell(&protocol.RuntimeStart{}); err != nil {
		t.cancel(storageError(err))
	} else if ticket, err := l.pub.FlushTicket(); err == nil { // else nothing leaves any more
		t.announced = ticket
	}
	go func() {
		defer func() {
			if r := recover(); r != nil {
				l.Panicked(r)
				t.abandon()
			}
		}()
		var run runtime.Run
		var err error
		if !t.command {
			run, err = l.run(t)
		}
		if err != nil {
			l.bridge(t, runtime.RawEvent{Body: &protocol.RuntimeStart{}})
			l.bridge(t, runtime.RawEvent{Body: t.failed(err)})
		} else {
			for raw := range execute(t.ctx, run) {
				l.bridge(t, raw)
			}
		}
		t.cancel(nil)
		t.shut.Do(t.setup.Close)
		l.mu.Lock()
		l.turn, l.fresh = nil, nil
		l.running.Store(nil)
		l.after.Add(1)
		behind := sync.OnceFunc(l.after.Done)
		defer behind()
		if err := l.appendLast(context.Background()); err != nil {
			l.cfg.Report("add to the conversation: "+err.Error(), nil)
		}
		if t.epoch != l.epoch && !l.stopping && !l.closed { // the turn could not do it any more
			if _, err := l.pause(); err != nil {
				l.cfg.Report("pause the queue: "+err.Error(), nil)
			}
		}
		left := l.queues.waiting() && !l.stopping && !l.closed
		l.mu.Unlock()
		t.isOver()
		// What was sent during a compaction or a command, or waits behind a turn with options of
		// its own, has no turn to take it.
		if left && (t.cause != nil || t.options != nil || t.command) && t.end.Reason == protocol.EndCompleted {
			if err := l.goOn(context.Background(), nil); err != nil {
				l.notBegun(err)
			}
		}
		if l.pub.Flush(context.Background()) == nil {
			l.settleMark()
		}
		behind()
		l.cfg.Idle()
	}()
}

// awaitAnnounced returns when the state that clients are given says that the turn runs, or
// ran. What begins the turn is stored by then, so that nothing which keeps the state from
// saying so is an error of the request.
func (t *turn) awaitAnnounced(ctx context.Context) {
	if t != nil && t.announced != nil {
		_ = t.announced.Wait(ctx) // clients are told of a failure by the end of the turn
	}
}

// isOver tells those who wait for the end of the turn.
func (t *turn) isOver() { t.ended.Do(func() { close(t.done) }) }

// abandon ends a turn whose goroutine has panicked: nobody is to wait for it.
func (t *turn) abandon() {
	t.over.Store(true)
	t.cancel(errFault())
	if t.end == nil || t.end.Error == nil {
		t.end = &protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalInternalError, Error: errFault()}
	}
	defer func() { _ = recover() }() // of Close, which may be what has panicked
	defer t.isOver()
	t.shut.Do(t.setup.Close)
}

// notBegun tells people why what waits was not begun, and has it wait for them.
func (l *Lane) notBegun(why error) {
	l.cfg.Report("go on with the queue: "+why.Error(), nil)
	l.mu.Lock()
	ends := l.stopping || l.closed
	l.mu.Unlock()
	if ends {
		return
	}
	l.Notify("", "error", "The message that waits was not begun: "+why.Error())
	if err := l.Pause(context.Background()); err != nil {
		l.cfg.Report("pause the queue: "+err.Error(), nil)
	}
}

// failed is the end of a turn that could not even begin.
func (t *turn) failed(err error) *protocol.RuntimeEnd {
	switch cause := context.Cause(t.ctx); {
	case errors.Is(cause, errCancelled), errors.Is(cause, errHostStops):
		return &protocol.RuntimeEnd{Reason: protocol.EndCancelled, Terminal: protocol.TerminalCancelled}
	case cause != nil:
		err = cause
	}
	return &protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalStorageError, Error: storageError(err)}
}

// storageError is err as clients are told of it.
func storageError(err error) *protocol.Error {
	var pe *protocol.Error
	if errors.As(err, &pe) {
		return pe
	}
	return protocol.Errorf(protocol.CodeStorageError, "The turn cannot be recorded: %v.", err)
}

// run makes what the runtime needs for a turn.
func (l *Lane) run(t *turn) (runtime.Run, error) {
	if err := l.pub.Flush(t.ctx); err != nil {
		return runtime.Run{}, err
	}
	in, at, err := l.instructions(t.ctx)
	if err != nil {
		return runtime.Run{}, err
	}
	t.system, t.base, t.own = in.Text, in.Text, in
	if text := l.Damage(); text != "" {
		t.items = append(t.items, damageItem(text))
	}
	t.items = append(t.items, t.setup.Items...)
	if l.plans(t) {
		t.setup.Tools = tool.WithPlan(t.setup.Tools)
	}
	if item, changed := l.cfg.DateChange(at, l.cfg.Now()); changed {
		t.items = append(t.items, item)
	}
	env := t.setup.Env
	t.env = &env
	if err := l.refresh(t); err != nil {
		return runtime.Run{}, err
	}
	if t.setup.Above == nil && !l.looked { // what a host left that was killed while a command ran
		l.looked = true
		env.TellLeft()
	}
	h := &turnHost{l, t}
	return runtime.Run{Host: h, Model: t.setup.Model, Fallback: t.setup.Fallback, Thinking: t.setup.Thinking,
		Tools: t.setup.Tools, Env: t.env, Hooks: h.runtimeHooks(), Limits: t.setup.Limits, Budget: t.budget, Summary: t.setup.Summary, Session: l.ID(), Blob: l.readBlob, Rand: l.cfg.Rand,
		Now: l.cfg.Now, Sleep: h.sleep, Silence: l.cfg.Silence, Processes: l.cfg.Processes, Report: l.cfg.Report}, nil
}

// bridge takes what a run yields into the log and to the clients: it gives each
// event its parent and author. It returns when what an effect depends on is
// durable. What cannot be stored cancels the turn.
func (l *Lane) bridge(t *turn, raw runtime.RawEvent) {
	if end := t.tally.note(raw.Body, l.cfg.Now); end != "" {
		l.cfg.Report(end, nil)
	}
	if t.setup.Observe != nil {
		t.setup.Observe(raw.Body)
	}
	l.mu.Lock()
	var ticket *publish.Ticket
	var err error
	switch b := raw.Body.(type) {
	case *protocol.RuntimeStart: // start has announced it
	case *protocol.MessageStart:
		b.ParentID = l.leaf
		l.keepStep(t, b)
		err = l.tell(b)
	case *protocol.RuntimeEnd:
		t.over.Store(true)
		t.end = b
		l.closeQuestions(protocol.DecisionCancelled)
		if b.Terminal != protocol.TerminalCompleted && !errors.Is(context.Cause(t.ctx), errHostStops) && !l.lost() {
			if _, err := l.pause(); err != nil {
				l.cfg.Report("pause the queue: "+err.Error(), nil)
			}
		}
		if err = l.tell(b); !l.lost() { // else that was done when it was lost
			l.retellQuestions()
		}
	default:
		if protocol.NewEvent(raw.Body).IsTransient() {
			l.keepStep(t, raw.Body)
			err = l.tell(raw.Body)
			break
		}
		var e protocol.Event
		e, ticket, err = l.append(context.Background(), raw.Body, author{client: protocol.HostClient, id: raw.ID})
		if err == nil && t.work != nil {
			t.work.Apply(e)
		}
		if err != nil && raw.ID != "" && !l.lost() { // it was announced and does not come
			err = errors.Join(err, l.tell(&protocol.MessageCancelled{EventID: raw.ID, Reason: protocol.CancelStorage}))
		}
	}
	l.mu.Unlock()
	if m, ok := raw.Body.(*protocol.MessageBody); ok && m.Message.Role == protocol.RoleAssistant && !m.Message.Partial {
		t.progress.Accepted()
	}
	if b, ok := raw.Body.(*protocol.RuntimeEnd); ok && !t.command && t.cause == nil {
		l.toldEnd(t, b)
	}
	answer := isAnswer(raw.Body)
	if err == nil && ticket != nil && (answer || gatesEffect(raw.Body)) {
		if err = ticket.Wait(context.Background()); err == nil && answer && l.cfg.Step != nil {
			l.cfg.Step.End()
		}
	}
	if err != nil {
		t.cancel(storageError(err))
	}
}

// toldEnd tells those who watch how a turn has ended.
func (l *Lane) toldEnd(t *turn, end *protocol.RuntimeEnd) {
	if end.Error != nil {
		l.happened("turn_error", struct {
			Error string `json:"error"`
		}{end.Error.Message})
	}
	l.happened("turn_finish", struct {
		Usage      protocol.Usage `json:"usage"`
		DurationMS int64          `json:"durationMs"`
		Reason     string         `json:"reason"`
	}{t.tally.usage, l.cfg.Now().Sub(t.tally.began).Milliseconds(), string(end.Reason)})
}

// isAnswer says whether an event is what a model answered, whose text is kept apart until
// it is stored.
func isAnswer(body protocol.Body) bool {
	b, ok := body.(*protocol.MessageBody)
	return ok && b.Message.Role == protocol.RoleAssistant
}

// gatesEffect says whether an effect follows that the event must precede on
// disk.
func gatesEffect(body protocol.Body) bool {
	switch b := body.(type) {
	case *protocol.MessageBody:
		return b.Message.Role == protocol.RoleAssistant && len(b.Message.Calls()) > 0
	case *protocol.FileSnapshot:
		return true
	}
	return false
}

// Cancel ends the named turn; for another, or none, it does nothing. It does not
// wait for mu, which is held while events wait for a slow disk.
func (l *Lane) Cancel(id protocol.TurnID) bool {
	t := l.running.Load()
	if t == nil || t.id != id || t.over.Load() {
		return false
	}
	t.cancel(errCancelled)
	return true
}

// Working says whether a turn runs that has not come to its end, also before clients
// are told of it. It waits for nobody.
func (l *Lane) Working() bool {
	t := l.running.Load()
	return t != nil && !t.over.Load() && !t.void.Load()
}

// Busy says whether a turn, a command of a person or one in the background runs. It
// waits for nobody.
func (l *Lane) Busy() bool {
	return l.running.Load() != nil || l.shells.n.Load() > 0 || l.tasks.Running() > 0
}

// Conversing is Working of a turn in which a model is asked, and not of a command that
// runs by itself.
func (l *Lane) Conversing() bool {
	t := l.running.Load()
	return t != nil && !t.command && !t.over.Load() && !t.void.Load()
}

// expect checks the leaf that a client has seen. After a cancelled turn the leaf
// before it, or any event of it, is right too. mu is held.
func (l *Lane) expect(expected *protocol.EventID, cancelled *turn) error {
	if expected == nil || *expected == l.leaf {
		return nil
	}
	if cancelled != nil {
		path, err := l.cfg.Log.Index().Path(l.leaf)
		if i := slices.Index(path, cancelled.before); err == nil && slices.Contains(path[max(i, 0):], *expected) {
			return nil
		}
		if *expected == cancelled.before {
			return nil
		}
	}
	e := protocol.Errorf(protocol.CodeConflict, "The conversation has moved on since you looked; look at it again and repeat what you meant.")
	e.Details = []byte(`{"leafId":"` + string(l.leaf) + `"}`)
	return e
}
