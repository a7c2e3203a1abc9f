package lane

import (
	"context"

	"scorel/internal/engine/hook"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Inject takes in what a channel has pushed. It is in the log before it has an effect, waits
// while a turn runs, and begins one otherwise, which asks nobody who is not there: what the
// rules would ask about is denied then. Hooks are asked of it as of any message. The error says
// that it was not taken in; an event that is taken in and begins no turn waits, and people are
// told why. It returns when it is durable and the turn, if it has begun one, runs.
func (l *Lane) Inject(ctx context.Context, in *protocol.ChannelInject) error {
	says, err := l.askPrompt(ctx, l.chainNow(ctx), hook.Prompt{Content: []protocol.Block{protocol.Text(in.Content)}, Source: "channel", Busy: l.Working()})
	if err != nil || says.Handled {
		return err
	}
	l.additions.QueueNotes(says.Notes)
	in.Content = protocol.Message{Content: says.Content}.PlainText()
	release, err := l.pending.Keep() // before it can wait
	if err != nil {
		return err
	}
	defer release()
	var ticket *publish.Ticket
	err = l.j.Write(ctx, func() (err error) {
		if err := l.j.Writable(); err != nil {
			return err
		}
		ticket, err = l.inbox.Put(ctx, in)
		l.stir()
		return err
	})
	if err != nil {
		return err
	}
	if err := ticket.Wait(ctx); err != nil {
		return err
	}
	if err := l.Resume(ctx); err != nil && ctx.Err() == nil {
		l.notWoken(err)
	}
	return nil
}

// notWoken tells people why what came through a channel has begun no turn.
func (l *Lane) notWoken(why error) {
	l.j.Report("begin a turn for a channel: " + why.Error())
	l.j.Lock()
	ends := l.course.stopping || l.j.Closed()
	l.j.Unlock()
	if !ends {
		l.notices.Notify("", "error", "What came through a channel waits for the next turn: "+why.Error())
	}
}

// takeOpening appends what opens a turn, or the next one of a run: the events of channels that
// wait, and then the first message that does. At least one waits. The journal is locked.
func (l *Lane) takeOpening(ctx context.Context, t *turn) (*publish.Ticket, error) {
	pushed, ticket, err := l.inbox.Take(ctx)
	if err != nil {
		return nil, err
	}
	content, queued, err := l.queues.TakeNext(ctx)
	if err != nil {
		return nil, err
	}
	if t.outside = content == nil; !t.outside {
		l.course.waking.said(nil)
		l.course.proactive.said()
		t.prompt = append(pushed, content...)
		return queued, nil
	}
	t.prompt = pushed
	return ticket, nil
}

// Listen says that a channel may push into the session, which a serving host keeps open for
// that, until stop, which is called once.
func (l *Lane) Listen() (stop func()) {
	end := l.inbox.Listen()
	return func() {
		end()
		l.j.Lock()
		closed := l.j.Closed()
		l.j.Unlock()
		if !closed {
			l.cfg.Owner.Idle()
		}
	}
}

// Listening reports whether a channel may push into the session, or proactive mode begins turns
// in it. It waits for nobody.
func (l *Lane) Listening() bool { return l.inbox.Listening() || l.course.proactive.keeps.Load() }
