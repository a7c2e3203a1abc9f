package lane

import (
	"context"

	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session/history"
	"scorel/protocol"
)

// maxInstructions bounds what somebody asks of a summary, in bytes.
const maxInstructions = 8 << 10

// leaving is a move that summarises what it leaves. It belongs to the goroutine of its
// run, and to its caller when that has ended.
type leaving struct {
	move  Move
	body  protocol.Body // the rewind or branch
	moved *protocol.Moved
}

// moveSummarised is move with a summary of what is left: a run of its own, which asks the
// model before anything moves. Where nothing is left, it only moves.
func (l *Lane) moveSummarised(ctx context.Context, c Caller, m Move, body protocol.Body) (*protocol.Moved, error) {
	if len(m.Instructions) > maxInstructions {
		return nil, protocol.About("instructions", "", protocol.CodeInvalidRequest, "The wishes for the summary have %d bytes; use at most %d.", len(m.Instructions), maxInstructions)
	}
	leave := &leaving{move: m, body: body}
	err := l.summarise(ctx, c, m, func(t *turn) { t.leave = leave })
	if err != nil {
		return nil, err
	}
	return leave.moved, nil
}

// summarise begins a run that makes one summary, with what begun puts into it, and
// returns when it has ended, with why it failed.
func (l *Lane) summarise(ctx context.Context, c Caller, m Move, begun func(*turn)) error {
	l.mu.Lock()
	err, meta := l.begins(), l.meta
	l.mu.Unlock()
	if err != nil {
		return err
	}
	// What is wrong with the setup is known before a turn is cancelled for it.
	setup, err := l.ready(ctx, meta, Message{})
	if err != nil {
		return err
	}
	cancelled, err := l.clear(ctx, m.CancelFirst)
	if err != nil {
		setup.Close()
		return err
	}
	t, err := l.compaction(ctx, setup, m.Expected, cancelled)
	if err != nil {
		l.mu.Unlock()
		setup.Close()
		return err
	}
	t.cause = &c
	begun(t)
	l.start(t, runtime.Compact)
	l.mu.Unlock()
	if err := await(ctx, t.done); err != nil {
		t.cancel(errCancelled)
		<-t.done
		return err
	}
	if t.end.Error != nil {
		return t.end.Error
	}
	switch {
	case t.end.Reason != protocol.EndCancelled:
		return nil
	case t.leave != nil:
		return protocol.Errorf(protocol.CodeConflict, "The summary was cancelled; nothing has moved.")
	}
	return protocol.Errorf(protocol.CodeConflict, "The compaction was cancelled; nothing has changed.")
}

// leaveBranch summarises what a move leaves, and then moves: both events enter together,
// and nothing does when the summary fails.
func (h *turnHost) leaveBranch(ctx context.Context, summarise runtime.Summarise) error {
	l, t, leave := h.l, h.t, h.t.leave
	if err := h.catchUp(ctx); err != nil {
		return err
	}
	from, to := h.leaf(), targetOf(leave.body)
	base, err := l.fork(from, to)
	if err != nil {
		return err
	}
	req, ok, err := history.BranchRequest(ctx, l.cfg.Log.Index(), from, base, window(t.setup, t.system), leave.move.Instructions)
	if err != nil {
		return err
	}
	bodies := []protocol.Body{leave.body}
	if ok {
		text, usage, err := summarise(ctx, req)
		if err != nil {
			return err
		}
		bodies = append(bodies, &protocol.BranchSummary{FromEventID: from, Summary: text, Usage: &usage})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	id, err := h.appendAs(context.WithoutCancel(ctx), t.cause.author(), bodies...)
	if err != nil {
		return err
	}
	todos := l.todosAt(context.WithoutCancel(ctx), to)
	l.mu.Lock()
	l.tellTodos(todos)
	l.mu.Unlock()
	leave.moved = &protocol.Moved{LeafID: to}
	if ok {
		leave.moved.LeafID, leave.moved.SummaryID = id, id
	}
	if leave.move.restores() {
		return l.restore(context.WithoutCancel(ctx), from, to, leave.move, leave.moved)
	}
	return nil
}

// targetOf is the event to which a rewind or branch moves, "" for the empty conversation.
func targetOf(body protocol.Body) protocol.EventID {
	leaf, _ := protocol.Event{Body: body}.Leaf()
	return leaf
}

// fork gives the newest event that the paths to two events share, "" for none.
func (l *Lane) fork(a, b protocol.EventID) (protocol.EventID, error) {
	index := l.cfg.Log.Index()
	one, err := index.Path(a)
	if err != nil {
		return "", err
	}
	two, err := index.Path(b)
	if err != nil {
		return "", err
	}
	n := 0
	for n < min(len(one), len(two)) && one[n] == two[n] {
		n++
	}
	if n == 0 {
		return "", nil
	}
	return one[n-1], nil
}

// SameCause says whether two events complete the same request.
func SameCause(a, b protocol.Event) bool {
	return a.Cause != nil && b.Cause != nil && *a.Cause == *b.Cause
}
