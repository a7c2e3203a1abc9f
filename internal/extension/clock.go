package extension

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// clock counts how long a process may take over something: while a request of its own
// is carried out, it stands still.
type clock struct {
	mu     sync.Mutex
	open   int // requests that are carried out
	since  time.Time
	waited time.Duration // in all
}

func (c *clock) begin() {
	c.mu.Lock()
	if c.open++; c.open == 1 {
		c.since = time.Now()
	}
	c.mu.Unlock()
}

func (c *clock) end() {
	c.mu.Lock()
	if c.open--; c.open == 0 {
		c.waited += time.Since(c.since)
	}
	c.mu.Unlock()
}

// total returns how long it has waited until now.
func (c *clock) total() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open > 0 {
		return c.waited + time.Since(c.since)
	}
	return c.waited
}

// errSlow is what a call ends with that took too long.
var errSlow = errors.New("it took too long")

// within returns a context that ends when limit of the process's own time has passed.
// Its cause is then errSlow.
func (c *clock) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	began, waited := time.Now(), c.total()
	var mu sync.Mutex
	var timer *time.Timer
	var look func()
	look = func() {
		left := limit - (time.Since(began) - (c.total() - waited))
		if left <= 0 {
			cancel(fmt.Errorf("%w: more than %v", errSlow, limit))
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			timer = time.AfterFunc(left, look)
		}
	}
	mu.Lock()
	timer = time.AfterFunc(limit, look)
	mu.Unlock()
	return ctx, func() {
		cancel(context.Canceled)
		mu.Lock()
		timer.Stop()
		mu.Unlock()
	}
}
