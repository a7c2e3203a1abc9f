package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// spending is what each step of these tests uses.
const spending = `"usage":{"inputTokens":60,"outputTokens":10,"cacheReadTokens":20,"cacheWriteTokens":10,"costUSD":0.5}`

// working is a script whose model calls the tool again and again.
func working() []string {
	return []string{`{"again":true,"do":[{"call":"Work","input":{}}],` + spending + `}`}
}

// steps counts the answers of a trial.
func (tr *trial) steps() (n int) {
	for _, m := range tr.desk.messages {
		if m.Role == protocol.RoleAssistant && !m.Partial {
			n++
		}
	}
	return n
}

// limitCases are limits that are reached after two steps of which each costs half a dollar,
// a hundred tokens, and a minute; time ends within a step.
var limitCases = []struct {
	kind  protocol.LimitKind
	limit Spend
	code  protocol.Code
	used  float64
	say   string
}{
	{protocol.LimitCost, Spend{USD: 0.9}, protocol.CodeCostLimit, 1, "$1.0000 of $0.9"},
	{protocol.LimitTokens, Spend{Tokens: 150}, protocol.CodeTokenLimit, 200, "200 of 150 tokens"},
	{protocol.LimitTime, Spend{Time: 90 * time.Second}, protocol.CodeTimeLimit, 1.5, "1.5 of 1.5 minutes"},
}

// spender is a trial whose tool takes a minute, below above.
func spender(t *testing.T, above *Budget, limit Spend) *trial {
	t.Helper()
	work := newGadget("Work", func(ctx context.Context, _ json.RawMessage, _ func(string)) (tool.Result, error) {
		return tool.Result{Content: []protocol.Block{protocol.Text("worked")}}, Sleep(ctx, time.Minute)
	})
	tr := newTrial(t, []tool.Tool{work}, working()...)
	tr.run.Limits = Limits{MaxSteps: 50, Spend: limit}
	tr.run.Budget = NewBudget(above)
	return tr
}

// reaches asserts how a run ended at a limit.
func (tr *trial) reaches(end *protocol.RuntimeEnd, want protocol.LimitUse, code protocol.Code, say string) {
	tr.t.Helper()
	if end.Terminal != protocol.TerminalBudget || end.Reason != protocol.EndCompleted || end.Limit == nil || *end.Limit != want {
		tr.t.Fatalf("the end: %+v %+v %v, want %+v", end, end.Limit, end.Error, want)
	}
	if end.Error == nil || end.Error.Code != code || !strings.Contains(end.Error.Message, say) {
		tr.t.Errorf("the error: %+v, want %s with %q", end.Error, code, say)
	}
}

func TestEachLimitEndsATurnAfterTheStepThatReachesIt(t *testing.T) {
	for _, c := range limitCases {
		t.Run(string(c.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := spender(t, nil, c.limit)
				end := tr.execute(t.Context())
				limit := c.limit.uses(protocol.LimitOfTurn, c.limit)[0].Limit
				tr.reaches(end, protocol.LimitUse{Kind: c.kind, Where: protocol.LimitOfTurn, Used: c.used, Limit: limit}, c.code, c.say)
				if tr.steps() != 2 {
					t.Errorf("%d steps, want 2", tr.steps())
				}
				results := tr.results()
				if len(results) != 2 || strings.Contains(results[0], "Not run") {
					t.Errorf("results %q", results)
				}
				// What a call did while the time ended is kept; calls that had not begun are refused.
				if refused := strings.Contains(results[1], "Not run: the "); refused != (c.kind != protocol.LimitTime) {
					t.Errorf("the last result: %q", results[1])
				}
			})
		})
	}
}

func TestASubAgentEndsAtTheLimitOfTheTurnItWorksFor(t *testing.T) {
	for _, c := range limitCases {
		t.Run(string(c.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent := NewBudget(nil)
				parent.begin(c.limit, time.Now)
				tr := spender(t, parent, Spend{})
				end := tr.execute(t.Context())
				limit := c.limit.uses(protocol.LimitAbove, c.limit)[0].Limit
				tr.reaches(end, protocol.LimitUse{Kind: c.kind, Where: protocol.LimitAbove, Used: c.used, Limit: limit}, c.code, c.say)
				if use, err := parent.check(); err != nil || use == nil || use.Where != protocol.LimitOfTurn || use.Used != c.used {
					t.Errorf("the turn above: %+v %v", use, err)
				}
			})
		})
	}
}

func TestADayEndsItsTurnsAndCountsOnAfterARestart(t *testing.T) {
	for _, c := range limitCases {
		t.Run(string(c.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var recorded Spend
				record := func(s Spend) error { recorded = recorded.Plus(s); return nil }
				// One step in the host before, that ends by itself.
				first := spender(t, NewDay(c.limit, Spend{}, record), Spend{})
				first.run.Model = newTrial(t, nil, `{"do":[{"call":"Work","input":{}}],"usage":{"inputTokens":0,"outputTokens":0}}`, `{"do":[{"text":"Done."}],`+spending+`}`).run.Model
				if end := first.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
					t.Fatalf("the first end: %+v %v", end, end.Error)
				}
				if want := (Spend{0.5, 100, time.Minute}); recorded != want {
					t.Fatalf("recorded %+v, want %+v", recorded, want)
				}
				tr := spender(t, NewDay(c.limit, recorded, record), Spend{})
				end := tr.execute(t.Context())
				limit := c.limit.uses(protocol.LimitOfDay, c.limit)[0].Limit
				tr.reaches(end, protocol.LimitUse{Kind: c.kind, Where: protocol.LimitOfDay, Used: c.used, Limit: limit}, c.code, "automated runs of this day have used "+c.say)
				if tr.steps() != 1 {
					t.Errorf("%d steps after the restart, want 1", tr.steps())
				}
				if use := recorded.use(c.kind, "", Spend{}); use.Used != c.used {
					t.Errorf("recorded %+v, want %v", recorded, c.used)
				}
				// A further turn does not begin.
				again := spender(t, NewDay(c.limit, recorded, record), Spend{})
				if end := again.execute(t.Context()); end.Terminal != protocol.TerminalBudget || again.steps() != 0 {
					t.Errorf("a further turn: %+v, %d steps", end, again.steps())
				}
			})
		})
	}
}

func TestWhatSubAgentsUseIsRecordedOnceOfTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recorded Spend
		day := NewDay(Spend{Time: time.Hour}, Spend{}, func(s Spend) error { recorded = recorded.Plus(s); return nil })
		turn := NewBudget(day)
		turn.begin(Spend{}, time.Now)
		for range 2 { // sub-agents one after the other
			agent := NewBudget(turn)
			agent.begin(Spend{}, time.Now)
			time.Sleep(time.Minute)
			agent.spend(Spend{USD: 1, Tokens: 10})
			agent.end()
		}
		turn.end()
		if want := (Spend{2, 20, 2 * time.Minute}); recorded != want {
			t.Errorf("recorded %+v, want %+v", recorded, want)
		}
	})
}

func TestATurnEndsBeforeItsNextStepWhenTheDayCannotBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails error = errors.New("no space left on device")
		var recorded Spend
		day := NewDay(Spend{}, Spend{}, func(s Spend) error {
			if fails == nil {
				recorded = recorded.Plus(s)
			}
			return fails
		})
		tr := spender(t, day, Spend{})
		end := tr.execute(t.Context())
		if end.Terminal != protocol.TerminalStorageError || end.Error == nil || end.Error.Code != protocol.CodeStorageError ||
			!strings.Contains(end.Error.Message, "cannot be recorded in the budget of the day: no space left on device") {
			t.Fatalf("the end: %+v %v", end, end.Error)
		}
		if tr.steps() != 1 || !strings.Contains(tr.results()[0], "cannot be recorded") {
			t.Errorf("%d steps, results %q", tr.steps(), tr.results())
		}
		// No other turn of the day begins, until the amount that is owed is recorded.
		other := spender(t, day, Spend{})
		if end := other.execute(t.Context()); end.Terminal != protocol.TerminalStorageError || other.steps() != 0 {
			t.Errorf("another turn: %+v, %d steps", end, other.steps())
		}
		fails = nil
		third := spender(t, day, Spend{USD: 0.1})
		if end := third.execute(t.Context()); end.Terminal != protocol.TerminalBudget || recorded.USD != 1 || recorded.Tokens != 200 {
			t.Errorf("a third turn: %+v, recorded %+v", end, recorded)
		}
	})
}

func TestCallsThatHaveNotBegunWhenTheTimeEndsDoNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := spender(t, nil, Spend{Time: 30 * time.Second})
		tr.run.Model = newTrial(t, nil, `{"do":[{"call":"Work","id":"a","input":{}},{"call":"Work","id":"b","input":{}}]}`).run.Model
		end := tr.execute(t.Context())
		want := []string{"a true worked\nEnded, because the time limit of this run is reached", "b true Not run: the time limit of this run is reached."}
		if got := tr.results(); fmt.Sprint(got) != fmt.Sprint(want) || end.Terminal != protocol.TerminalBudget {
			t.Errorf("results %q, end %+v", got, end)
		}
	})
}

func TestTimeInWhichAPersonIsWaitedForDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(nil)
		b.begin(Spend{Time: 3 * time.Minute}, time.Now)
		time.Sleep(time.Minute)
		first := b.Wait()
		time.Sleep(time.Hour)
		second := b.Wait()
		time.Sleep(time.Hour)
		first()
		first() // once more is the same
		time.Sleep(time.Hour)
		second()
		time.Sleep(time.Minute)
		if use, err := b.check(); use != nil || err != nil {
			t.Errorf("two minutes reach the limit: %+v %v", use, err)
		}
		if uses := b.Uses(); len(uses) != 1 || uses[0].Used != 2 {
			t.Errorf("used %+v, want 2 minutes", uses)
		}
		time.Sleep(time.Minute)
		if use, _ := b.check(); use == nil || use.Used != 3 {
			t.Errorf("three minutes: %+v", use)
		}
		b.end()
		time.Sleep(time.Hour)
		if uses := b.Uses(); uses[0].Used != 3 {
			t.Errorf("time counts after the end: %+v", uses)
		}
	})
}

func TestTheLowerOfTwoLimitsCounts(t *testing.T) {
	a, b := Spend{USD: 1, Time: time.Minute}, Spend{USD: 2, Tokens: 5}
	if got, want := a.Tighter(b), (Spend{1, 5, time.Minute}); got != want || b.Tighter(a) != want {
		t.Errorf("%+v and %+v, want %+v", got, b.Tighter(a), want)
	}
	if Minutes(0) != 0 || Minutes(1.5) != 90*time.Second || Minutes(1e300) != maxMinutes*time.Minute || Minutes(1e-300) <= 0 {
		t.Errorf("minutes: %v %v %v %v", Minutes(0), Minutes(1.5), Minutes(1e300), Minutes(1e-300))
	}
}

// TestNoLimitIsOversteppedByMoreThanOneStep plays random steps in random turns of a day,
// with hosts that end between them.
func TestNoLimitIsOversteppedByMoreThanOneStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.Custom(func(t *rapid.T) Spend {
			return Spend{float64(rapid.IntRange(0, 64).Draw(t, "usd")) / 16, rapid.IntRange(0, 50).Draw(t, "tokens"), time.Duration(rapid.IntRange(0, 60).Draw(t, "s")) * time.Second}
		})
		dayLimit, turnLimit := amounts.Draw(t, "day"), amounts.Draw(t, "turn")
		now := time.Unix(0, 0)
		clock := func() time.Time { return now }
		var recorded, largest Spend
		fails := false
		record := func(s Spend) error {
			if fails {
				return errors.New("it fails")
			}
			recorded = recorded.Plus(s)
			return nil
		}
		day := NewDay(dayLimit, recorded, record)
		// Before its last step no limit was reached, so all of it is below the limit and a step.
		over := func(s, limit Spend) bool {
			return limit.USD > 0 && s.USD >= limit.USD+largest.USD || limit.Tokens > 0 && s.Tokens >= limit.Tokens+largest.Tokens ||
				limit.Time > 0 && s.Time >= limit.Time+largest.Time
		}
		for range rapid.IntRange(1, 6).Draw(t, "turns") {
			turn := NewBudget(day)
			turn.begin(turnLimit, clock)
			var spent Spend
			for range rapid.IntRange(1, 10).Draw(t, "steps") {
				fails = rapid.IntRange(0, 9).Draw(t, "fails") == 0
				if use, err := turn.check(); use != nil || err != nil {
					break
				}
				step := amounts.Draw(t, "step")
				largest = Spend{max(largest.USD, step.USD), max(largest.Tokens, step.Tokens), max(largest.Time, step.Time)}
				spent = spent.Plus(step)
				now = now.Add(step.Time)
				at := turn
				if rapid.Bool().Draw(t, "by a sub-agent") {
					at = NewBudget(turn)
					at.begin(Spend{}, clock)
				}
				at.spend(Spend{USD: step.USD, Tokens: step.Tokens})
			}
			fails = false
			turn.end()
			_, _ = day.check() // a host that ends in order has recorded all
			if over(spent, turnLimit) || over(recorded, dayLimit) {
				t.Fatalf("a turn used %+v of %+v, and its day %+v of %+v; the largest step is %+v", spent, turnLimit, recorded, dayLimit, largest)
			}
			if rapid.Bool().Draw(t, "restart") {
				day = NewDay(dayLimit, recorded, record)
			}
		}
	})
}

// unpriced is a model whose price nobody knows.
type unpriced struct{ model.Model }

func (u unpriced) Info() model.Info {
	i := u.Model.Info()
	i.PriceKnown, i.Ref = false, "local/new"
	return i
}

func TestALimitInDollarsIsNotSilentlyNoneForAModelWithoutAPrice(t *testing.T) {
	for name, c := range map[string]struct {
		above *Budget
		limit Spend
		told  bool
		ends  bool
	}{
		"no limit in dollars":         {limit: Spend{Tokens: 1000}},
		"the turn's limit":            {limit: Spend{USD: 1}, told: true},
		"the limit of the turn above": {above: begun(Spend{USD: 1}), told: true},
		"the run's in a day":          {above: NewDay(Spend{}, Spend{}, func(Spend) error { return nil }), limit: Spend{USD: 1}, ends: true},
		"the day's":                   {above: NewDay(Spend{USD: 1}, Spend{}, func(Spend) error { return nil }), ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, nil, `{"do":[{"text":"Hello."}]}`)
			tr.run.Model = unpriced{tr.run.Model}
			tr.run.Limits.Spend, tr.run.Budget = c.limit, NewBudget(c.above)
			var told []string
			tr.run.Unpriced = func(ref, sentence string) { told = append(told, ref+": "+sentence) }
			end := tr.execute(t.Context())
			if (end.Terminal == protocol.TerminalBudget) != c.ends || (end.Terminal == protocol.TerminalCompleted) == c.ends {
				t.Errorf("the end: %+v %v", end, end.Error)
			}
			if c.ends && (tr.steps() != 0 || !strings.Contains(end.Error.Message, "The price of local/new is not known")) {
				t.Errorf("%d steps, %v", tr.steps(), end.Error)
			}
			if (len(told) > 0) != c.told || c.told && !strings.HasPrefix(told[0], "local/new: The price of local/new is not known") {
				t.Errorf("told %q", told)
			}
		})
	}
}

func begun(limit Spend) *Budget {
	b := NewBudget(nil)
	b.begin(limit, time.Now)
	return b
}

func TestAnAutomatedTurnDoesNotFallBackToAModelWithoutAPrice(t *testing.T) {
	const overloaded = `{"do":[{"error":{"status":529}}]}`
	for name, c := range map[string]struct {
		above    *Budget
		fallback string
	}{
		"a person's turn":  {nil, "local/new"},
		"an automated one": {NewDay(Spend{USD: 5}, Spend{}, func(Spend) error { return nil }), "main"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, nil, overloaded, overloaded, overloaded, `{"do":[{"text":"Back."}]}`)
			tr.run.Fallback = unpriced{newTrial(t, nil, `{"do":[{"text":"From the other."}]}`).run.Model}
			tr.run.Budget = NewBudget(c.above)
			end := tr.execute(t.Context())
			last := tr.desk.messages[len(tr.desk.messages)-1].PlainText()
			want := map[string]string{"local/new": "From the other.", "main": "Back."}[c.fallback]
			if end.Terminal != protocol.TerminalCompleted || last != want {
				t.Errorf("the answer is %q, want %q: %+v %v", last, want, end, end.Error)
			}
		})
	}
}
