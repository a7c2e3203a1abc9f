package lane

import (
	"cmp"
	"context"
	"errors"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/runtime"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// WhenBusy says what becomes of a message that is sent while a turn runs.
type WhenBusy string

// What may become of it.
const (
	BusyFollowUp WhenBusy = "followUp"
	BusySteer    WhenBusy = "steer"
	BusyReject   WhenBusy = "reject"
)

// Message is what somebody sends. Busy says what becomes of it while a turn runs; ""
// is [BusyFollowUp]. Expected, when set, must be the leaf. Options count for the turn
// that it begins; they are not stored, so with them Busy must be [BusyReject].
type Message struct {
	Content  []protocol.Block
	Busy     WhenBusy
	Expected *protocol.EventID
	Options  *protocol.TurnOptions
	// Source is what hooks are told of who sends: interactive (also when empty), queue,
	// extension or channel.
	Source string

	turn protocol.TurnID // when set: for this turn alone

	// Of a message that begins work for another session: what makes the turn ready,
	// nil for [Config.Setup], and what is told of it before it runs.
	prepare func(context.Context, protocol.Meta, *protocol.TurnOptions) (*Setup, error)
	began   func(*turn)
}

func (m *Message) check() error {
	switch m.Busy {
	case BusyFollowUp, BusySteer, BusyReject, "":
	default:
		return protocol.About("whenBusy", "", protocol.CodeInvalidRequest, "whenBusy is %.40q; it can be followUp, steer or reject.", string(m.Busy))
	}
	switch {
	case m.Options != nil && m.Busy != BusyReject:
		return protocol.About("whenBusy", "", protocol.CodeInvalidRequest, "A message with options begins a turn of its own; send it with whenBusy \"reject\".")
	}
	return nil
}

// Send appends a user message and starts a turn. While one runs, the message
// goes where Busy says. It returns when the message, or the queue it waits in, is
// durable, and the state that clients are given says that the turn it names runs.
func (l *Lane) Send(ctx context.Context, c Caller, m Message) (*protocol.Sent, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := l.checkContent("content", m.Content); err != nil {
		return nil, err
	}
	marked := false             // that something waits, or is about to
	var says *hook.PromptAnswer // what hooks say of it: they are asked once
	ask := func(chain *hook.Chain, busy bool) (handled *protocol.Sent, err error) {
		a, err := l.askPrompt(ctx, chain, hook.Prompt{Content: m.Content, Source: cmp.Or(m.Source, "interactive"), Busy: busy})
		if err == nil && a.Handled {
			return &protocol.Sent{Handled: a.From}, nil
		}
		says = &a
		return nil, err
	}
	if m.began != nil { // no message of a person's
		says = &hook.PromptAnswer{Content: m.Content}
	}
	for {
		l.mu.Lock()
		if err := l.writable(); err != nil {
			l.mu.Unlock()
			return nil, err
		}
		if m.turn != "" && !l.runs(m.turn) {
			l.mu.Unlock()
			return nil, protocol.Errorf(protocol.CodeConflict, "The turn you meant has ended; send the message if it still applies.")
		}
		if wait := l.ending(); wait != nil {
			l.mu.Unlock()
			if err := await(ctx, wait); err != nil {
				return nil, err
			}
			continue
		}
		if queues := l.turn != nil && m.Busy != BusyReject || l.turn == nil && l.queues.count() > 0; queues && !marked {
			l.mu.Unlock()
			release, err := l.keepMark()
			if err != nil {
				return nil, err
			}
			defer release()
			marked = true
			continue
		}
		if t := l.turn; t != nil && says == nil && m.Busy != BusyReject && (t.command || t.setup.Hooks.AsksPrompts()) {
			l.mu.Unlock()
			if handled, err := ask(l.chainNow(ctx), true); handled != nil || err != nil {
				return handled, err
			}
			continue
		}
		if l.turn != nil {
			if says == nil {
				says = &hook.PromptAnswer{Content: m.Content}
			}
			sent, ticket, err := l.sendBusy(ctx, c, *says, m.Busy)
			l.mu.Unlock()
			if err = waitFor(ctx, ticket, err); err == nil {
				l.promptSubmitted(says.Content)
			}
			return sent, err
		}
		if l.stopping {
			l.mu.Unlock()
			return nil, errStopping()
		}
		meta := l.meta
		l.mu.Unlock()
		setup, err := l.ready(ctx, meta, m)
		if err != nil {
			return nil, err
		}
		if says == nil {
			if handled, err := ask(setup.Hooks, false); handled != nil || err != nil {
				setup.Close()
				return handled, err
			}
		}
		sent, ticket, t, err := l.begin(ctx, c, m, *says, setup)
		if err != nil {
			setup.Close()
		}
		if errors.Is(err, errBusy) {
			continue
		}
		if err = waitFor(ctx, ticket, err); err == nil {
			t.awaitAnnounced(ctx)
			l.promptSubmitted(says.Content)
		}
		return sent, err
	}
}

// promptSubmitted tells those who watch of a message that is stored.
func (l *Lane) promptSubmitted(content []protocol.Block) {
	l.happened("prompt_submit", struct {
		Prompt string `json:"prompt"`
	}{protocol.Message{Content: content}.PlainText()})
}

// begins says why no turn may begin, if so. mu is held.
func (l *Lane) begins() error {
	if l.stopping {
		return errStopping()
	}
	return l.writable()
}

// errBusy says that another turn has begun in the meantime.
var errBusy = errors.New("a turn has begun")

func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ready makes what a turn needs.
func (l *Lane) ready(ctx context.Context, meta protocol.Meta, m Message) (*Setup, error) {
	if free, err := l.cfg.Free(); err == nil && free < minFree {
		return nil, protocol.Errorf(protocol.CodeStorageError,
			"The disk has only %d MiB left; below %d MiB no turn is started. Free some space and send again.", free>>20, minFree>>20)
	}
	prepare := l.cfg.Setup
	if m.prepare != nil {
		prepare = m.prepare
	}
	setup, err := prepare(ctx, meta, m.Options)
	if err == nil {
		setup.Model, setup.Fallback = hook.Model(setup.Model, setup.Hooks), hook.Model(setup.Fallback, setup.Hooks)
		l.greet(ctx, setup)
	}
	return setup, err
}

// begin appends the message and starts the turn, if none has begun and the leaf
// is the expected one.
func (l *Lane) begin(ctx context.Context, c Caller, m Message, says hook.PromptAnswer, setup *Setup) (*protocol.Sent, *publish.Ticket, *turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != nil || l.moving != nil {
		return nil, nil, nil, errBusy
	}
	if err := l.begins(); err != nil {
		return nil, nil, nil, err
	}
	if err := l.expect(m.Expected, nil); err != nil {
		return nil, nil, nil, err
	}
	t, err := l.newTurn(ctx, setup)
	if err != nil {
		return nil, nil, nil, err
	}
	t.options = m.Options
	if err := l.unpause(ctx, c.Client); err != nil {
		t.cancel(err)
		return nil, nil, nil, err
	}
	if _, err := l.appendWaiting(ctx); err != nil {
		t.cancel(err)
		return nil, nil, nil, err
	}
	for _, body := range noteBodies(says.Notes) {
		if _, _, err := l.append(ctx, body, byHost()); err != nil {
			t.cancel(err)
			return nil, nil, nil, err
		}
	}
	t.prompt = says.Content
	var e protocol.Event
	var ticket *publish.Ticket
	l.pub.Together(func() { // whoever sees the message stored sees its turn run
		e, ticket, err = l.append(ctx, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: says.Content}}, c.author())
		if err != nil {
			return
		}
		if m.began != nil {
			m.began(t)
		}
		l.start(t, runtime.Execute)
	})
	if err != nil {
		t.cancel(err)
		return nil, nil, nil, err
	}
	return &protocol.Sent{EventID: e.ID, TurnID: t.id}, ticket, t, nil
}
