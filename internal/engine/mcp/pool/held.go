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
		c.begin()
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
	select {
	case <-c.begun:
		c.leave(Pending, func() bool { return true })
	default:
		c.begin() // the first one
	}
}

// replace is again, unless there is another connection than the one of the server by now, which
// others may use.
func (c *connection) replace(server Server) {
	c.leave(Pending, func() bool { return c.server == server })
}

// leave has the connection end and tells its state from now on, where it is the one that is
// meant: is is called with c.mu held.
func (c *connection) leave(state State, is func() bool) {
	c.mu.Lock()
	meant := is()
	if meant {
		c.set(nil, Status{State: state})
	}
	c.mu.Unlock()
	if meant {
		c.tellChanged()
		ask(c.kick)
	}
}

// ask leaves a mark where none is.
func ask(mark chan struct{}) {
	select {
	case mark <- struct{}{}:
	default:
	}
}
