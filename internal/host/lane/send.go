package lane

import (
	"context"
	"errors"

	"scorel/internal/host/publish"
	"scorel/internal/runtime"
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

// message is what somebody sends.
type message struct {
	content  []protocol.Block
	busy     WhenBusy
	expected *protocol.EventID
	turn     protocol.TurnID // when set: for this turn alone
}

// Send appends a user message and starts a turn. While one runs, the message
// goes where busy says. It returns when the message, or the queue it waits in, is
// durable.
func (l *Lane) Send(ctx context.Context, c Caller, content []protocol.Block, busy WhenBusy, expected *protocol.EventID) (*protocol.Sent, error) {
	return l.send(ctx, c, message{content: content, busy: busy, expected: expected})
}

func (l *Lane) send(ctx context.Context, c Caller, m message) (*protocol.Sent, error) {
	if len(m.content) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The message is empty; write something to send.")
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
		if l.turn != nil {
			sent, ticket, err := l.sendBusy(ctx, c, m.content, m.busy)
			l.mu.Unlock()
			return sent, waitFor(ctx, ticket, err)
		}
		meta := l.meta
		l.mu.Unlock()
		setup, err := l.ready(ctx, meta)
		if err != nil {
			return nil, err
		}
		sent, ticket, err := l.begin(ctx, c, m, setup)
		if err != nil {
			setup.Close()
		}
		if errors.Is(err, errBusy) {
			continue
		}
		return sent, waitFor(ctx, ticket, err)
	}
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
func (l *Lane) ready(ctx context.Context, meta protocol.Meta) (*Setup, error) {
	if free, err := l.cfg.Free(); err == nil && free < minFree {
		return nil, protocol.Errorf(protocol.CodeStorageError,
			"The disk has only %d MiB left; below %d MiB no turn is started. Free some space and send again.", free>>20, minFree>>20)
	}
	return l.cfg.Setup(ctx, meta)
}

// begin appends the message and starts the turn, if none has begun and the leaf
// is the expected one.
func (l *Lane) begin(ctx context.Context, c Caller, m message, setup *Setup) (*protocol.Sent, *publish.Ticket, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != nil || l.moving != nil {
		return nil, nil, errBusy
	}
	if err := l.writable(); err != nil {
		return nil, nil, err
	}
	if err := l.expect(m.expected, nil); err != nil {
		return nil, nil, err
	}
	t, err := l.newTurn(ctx, setup)
	if err != nil {
		return nil, nil, err
	}
	if _, err := l.unpause(ctx, author{client: c.Client}); err != nil {
		t.cancel(err)
		return nil, nil, err
	}
	if _, err := l.appendNotices(ctx); err != nil {
		t.cancel(err)
		return nil, nil, err
	}
	e, ticket, err := l.append(ctx, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: m.content}}, c.author())
	if err != nil {
		t.cancel(err)
		return nil, nil, err
	}
	l.start(t, runtime.Execute)
	return &protocol.Sent{EventID: e.ID, TurnID: t.id}, ticket, nil
}
