package history

import (
	"context"
	"iter"

	"scorel/protocol"
)

// Log is what history reads of a session.
type Log interface {
	// Back yields the conversation events from leaf to the root, newest first,
	// lazily. An empty leaf yields nothing.
	Back(ctx context.Context, leaf protocol.EventID) iter.Seq2[protocol.Event, error]
	// Controls yields the control events of the given types that belong to the
	// path of leaf, in the order of seq.
	Controls(ctx context.Context, leaf protocol.EventID, types ...protocol.EventType) iter.Seq2[protocol.Event, error]
}
