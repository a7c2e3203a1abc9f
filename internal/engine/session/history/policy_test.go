package history

import (
	"fmt"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

func TestProgress(t *testing.T) {
	var p Progress
	next := func(tokens int, want Decision) {
		t.Helper()
		if got := p.Next(tokens, small); got != want {
			t.Fatalf("Next(%d) = %s, want %s", tokens, got, want)
		}
	}
	next(16_000, Call)
	next(16_001, Compact)
	p.Compacted(Compact, 17_000, 9000, small)
	next(9000, Call)
	next(17_000, Compact)
	// 1,500 is 10% of the room of 15,000.
	p.Compacted(Compact, 17_000, 15_501, small)
	next(15_501, CompactHarder)
	p.Compacted(CompactHarder, 15_501, 14_001, small)
	next(14_001, Call)
	next(17_000, Compact)
	p.Compacted(Compact, 17_000, 17_000, small)
	next(17_000, CompactHarder)
	p.Compacted(CompactHarder, 17_000, 18_000, small)
	next(17_000, Call)
	p.Accepted()
	next(19_000, Call)
	if got := p.TooLong(); got != GiveUp {
		t.Fatalf("TooLong = %s", got)
	}
	if !strings.Contains(p.Reason(), "less than a tenth") {
		t.Errorf("reason: %s", p.Reason())
	}
	p.UserMessage()
	next(19_000, Compact)
}

func TestRefusedRequestIsCompactedHarderOnce(t *testing.T) {
	var p Progress
	if got := p.TooLong(); got != CompactHarder {
		t.Fatalf("first: %s", got)
	}
	p.Compacted(CompactHarder, 20_000, 5000, small)
	if got := p.TooLong(); got != GiveUp {
		t.Fatalf("second: %s", got)
	}
	if !strings.Contains(p.Reason(), "even after") {
		t.Errorf("reason: %s", p.Reason())
	}
	p.Accepted()
	if got := p.TooLong(); got != CompactHarder {
		t.Fatalf("after a call that went through: %s", got)
	}
}

func TestCompactionThatFreesNothingNeverCounts(t *testing.T) {
	var p Progress
	full := Window{Size: 1000, System: 900} // no room at all
	p.Compacted(Compact, 2000, 2000, full)
	if got := p.Next(2000, full); got != CompactHarder {
		t.Fatalf("Next = %s", got)
	}
	p.Compacted(CompactHarder, 2000, 2000, full)
	if got := p.Next(2000, full); got != Call {
		t.Fatalf("Next = %s", got)
	}
}

// host drives a turn as the real one does, with a provider that counts a quarter
// more than the estimate and refuses what is larger than the window.
type host struct {
	t           *testing.T
	s           *talk
	b           *Builder
	w           Window
	p           Progress
	compactions int
	shrinks     int
	largest     int // tokens of a summary request
}

func (h *host) append(f func()) {
	f()
	h.b.Extend(h.s.last)
}

func (h *host) real(c Context) int {
	n := h.w.System + h.w.Tools
	for i := range c.Messages {
		n += model.EstimateTokens(c.Messages[i])
	}
	return n * 5 / 4
}

func (h *host) build() Context {
	c, err := h.b.Build(h.t.Context(), h.s.leaf, h.w)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// compact makes a summary as long as it may be.
func (h *host) compact(c Context, d Decision) {
	cut, ok := Plan(c, h.w, d == CompactHarder)
	if !ok {
		h.p.Compacted(d, c.Tokens, c.Tokens, h.w)
		return
	}
	h.compactions++
	summary := cut.PreviousSummary
	if !cut.Reuse {
		req := SummaryRequest(cut, "")
		n := textTokens(len(req.System)) + model.EstimateTokens(req.Messages[0])
		h.largest = max(h.largest, n*5/4+req.MaxTokens)
		summary = tokens(cut.MaxSummaryTokens)
	}
	body := cut.Event(summary, nil)
	h.append(func() { h.s.add(body) })
	h.p.Compacted(d, body.TokensBefore, body.TokensAfter, h.w)
}

// step makes one model call and its tool; false when the turn ends for want of room.
func (h *host) step(id string, answer protocol.Message, output string) bool {
	for tries := 0; ; tries++ {
		if tries > 8 {
			h.t.Fatal("compaction runs in circles")
		}
		c := h.build()
		if cut, ok := PlanShrink(c, h.w); ok {
			h.shrinks++
			h.append(func() { h.s.add(&cut) })
			c = h.build()
			if _, again := PlanShrink(c, h.w); again {
				h.t.Fatal("shrinking runs in circles")
			}
		}
		if d := h.p.Next(c.Tokens, h.w); d != Call {
			h.compact(c, d)
			continue
		}
		used := h.real(c)
		if used > h.w.Size {
			if h.p.TooLong() == GiveUp {
				return false
			}
			h.compact(c, CompactHarder)
			continue
		}
		h.p.Accepted()
		answer.Usage = &protocol.Usage{InputTokens: used}
		break
	}
	h.append(func() { h.s.message(answer) })
	if id != "" {
		h.append(func() { h.s.result(id, output) })
	}
	return true
}

func newHost(t *testing.T, w Window) *host {
	s := newTalk()
	b, err := New(Config{Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	return &host{t: t, s: s, b: b, w: w}
}

func TestOnePromptWith300CallsRunsToItsEndInASmallWindow(t *testing.T) {
	h := newHost(t, small)
	h.append(func() { h.s.user("do all of it") })
	for i := range 300 {
		id := fmt.Sprintf("call%d", i)
		output := tokens(200 + i*37%2500)
		if i%90 == 89 {
			output = tokens(12_000)
		}
		if !h.step(id, answerOf("step "+id, id), output) {
			t.Fatalf("call %d: %s", i, h.p.Reason())
		}
	}
	if !h.step("", answerOf("all done"), "") {
		t.Fatal(h.p.Reason())
	}
	if h.compactions < 5 || h.compactions > 100 {
		t.Errorf("%d compactions", h.compactions)
	}
	if h.largest > small.Size {
		t.Errorf("a summary request of %d tokens for a window of %d", h.largest, small.Size)
	}
	c := h.build()
	if c.Messages[1].PlainText() != "do all of it" {
		t.Errorf("the turn's message is gone: %.200s", brief(c.Messages[:2]))
	}
	t.Logf("%d compactions, %d shrinks, largest summary request %d", h.compactions, h.shrinks, h.largest)
}

func TestTurnThatCannotShrinkEndsAndSaysWhy(t *testing.T) {
	h := newHost(t, small)
	h.append(func() { h.s.user("old") })
	var done protocol.EventID
	h.append(func() { done = h.s.say("done") })
	h.append(func() { h.s.user(tokens(40_000)) })
	if h.step("", answerOf("never"), "") {
		t.Fatal("a message larger than the window was sent")
	}
	if h.compactions > 2 {
		t.Errorf("%d compactions for nothing", h.compactions)
	}
	if h.p.Reason() == "" {
		t.Error("no reason")
	}
	// The next user message begins again.
	h.p.UserMessage()
	h.s.leaf = done
	h.append(func() { h.s.user("short") })
	if !h.step("", answerOf("fine"), "") {
		t.Errorf("after a rewind: %s", h.p.Reason())
	}
}

func TestShrinkingSparesTheNewestOutputAndHoldsItsBoundary(t *testing.T) {
	s := newTalk()
	s.user("work")
	for i := range 8 {
		id := fmt.Sprint("c", i)
		s.say("", id)
		s.result(id, tokens(1500))
	}
	c := s.buildIn(t, nil, small)
	cut, ok := PlanShrink(c, small)
	if !ok {
		t.Fatal("nothing was shrunk")
	}
	s.add(&cut)
	next := s.buildIn(t, nil, small)
	got := brief(next.Messages)
	for i := range 8 {
		omitted := strings.Contains(got, fmt.Sprintf(`result c%d: [tool result omitted] Read path "result:c%d"`, i, i))
		if omitted != (i < 6) { // 3,750 tokens are spared: c7 and c6
			t.Errorf("result c%d omitted: %v", i, omitted)
		}
	}
	if _, again := PlanShrink(next, small); again || next.Tokens >= c.Tokens {
		t.Errorf("%d tokens became %d, again: %v", c.Tokens, next.Tokens, again)
	}
	// The boundary stays where the event put it while the path grows.
	s.say("", "d")
	s.result("d", tokens(2500))
	if more := brief(s.buildIn(t, nil, small).Messages); !strings.HasPrefix(more, got) {
		t.Error("the bytes before the boundary changed")
	}
}

func TestShrinkingWaitsUntilItPays(t *testing.T) {
	for name, sizes := range map[string][]int{
		"below 60% of the threshold":        {1500, 1500, 1500, 1500},
		"less than 20% would be freed":      {2000, 9000},
		"results that nobody answered":      {200, 14_000},
		"bodies no longer than the note":    {5, 5, 5, 5, 5, 12_000},
		"only what the newest output spans": {100, 100, 2500, 12_000},
	} {
		s := newTalk()
		s.user("work")
		for i, n := range sizes {
			id := fmt.Sprint("c", i)
			s.say("", id)
			s.result(id, tokens(n))
		}
		if cut, ok := PlanShrink(s.buildIn(t, nil, small), small); ok {
			t.Errorf("%s: cut through %s", name, cut.ThroughEventID)
		}
	}
}

func TestContextCutOfAnotherBranchDoesNotCount(t *testing.T) {
	s := newTalk()
	s.user("work")
	s.say("", "a")
	a := s.result("a", tokens(500))
	at := s.leaf
	s.say("done")
	s.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: a})
	if got := brief(s.build(t, nil).Messages); !strings.Contains(got, "omitted") {
		t.Error("the cut does not count on its own path")
	}
	s.leaf = at
	s.say("other")
	if got := brief(s.build(t, nil).Messages); strings.Contains(got, "omitted") {
		t.Error("the cut counts on another path")
	}
}
