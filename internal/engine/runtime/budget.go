package runtime

import "sync"

// Budget is what a turn may cost together with the sub-agents that work for it: what
// they spend counts in each budget above theirs. It may be used by any number of
// goroutines at once.
type Budget struct {
	above *Budget

	mu    sync.Mutex // the one above is never taken with it held
	limit float64    // US dollars; 0: none
	spent float64
}

// NewBudget makes the budget of a run; above is that of the turn that it works for,
// nil for none.
func NewBudget(above *Budget) *Budget { return &Budget{above: above} }

// begin sets the limit of a new turn, which has cost nothing yet.
func (b *Budget) begin(limit float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit, b.spent = limit, 0
}

func (b *Budget) spend(usd float64) {
	for ; b != nil; b = b.above {
		b.mu.Lock()
		b.spent += usd
		b.mu.Unlock()
	}
}

// over reports whether the limit is reached, here or above, and what was spent there.
func (b *Budget) over() (spent float64, over bool) {
	for ; b != nil; b = b.above {
		b.mu.Lock()
		spent, over = b.spent, b.limit > 0 && b.spent >= b.limit
		b.mu.Unlock()
		if over {
			return spent, true
		}
	}
	return 0, false
}
