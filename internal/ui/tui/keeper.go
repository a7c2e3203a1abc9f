package tui

import (
	"sync"
	"time"

	"scorel/internal/ui/tui/drafts"
)

// keepEvery is the least time between two writes: what was typed since the last one is
// what a crash can cost.
const keepEvery = 500 * time.Millisecond

// keeper writes down which session is shown and what is typed, for after a crash, beside
// the goroutine of the model: a key never waits for the disk. Of several states the
// newest is written.
type keeper struct {
	mark   *drafts.Mark
	next   chan drafts.State // holds at most one
	ending chan struct{}
	done   sync.WaitGroup
}

// keep begins to write states down; end ends it. tell is told once why it cannot.
func keep(mark *drafts.Mark, tell func(error)) *keeper {
	k := &keeper{mark: mark, next: make(chan drafts.State, 1), ending: make(chan struct{})}
	k.done.Go(func() { // ends with end
		told := false
		for s := range k.next {
			if err := k.mark.Set(s); err != nil && !told {
				told = true
				tell(err)
			}
			select {
			case <-time.After(keepEvery):
			case <-k.ending:
			}
		}
	})
	return k
}

// set has a state written down. One goroutine calls it.
func (k *keeper) set(s drafts.State) {
	if k == nil {
		return
	}
	select {
	case <-k.next: // it was not written yet
	default:
	}
	k.next <- s
}

// end waits for what is being written. With over set the UI was left in order, and
// nothing is remembered.
func (k *keeper) end(over bool) {
	if k == nil {
		return
	}
	close(k.ending)
	close(k.next)
	k.done.Wait()
	if over {
		k.mark.End()
	}
}
