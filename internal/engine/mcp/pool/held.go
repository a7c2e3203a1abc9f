package pool

import (
	"context"
	"time"
)

// heldTime is how long the beginning of a connection is held back at most.
const heldTime = time.Second

// Begin lets the connection be begun, where that was held back.
func (l *Lease) Begin() { l.connection().begin() }

// held waits until the connection is to be begun, at most for heldTime.
func (c *connection) held(ctx context.Context) {
	late := time.NewTimer(heldTime)
	defer late.Stop()
	select {
	case <-c.begun:
	case <-late.C:
	case <-ctx.Done():
	}
}

// Reconnect ends the connection and makes a new one.
func (l *Lease) Reconnect() {
	l.connection().again()
}

// Retry connects again where somebody has signed in since the server wanted that.
func (l *Lease) Retry() {
	if c := l.connection(); c.state() == NeedsAuth && c.signedIn() {
		c.again()
	}
}

func (c *connection) signedIn() bool { return c.spec.SignedIn != nil && c.spec.SignedIn() }

// again asks for a new connection; the state is pending from now on.
func (c *connection) again() {
	c.begin()
	c.become(nil, Status{State: Pending})
	ask(c.kick)
}

// ask leaves a mark where none is.
func ask(mark chan struct{}) {
	select {
	case mark <- struct{}{}:
	default:
	}
}
