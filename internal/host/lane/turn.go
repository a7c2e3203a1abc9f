package lane

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// turn is a run that is going on: of a model, of a summary, or of a command. Its goroutine
// ends when Done is closed.
type turn struct {
	*journal.Run
	ctx    context.Context
	cancel context.CancelCauseFunc
	config *TurnConfig
	// announced is settled when clients can be told that the turn runs; nil when nothing
	// leaves any more. It is set before the turn is one of the lane.
	announced *publish.Ticket
	ended     sync.Once // of Done
	shut      sync.Once // of TurnConfig.Close
	// options are those of the message that began it, nil without.
	options *protocol.TurnOptions
	by      protocol.ClientID // of whose message it began, "" for none
	mode    turnMode
	command bool     // it is a run of [Lane.AtBoundary]
	foreign bool     // it is a run of [Lane.RunTool], in which nobody is asked
	summary *summary // of a run that makes one, nil of others

	// The journal's lock guards these.
	waits   bool             // before it tries its model again
	outside bool             // it works on what came through a channel, and no person has said anything since
	prompt  []protocol.Block // the message that opens a turn, until hooks are asked of it

	// The rest belongs to the goroutine of the run.
	view   view
	budget *runtime.Budget // shared with the sub-agents that work for the turn
	tally  tally
	end    *protocol.RuntimeEnd // for everybody when Done is closed
}

// turnMode is what decides about the permission mode of a turn, beside the session's and that of
// its message.
type turnMode struct {
	denied  atomic.Int64    // calls that were not permitted
	seq     protocol.Seq    // [rights.modeSeq] when it began
	ceiling permission.Mode // of a turn that proactive mode began: see [tickMode]; "" of others
}

// view is what the model of a turn sees.
type view struct {
	builder  *history.Builder
	progress history.Progress
	items    []protocol.Item // what must be in the context before each call
	work     *history.State
	seen     *files.Seen           // by the tools, too
	dir      *tool.Dir             // of Bash; the tools change it
	own      protocol.Instructions // the session's
	system   string                // the system prompt, which hooks may have changed
	added    int                   // [course.added] before the last call
	parent   protocol.EventID      // of the answer that was announced last
	said     string                // by the messages of the turn; the last of it
	thinking model.ThinkingLevel   // over that of the session, "" for none
}

// summary is what a run makes that somebody has asked for: a compaction, or the summary of
// a branch that is left. It belongs to the goroutine of the run, and to its caller when
// that has ended.
type summary struct {
	by        journal.Caller
	note      string // what the caller asks of it
	compacted *protocol.Compacted
	leave     *leaving // a branch is left, and nothing is compacted
}

// newTurn makes a turn, and the system prompt when the session has none. The journal is
// locked.
func (l *Lane) newTurn(ctx context.Context, config *TurnConfig) (*turn, error) {
	if !l.hasInstructions() {
		in, sentences, err := config.Prompt.Instructions()
		if err != nil {
			return nil, err
		}
		for _, s := range sentences {
			l.notices.Put("", "warning", s)
		}
		if _, _, err := l.j.Append(ctx, &protocol.InstructionSnapshot{Snapshot: in}, journal.ByHost()); err != nil {
			return nil, err
		}
	}
	if err := l.indexSkills(ctx, config.Skills); err != nil {
		return nil, err
	}
	builder, err := l.builder(config.Hooks, config.Models.Main.Info())
	if err != nil {
		return nil, err
	}
	t := &turn{Run: l.j.NewRun(), config: config, view: view{builder: builder}, mode: turnMode{seq: l.rights.modeSeq}, budget: runtime.NewBudget(config.aboveBudget())}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t, nil
}

// takes reports whether the turn takes messages.
func (t *turn) takes() bool { return !t.Over.Load() && !t.Void.Load() }

// awaitAnnounced returns when the state that clients are given says that the turn runs, or
// ran. What begins the turn is stored by then, so that nothing which keeps the state from
// saying so is an error of the request.
func (t *turn) awaitAnnounced(ctx context.Context) {
	if t != nil && t.announced != nil {
		_ = t.announced.Wait(ctx) // clients are told of a failure by the end of the turn
	}
}

// isOver tells those who wait for the end of the turn.
func (t *turn) isOver() { t.ended.Do(func() { close(t.Done) }) }

// abandon ends a turn whose goroutine has panicked: nobody is to wait for it.
func (t *turn) abandon() {
	t.Over.Store(true)
	t.cancel(errFault())
	if t.end == nil || t.end.Error == nil {
		t.end = &protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalInternalError, Error: errFault()}
	}
	defer func() { _ = recover() }() // of Close, which may be what has panicked
	defer t.isOver()
	t.shut.Do(t.config.Close)
}

// failed is the end of a turn that could not even begin.
func (t *turn) failed(err error) *protocol.RuntimeEnd {
	switch cause := context.Cause(t.ctx); {
	case errors.Is(cause, journal.ErrCancelled), errors.Is(cause, errHostStops):
		return &protocol.RuntimeEnd{Reason: protocol.EndCancelled, Terminal: protocol.TerminalCancelled}
	case cause != nil:
		err = cause
	}
	return &protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalStorageError, Error: storageError(err)}
}

// storageError is err as clients are told of it.
func storageError(err error) *protocol.Error {
	var pe *protocol.Error
	if errors.As(err, &pe) {
		return pe
	}
	return protocol.Errorf(protocol.CodeStorageError, "The turn cannot be recorded: %v.", err)
}
