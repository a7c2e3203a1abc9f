package headless

import (
	"sync"
	"time"

	"scorel/protocol"
)

const (
	// maxOpen bounds the requests that are read and not answered, and maxUrgent those that
	// answer, cancel or stop something, beside them. Further ones are refused, so that what
	// the others wait for is always read.
	maxOpen   = 64
	maxUrgent = 16
	// inOrder is how long a request waits for the answer to the one before it: those that
	// are answered at once are answered in their order, and one that waits for a person, a
	// model or an extension holds up no other for longer.
	inOrder = time.Second
)

// order starts requests in the order in which they came, each on a goroutine of its own:
//
//   - one that answers a question, cancels or stops something begins at once;
//   - one that begins or moves something ([builds]) begins when those like it before it are
//     answered: each builds on what the one before has left;
//   - any other begins when the request before it is answered, or has waited for [inOrder].
//
// Its methods are called by one goroutine.
type order struct {
	open   chan struct{}   // has an element for each request that is not answered
	urgent chan struct{}   // and for each of those that pass the others
	before <-chan struct{} // closed when the newest request is answered
	since  time.Time       // when it came
	built  <-chan struct{} // closed when the newest of those that build is answered
	wg     sync.WaitGroup
}

func newOrder() *order {
	none := make(chan struct{})
	close(none)
	return &order{open: make(chan struct{}, maxOpen), urgent: make(chan struct{}, maxUrgent), before: none, built: none}
}

// start has a request handled. It reports false when too many are open.
func (o *order) start(r protocol.Request, handle func()) bool {
	urgent, room := r.Spec().Urgent || stops(r), o.urgent
	if !urgent {
		room = o.open
		select { // before the bound, which what came before may reach
		case <-o.before:
		case <-time.After(time.Until(o.since.Add(inOrder))):
		}
	}
	select {
	case room <- struct{}{}:
	default:
		return false
	}
	answered, after := make(chan struct{}), (<-chan struct{})(nil)
	if builds(r) {
		after, o.built = o.built, answered
	}
	if !urgent {
		o.before, o.since = answered, time.Now()
	}
	o.wg.Go(func() { // ends with the request; awaited by wait
		if after != nil {
			<-after
		}
		handle()
		close(answered)
		<-room
	})
	return true
}

// wait waits until all requests are answered.
func (o *order) wait() { o.wg.Wait() }

// stops reports whether a request ends something that runs.
func stops(r protocol.Request) bool {
	_, ok := r.(*protocol.StopShell)
	return ok
}

// builds reports whether a request builds on what those before it have left: a message
// after compact would begin a turn, and compact be refused for that. A move that cancels a
// turn first does not wait for it.
func builds(r protocol.Request) bool {
	switch r := r.(type) {
	case *protocol.SendMessage, *protocol.FollowUp, *protocol.ResumeQueue, *protocol.RunCommand, *protocol.CompactSession:
		return true
	case *protocol.RewindTo:
		return r.CancelFirst == ""
	case *protocol.BranchTo:
		return r.CancelFirst == ""
	}
	return false
}
