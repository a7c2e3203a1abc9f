package lane

import (
	"context"

	"scorel/internal/engine/hook"
	"scorel/protocol"
)

// Move is where the leaf is to go.
type Move struct {
	Target       *protocol.EventID // of a rewind; nil is the empty conversation
	Branch       protocol.EventID  // of a branch: any conversation event
	Expected     *protocol.EventID
	CancelFirst  protocol.TurnID
	RestoreFiles bool
	Files        []string // that are restored though somebody changed them since
	// Summarise has what is left summarised, as Instructions say.
	Summarise    bool
	Instructions string
}

// restores says whether files are to be restored.
func (m Move) restores() bool { return m.RestoreFiles || len(m.Files) > 0 }

// Rewind sets the leaf to an earlier event, and, when asked, takes back what the
// agent wrote since.
func (l *Lane) Rewind(ctx context.Context, c Caller, m Move) (*protocol.Moved, error) {
	if m.Target != nil {
		if err := l.cfg.Log.Index().CanRewind(*m.Target); err != nil {
			return nil, protocol.About("targetEventId", "", protocol.CodeInvalidEventID, "Cannot rewind to %s: %v.", *m.Target, err)
		}
	}
	return l.move(ctx, c, m, &protocol.Rewind{TargetEventID: m.Target})
}

// Branch sets the leaf to any conversation event.
func (l *Lane) Branch(ctx context.Context, c Caller, m Move) (*protocol.Moved, error) {
	if _, err := l.cfg.Log.Index().Path(m.Branch); err != nil || m.Branch == "" {
		return nil, protocol.About("leafEventId", "", protocol.CodeInvalidEventID, "Cannot branch to %s: the session has no such message.", m.Branch)
	}
	return l.move(ctx, c, m, &protocol.Branch{LeafEventID: m.Branch})
}

// move ends the turn when that was asked for, and then moves the leaf before
// anything else is taken.
func (l *Lane) move(ctx context.Context, c Caller, m Move, body protocol.Body) (*protocol.Moved, error) {
	move := hook.Move{Kind: "branch", Target: targetOf(body)}
	if _, ok := body.(*protocol.Rewind); ok {
		move.Kind = "rewind"
	}
	l.mu.Lock()
	move.Leaf = l.leaf
	l.mu.Unlock()
	label, err := l.askMove(ctx, move)
	if err != nil {
		return nil, err
	}
	moved, err := l.moveNow(ctx, c, m, body)
	if err != nil {
		return nil, err
	}
	if label != "" && move.Target != "" {
		if _, err := l.Control(ctx, &protocol.Label{TargetEventID: move.Target, Label: &label}); err != nil {
			l.cfg.Report("name the target of a move: "+err.Error(), nil)
		}
	}
	if err := l.retell(ctx, moved.LeafID); err != nil {
		l.cfg.Report("look for background commands on the path: "+err.Error(), nil)
	}
	return moved, nil
}

// moveNow is move behind the hooks.
func (l *Lane) moveNow(ctx context.Context, c Caller, m Move, body protocol.Body) (*protocol.Moved, error) {
	if m.Summarise {
		return l.moveSummarised(ctx, c, m, body)
	}
	todos := l.todosAt(ctx, targetOf(body))
	cancelled, err := l.clear(ctx, m.CancelFirst)
	if err != nil {
		return nil, err
	}
	if err := l.writable(); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	if err := l.expect(m.Expected, cancelled); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	from := l.leaf
	_, ticket, err := l.append(ctx, body, c.author())
	to := l.leaf
	if err == nil {
		l.tellTodos(todos)
	}
	if err == nil && m.restores() { // no turn begins before the files are as they were
		defer l.hold()()
	}
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := ticket.Wait(ctx); err != nil {
		return nil, err
	}
	moved := &protocol.Moved{LeafID: to}
	if m.restores() {
		if err := l.restore(ctx, from, to, m, moved); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

// hold lets nothing begin, and nobody move, until release is called. mu is held, and
// no turn runs.
func (l *Lane) hold() (release func()) {
	moving := make(chan struct{})
	l.moving = moving
	return func() {
		l.mu.Lock()
		l.moving = nil
		l.mu.Unlock()
		close(moving)
	}
}

// clear waits until no turn runs, cancelling the one that the caller names, and
// gives that. It returns with mu held, and what was sent in the meantime comes
// behind the caller.
func (l *Lane) clear(ctx context.Context, cancel protocol.TurnID) (*turn, error) {
	for {
		l.mu.Lock()
		t := l.turn
		switch {
		case l.moving != nil: // somebody else's comes first
			moving := l.moving
			l.mu.Unlock()
			if err := await(ctx, moving); err != nil {
				return nil, err
			}
			continue
		case t == nil:
			return nil, nil
		case t.over.Load() || l.lost():
			l.mu.Unlock()
			if err := await(ctx, t.done); err != nil {
				return nil, err
			}
			continue
		case t.id != cancel:
			l.mu.Unlock()
			return nil, protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running; cancel it first.")
		}
		moving := make(chan struct{})
		l.moving = moving
		t.cancel(errCancelled)
		l.mu.Unlock()
		err := await(ctx, t.done)
		if err == nil { // what a client may have seen of the turn is asked of the stored path
			err = l.pub.Flush(ctx)
		}
		l.mu.Lock()
		l.moving = nil
		close(moving)
		if err != nil {
			l.mu.Unlock()
			return nil, err
		}
		return t, nil
	}
}

// Compact summarises the older part of the context now, as a run of its own; of m it
// takes Expected and CancelFirst.
func (l *Lane) Compact(ctx context.Context, c Caller, instructions string, m Move) (*protocol.Compacted, error) {
	var t *turn
	err := l.summarise(ctx, c, m, func(begun *turn) { begun.compactNote, t = instructions, begun })
	switch {
	case err != nil:
		return nil, err
	case t.compacted == nil:
		return &protocol.Compacted{}, nil
	}
	return t.compacted, nil
}

// compaction makes the turn of a summary, if the leaf is the expected one. mu is
// held.
func (l *Lane) compaction(ctx context.Context, setup *Setup, expected *protocol.EventID, cancelled *turn) (*turn, error) {
	if err := l.begins(); err != nil {
		return nil, err
	}
	if err := l.expect(expected, cancelled); err != nil {
		return nil, err
	}
	return l.newTurn(ctx, setup)
}
