package lane

import (
	"context"
	"slices"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/runtime"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/lane/restore"
	"scorel/internal/host/publish"
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
	// inCommand says that the command moves whose context comes with it; see [Lane.Navigate].
	inCommand bool
}

// want is which files the move restores.
func (m Move) want() restore.Want { return restore.Want{All: m.RestoreFiles, Files: m.Files} }

// Rewind sets the leaf to an earlier event, and, when asked, takes back what the
// agent wrote since.
func (l *Lane) Rewind(ctx context.Context, c Caller, m Move) (*protocol.Moved, error) {
	if m.Target != nil {
		if err := l.j.Index().CanRewind(*m.Target); err != nil {
			return nil, protocol.About("targetEventId", "", protocol.CodeInvalidEventID, "Cannot rewind to %s: %v.", *m.Target, err)
		}
	}
	return l.move(ctx, c, m, "rewind", &protocol.Rewind{TargetEventID: m.Target})
}

// Branch sets the leaf to any conversation event.
func (l *Lane) Branch(ctx context.Context, c Caller, m Move) (*protocol.Moved, error) {
	if _, err := l.j.Index().Path(m.Branch); err != nil || m.Branch == "" {
		return nil, protocol.About("leafEventId", "", protocol.CodeInvalidEventID, "Cannot branch to %s: the session has no such message.", m.Branch)
	}
	return l.move(ctx, c, m, "branch", &protocol.Branch{LeafEventID: m.Branch})
}

// Navigate sets the leaf to an event of any branch, "" for the empty conversation, for the
// command whose context ctx is. It is refused for a command that runs within a turn: the
// context of that is made of the path that would be left.
func (l *Lane) Navigate(ctx context.Context, c Caller, to protocol.EventID) (*protocol.Moved, error) {
	if !journal.InRun(ctx) || l.Conversing() {
		return nil, errNotAlone()
	}
	if to == "" {
		return l.Rewind(ctx, c, Move{inCommand: true})
	}
	l.j.Lock()
	leaf := l.j.Leaf()
	l.j.Unlock()
	path, err := l.j.Index().Path(leaf)
	if err == nil && slices.Contains(path, to) && l.j.Index().CanRewind(to) == nil {
		return l.Rewind(ctx, c, Move{Target: &to, inCommand: true})
	}
	return l.Branch(ctx, c, Move{Branch: to, inCommand: true})
}

func errNotAlone() error {
	return protocol.Errorf(protocol.CodeRuntimeBusy, "Only a command that somebody has sent while no turn runs can go to another branch; ask the person to do it with /tree.")
}

// clearFor is clear for a move; of one that a command makes nothing ends, because the command
// is what runs.
func (l *Lane) clearFor(ctx context.Context, m Move, then func(cancelled *turn) error) error {
	if !m.inCommand {
		return l.clear(ctx, m.CancelFirst, then)
	}
	return l.j.Add(ctx, func() error {
		if t := l.course.turn; t == nil || !t.command || !l.j.MayAdd(ctx) {
			return errNotAlone()
		}
		return then(nil)
	})
}

// move asks the hooks, moves the leaf, and has told again what the conversation does not
// know there.
func (l *Lane) move(ctx context.Context, c Caller, m Move, kind string, body protocol.Body) (*protocol.Moved, error) {
	move := hook.Move{Kind: kind, Target: targetOf(body)}
	l.j.Lock()
	move.Leaf = l.j.Leaf()
	l.j.Unlock()
	label, err := l.askMove(ctx, move)
	if err != nil {
		return nil, err
	}
	var moved *protocol.Moved
	if m.Summarise {
		moved, err = l.moveSummarised(ctx, c, m, body)
	} else {
		moved, err = l.moveNow(ctx, c, m, body)
	}
	if err != nil {
		return nil, err
	}
	if label != "" && move.Target != "" {
		if _, err := l.Control(ctx, &protocol.Label{TargetEventID: move.Target, Label: &label}); err != nil {
			l.j.Report("name the target of a move: " + err.Error())
		}
	}
	if err := l.tasks.Retell(ctx, moved.LeafID); err != nil {
		l.j.Report("look for background commands on the path: " + err.Error())
	}
	return moved, nil
}

// moveNow ends the turn when that was asked for, and then moves the leaf before anything
// else is taken.
func (l *Lane) moveNow(ctx context.Context, c Caller, m Move, body protocol.Body) (*protocol.Moved, error) {
	todos := l.todosAt(ctx, targetOf(body))
	var from, to protocol.EventID
	var ticket *publish.Ticket
	release := func(func() error) error { return nil }
	err := l.clearFor(ctx, m, func(cancelled *turn) (err error) {
		if err := l.j.Writable(); err != nil {
			return err
		}
		if err := l.expect(m.Expected, cancelled); err != nil {
			return err
		}
		from = l.j.Leaf()
		if _, ticket, err = l.j.Append(ctx, body, c.Author()); err != nil {
			return err
		}
		to = l.j.Leaf()
		l.notifyTodos(todos)
		if m.want().Any() { // no turn begins before the files are as they were
			release = l.j.Hold()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = release(nil) }()
	if err := ticket.Wait(ctx); err != nil {
		return nil, err
	}
	moved := &protocol.Moved{LeafID: to}
	if m.want().Any() {
		if err := l.restorer().Restore(ctx, from, to, m.want(), moved); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

// restorer takes files back.
func (l *Lane) restorer() restore.Restorer {
	return restore.Restorer{Index: l.j.Index(), Blobs: l.cfg.Blobs, Files: l.cfg.Turns, Meta: l.Meta()}
}

// RestoreAgain takes back the files of a rewind whose answer was lost: its host may
// have been killed before they were. Where the conversation has gone on since, they are
// left alone: what is in them may be the work of a later turn.
func (l *Lane) RestoreAgain(ctx context.Context, rewind protocol.Event, m Move) (*protocol.Moved, error) {
	moved := &protocol.Moved{}
	if b, ok := rewind.Body.(*protocol.Rewind); ok && b.TargetEventID != nil {
		moved.LeafID = *b.TargetEventID
	}
	var release func(func() error) error
	switch err := l.clear(ctx, "", func(*turn) error { release = l.j.Hold(); return nil }); {
	case err == nil:
	case protocol.AsError(err).Code == protocol.CodeRuntimeBusy:
		return moved, nil // a turn runs, so it has gone on
	default:
		return nil, err
	}
	defer func() { _ = release(nil) }()
	for e, err := range l.j.Index().EventsAfter(ctx, rewind.Seq) {
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
	return moved, l.restorer().Restore(ctx, rewind.ParentID, moved.LeafID, m.want(), moved)
}

// SameCause reports whether two events complete the same request.
func SameCause(a, b protocol.Event) bool {
	return a.Cause != nil && b.Cause != nil && *a.Cause == *b.Cause
}

// targetOf is the event to which a rewind or branch moves, "" for the empty conversation.
func targetOf(body protocol.Body) protocol.EventID {
	leaf, _ := protocol.Event{Body: body}.Leaf()
	return leaf
}

// todosAt is what clients are told of the todo list when the leaf moves to another event.
// It is read before: what a turn after the move changes comes after it.
func (l *Lane) todosAt(ctx context.Context, leaf protocol.EventID) *protocol.Todos {
	todos, err := l.j.Index().Todos(ctx, leaf)
	if err != nil {
		l.j.Report("look for the todo list: " + err.Error())
	}
	if todos == nil {
		todos = []protocol.Todo{}
	}
	return &protocol.Todos{Todos: todos}
}

// notifyTodos tells them, directly after the move. The journal is locked.
func (l *Lane) notifyTodos(todos *protocol.Todos) {
	if err := l.j.Notify(todos); err != nil {
		l.j.Report("tell the todo list: " + err.Error())
	}
}

// Compact summarises the older part of the context now, as a run of its own; of m it
// takes Expected and CancelFirst.
func (l *Lane) Compact(ctx context.Context, c Caller, instructions string, m Move) (*protocol.Compacted, error) {
	s := &summary{by: c, note: instructions}
	if err := l.summarise(ctx, m, s); err != nil {
		return nil, err
	}
	if s.compacted == nil {
		return &protocol.Compacted{}, nil
	}
	return s.compacted, nil
}

// summarise makes one summary in a run of its own, and returns when that has ended, with
// why it failed.
func (l *Lane) summarise(ctx context.Context, m Move, s *summary) error {
	l.j.Lock()
	err, meta := l.mayBegin(), l.j.Meta()
	l.j.Unlock()
	if err != nil {
		return err
	}
	// What is wrong with the configuration is known before a turn is cancelled for it.
	config, err := l.ready(ctx, meta, nil, l.cfg.Turns.TurnConfig)
	if err != nil {
		return err
	}
	var t *turn
	err = l.clear(ctx, m.CancelFirst, func(cancelled *turn) (err error) {
		if err := l.mayBegin(); err != nil {
			return err
		}
		if err := l.expect(m.Expected, cancelled); err != nil {
			return err
		}
		if t, err = l.newTurn(ctx, config); err != nil {
			return err
		}
		t.summary = s
		l.start(t, protocol.RuntimeStart{}, runtime.Compact)
		return nil
	})
	if err != nil {
		config.Close()
		return err
	}
	if err := journal.Await(ctx, t.Done); err != nil {
		t.cancel(journal.ErrCancelled)
		<-t.Done
		return err
	}
	return s.failure(t.end)
}

// failure is why the summary was not made, nil when it was.
func (s *summary) failure(end *protocol.RuntimeEnd) error {
	switch {
	case end.Error != nil:
		return end.Error
	case end.Reason != protocol.EndCancelled:
		return nil
	case s.leave != nil:
		return protocol.Errorf(protocol.CodeConflict, "The summary was cancelled; nothing has moved.")
	}
	return protocol.Errorf(protocol.CodeConflict, "The compaction was cancelled; nothing has changed.")
}
