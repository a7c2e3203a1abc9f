package engine

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"scorel/internal/extension/rpc"
)

// How long an interpreter may run without returning to its loop, and what the heap of
// the process may hold. The parent ends the process after KillAfter.
const (
	InterruptAfter = 8 * time.Second
	KillAfter      = 10 * time.Second
	MemoryLimit    = 512 << 20

	watchEvery  = 5 * time.Millisecond
	memoryGrace = 500 * time.Millisecond // from interrupting to giving up
)

// Watch looks after the engines of a process while one of them runs.
type Watch struct {
	limit uint64
	after time.Duration
	page  *rpc.Page
	full  func()

	mu      sync.Mutex
	engines map[*Engine]struct{}
	wake    chan struct{}
	over    time.Time // since when the heap is over the limit
}

// NewWatch starts a watch, which goes on until the process ends. Heaps over limit bytes
// first have everything that runs interrupted; when that does not help, full is
// called, which is to end the process. Zero values mean the constants above.
func NewWatch(page *rpc.Page, limit uint64, after time.Duration, full func()) *Watch {
	if limit == 0 {
		limit = MemoryLimit
	}
	if after == 0 {
		after = InterruptAfter
	}
	w := &Watch{limit: limit, after: after, page: page, full: full, engines: map[*Engine]struct{}{}, wake: make(chan struct{}, 1)}
	debug.SetMemoryLimit(int64(limit - limit/4)) // the collector works harder before the end comes
	go w.run()                                   // ends with the process
	return w
}

func (w *Watch) add(e *Engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.engines[e] = struct{}{}
}

func (w *Watch) remove(e *Engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.engines, e)
}

func (w *Watch) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watch) run() {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range w.wake {
		for w.look(sample) {
			time.Sleep(watchEvery)
		}
	}
}

// look checks once and reports whether anything still runs.
func (w *Watch) look(sample []metrics.Sample) (busy bool) {
	metrics.Read(sample)
	heap := sample[0].Value.Uint64()
	w.page.SetHeap(heap)
	full := heap > w.limit
	w.mu.Lock()
	defer w.mu.Unlock()
	now := rpc.Monotonic()
	for e := range w.engines {
		since := e.busy.Load()
		if since == 0 {
			continue
		}
		busy = true
		switch ran := time.Duration(now - since); {
		case full:
			e.interrupt(fmt.Errorf("the extensions of this session hold more than %d MiB of memory", w.limit>>20))
		case ran > w.after:
			e.interrupt(fmt.Errorf("it has run for %s without a pause and was stopped", w.after))
		}
	}
	switch {
	case !full:
		w.over = time.Time{}
	case w.over.IsZero():
		w.over = time.Now()
		busy = true
	case time.Since(w.over) > memoryGrace:
		runtime.GC()
		metrics.Read(sample)
		if sample[0].Value.Uint64() > w.limit {
			w.page.SetReason(rpc.PageMemory)
			w.full()
		}
		w.over = time.Time{}
	default:
		busy = true
	}
	return busy
}
