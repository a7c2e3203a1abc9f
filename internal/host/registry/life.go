package registry

import (
	"context"
	"sync"
	"time"

	"scorel/protocol"
)

// errClosing is the answer to who comes while the host closes.
func errClosing() *protocol.Error {
	return protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
}

// Enter counts a client that is connected: a host with clients is not idle. It fails when
// the host is closing; else Leave follows, once.
func (r *Registry) Enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosing()
	}
	r.clients++
	return nil
}

// Leave ends what Enter began.
func (r *Registry) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients--
	r.used()
}

// Act lets a request act: Close waits until done is called. It fails when the host is
// closing.
func (r *Registry) Act() (done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosing()
	}
	r.jobs.Add(1)
	return r.jobs.Done, nil
}

// Go runs a side job in a goroutine of its own and reports whether it did: a host that
// ends begins none. The context ends with the host, and Close waits for the job. What
// names it when it panics.
func (r *Registry) Go(what string, job func(context.Context)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.stopping {
		return false
	}
	r.jobs.Add(1)
	go func() { // ends with the job
		defer r.jobs.Done()
		defer r.cfg.Guard.Rescue(what)
		job(r.life)
	}()
	return true
}

// Life returns the context of what goes on beside requests. It ends with the host.
func (r *Registry) Life() context.Context { return r.life }

// Ending reports whether the host is about to end.
func (r *Registry) Ending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping || r.closed
}

// isClosed reports whether nothing is opened any more.
func (r *Registry) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Stop lets no turn begin in sessions that are opened from now on. Drain follows.
func (r *Registry) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
}

// Drain brings the running turns to their next step boundary, where they end with all of
// their step stored. What is not there when over ends is cancelled. It returns when none
// runs any more.
func (r *Registry) Drain(over context.Context) {
	r.end() // what has not resumed by itself yet is left to the next host
	var wg sync.WaitGroup
	for _, s := range r.list(func(*Session) bool { return true }) {
		wg.Go(func() { // ends with the turn
			defer r.cfg.Guard.Rescue("bringing a session to its boundary")
			if <-s.ready; s.lane == nil {
				return
			}
			done := s.lane.Drain()
			select {
			case <-done:
			case <-over.Done():
				s.lane.Stop()
				<-done
			}
		})
	}
	wg.Wait()
}

// used notes that something has ended, for EndIdle. mu is held.
func (r *Registry) used() { r.lastUse = r.cfg.Now() }

// EndIdle begins the end of a host that has had nothing to do for d, and reports whether
// it did: no client is connected, no session is in use, and no turn, no background
// command and no message that waits for its turn is left. From then on nobody comes in,
// so that no request is taken which the host has no time for.
func (r *Registry) EndIdle(d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isIdle() || r.cfg.Now().Sub(r.lastUse) < d {
		return false
	}
	r.closed = true
	return true
}

// isIdle reports whether there is nothing to do. mu is held.
func (r *Registry) isIdle() bool {
	if r.clients > 0 {
		return false
	}
	for _, s := range r.sessions {
		if s.gone != nil {
			continue
		}
		if !s.Opened() || !r.unused(s) || s.lane.Publisher().Status().Waits {
			return false
		}
	}
	return true
}
