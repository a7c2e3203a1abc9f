package lane

import (
	"context"
	"iter"
	"sync"

	"scorel/internal/engine/prompt"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/partial"
	"scorel/protocol"
)

// execute runs a turn and yields what happens in it.
type execute func(context.Context, runtime.Run) iter.Seq[runtime.RawEvent]

// start announces a turn and runs it in a goroutine of its own, which ends with the run.
// The runtime_start enters here, directly after the message that begins the turn, so that
// whoever is given the id of the turn finds it running ([turn.awaitAnnounced]). The journal
// is locked.
func (l *Lane) start(t *turn, begins protocol.RuntimeStart, execute execute) {
	l.j.Begin(t.Run)
	l.course.turn = t
	if !t.command && !t.foreign && t.summary == nil {
		l.course.waking.on = t.config.Wake
	}
	l.course.running.Store(t)
	l.course.proactive.disarm()
	if l.course.proactive.on {
		l.notifyProactive()
	}
	if err := l.j.Notify(&begins); err != nil {
		t.cancel(storageError(err))
	} else if ticket, err := l.j.Publisher().FlushTicket(); err == nil { // else nothing leaves any more
		t.announced = ticket
	}
	go func() {
		defer func() {
			if r := recover(); r != nil {
				l.Panicked(r)
				t.abandon()
			}
		}()
		l.runTurn(t, execute)
		t.cancel(nil)
		t.shut.Do(t.config.Close)
		l.leaveTurn(t)
	}()
}

// runTurn runs a turn to its end.
func (l *Lane) runTurn(t *turn, execute execute) {
	var run runtime.Run
	var err error
	if l.keepsTurn(t) {
		info := t.config.Models.Main.Info()
		l.j.Lock()
		leaf := l.j.Leaf()
		l.j.Unlock()
		l.cfg.Kept.Turn.Begin(partial.Running{SessionID: l.ID(), Leaf: leaf, Provider: info.Provider, Model: info.ID})
	}
	if !t.command {
		run, err = l.run(t)
	}
	if err != nil {
		l.bridge(t, runtime.RawEvent{Body: &protocol.RuntimeStart{}})
		l.bridge(t, runtime.RawEvent{Body: t.failed(err)})
		return
	}
	for raw := range execute(t.ctx, run) {
		l.bridge(t, raw)
	}
}

// keepsTurn reports whether a host that comes after a kill is to know that the turn ran: one
// that is to answer a message.
func (l *Lane) keepsTurn(t *turn) bool {
	return l.cfg.Kept.Turn != nil && !t.command && !t.foreign && t.summary == nil
}

// leaveTurn lets the next one begin, tells who waits for the end of the turn, and continues
// with the queue where the turn could not take from it.
func (l *Lane) leaveTurn(t *turn) {
	l.noteFiles(t)
	l.j.Lock()
	l.j.End()
	l.course.turn = nil
	l.course.running.Store(nil)
	l.course.after.Add(1)
	after := sync.OnceFunc(l.course.after.Done)
	defer after()
	left := l.settleTurn(t)
	l.j.Unlock()
	t.isOver()
	// What was sent during a compaction, a command or a call of another program, or waits after a turn with options of
	// its own, has no turn to take it.
	if left && (t.summary != nil || t.options != nil || t.command || t.foreign) && t.end.Reason == protocol.EndCompleted {
		if err := l.resume(context.Background(), nil); err != nil {
			l.notBegun(err)
		}
	}
	if l.j.Publisher().Flush(context.Background()) == nil {
		l.pending.Clear()
	}
	l.wake() // with what came after its last step
	l.j.Lock()
	l.armTick()
	l.j.Unlock()
	after()
	l.cfg.Owner.Idle()
}

// settleTurn appends what waits for the end of a turn, and reports whether messages wait
// that are to be taken. The journal is locked.
func (l *Lane) settleTurn(t *turn) (left bool) {
	if err := l.additions.TakeAll(context.Background()); err != nil {
		l.j.Report("add to the conversation: " + err.Error())
	}
	if t.end.Reason != protocol.EndCompleted && !t.command && !t.foreign && t.summary == nil {
		l.course.waking.on = WakeOff // until somebody says something
	}
	l.afterTurn(t)
	l.jobTurnEnds(t)
	ends := l.course.stopping || l.j.Closed()
	if !ends && t.Void.Load() { // the turn could not do it any more
		l.pauseQueues()
	}
	return !ends && (l.queues.Ready() || l.inbox.Count() > 0)
}

// pauseQueues stops the queues until somebody resumes them. The journal is locked.
func (l *Lane) pauseQueues() {
	if _, err := l.queues.Pause(); err != nil {
		l.j.Report("pause the queue: " + err.Error())
	}
}

// run makes what the runtime needs for a turn.
func (l *Lane) run(t *turn) (runtime.Run, error) {
	if err := l.j.Publisher().Flush(t.ctx); err != nil {
		return runtime.Run{}, err
	}
	in, at, err := l.instructions(t.ctx)
	if err != nil {
		return runtime.Run{}, err
	}
	v, config, h := &t.view, t.config, &turnHost{l, t}
	v.own, v.system = in, in.Text
	if text := l.Damage(); text != "" {
		v.items = append(v.items, damageItem(text))
	}
	v.items = append(v.items, config.Items...)
	if l.plans(t) {
		config.Tools = tool.WithPlan(config.Tools)
	}
	if l.proactive(t) {
		config.Tools = tool.WithSleep(config.Tools)
	}
	if item, changed := prompt.DateChange(at, l.cfg.Now()); changed {
		v.items = append(v.items, item)
	}
	v.seen, v.dir = files.NewSeen(nil), tool.NewDir(config.WorkDir)
	if err := l.refresh(t); err != nil {
		return runtime.Run{}, err
	}
	if config.Above == nil && !l.course.looked { // what a host left that was killed while a command ran
		l.course.looked = true
		tool.NotifyLeft(config.Setting.Files, toolHost{h})
	}
	return runtime.Run{Host: h, Model: config.Models.Main, Fallback: config.Models.Fallback, Thinking: config.Models.Thinking,
		Tools: tool.Bind(config.Tools, config.Setting, h.session()), Blobs: toolHost{h}, Hooks: h.runtimeHooks(), Limits: config.Limits, Budget: t.budget, Summary: config.Models.Summary,
		Session: l.ID(), Blob: l.payloads.blob, Rand: l.cfg.Rand, Now: l.cfg.Now, Sleep: h.sleep, Silence: l.cfg.Silence,
		Processes: l.cfg.Processes, Report: l.cfg.Report, Unpriced: h.unpriced}, nil
}
