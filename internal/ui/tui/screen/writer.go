package screen

import (
	"fmt"
	"slices"
	"time"
)

// work is what the writer takes at once.
type work struct {
	frame   Frame
	commit  []string
	left    int // lines that were left out before commit
	has     bool
	full    bool
	width   int
	height  int
	resized bool
	erased  bool
	asks    []ask
	last    bool
}

// leaves reports whether the terminal is somebody else's afterwards.
func (k work) releases() bool {
	return k.last || slices.ContainsFunc(k.asks, func(a ask) bool { return a.pause })
}

// write is the goroutine that draws. It ends with Close.
func (s *Screen) write() {
	defer close(s.ended)
	defer close(s.ready)
	p := newPainter(s)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
		case <-timer.C:
		}
		for {
			k, wait := s.take()
			if wait > 0 {
				timer.Reset(wait)
			}
			if !k.has && len(k.asks) == 0 && !k.last {
				break
			}
			p.wrote = false
			p.work(k)
			for _, a := range k.asks {
				close(a.done)
			}
			s.mu.Lock()
			s.busy = false
			if k.has && !p.wrote {
				s.slot = time.Time{} // it looks like the one before, so the next one need not wait for it
			}
			if p.err != nil && s.err == nil {
				s.err = fmt.Errorf("write to the terminal: %w", p.err)
				s.next, s.has, s.commit = Frame{}, false, backlog{}
			}
			s.mu.Unlock()
			if k.last {
				return
			}
		}
	}
}

// take returns what is to be done now, and how long until there may be more.
func (s *Screen) take() (work, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := work{asks: s.asks, last: s.closed, width: s.width, height: s.height}
	s.asks = nil
	defer func() {
		for _, a := range k.asks {
			s.paused = s.paused || a.pause
		}
	}()
	now := time.Now()
	wait := s.slot.Sub(now)
	if s.has && !s.paused && (wait <= 0 || s.closed || len(k.asks) > 0) {
		k.frame, k.has, k.full = s.next, true, s.whole
		k.commit, k.left = s.commit.take()
		k.resized, s.resized = s.resized, false
		if !k.full { // it waits for inline mode
			k.erased, s.erased = s.erased, false
		}
		s.next, s.has = Frame{}, false
		s.busy, s.slot = true, now.Add(Interval)
		return k, 0
	}
	if s.wanted && wait <= 0 && s.idle() {
		s.wanted = false
		select {
		case s.ready <- struct{}{}:
		default:
		}
	}
	if s.wanted || s.has && !s.paused {
		return k, max(wait, 0)
	}
	return k, 0
}
