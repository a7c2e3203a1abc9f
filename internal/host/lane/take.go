package lane

import (
	"context"
	"scorel/protocol"
)

// Steer takes the steering messages that wait; what background commands have to
// tell comes before them.
func (h *turnHost) Steer(ctx context.Context) (int, error) {
	taken, err := h.takeSteer(ctx)
	for _, it := range taken {
		h.thinkMore(it.Content)
	}
	return len(taken), err
}

// takeSteer appends the steering messages that wait and returns them.
func (h *turnHost) takeSteer(ctx context.Context) ([]protocol.QueueItem, error) {
	h.l.j.Lock()
	defer h.l.j.Unlock()
	if h.l.course.stopping {
		return nil, nil
	}
	items := h.l.queues.Items(protocol.QueueSteer)
	if h.l.queues.Steers() {
		if _, err := h.l.appendWaiting(ctx); err != nil {
			return nil, err
		}
	}
	n, _, err := h.l.queues.TakeSteer(ctx)
	return items[:n], err
}

// FollowUp takes the next message, or ends the turn under the same lock. What
// follows a turn with options of its own is a turn of its own.
func (h *turnHost) FollowUp(ctx context.Context) (bool, error) {
	found := false
	err := h.atBoundary(ctx, func() (err error) {
		found, err = h.takeFollowUp(ctx)
		return err
	})
	return found, err
}

// takeFollowUp takes the next message, or ends the turn. The journal is locked.
func (h *turnHost) takeFollowUp(ctx context.Context) (bool, error) {
	if h.l.course.stopping || h.t.options != nil {
		h.t.Over.Store(true)
		return false, nil
	}
	if !h.l.queues.Ready() && h.l.inbox.Count() == 0 {
		h.t.Over.Store(true)
		return false, nil
	}
	if _, err := h.l.appendWaiting(ctx); err != nil {
		return false, err
	}
	if _, err := h.l.takeOpening(ctx, h.t); err != nil {
		return false, err
	}
	h.t.view.progress.UserMessage()
	return true, nil
}
