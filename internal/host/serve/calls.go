package serve

import (
	"sync"

	"scorel/protocol"
)

// Bounds of the calls of one connection; see docs/limits.md.
const (
	maxCalls        = 64      // carried out at once
	maxUrgent       = 16      // carried out at once beside those
	maxWaiting      = 64      // read and waiting
	maxWaitingBytes = 1 << 20 // of those; one waits however large it is
)

// calls carries out the calls of one connection: side by side, but for those that
// must keep their order, and only so many at once. The reader of the connection
// hands them over; when too many wait, it waits too, and so does the client. What
// ends or answers something is urgent and passes all that waits.
type calls struct {
	do func(protocol.Call) // carries out one call; is called in a goroutine of its own

	mu      sync.Mutex // guards what follows
	space   sync.Cond  // waiting has become shorter, running smaller, or closed true
	running int
	urgent  int
	waiting []task
	bytes   int // of waiting
	last    map[string]chan struct{}
	closed  bool
	wg      sync.WaitGroup
}

// task is a call that has been read.
type task struct {
	call  protocol.Call
	size  int
	after <-chan struct{} // it begins when this is closed; nil is at once
	done  chan struct{}   // closed at its end; nil when nobody follows it
	line  string          // the name of the order that it keeps
}

func newCalls(do func(protocol.Call)) *calls {
	c := &calls{do: do, last: map[string]chan struct{}{}}
	c.space.L = &c.mu
	return c
}

// take hands a call of so many bytes over. It waits while there is no room.
func (c *calls) take(call protocol.Call, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	spec := call.Request.Spec()
	t := task{call: call, size: size}
	if spec.Order != nil {
		t.line = spec.Order(call)
	}
	if spec.Urgent {
		for c.urgent >= maxUrgent && !c.closed {
			c.space.Wait()
		}
		if !c.closed {
			c.urgent++
			c.wg.Go(func() { c.runUrgent(t) })
		}
		return
	}
	for c.running >= maxCalls && len(c.waiting) > 0 && (len(c.waiting) >= maxWaiting || c.bytes+size > maxWaitingBytes) && !c.closed {
		c.space.Wait()
	}
	if c.closed {
		return
	}
	if t.line != "" {
		t.done = make(chan struct{})
		if prev := c.last[t.line]; prev != nil {
			t.after = prev
		}
		c.last[t.line] = t.done
	}
	if c.running >= maxCalls {
		c.waiting = append(c.waiting, t)
		c.bytes += size
		return
	}
	c.running++
	c.wg.Go(func() { c.run(t) })
}

// run carries out a call, and then those that wait. A call never waits for one that
// has not begun: what it follows was taken before it.
func (c *calls) run(t task) {
	for more := true; more; t, more = c.next(t) {
		if t.after != nil {
			<-t.after
		}
		c.do(t.call)
	}
}

// next ends a call and returns the next one that waits.
func (c *calls) next(t task) (task, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.space.Broadcast()
	if t.done != nil {
		close(t.done)
		if c.last[t.line] == t.done {
			delete(c.last, t.line)
		}
	}
	if len(c.waiting) == 0 {
		c.running--
		return task{}, false
	}
	n := c.waiting[0]
	c.waiting = c.waiting[1:]
	c.bytes -= n.size
	return n, true
}

func (c *calls) runUrgent(t task) {
	c.do(t.call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.urgent--
	c.space.Broadcast()
}

// close takes no further call; those that wait are dropped, the reader goes on.
func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, t := range c.waiting {
		if t.done != nil {
			close(t.done)
		}
	}
	c.waiting, c.bytes = nil, 0
	c.space.Broadcast()
}

// wait waits for the calls that are being carried out. No further one is taken.
func (c *calls) wait() {
	c.close()
	c.wg.Wait()
}

// settled reports whether no call is being carried out or waits.
func (c *calls) settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running == 0 && c.urgent == 0 && len(c.waiting) == 0
}

// idle says that nothing is being carried out.
func (c *calls) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running == 0 && c.urgent == 0
}
