package host

import (
	"context"

	"scorel/internal/model"
	"scorel/protocol"
)

// Complete is complete, for tests of what asks models beside conversations.
func (h *Host) Complete(ctx context.Context, id protocol.SessionID, ref string, req model.Request) (protocol.Message, error) {
	return h.complete(ctx, id, ref, req)
}
