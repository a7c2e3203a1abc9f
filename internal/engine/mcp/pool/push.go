package pool

import (
	"context"
	"errors"
)

// pusher is a [Server] that may be a channel; [connect.Server] is one.
type pusher interface {
	Declares(capability string) bool
	CanPush() error
	Notify(ctx context.Context, method string, params any) error
}

// ErrNotConnected reports that nothing can be sent to a server now.
var ErrNotConnected = errors.New("it is not connected")

// pusher returns the open connection, nil while there is none.
func (l *Lease) pusher() pusher {
	c := l.connection()
	c.mu.Lock()
	defer c.mu.Unlock()
	p, _ := c.server.(pusher)
	return p
}

// Key is that of the connection. Those of a server that each session has one to from some time
// on keep the same.
func (l *Lease) Key() Key { return l.spec.Key }

// Declares reports whether the server, which is connected, has an experimental capability.
func (l *Lease) Declares(capability string) bool {
	p := l.pusher()
	return p != nil && p.Declares(capability)
}

// CanPush returns why the server, which is connected, cannot push as a channel, a sentence
// without a subject; nil where it can.
func (l *Lease) CanPush() error {
	if p := l.pusher(); p != nil {
		return p.CanPush()
	}
	return ErrNotConnected
}

// Notify sends the server a notification. No connection is begun for it.
func (l *Lease) Notify(ctx context.Context, method string, params any) error {
	if p := l.pusher(); p != nil {
		return p.Notify(ctx, method, params)
	}
	return ErrNotConnected
}
