package subagents

import (
	"context"
	"sync"
)

// Places are the sub-agents of a session that may work at once; the zero value has all free. Who comes first is
// let in first.
type Places struct {
	mu      sync.Mutex
	taken   int
	waiting []chan struct{}
}

// Enter waits for a place among most; release gives it back. waits is told, once, that
// there is none yet.
func (p *Places) Enter(ctx context.Context, most int, waits func()) (release func(), err error) {
	p.mu.Lock()
	if p.taken < most && len(p.waiting) == 0 {
		p.taken++
		p.mu.Unlock()
		return p.release, nil
	}
	turn := make(chan struct{}, 1)
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	waits()
	select {
	case <-turn:
		return p.release, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	for i, other := range p.waiting {
		if other == turn {
			p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
			p.mu.Unlock()
			return nil, ctx.Err()
		}
	}
	p.mu.Unlock()
	p.release() // it was let in at the same moment
	return nil, ctx.Err()
}

func (p *Places) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		p.waiting[0] <- struct{}{}
		p.waiting = p.waiting[1:]
		return
	}
	p.taken--
}
