package lane

import (
	"context"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/model"
	"scorel/internal/engine/session"
	"scorel/internal/engine/session/history"
	"scorel/protocol"
)

// instructions returns the newest instruction snapshot of the session, and when it was
// made; the zero time when there is none. One that came with an import does not count: the
// first turn here makes another.
func (l *Lane) instructions(ctx context.Context) (protocol.Instructions, time.Time, error) {
	var in protocol.Instructions
	var at time.Time
	index := l.j.Index()
	for e, err := range index.OfType(ctx, protocol.TypeInstructionSnapshot) {
		if err != nil {
			return in, at, err
		}
		if b, ok := e.Body.(*protocol.InstructionSnapshot); ok && b.Snapshot.Source == "" && !index.Imported(e.Seq) {
			in, at = b.Snapshot, time.UnixMilli(e.TS)
		}
	}
	return in, at, nil
}

// hasInstructions reports whether a system prompt is stored that can be read. The journal is locked.
func (l *Lane) hasInstructions() bool {
	_, at, err := l.instructions(context.Background())
	return err == nil && !at.IsZero()
}

// builder makes a context builder over the published log, with the hooks of a chain.
func (l *Lane) builder(chain *hook.Chain, info model.Info) (*history.Builder, error) {
	index := l.j.Index()
	c := history.Config{Log: session.Texts{Index: index}, Window: info.ContextWindow, Imported: index.Header().ImportedThrough}
	if chain.ChangesContext() {
		c.Hooks = chain
	}
	return history.New(c)
}
