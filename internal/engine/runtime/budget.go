package runtime

import (
	"slices"
	"sync"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Spend is an amount of what turns use, or a limit of it, where 0 is none.
type Spend struct {
	USD    float64 // US dollars, at the prices that are known
	Tokens int     // all that models read and wrote, however it was billed ([protocol.Usage.ContextTokens])
	// Time is how long turns ran with their tools, without the time in which a question to a
	// person was open. It is that of the monotonic clock, so a suspend does not count.
	Time time.Duration
}

// SpendOf returns what one model call used.
func SpendOf(u protocol.Usage) Spend { return Spend{USD: u.CostUSD, Tokens: u.ContextTokens()} }

// Plus returns the sum of two amounts.
func (s Spend) Plus(o Spend) Spend {
	return Spend{s.USD + o.USD, s.Tokens + o.Tokens, s.Time + o.Time}
}

// Tighter returns of each kind the lower limit.
func (s Spend) Tighter(o Spend) Spend {
	return Spend{Lower(s.USD, o.USD), Lower(s.Tokens, o.Tokens), Lower(s.Time, o.Time)}
}

// Lower returns the lower one of two limits, of which 0 is none.
func Lower[T int | float64 | time.Duration](a, b T) T {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// maxMinutes is the longest limit of time, a year; a longer one counts as that.
const maxMinutes = 366 * 24 * 60

// Minutes returns a limit of time in minutes as a duration of at least a nanosecond, and
// 0 for 0.
func Minutes(m float64) time.Duration {
	if m <= 0 {
		return 0
	}
	return max(1, time.Duration(min(m, maxMinutes)*float64(time.Minute)))
}

// use returns the limit of a kind and how much of it is used.
func (s Spend) use(kind protocol.LimitKind, where protocol.LimitPlace, limit Spend) protocol.LimitUse {
	u := protocol.LimitUse{Kind: kind, Where: where}
	switch kind {
	case protocol.LimitCost:
		u.Used, u.Limit = s.USD, limit.USD
	case protocol.LimitTokens:
		u.Used, u.Limit = float64(s.Tokens), float64(limit.Tokens)
	case protocol.LimitTime:
		u.Used, u.Limit = s.Time.Minutes(), limit.Time.Minutes()
	}
	return u
}

// uses returns the limits that are set, and how much of each is used.
func (s Spend) uses(where protocol.LimitPlace, limit Spend) (list []protocol.LimitUse) {
	for _, kind := range []protocol.LimitKind{protocol.LimitCost, protocol.LimitTokens, protocol.LimitTime} {
		if u := s.use(kind, where, limit); u.Limit > 0 {
			list = append(list, u)
		}
	}
	return list
}

// Budget is what a turn may use together with the sub-agents that work for it: what
// they use counts in each budget above theirs. A turn looks before each call of a model
// and before each group of tools, so cost and tokens are overstepped by one step at most, and
// by one of each turn where several share them. The end of its time ends the turn at once
// ([loop.bound]). It may be used by any number of goroutines at
// once.
type Budget struct {
	above *Budget
	day   *day // of the topmost budget of a day, nil of a turn's

	mu    sync.Mutex // no other lock is taken with it held
	limit Spend
	spent Spend // Time is that of a day alone
	clock clock
}

// day is what the budget of a day has beside that of a turn.
type day struct {
	record func(Spend) error

	// mu is held while record works, so that amounts are recorded one after the other; it
	// is taken before that of the budget.
	mu   sync.Mutex
	owed Spend // counted, and not recorded yet
}

// NewBudget makes the budget of a run; above is that of the turn that it works for, or
// that of a day, nil for none.
func NewBudget(above *Budget) *Budget { return &Budget{above: above} }

// NewDay makes the budget of all automated turns of a day, to be above those of turns that
// work for no other. Spent is what was recorded of the day before, so that a host that
// starts again continues to count. Record makes an amount durable, before the next step of
// any turn begins; it is called by the goroutines of turns, one call at a time. While it
// fails, the amount stays owed and is tried again, and every turn below ends before its
// next step. A host that is killed has not recorded the step that ran, of each turn one
// at most. A turn that runs over midnight counts in the day in which it began. Time
// counts with each answer of a model, and up to now where the day limits it; that of a
// sub-agent is within that of the turn that it works for.
func NewDay(limit, spent Spend, record func(Spend) error) *Budget {
	return &Budget{limit: limit, spent: spent, day: &day{record: record}}
}

// begin sets the limits of a new turn, which has used nothing yet.
func (b *Budget) begin(limit Spend, now func() time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit, b.spent = limit, Spend{}
	b.clock.begin(now)
}

// end stops the clock of a turn: time counts no more, though sub-agents in the background
// may go on.
func (b *Budget) end() {
	b.mu.Lock()
	b.clock.end()
	b.mu.Unlock()
	if b.above != nil && b.above.timed() {
		b.above.add(Spend{Time: b.uncharged()})
	}
}

// Wait says that a person is waited for, during which the time of this budget alone does
// not count, and done, which may be called more than once, that it counts again. Of a nil
// budget, as of the run of a command, no time counts.
func (b *Budget) Wait() (done func()) {
	if b == nil {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock.pause()
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.clock.resume()
	})
}

// spend counts what a call used, here and above. What a day's budget cannot record stays
// owed; [Budget.reached] says so.
func (b *Budget) spend(s Spend) {
	for ; b != nil; b = b.above {
		if b.above != nil && b.above.day != nil {
			b.add(s)
			s.Time += b.uncharged()
			continue
		}
		b.add(s)
	}
}

// add counts an amount, and has a day's recorded.
func (b *Budget) add(s Spend) {
	if b.day != nil {
		b.day.mu.Lock()
		defer b.day.mu.Unlock()
		b.day.owed = b.day.owed.Plus(s)
		defer func() { _ = b.settle() }() // who begins a step tries again, and says it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = b.spent.Plus(s)
}

// settle records what is owed. day.mu is held.
func (b *Budget) settle() error {
	if b.day.owed == (Spend{}) {
		return nil
	}
	err := b.day.record(b.day.owed)
	if err == nil {
		b.day.owed = Spend{}
	}
	return err
}

// timed reports whether it is a day's budget that limits time.
func (b *Budget) timed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.day != nil && b.limit.Time > 0
}

// uncharged returns the time that the day above has not been told of, and notes that it is.
func (b *Budget) uncharged() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.clock.elapsed()
	d := all - b.clock.charged
	b.clock.charged = all
	return d
}

// now returns what was used until now, and its limits.
func (b *Budget) now() (spent, limit Spend) {
	b.mu.Lock()
	defer b.mu.Unlock()
	spent = b.spent
	spent.Time += b.clock.elapsed()
	return spent, b.limit
}

// Spent returns what was used until now.
func (b *Budget) Spent() Spend {
	spent, _ := b.now()
	return spent
}

// left returns how long the turn may still run, by its own limit and those above, and
// reports whether its time is limited at all.
func (b *Budget) left() (d time.Duration, limited bool) {
	var pending time.Duration // that the day above has not been told of
	for at := b; at != nil; at = at.above {
		spent, limit := at.now()
		if at.day != nil {
			spent.Time += pending
		}
		if limit.Time > 0 && (!limited || limit.Time-spent.Time < d) {
			d, limited = limit.Time-spent.Time, true
		}
		at.mu.Lock()
		pending = at.clock.elapsed() - at.clock.charged
		at.mu.Unlock()
	}
	return d, limited
}

// where returns whose limits those of b are for the turn of own.
func (b *Budget) where(own *Budget) protocol.LimitPlace {
	switch {
	case b == own:
		return protocol.LimitOfTurn
	case b.day != nil:
		return protocol.LimitOfDay
	}
	return protocol.LimitAbove
}

// Uses returns the limits that count for the turn, its own first, and how much of each is
// used.
func (b *Budget) Uses() (list []protocol.LimitUse) {
	for at := b; at != nil; at = at.above {
		spent, limit := at.now()
		list = append(list, spent.uses(at.where(b), limit)...)
	}
	return list
}

// check returns the first limit that is reached, here or above, nil for none. It fails
// when a day's budget cannot be recorded.
func (b *Budget) check() (*protocol.LimitUse, error) {
	for at := b; at != nil; at = at.above {
		if at.above != nil && at.above.timed() {
			at.above.add(Spend{Time: at.uncharged()})
		}
		if at.day != nil {
			at.day.mu.Lock()
			err := at.settle()
			at.day.mu.Unlock()
			if err != nil {
				return nil, err
			}
		}
	}
	list := b.Uses()
	if i := slices.IndexFunc(list, func(u protocol.LimitUse) bool { return u.Used >= u.Limit }); i >= 0 {
		return &list[i], nil
	}
	return nil, nil
}

// automated reports whether a day's budget is above: nobody watches.
func (b *Budget) automated() bool {
	return b != nil && (b.day != nil || b.above.automated())
}

// limitsCost reports whether dollars are limited, here or above.
func (b *Budget) limitsCost() bool {
	for ; b != nil; b = b.above {
		if _, limit := b.now(); limit.USD > 0 {
			return true
		}
	}
	return false
}

// reached says that a limit is reached, and how to raise it: of an automated run in the
// configuration, of others by flags too.
func reached(u protocol.LimitUse, automated bool) *protocol.Error {
	codes := map[protocol.LimitKind]protocol.Code{protocol.LimitCost: protocol.CodeCostLimit, protocol.LimitTokens: protocol.CodeTokenLimit, protocol.LimitTime: protocol.CodeTimeLimit}
	raise := map[protocol.LimitKind]string{
		protocol.LimitCost:   "raise --max-budget-usd (options.maxBudgetUSD of a request) or limits.maxBudgetUSD, whichever is lower",
		protocol.LimitTokens: "raise --max-tokens (options.maxTokens of a request)",
		protocol.LimitTime:   "raise --max-minutes (options.maxMinutes of a request) or limits.maxTurnMinutes, whichever is lower",
	}[u.Kind]
	if automated {
		raise = map[protocol.LimitKind]string{
			protocol.LimitCost:   "raise automation.maxRunUSD or limits.maxBudgetUSD, whichever is lower",
			protocol.LimitTokens: "raise automation.maxRunTokens",
			protocol.LimitTime:   "raise automation.maxRunMinutes or limits.maxTurnMinutes, whichever is lower",
		}[u.Kind]
	}
	switch u.Where {
	case protocol.LimitAbove:
		return protocol.Errorf(codes[u.Kind], "The run stopped, because the turn that it works for has used %s; %s.", u, raise)
	case protocol.LimitOfDay:
		key := map[protocol.LimitKind]string{protocol.LimitCost: "automation.maxDayUSD", protocol.LimitTokens: "automation.maxDayTokens"}[u.Kind]
		if key == "" {
			return protocol.Errorf(codes[u.Kind], "The run stopped, because the automated runs of this day have used %s; wait for the next day.", u)
		}
		return protocol.Errorf(codes[u.Kind], "The run stopped, because the automated runs of this day have used %s; wait for the next day, or raise %s.", u, key)
	}
	return protocol.Errorf(codes[u.Kind], "The run stopped, because it has used %s; %s, or send another message to go on.", u, raise)
}

// unrecorded says that a day's budget cannot be recorded.
func unrecorded(err error) *protocol.Error {
	return protocol.Errorf(protocol.CodeStorageError, "The run stopped, because what it used cannot be recorded in the budget of the day: %v. Automated runs go on when it can be.", err)
}

// refusedFor is what the calls of a step are told that do not run because of a limit.
func refusedFor(end outcome) refusal {
	if end.limit == nil {
		return notRun("the budget of this run cannot be recorded.")
	}
	return notRun("the " + map[protocol.LimitKind]string{protocol.LimitCost: "cost", protocol.LimitTokens: "token", protocol.LimitTime: "time"}[end.limit.Kind] +
		" limit of this run is reached.")
}

// Unpriced returns why a limit in dollars does not hold for a model, nil where its price is
// known. It is to be asked before anything is set up that runs while nobody watches.
func Unpriced(m model.Info) *protocol.Error {
	if m.Priced() {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalidRequest, "The price of %s is not known, so a limit in dollars cannot hold for it; set its price in the configuration (models.<alias>.price), or limit tokens and minutes.", m.Ref)
}

// reached reports whether a limit is reached, or cannot be kept, and how the run ends then.
func (l *loop) reached() (outcome, bool) {
	use, err := l.Budget.check()
	switch {
	case err != nil:
		return outcome{terminal: protocol.TerminalStorageError, err: unrecorded(err)}, true
	case use != nil:
		return outcome{protocol.TerminalBudget, reached(*use, l.Budget.automated()), use}, true
	}
	return outcome{}, false
}

// mayStep reports whether a model may be called, and how the run ends when it may not. A
// person is told of a limit in dollars that does not count the model; where nobody
// watches, the run ends instead.
func (l *loop) mayStep() (outcome, bool) {
	if end, over := l.reached(); over {
		return end, false
	}
	err := Unpriced(l.model.Info())
	switch {
	case err == nil || !l.Budget.limitsCost():
	case l.Budget.automated():
		return outcome{terminal: protocol.TerminalBudget, err: &protocol.Error{Code: protocol.CodeCostLimit, Message: "The run stopped. " + err.Message}}, false
	default:
		l.Unpriced(l.model.Info().Ref, err.Message)
	}
	return outcome{}, true
}

// mayFall reports whether the fallback model may take over: not one without a price where a
// limit in dollars is all that holds a run.
func (l *loop) mayFall() bool {
	return l.Fallback != nil && l.model != l.Fallback &&
		(l.Fallback.Info().Priced() || !l.Budget.automated() || !l.Budget.limitsCost())
}
