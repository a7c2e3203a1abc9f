package js

import (
	"sync"
	"time"
)

// handlerLimit is how long a handler may take of its own time, unless a Config says
// otherwise.
const handlerLimit = 10 * time.Second

// clock counts down a handler's own time. It stands still while it is paused.
type clock struct {
	mu     sync.Mutex
	left   time.Duration
	since  time.Time
	timer  *time.Timer
	paused int
	over   bool
}

// newClock calls expired once, on a goroutine of its own, when the time is over.
func newClock(d time.Duration, expired func()) *clock {
	c := &clock{left: d, since: time.Now()}
	c.timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		run := !c.over && c.paused == 0
		c.over = c.over || run
		c.mu.Unlock()
		if run {
			expired()
		}
	})
	return c
}

// Pause and Resume are counted.
func (c *clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 && !c.over {
		c.timer.Stop()
		c.left -= time.Since(c.since)
	}
}

// Resume lets it go on.
func (c *clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused == 0 && !c.over {
		c.since = time.Now()
		c.timer.Reset(max(c.left, time.Millisecond))
	}
}

// stop ends it.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}
