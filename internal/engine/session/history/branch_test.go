package history

import (
	"strings"
	"testing"

	"scorel/protocol"
)

// branchText is the request for the summary of a branch, "" where there is none.
func (s *talk) branchText(t *testing.T, base protocol.EventID, w Window) string {
	t.Helper()
	req, ok, err := BranchRequest(t.Context(), s.log, s.leaf, base, w, "be short")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return ""
	}
	if n := sizeOf(req) + req.MaxTokens; n > w.Threshold() {
		t.Errorf("the request and its answer have %d tokens, the threshold is %d", n, w.Threshold())
	}
	return req.Messages[0].PlainText()
}

func TestTheSummaryOfABranchTellsOfWhatStandsBehindTheFork(t *testing.T) {
	s := newTalk()
	s.user("before")
	base := s.say("the fork")
	if got := s.branchText(t, base, small); got != "" {
		t.Errorf("of nothing: %s", got)
	}
	s.item(protocol.ItemMemory, "a note")
	if got := s.branchText(t, base, small); got != "" {
		t.Errorf("of what only the harness says: %s", got)
	}
	s.user("on the branch")
	s.say("I look", "a:Read")
	s.result("a", "found")
	s.steer("look closer")
	got := s.branchText(t, base, small)
	for text, want := range map[string]bool{"[User] on the branch\n[Assistant] I look": true, "found\n[User] look closer\n": true, "be short": true, "before": false, "the fork": false, "a note": false} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q is in it: %v: %s", text, !want, got)
		}
	}
	if all := s.branchText(t, "", small); !strings.Contains(all, "[User] before") {
		t.Errorf("of the whole path: %s", all)
	}
}

func TestTheSummaryOfABranchThatWasCompactedHasThatSummaryAndItsTail(t *testing.T) {
	s := newTalk()
	base := s.user("before")
	s.user("old one")
	through := s.say("old answer")
	s.user("kept")
	s.compact(through, "", "They began.")
	s.user("new")
	got := s.branchText(t, base, small)
	if strings.Contains(got, "old answer") || strings.Contains(got, "before") || strings.Index(got, "They began.") > strings.Index(got, "kept") || !strings.Contains(got, "[User] new") {
		t.Errorf("%s", got)
	}
}

func TestALongBranchFitsTheWindow(t *testing.T) {
	s := newTalk()
	base := s.user("before")
	for range 200 {
		s.user(tokens(400))
		s.say(tokens(400))
	}
	s.user("the newest")
	if got := s.branchText(t, base, small); !strings.Contains(got, "the newest") || !strings.Contains(got, "older messages left out") {
		t.Errorf("%.300s", got)
	}
}

func TestPartsAreCorrectedToTheirSum(t *testing.T) {
	for _, sum := range []int{0, 1, 7, 100, 1_000_003} {
		got := 0
		for _, p := range fit([]protocol.ContextPart{{Name: "a", Tokens: 3}, {Name: "b"}, {Name: "c", Tokens: 11}, {Name: "d", Tokens: 5}}, sum) {
			got += p.Tokens
			if p.Name == "b" || p.Tokens < 0 {
				t.Errorf("of %d: %+v", sum, p)
			}
		}
		if got != sum {
			t.Errorf("they add up to %d, not %d", got, sum)
		}
	}
}
