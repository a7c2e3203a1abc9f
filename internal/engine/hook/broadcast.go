package hook

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"scorel/protocol"
)

// Bounds of what waits for one subscriber that watches. At either bound what comes
// next is not told to it, until it has caught up; people are told once that it lags.
const (
	maxWatched      = 4096    // events
	maxWatchedBytes = 8 << 20 // of persistent events, as their lines are
)

// maxLast is how long what was cancelled at the close has to end and to say so.
const maxLast = time.Second

// Broadcast tells subscribers what happens in a session, each in a goroutine of its
// own: who is slow, blocks or panics disturbs nobody. It may be used by any number of
// goroutines at once.
type Broadcast struct {
	report func(string)

	mu       sync.Mutex
	watchers []*watcher // in the order of the chain
	closed   bool
	ended    sync.WaitGroup // the goroutines of the watchers
	ctx      context.Context
	stop     context.CancelFunc
}

// watcher is one subscriber that watches. Guarded by Broadcast.mu.
type watcher struct {
	subscriber Subscriber
	queue      []occurrence
	bytes      int
	busy       bool // its goroutine runs
	lags       bool // people have been told that it does not keep up
	failed     bool // and that it failed
}

// occurrence is an event, or (without a body) something else that happens.
type occurrence struct {
	event     protocol.Event
	happening Happening
}

func (o *occurrence) size() int { return len(o.event.Raw()) + len(o.happening.Data) }

// NewBroadcast makes a broadcast that nobody watches. report, which may be nil, takes
// sentences for people.
func NewBroadcast(report func(string)) *Broadcast {
	b := &Broadcast{report: report}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Watch makes the subscribers of a chain those that watch from now on. One that
// watched before under the same name goes on where it is; one that is gone is told
// what waits for it.
func (b *Broadcast) Watch(c *Chain) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var next []*watcher
	if c != nil {
		for _, s := range c.subscribers {
			if s.Event == nil && s.Happened == nil {
				continue
			}
			i := slices.IndexFunc(b.watchers, func(w *watcher) bool {
				return w.subscriber.Name == s.Name && w.subscriber.Scope == s.Scope
			})
			w := &watcher{}
			if i >= 0 {
				w = b.watchers[i]
			}
			w.subscriber = s
			next = append(next, w)
		}
	}
	b.watchers = next
}

// Event tells of an event. It waits for nobody.
func (b *Broadcast) Event(e protocol.Event) {
	b.tell(occurrence{event: e}, func(s *Subscriber) bool { return s.Event != nil })
}

// Happened tells of something that is no event of the log. It waits for nobody.
func (b *Broadcast) Happened(h Happening) {
	b.tell(occurrence{happening: h}, func(s *Subscriber) bool { return s.Happened != nil })
}

func (b *Broadcast) tell(o occurrence, wants func(*Subscriber) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	for _, w := range b.watchers {
		if wants(&w.subscriber) && b.enqueue(w, o) && b.report != nil {
			name := w.subscriber.Name
			b.ended.Go(func() { // the caller may hold locks that report takes; once for each watcher
				b.report(fmt.Sprintf("%s is too slow for this session and misses some of its events.", name))
			})
		}
	}
}

// enqueue lets something wait for a watcher, and reports whether people are to be told
// that it lags. mu is held.
func (b *Broadcast) enqueue(w *watcher, o occurrence) (lags bool) {
	if n := len(w.queue); n > 0 && (n >= maxWatched || w.bytes+o.size() > maxWatchedBytes) {
		lags, w.lags = !w.lags, true
		return lags
	}
	w.queue, w.bytes = append(w.queue, o), w.bytes+o.size()
	if !w.busy {
		w.busy = true
		b.ended.Go(func() { b.serve(w) }) // ends when nothing waits, or with Close
	}
	return false
}

// serve tells a watcher what waits for it.
func (b *Broadcast) serve(w *watcher) {
	for {
		b.mu.Lock()
		if len(w.queue) == 0 || b.ctx.Err() != nil {
			w.busy, w.queue, w.bytes = false, nil, 0
			b.mu.Unlock()
			return
		}
		o := w.queue[0]
		w.queue[0] = occurrence{}
		w.queue, w.bytes = w.queue[1:], w.bytes-o.size()
		s := w.subscriber
		b.mu.Unlock()
		err := safely(func() error {
			switch {
			case o.event.Body != nil && s.Event != nil:
				s.Event(o.event)
			case o.event.Body == nil && s.Happened != nil:
				s.Happened(b.ctx, o.happening)
			}
			return nil
		})
		b.mu.Lock()
		first := err != nil && !w.failed
		w.failed = w.failed || err != nil
		b.mu.Unlock()
		if first && b.report != nil {
			b.report(fmt.Sprintf("%s failed while it watched the session: %s", s.Name, sentence(err)))
		}
	}
}

// Close returns when all has been told, or ctx has ended: then the context of what
// still runs is cancelled, and Close waits a second for it, and for nobody longer.
// Nothing is told from then on.
func (b *Broadcast) Close(ctx context.Context) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the last watcher
		b.ended.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		b.stop()
		last := time.NewTimer(maxLast)
		defer last.Stop()
		select {
		case <-done:
		case <-last.C:
		}
	}
	b.stop()
}
