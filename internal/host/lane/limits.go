package lane

import (
	"scorel/internal/engine/runtime"
	"scorel/protocol"
)

// maxUnpriced is how many models of a session are told of whose price is not known.
const maxUnpriced = 16

// Limits returns the limits of the turn that runs, with how much of each is used; none
// where no turn runs.
func (l *Lane) Limits() []protocol.LimitUse {
	t := l.course.running.Load()
	if t == nil {
		return nil
	}
	return t.budget.Uses()
}

// aboveBudget returns the budget in which counts what the turn uses, nil for none.
func (c *TurnConfig) aboveBudget() *runtime.Budget {
	if c.Above == nil {
		return c.Day
	}
	return c.Above.budget()
}

// wait says that the turn waits for a person, and those that wait for it with it, so that
// the time does not count; done says that it no longer does.
func (t *turn) wait() (done func()) {
	dones := []func(){t.budget.Wait()}
	for a := t.config.Above; a != nil && !a.order.Background; a = a.next {
		dones = append(dones, a.order.turn.budget.Wait())
	}
	return func() {
		for _, done := range dones {
			done()
		}
	}
}

// unpriced tells people that a limit in dollars does not count a model, here and in the
// sessions that the turn works for, once each.
func (h *turnHost) unpriced(ref, sentence string) {
	h.l.warnUnpriced(ref, sentence)
	for a := h.t.config.Above; a != nil; a = a.next {
		a.order.Lane.warnUnpriced(ref, sentence)
	}
}

func (l *Lane) warnUnpriced(ref, sentence string) {
	l.j.Lock()
	defer l.j.Unlock()
	known := l.course.unpriced
	if known[ref] || len(known) >= maxUnpriced {
		return
	}
	if known == nil {
		known = map[string]bool{}
		l.course.unpriced = known
	}
	known[ref] = true
	l.notices.Put("", "warning", sentence)
}
