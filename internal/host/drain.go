package host

import (
	"context"
	"maps"
	"slices"
	"time"

	"scorel/internal/host/request"
	"scorel/protocol"
)

// deliverGrace is how long a host that ends waits for clients to take what they have
// not been sent yet.
const deliverGrace = 2 * time.Second

// Drain ends the host as [Host.Close] does, but gently: it tells all clients, begins
// no turn any more, and returns each running turn grace to come to its next step
// boundary, where it ends with all of its step stored. What is not there by then, or
// when ctx ends, is cancelled. Turns that wait for a person are ended at once, and
// background commands with their sessions. What waits in queues stays and is not
// paused: the next serving host goes on with it. restarting is told to the clients:
// another host takes over.
func (h *Host) Drain(ctx context.Context, grace time.Duration, restarting bool) error {
	h.sessions.Stop()
	h.audience.Broadcast(&protocol.HostStopping{GraceMS: grace.Milliseconds(), Restarting: restarting})
	over, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	h.sessions.Drain(over)
	h.close.once.Do(func() {
		conns := h.shut()
		h.close.err = h.closeRooms()
		deliver(conns)
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return h.close.err
}

// deliver waits, for deliverGrace at most, until the clients have taken everything
// of the sessions that have been closed.
func deliver(conns []*Conn) {
	late := time.NewTimer(deliverGrace)
	defer late.Stop()
	for _, c := range conns {
		c.mu.Lock()
		subs := slices.Collect(maps.Values(c.subs))
		c.mu.Unlock()
		for _, s := range subs {
			select {
			case <-s.done:
			case <-late.C:
				return
			}
		}
	}
}

// stopByRequest ends the host because a client wants it.
func (h *Host) stopByRequest(restarting bool) error {
	if h.cfg.Stop == nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "This host belongs to the command that runs it, and ends with that.")
	}
	h.cfg.Stop(restarting)
	return nil
}

// handleStop registers the handlers of this file's requests.
func (h *Host) handleStop(t request.Table) {
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.StopHost) (protocol.Response, error) {
		return &protocol.Done{}, h.stopByRequest(r.Restarting)
	})
}
