package host

import (
	"context"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Complete is complete, for tests of what asks models beside conversations.
func (h *Host) Complete(ctx context.Context, id protocol.SessionID, ref string, req model.Request) (protocol.Message, error) {
	return h.complete(ctx, id, ref, req)
}

// AskTitles has the end of a turn of an open session told n times at once.
func (h *Host) AskTitles(id protocol.SessionID, n int) {
	h.mu.Lock()
	s := h.lanes[id]
	h.mu.Unlock()
	for range n {
		h.titleAfterTurn(s)
	}
}
