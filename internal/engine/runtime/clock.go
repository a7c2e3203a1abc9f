package runtime

import "time"

// clock is how long a turn has run, without the time in which somebody was waited for.
// It belongs to a [Budget], whose lock guards it. The zero value has not begun.
type clock struct {
	now     func() time.Time
	ran     time.Duration // until since
	since   time.Time     // it runs since then; zero: it is stopped
	waits   int           // for people, open now
	ended   bool
	charged time.Duration // that the day above has been told of
}

// begin starts at 0. Waits that are open go on.
func (c *clock) begin(now func() time.Time) {
	*c = clock{now: now, waits: c.waits}
	c.run()
}

func (c *clock) run() {
	if c.now != nil && !c.ended && c.waits == 0 {
		c.since = c.now()
	}
}

func (c *clock) stop() { c.ran, c.since = c.elapsed(), time.Time{} }

func (c *clock) pause() {
	c.stop()
	c.waits++
}

func (c *clock) resume() {
	if c.waits--; c.waits == 0 {
		c.run()
	}
}

func (c *clock) end() {
	c.stop()
	c.ended = true
}

func (c *clock) elapsed() time.Duration {
	if c.since.IsZero() {
		return c.ran
	}
	return c.ran + max(0, c.now().Sub(c.since))
}
