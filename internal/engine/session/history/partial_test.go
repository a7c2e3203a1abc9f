package history

import (
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
)

// partly is build with a builder that keeps a part of a long path, and whole is what one
// gives that keeps all of it.
func partly(t *testing.T, s *talk, w Window) (part, whole Context) {
	t.Helper()
	b, err := New(Config{Log: s.log, Window: w.Size})
	if err != nil {
		t.Fatal(err)
	}
	if part, err = b.Build(t.Context(), s.leaf, w); err != nil {
		t.Fatal(err)
	}
	return part, s.buildIn(t, nil, w)
}

// endless is a path of so many steps of about 10,000 bytes, which writes a file now and
// then.
func endless(steps int) *talk {
	s := newTalk()
	s.item(protocol.ItemMemory, "remember this")
	for i := range steps {
		id := fmt.Sprintf("c%04d", i)
		call := id
		if i%7 == 0 {
			call += ":Write"
		}
		s.user(fmt.Sprintf("step %d", i))
		s.say("", call)
		s.result(id, fmt.Sprintf("of %d ", i)+strings.Repeat("word ", 2000))
		s.say("done")
	}
	return s
}

// about reports whether two numbers of tokens differ by at most a hundredth.
func about(a, b int) bool { return max(a-b, b-a)*100 <= b }

func TestALongPathIsPlannedFromItsNewestPartAsFromAllOfIt(t *testing.T) {
	w := Window{Size: 8000, System: 100, Tools: 100, MaxOutput: 2000} // 256 KB are kept
	for name, s := range map[string]*talk{"plain": endless(300), "behind a compaction": func() *talk {
		s := endless(40)
		through := s.leaf
		s.user("on")
		s.say("yes")
		s.add(&protocol.Compact{Summary: "What was before.", CompactedThrough: through, Details: &protocol.CompactDetails{ModifiedFiles: []string{"/early.go"}}})
		for i := range 200 {
			s.user(fmt.Sprintf("later %d", i))
			s.say(strings.Repeat("word ", 2000))
		}
		return s
	}()} {
		t.Run(name, func(t *testing.T) {
			part, whole := partly(t, s, w)
			if !part.Partial() || whole.Partial() {
				t.Fatalf("partial: %t and %t", part.Partial(), whole.Partial())
			}
			if n := len(part.elems) + part.Older(); n != len(whole.elems) || len(part.elems) > 130 {
				t.Errorf("%d messages and %d before them, of %d", len(part.elems), part.Older(), len(whole.elems))
			}
			if !about(part.Tokens, whole.guess) {
				t.Errorf("%d tokens, and %d", part.Tokens, whole.guess)
			}
			if asJSON(t, part.Told) != asJSON(t, whole.Told) {
				t.Errorf("told: %s and %s", asJSON(t, part.Told), asJSON(t, whole.Told))
			}
			for _, harder := range []bool{false, true} {
				a, b := mustPlan(t, part, w, harder), mustPlan(t, whole, w, harder)
				if a.CompactedThrough != b.CompactedThrough || a.TurnMessageID != b.TurnMessageID || asJSON(t, a.Details) != asJSON(t, b.Details) || a.PreviousSummary != b.PreviousSummary {
					t.Errorf("harder %t: %s, %q, %s and %s, %q, %s", harder, a.CompactedThrough, a.TurnMessageID, asJSON(t, a.Details), b.CompactedThrough, b.TurnMessageID, asJSON(t, b.Details))
				}
				if x, y := SummaryRequest(a, "").Messages[0].PlainText(), SummaryRequest(b, "").Messages[0].PlainText(); x != y {
					t.Errorf("harder %t: the requests differ:\n%.400s\n%.400s", harder, x, y)
				}
			}
		})
	}
}

func TestAPathWhoseResultsAreOmittedCountsAsItIsSent(t *testing.T) {
	w := Window{Size: 8000, System: 100, Tools: 100, MaxOutput: 2000}
	s := endless(300)
	cut := s.last.ParentID // the last result
	b, err := New(Config{Log: s.log, Window: w.Size})
	if err != nil {
		t.Fatal(err)
	}
	before, err := b.Build(t.Context(), s.leaf, w)
	if err != nil || !before.Partial() {
		t.Fatal(err, before.Partial())
	}
	s.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: cut})
	b.Extend(s.last)
	after, err := b.Build(t.Context(), s.leaf, w)
	if err != nil {
		t.Fatal(err)
	}
	fresh, whole := partly(t, s, w)
	if after.Tokens != fresh.Tokens || !about(after.Tokens, whole.guess) || after.Tokens*5 > before.Tokens {
		t.Errorf("%d tokens, built anew %d, all %d; before %d", after.Tokens, fresh.Tokens, whole.guess, before.Tokens)
	}
}

func TestHooksAreGivenTheWholeOfALongPath(t *testing.T) {
	s := endless(300)
	b, err := New(Config{Log: s.log, Window: 8000, Hooks: unchanged{}})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := b.Build(t.Context(), s.leaf, Window{Size: 8000}); err != nil || c.Partial() {
		t.Error(err, c.Partial())
	}
}

func TestABranchThatIsLeftIsSummarisedFromItsNewestPart(t *testing.T) {
	s := endless(300)
	w := Window{Size: 8000, System: 100, Tools: 100, MaxOutput: 2000}
	req, ok, err := BranchRequest(t.Context(), s.log, s.leaf, "", w, "")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	text := req.Messages[0].PlainText()
	if !strings.Contains(text, "older messages left out]") || !strings.Contains(text, "of 299 ") || strings.Contains(text, "of 100 ") {
		t.Errorf("%.400s", text)
	}
}
