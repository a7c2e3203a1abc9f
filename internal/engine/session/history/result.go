package history

import (
	"context"
	"errors"
	"fmt"

	"scorel/protocol"
)

// resultPrefix stands before a call id where Read takes a path.
const resultPrefix = "result:"

// ErrNoResult says that the active path has no result of a call.
var ErrNoResult = errors.New("no such tool result in this conversation")

// FindResult returns the stored result of a call on the whole path of leaf, also
// from before a compaction; of several with one id the newest. The error is
// [ErrNoResult] when there is none.
func FindResult(ctx context.Context, log Log, leaf protocol.EventID, toolCallID string) (protocol.Message, error) {
	for ev, err := range log.Back(ctx, leaf) {
		if err != nil {
			return protocol.Message{}, fmt.Errorf("find the result of %s: %w", toolCallID, err)
		}
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleToolResult && m.ToolCallID == toolCallID {
			return m, nil
		}
	}
	return protocol.Message{}, ErrNoResult
}
