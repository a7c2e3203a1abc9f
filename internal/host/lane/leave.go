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

// moveSummarised is moveNow with a summary of what is left: a run of its own, which asks the
// model before anything moves. Where nothing is left, it only moves.
func (l *Lane) moveSummarised(ctx context.Context, c Caller, m Move, body protocol.Body) (*protocol.Moved, error) {
	if len(m.Instructions) > maxInstructions {
		return nil, protocol.About("instructions", "", protocol.CodeInvalidRequest, "The instructions for the summary have %d bytes; use at most %d.", len(m.Instructions), maxInstructions)
	}
	leave := &leaving{move: m, body: body}
	if err := l.summarise(ctx, m, &summary{by: c, leave: leave}); err != nil {
		return nil, err
	}
	return leave.moved, nil
}

// leaveBranch summarises what a move leaves, and then moves: both events enter together,
// and nothing does when the summary fails.
func (h *turnHost) leaveBranch(ctx context.Context, summarise runtime.Summarise) error {
	l, t, leave := h.l, h.t, h.t.summary.leave
	if err := h.catchUp(ctx); err != nil {
		return err
	}
	from, to := h.leaf(), targetOf(leave.body)
	base, err := l.fork(from, to)
	if err != nil {
		return err
	}
	req, ok, err := history.BranchRequest(ctx, l.j.Index(), from, base, window(t.config, t.view.system), leave.move.Instructions)
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
	ctx = context.WithoutCancel(ctx)
	id, err := h.appendAs(ctx, t.summary.by.Author(), bodies...)
	if err != nil {
		return err
	}
	todos := l.todosAt(ctx, to)
	l.j.Lock()
	l.notifyTodos(todos)
	l.j.Unlock()
	leave.moved = &protocol.Moved{LeafID: to}
	if ok {
		leave.moved.LeafID, leave.moved.SummaryID = id, id
	}
	if want := leave.move.want(); want.Any() {
		return l.restorer().Restore(ctx, from, to, want, leave.moved)
	}
	return nil
}

// fork returns the newest event that the paths to two events share, "" for none.
func (l *Lane) fork(a, b protocol.EventID) (protocol.EventID, error) {
	index := l.j.Index()
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
