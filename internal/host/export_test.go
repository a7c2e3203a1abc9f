package host

import (
	"context"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Complete is complete, for tests of what asks models beside conversations.
func (h *Host) Complete(ctx context.Context, id protocol.SessionID, ref string, req model.Request) (protocol.Message, error) {
	return h.rooms.asker.Complete(ctx, id, ref, req)
}

// AskTitles has the end of a turn of an open session told n times at once.
func (h *Host) AskTitles(id protocol.SessionID, n int) {
	s, err := h.sessions.Acquire(context.Background(), id)
	if err != nil {
		panic(err)
	}
	defer h.sessions.Release(s)
	for range n {
		h.rooms.titles.AfterTurn(s)
	}
}
