package listener

import (
	"slices"
	"sync"
	"sync/atomic"

	"scorel/protocol"
)

// watchers are those who are told of each event.
type watchers struct {
	mu   sync.Mutex // held to change the list
	list atomic.Pointer[[]*func(protocol.Event)]
}

// Watch calls f with every event of the session from now on, persistent and transient,
// once, in the order of seq, when it is durable, and before a caller who waits for the
// event continues. f must not wait, and must not call the lane. stop ends it; one call may
// still come while stop runs.
func (w *watchers) Watch(f func(protocol.Event)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	me := &f
	w.set(append(w.get(), me))
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.set(slices.DeleteFunc(w.get(), func(other *func(protocol.Event)) bool { return other == me }))
	}
}

// get returns a copy of the list.
func (w *watchers) get() []*func(protocol.Event) {
	if list := w.list.Load(); list != nil {
		return slices.Clone(*list)
	}
	return nil
}

func (w *watchers) set(list []*func(protocol.Event)) { w.list.Store(&list) }

// Told passes on an event that is durable. It runs on the publisher's writer.
func (w *watchers) Told(e protocol.Event) {
	list := w.list.Load()
	if list == nil {
		return
	}
	for _, f := range *list {
		(*f)(e)
	}
}
