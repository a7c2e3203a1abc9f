package request

import (
	"context"
	"fmt"

	"scorel/internal/host/lane"
	"scorel/protocol"
)

// Client is the connection that a request came by.
type Client interface {
	// Readable returns why the client may not read a payload, if so: it may read what it made,
	// or what the session names.
	Readable(ctx context.Context, id protocol.SessionID, sha string) error
}

// Target is what a request is about, and who makes it.
type Target struct {
	Client Client
	Call   protocol.Call
	By     lane.Caller
	Lane   *lane.Lane // of the session, for what is registered as in it; else nil
}

// Handler handles the requests of one type. Opens says that the session that a call names
// is opened for it.
type Handler struct {
	Opens bool
	Do    func(context.Context, *Target, protocol.Request) (protocol.Response, error)
}

// Table has the handlers of a host. Each is in the file of its subject, in the package
// that has what it is about.
type Table map[*protocol.Spec]Handler

// On registers what handles the requests of a type.
func On[R protocol.Request](t Table, do func(context.Context, *Target, R) (protocol.Response, error)) {
	register(t, false, do)
}

// InSession registers what handles the requests of a type in an open session. Where
// the call may name none, and does not, there is no lane.
func InSession[R protocol.Request](t Table, do func(context.Context, *Target, R) (protocol.Response, error)) {
	register(t, true, do)
}

// Check fails where a request of the protocol has no handler.
func (t Table) Check() error {
	for _, spec := range protocol.Specs() {
		if _, ok := t[spec]; !ok {
			return fmt.Errorf("no handler is registered for the request %s", spec.Name)
		}
	}
	return nil
}

func register[R protocol.Request](t Table, opens bool, do func(context.Context, *Target, R) (protocol.Response, error)) {
	var none R
	t[none.Spec()] = Handler{opens, func(ctx context.Context, at *Target, r protocol.Request) (protocol.Response, error) {
		return do(ctx, at, r.(R))
	}}
}
