package host

import (
	"context"

	"scorel/internal/host/request"
	"scorel/protocol"
)

// newHandlers returns the handlers of all requests. It fails where one has none.
func (h *Host) newHandlers() (request.Table, error) {
	t := make(request.Table, len(protocol.Specs()))
	for _, register := range []func(request.Table){
		h.rooms.admin.Handle,
		h.rooms.automation.Handle,
		h.handleBlobs,
		h.rooms.commands.Handle,
		h.rooms.jobs.Handle,
		h.rooms.library.Handle,
		h.rooms.extensions.Handle,
		h.rooms.servers.Handle,
		h.rooms.files.Handle,
		h.rooms.transfers.Handle,
		h.rooms.notes.Handle,
		h.rooms.pairings.Handle,
		h.rooms.pushes.Handle,
		h.handleStatus,
		h.handleStop,
		h.handleSubscriptions,
		h.handleTurns,
	} {
		register(t)
	}
	return t, t.Check()
}

// dispatch handles one request.
func (c *Conn) dispatch(ctx context.Context, call protocol.Call) (protocol.Response, error) {
	h, at := c.h, &request.Target{Client: c, Call: call, By: c.caller(call)}
	does := h.handlers[call.Request.Spec()]
	if !does.Opens || call.SessionID == "" {
		return does.Do(ctx, at, call.Request)
	}
	s, err := h.sessions.Acquire(ctx, call.SessionID)
	if err != nil {
		return nil, err
	}
	defer h.sessions.Release(s)
	return h.sessions.Do(ctx, s, func(ctx context.Context) (protocol.Response, error) {
		h.keepNamed(call.Request)
		at.Lane = s.Lane()
		if call.Request.Spec().Mutates {
			at.Lane.Components().Acted(c)
		}
		return does.Do(ctx, at, call.Request)
	})
}

// connOf returns the connection that a request came by.
func connOf(at *request.Target) *Conn { return at.Client.(*Conn) }
