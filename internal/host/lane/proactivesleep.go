package lane

import (
	"context"
	"time"
)

// sleepLook is how often a call of Sleep looks for what nothing tells it of, such as what an
// extension adds to the conversation.
const sleepLook = time.Second

// sleeping is a call of Sleep that waits. The journal's lock guards it.
type sleeping struct {
	until time.Time
	stir  chan struct{} // may have ended it; holds one
}

// sleeper is proactive mode as the tool Sleep sees it. It implements [tool.Sleeper].
type sleeper struct{ l *Lane }

// Sleep implements [tool.Sleeper].
func (s sleeper) Sleep(ctx context.Context, d time.Duration) (time.Duration, string, error) {
	l := s.l
	begun := l.cfg.Now()
	waits, why := l.fallAsleep(begun.Add(d))
	if why != "" {
		return 0, why, nil
	}
	defer l.wakeUp(waits)
	if t := l.course.running.Load(); t != nil {
		defer t.wait()() // sleeping uses up no minutes
	}
	over := time.NewTimer(d)
	defer over.Stop()
	look := time.NewTicker(sleepLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, "", ctx.Err()
		case <-over.C:
			return d, "", nil
		case <-waits.stir:
		case <-look.C:
		}
		l.j.Lock()
		why := l.sleepless()
		l.j.Unlock()
		if why != "" {
			return l.cfg.Now().Sub(begun), why, nil
		}
	}
}

// fallAsleep begins a call of Sleep, unless something is to be done.
func (l *Lane) fallAsleep(until time.Time) (*sleeping, string) {
	l.j.Lock()
	defer l.j.Unlock()
	if why := l.sleepless(); why != "" {
		return nil, why
	}
	s := &sleeping{until: until, stir: make(chan struct{}, 1)}
	l.course.proactive.sleep = s
	l.notifyProactive()
	return s, ""
}

// wakeUp ends a call of Sleep.
func (l *Lane) wakeUp(s *sleeping) {
	l.j.Lock()
	defer l.j.Unlock()
	if p := &l.course.proactive; p.sleep == s {
		p.sleep = nil
		l.notifyProactive()
	}
}

// stir has a call of Sleep look whether there is something to do. The journal is locked.
func (l *Lane) stir() {
	if s := l.course.proactive.sleep; s != nil {
		select {
		case s.stir <- struct{}{}:
		default: // it is about to look
		}
	}
}

// sleepless returns why nothing sleeps now, "" when there is nothing else to do. The journal is
// locked.
func (l *Lane) sleepless() string {
	switch {
	case !l.course.proactive.on:
		return "proactive mode was switched off"
	case l.course.stopping || l.j.Closed():
		return "the host is stopping"
	case l.queues.Ready():
		return "a message waits for you; end your turn unless you are given it now"
	case l.inbox.Count() > 0:
		return "something has come in through a channel; end your turn to be given it"
	case len(l.course.boundaries) > 0:
		return "a command of a person waits for this step to end"
	case l.tasks.Set().Waits(true):
		return "background work has something to tell you"
	case l.additions.Waiting() > 0:
		return "something was added to the conversation"
	}
	return ""
}
