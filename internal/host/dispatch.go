package host

import (
	"context"
	"fmt"

	"scorel/internal/host/lane"
	"scorel/protocol"
)

// target is what a request is about, and who makes it.
type target struct {
	conn *Conn
	call protocol.Call
	by   lane.Caller
	lane *lane.Lane // of the session, for what is registered as in it; else nil
}

// handler carries out the requests of one type. Opens says that the session that a call
// names is opened for it.
type handler struct {
	opens bool
	do    func(context.Context, *target, protocol.Request) (protocol.Response, error)
}

// handlers are the handlers of a host. They stand in the files of their subjects.
type handlers map[*protocol.Spec]handler

// on registers what carries out the requests of a type.
func on[R protocol.Request](t handlers, do func(context.Context, *target, R) (protocol.Response, error)) {
	register(t, false, do)
}

// inSession registers what carries out the requests of a type in an open session. Where
// the call may name none, and does not, there is no lane.
func inSession[R protocol.Request](t handlers, do func(context.Context, *target, R) (protocol.Response, error)) {
	register(t, true, do)
}

func register[R protocol.Request](t handlers, opens bool, do func(context.Context, *target, R) (protocol.Response, error)) {
	var none R
	t[none.Spec()] = handler{opens, func(ctx context.Context, at *target, r protocol.Request) (protocol.Response, error) {
		return do(ctx, at, r.(R))
	}}
}

// newHandlers gives the handlers of all requests. It fails where one has none.
func (h *Host) newHandlers() (handlers, error) {
	t := make(handlers, len(protocol.Specs()))
	for _, register := range []func(handlers){
		h.handleAgents,
		h.handleBlobs,
		h.handleCommands,
		h.handleConfig,
		h.handleCredentials,
		h.handleDelete,
		h.handleDirectories,
		h.handleDoctor,
		h.handleEntries,
		h.handleExtensionAdmin,
		h.handleExtensions,
		h.handleFiles,
		h.handleImports,
		h.handleMemory,
		h.handleMode,
		h.handleModelTests,
		h.handleProcesses,
		h.handleProjects,
		h.handleReports,
		h.handleSearch,
		h.handleSessions,
		h.handleShell,
		h.handleSkills,
		h.handleStatus,
		h.handleStop,
		h.handleSubscriptions,
		h.handleTrust,
		h.handleTurns,
	} {
		register(t)
	}
	for _, spec := range protocol.Specs() {
		if _, ok := t[spec]; !ok {
			return nil, fmt.Errorf("no handler is registered for the request %s", spec.Name)
		}
	}
	return t, nil
}

// dispatch carries out one request.
func (c *Conn) dispatch(ctx context.Context, call protocol.Call) (protocol.Response, error) {
	h, at := c.h, &target{conn: c, call: call, by: c.caller(call)}
	does := h.handlers[call.Request.Spec()]
	if !does.opens || call.SessionID == "" {
		return does.do(ctx, at, call.Request)
	}
	s, err := h.acquire(ctx, call.SessionID)
	if err != nil {
		return nil, err
	}
	defer h.release(s)
	return h.inLane(ctx, s, func(ctx context.Context) (protocol.Response, error) {
		h.keepNamed(call.Request)
		at.lane = s.lane
		return does.do(ctx, at, call.Request)
	})
}
