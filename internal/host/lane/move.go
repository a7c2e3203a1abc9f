package lane

import (
	"context"

	"scorel/internal/hook"
	"scorel/internal/tool"
	"scorel/protocol"
)

// Move is where the leaf is to go.
type Move struct {
	Target       *protocol.EventID // of a rewind; nil is the empty conversation
	Branch       protocol.EventID  // of a branch: any conversation event
	Expected     *protocol.EventID
	CancelFirst  protocol.TurnID
	RestoreFiles bool
	// Summarise has what is left summarised, as Instructions say.
	Summarise    bool
	Instructions string
}

// Rewind sets the leaf to an earlier event, and, when asked, takes back what the
// agent wrote since.
func (l *Lane) Rewind(ctx context.Context, c Caller, m Move) (*protocol.Moved, error) {
	if m.Target != nil {
		if err := l.cfg.Log.Index().CanRewind(*m.Target); err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalidEventID, "Cannot rewind to %s: %v.", *m.Target, err)
		}
	}
	return l.move(ctx, c, m, &protocol.Rewind{TargetEventID: m.Target})
}

// Branch sets the leaf to any conversation event.
func (l *Lane) Branch(ctx context.Context, c Caller, m Move) (*protocol.Moved, error) {
	if _, err := l.cfg.Log.Index().Path(m.Branch); err != nil || m.Branch == "" {
		return nil, protocol.Errorf(protocol.CodeInvalidEventID, "Cannot branch to %s: the session has no such message.", m.Branch)
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
	if err == nil && m.RestoreFiles { // no turn begins before the files are as they were
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
	if m.RestoreFiles {
		if err := l.restore(ctx, from, to, moved); err != nil {
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

// restore takes the files back to what they were when the path from's part
// behind to began, as far as they are still as the agent left them.
func (l *Lane) restore(ctx context.Context, from, to protocol.EventID, moved *protocol.Moved) error {
	left, err := l.abandoned(ctx, from, to)
	if err != nil || len(left.order) == 0 {
		return err
	}
	files, err := l.cfg.Files(l.Meta())
	if err != nil {
		return err
	}
	defer files.Close()
	items := make([]tool.RestoreItem, 0, len(left.order))
	for _, path := range left.order {
		f := left.files[path]
		if f.imported {
			moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: path, Why: "its old content came with an import"})
			continue
		}
		items = append(items, tool.RestoreItem{Path: path, Existed: f.first.Existed, Restorable: f.first.Restorable,
			Mode: f.first.Mode, LeftSHA256: f.sha256, Content: l.blobOpener(f.first.Blob)})
	}
	restored, skipped := tool.Restore(ctx, files, items)
	for _, r := range restored {
		moved.Restored = append(moved.Restored, r.Path)
	}
	for _, s := range skipped {
		moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: s.Path, Why: s.Why})
	}
	return nil
}

// RestoreAgain takes back the files of a rewind whose answer was lost: its host may
// have been killed before they were. Where the conversation has gone on since, they are
// left alone: what stands in them may be the work of a later turn.
func (l *Lane) RestoreAgain(ctx context.Context, rewind protocol.Event) (*protocol.Moved, error) {
	moved := &protocol.Moved{}
	if b, ok := rewind.Body.(*protocol.Rewind); ok && b.TargetEventID != nil {
		moved.LeafID = *b.TargetEventID
	}
	switch _, err := l.clear(ctx, ""); {
	case err == nil:
	case protocol.AsError(err).Code == protocol.CodeRuntimeBusy:
		return moved, nil // a turn runs, so it has gone on
	default:
		return nil, err
	}
	release := l.hold()
	l.mu.Unlock()
	defer release()
	for e, err := range l.cfg.Log.Index().EventsAfter(ctx, rewind.Seq) {
		if err != nil {
			return nil, err
		}
		if _, ok := e.Body.(*protocol.BranchSummary); ok && SameCause(e, rewind) {
			moved.LeafID, moved.SummaryID = e.ID, e.ID
			continue
		}
		if e.Class() == protocol.Conversation || e.Type == protocol.TypeRewind || e.Type == protocol.TypeBranch {
			return moved, nil
		}
	}
	return moved, l.restore(ctx, rewind.ParentID, moved.LeafID, moved)
}

// abandonedFiles are the files that the part of a path that is left has written.
type abandonedFiles struct {
	order []string
	files map[string]*abandonedFile
}

type abandonedFile struct {
	first    *protocol.FileSnapshot // what it was before
	sha256   string                 // what the agent left
	imported bool                   // first came with an import: a file of anybody's may not decide what is written here
}

// abandoned collects the snapshots and results of the path to from, as far back
// as the path to to does not reach.
func (l *Lane) abandoned(ctx context.Context, from, to protocol.EventID) (abandonedFiles, error) {
	left := abandonedFiles{files: map[string]*abandonedFile{}}
	index := l.cfg.Log.Index()
	old, err := index.Path(from)
	if err != nil {
		return left, err
	}
	now, err := index.Path(to)
	if err != nil {
		return left, err
	}
	kept := map[protocol.EventID]bool{}
	for _, id := range now {
		kept[id] = true
	}
	gone := map[protocol.EventID]bool{}
	for _, id := range old {
		if !kept[id] {
			gone[id] = true
		}
	}
	if len(gone) == 0 {
		return left, nil
	}
	for e, err := range index.Controls(ctx, from, protocol.TypeFileSnapshot) {
		if err != nil {
			return left, err
		}
		s, ok := e.Body.(*protocol.FileSnapshot)
		if !ok || !gone[e.ParentID] {
			continue
		}
		if left.files[s.Path] == nil {
			left.order = append(left.order, s.Path)
			left.files[s.Path] = &abandonedFile{first: s, imported: e.Seq <= index.Header().ImportedThrough}
		}
	}
	for e, err := range index.Back(ctx, from) {
		if err != nil {
			return left, err
		}
		if !gone[e.ID] {
			break
		}
		for _, f := range wroteFiles(e) {
			if a := left.files[f.Path]; a != nil && a.sha256 == "" {
				a.sha256 = f.SHA256 // the newest comes first
			}
		}
	}
	return left, nil
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
