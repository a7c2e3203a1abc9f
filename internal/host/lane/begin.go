package lane

import (
	"context"
	"errors"
	"slices"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/runtime"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// minFree is the free disk space below which no new turn starts, in bytes.
const minFree = 256 << 20

// ready makes what a turn needs.
func (l *Lane) ready(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions, prepare Prepare) (*TurnConfig, error) {
	if free, err := l.cfg.Host.FreeSpace(); err == nil && free < minFree {
		return nil, protocol.Errorf(protocol.CodeStorageError,
			"The disk has only %d MiB left; below %d MiB no turn is started. Free some space and send again.", free>>20, minFree>>20)
	}
	config, err := prepare(ctx, meta, options)
	if err == nil {
		config.Models.Main, config.Models.Fallback = hook.Model(config.Models.Main, config.Hooks), hook.Model(config.Models.Fallback, config.Hooks)
		ctx, cancel := l.life.bounded(ctx)
		defer cancel()
		l.listeners.Handshake(ctx, config.Hooks, config.Subagent, l.additions)
	}
	return config, err
}

// runs reports whether the turn of that id takes messages. The journal is locked.
func (l *Lane) runs(id protocol.TurnID) bool {
	t := l.course.turn
	return t != nil && t.ID == id && !t.Over.Load()
}

// free returns why no turn may begin now: errAgain when somebody was faster. The journal is
// locked.
func (l *Lane) free() error {
	if l.course.turn != nil || l.j.Held() != nil {
		return errAgain
	}
	return l.mayBegin()
}

// Resume begins a turn with the events of channels that wait and the first message that waits
// in a queue that is not paused, or with what background work has to tell, when no turn runs.
// It returns when that is durable.
func (l *Lane) Resume(ctx context.Context) error { return l.resume(ctx, nil) }

// resume begins a turn with the first message that waits, when none runs. With an
// author, paused queues continue first.
func (l *Lane) resume(ctx context.Context, unpauses *journal.Author) error {
	for {
		err := l.tryResume(ctx, unpauses)
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

func (l *Lane) tryResume(ctx context.Context, unpauses *journal.Author) error {
	var ticket *publish.Ticket
	var meta protocol.Meta
	var options *protocol.TurnOptions
	runs := false
	err := l.j.When(ctx, func() (<-chan struct{}, error) {
		if err := l.j.Writable(); err != nil {
			return nil, err
		}
		return l.j.Ending(), nil
	}, func() (err error) {
		if runs = l.course.turn != nil; runs {
			if unpauses != nil {
				ticket, err = l.queues.Resume(ctx, *unpauses)
			}
			return err
		}
		if l.course.stopping {
			return errStopping()
		}
		meta = l.j.Meta()
		if l.awake(unpauses) {
			options = l.wakeOptions()
		}
		return nil
	})
	if err != nil || runs {
		return journal.WaitFor(ctx, ticket, err)
	}
	config, err := l.ready(ctx, meta, options, l.cfg.Turns.TurnConfig)
	if err != nil {
		return err
	}
	ticket, t, err := l.beginQueued(ctx, unpauses, options, config)
	if t == nil {
		config.Close()
	}
	if err = journal.WaitFor(ctx, ticket, err); err == nil {
		t.awaitAnnounced(ctx)
	}
	return err
}

// beginQueued starts a turn with the events of channels that wait and the first message that
// does; the turn is nil when there is none. With options the turn begins with what background
// work has to tell, and the config was made with them.
func (l *Lane) beginQueued(ctx context.Context, unpauses *journal.Author, options *protocol.TurnOptions, config *TurnConfig) (ticket *publish.Ticket, t *turn, err error) {
	l.j.Lock()
	defer l.j.Unlock()
	if err := l.free(); err != nil {
		return nil, nil, err
	}
	if unpauses != nil {
		if ticket, err = l.queues.Resume(ctx, *unpauses); err != nil {
			return nil, nil, err
		}
	}
	wakes := l.awake(unpauses)
	if !wakes && !l.queues.Ready() && l.inbox.Count() == 0 {
		return ticket, nil, nil
	}
	if wakes != (options != nil) || wakes && !l.stillAwake(options, config) { // the config is for another turn
		return ticket, nil, errAgain
	}
	if wakes {
		config.Day = l.course.waking.day
	}
	t, err = l.newTurn(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	if err = l.jobWorks(ctx); err == nil {
		_, err = l.appendWaiting(ctx)
	}
	if err == nil {
		l.j.Publisher().Together(func() { // whoever sees the message stored sees its turn run
			if wakes {
				ticket, err = l.openAwake(t, options)
			} else {
				t.by = l.queues.Next()
				ticket, err = l.takeOpening(ctx, t)
			}
			if err == nil {
				l.start(t, protocol.RuntimeStart{}, runtime.Execute)
			}
		})
	}
	if err != nil {
		t.cancel(err)
		return nil, nil, err
	}
	return ticket, t, nil
}

// awake reports whether background work is all that a turn would begin with. The journal is
// locked.
func (l *Lane) awake(unpauses *journal.Author) bool {
	return unpauses == nil && !l.queues.Ready() && l.inbox.Count() == 0 && l.due()
}

// notBegun tells people why what waits was not begun, and has it wait for them.
func (l *Lane) notBegun(why error) {
	l.j.Report("go on with the queue: " + why.Error())
	l.j.Lock()
	ends := l.course.stopping || l.j.Closed()
	l.j.Unlock()
	if ends {
		return
	}
	l.notices.Notify("", "error", "The message that waits was not begun: "+why.Error())
	if err := l.Pause(context.Background()); err != nil {
		l.j.Report("pause the queue: " + err.Error())
	}
}

// expect checks the leaf that a client has seen. After a cancelled turn the leaf
// before it, or any event of it, is right too. The journal is locked.
func (l *Lane) expect(expected *protocol.EventID, cancelled *turn) error {
	leaf := l.j.Leaf()
	if expected == nil || *expected == leaf {
		return nil
	}
	if cancelled != nil {
		path, err := l.j.Index().Path(leaf)
		if i := slices.Index(path, cancelled.Before); err == nil && slices.Contains(path[max(i, 0):], *expected) {
			return nil
		}
		if *expected == cancelled.Before {
			return nil
		}
	}
	e := protocol.Errorf(protocol.CodeConflict, "The conversation has moved on since you looked; look at it again and repeat what you meant.")
	e.Details = []byte(`{"leafId":"` + string(leaf) + `"}`)
	return e
}
