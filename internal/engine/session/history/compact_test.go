package history

import (
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
)

// small is a window of 32,000 tokens: the threshold is 16,000, the room 15,000,
// the tail 6,000.
var small = Window{Size: 32_000, System: 600, Tools: 400, MaxOutput: 8000}

// tokens is text of so many estimated tokens.
func tokens(n int) string { return strings.Repeat("word", n) }

func TestNumbersOfTheWindow(t *testing.T) {
	for _, c := range []struct {
		w                                                 Window
		threshold, room, tail, harder, summary, toolSpare int
	}{
		{Window{Size: 200_000, System: 5000, Tools: 5000}, 160_000, 150_000, 20_000, 10_000, 8000, 37_500},
		{Window{Size: 1_000_000}, 800_000, 800_000, 20_000, 10_000, 8000, 40_000},
		{small, 16_000, 15_000, 6000, 3000, 3000, 3750},
		{Window{Size: 64_000, System: 616, MaxOutput: 4000}, 47_616, 47_000, 18_800, 9400, 4000, 11_750},
		{Window{Size: 8000, System: 9000}, 4000, 0, 0, 0, 0, 0},
	} {
		got := []int{c.w.Threshold(), c.w.Room(), c.w.Tail(false), c.w.Tail(true), c.w.Summary(), c.w.Spare()}
		want := []int{c.threshold, c.room, c.tail, c.harder, c.summary, c.toolSpare}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: threshold, room, tail, harder tail, summary, spare are %v, want %v", c.w, got, want)
		}
	}
}

func mustPlan(t *testing.T, c Context, w Window, harder bool) Cut {
	t.Helper()
	cut, ok := Plan(c, w, harder)
	if !ok {
		t.Fatal("there is nothing to cut")
	}
	return cut
}

func TestCutKeepsTheLongestTailThatFits(t *testing.T) {
	s := newTalk()
	var answers []protocol.EventID
	for i := range 10 {
		s.user(fmt.Sprintf("question %d", i))
		answers = append(answers, s.say(tokens(1900)))
	}
	cut := mustPlan(t, s.buildIn(t, nil, small), small, false)
	if cut.CompactedThrough != answers[6] || cut.TurnMessageID != "" {
		t.Errorf("cut through %s, turn %q; want through %s, the third last answer", cut.CompactedThrough, cut.TurnMessageID, answers[6])
	}
	if cut.KeepTokens < 5700 || cut.KeepTokens > 6000 {
		t.Errorf("the tail has %d tokens", cut.KeepTokens)
	}
}

func TestCutNeverPartsACallFromItsResultsAndNamesTheTurn(t *testing.T) {
	s := newTalk()
	s.user("old")
	s.say("done")
	turn := s.user("work")
	var last protocol.EventID
	for i := range 6 {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		s.say("", a, b)
		s.result(a, tokens(1000))
		last = s.result(b, tokens(1000))
	}
	cut := mustPlan(t, s.buildIn(t, nil, small), small, false)
	if cut.TurnMessageID != turn {
		t.Errorf("the turn is %q, want %s", cut.TurnMessageID, turn)
	}
	s.add(cut.Event("S", nil))
	c := s.buildIn(t, nil, small)
	if got := c.Messages[1]; got.PlainText() != "work" {
		t.Errorf("behind the summary stands %q", brief(c.Messages[1:2]))
	}
	if got := c.Messages[2]; len(got.Calls()) != 2 || len(c.Messages) != 2+2*3 {
		t.Errorf("the tail is\n%s", brief(c.Messages[2:]))
	}
	if c.elems[len(c.elems)-1].Event != last {
		t.Error("the newest result is not the last message")
	}
}

func TestNewestStepStaysWhateverItsSize(t *testing.T) {
	s := newTalk()
	s.user("old")
	done := s.say("done")
	s.user("work")
	s.say("", "a")
	through := s.result("a", "small")
	s.say("", "b")
	s.result("b", tokens(30_000))
	s.steer("hurry")
	if cut := mustPlan(t, s.buildIn(t, nil, small), small, false); cut.CompactedThrough != through {
		t.Errorf("cut through %s, want %s", cut.CompactedThrough, through)
	}
	// The harder one cuts the result, and then the whole turn fits.
	if cut := mustPlan(t, s.buildIn(t, nil, small), small, true); cut.CompactedThrough != done {
		t.Errorf("harder: cut through %s, want %s", cut.CompactedThrough, done)
	}
}

func TestNewUserMessageIsTheNewestStep(t *testing.T) {
	s := newTalk()
	s.user("old")
	s.say("", "a")
	s.result("a", tokens(9000))
	through := s.say("done")
	s.user(tokens(7000))
	cut := mustPlan(t, s.buildIn(t, nil, small), small, false)
	if cut.CompactedThrough != through || cut.TurnMessageID != "" {
		t.Errorf("cut through %s turn %q, want %s", cut.CompactedThrough, cut.TurnMessageID, through)
	}
}

func TestNothingIsCutFromOneStepAlone(t *testing.T) {
	s := newTalk()
	s.user("work")
	s.say("", "a")
	s.result("a", "short")
	for _, harder := range []bool{false, true} {
		if cut, ok := Plan(s.buildIn(t, nil, small), small, harder); ok {
			t.Errorf("harder %v: cut through %s", harder, cut.CompactedThrough)
		}
	}
	if _, ok := Plan(Context{}, small, false); ok {
		t.Error("an empty context was cut")
	}
	if _, ok := Plan(longTalk(100).build(t, nil), Window{Size: 1000, System: 900}, false); ok {
		t.Error("a window without room was cut for")
	}
}

func TestSecondCompactionTakesTheFirstSummaryIn(t *testing.T) {
	s := newTalk()
	turn := s.user("work")
	grow := func() {
		for i := range 5 {
			id := fmt.Sprintf("%d_%d", s.seq, i)
			s.say("", id)
			s.result(id, tokens(3000))
		}
	}
	grow()
	cut := mustPlan(t, s.buildIn(t, nil, small), small, false)
	if cut.PreviousSummary != "" || cut.TurnMessageID != turn {
		t.Errorf("previous %q, turn %s", cut.PreviousSummary, cut.TurnMessageID)
	}
	s.add(cut.Event("first", nil))
	grow()
	cut = mustPlan(t, s.buildIn(t, nil, small), small, false)
	if cut.PreviousSummary != "first" || cut.TurnMessageID != turn {
		t.Errorf("previous %q, turn %s", cut.PreviousSummary, cut.TurnMessageID)
	}
	if got := brief(cut.Summarise); strings.Contains(got, "first") || !strings.HasPrefix(got, "user: work\n") {
		t.Errorf("to be summarised: %.200s", got)
	}
	req := SummaryRequest(cut, "keep the names")
	text := req.Messages[0].PlainText()
	for _, want := range []string{"<previous-summary>\nfirst\n", "keep the names", "[User] work", "Write one summary of both"} {
		if !strings.Contains(text, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
}

func TestAfterIsWhatTheNextBuildMeasures(t *testing.T) {
	for _, harder := range []bool{false, true} {
		s := newTalk()
		s.user("work")
		for i := range 8 {
			id := fmt.Sprint("c", i)
			s.say("", id)
			s.result(id, tokens(1900))
			s.item(protocol.ItemRuntimeNotice, "note")
		}
		cut := mustPlan(t, s.buildIn(t, nil, small), small, harder)
		body := cut.Event("the summary", nil)
		s.add(body)
		c := s.buildIn(t, nil, small)
		if body.TokensAfter != c.Tokens || body.TokensBefore <= body.TokensAfter {
			t.Errorf("harder %v: before %d, after %d, measured %d", harder, body.TokensBefore, body.TokensAfter, c.Tokens)
		}
	}
}

func TestHarderCompactionHalvesTheTailAndCutsItsResults(t *testing.T) {
	s := newTalk()
	s.user("work")
	for i := range 8 {
		id := fmt.Sprint("c", i)
		s.say("", id)
		s.result(id, tokens(1900))
	}
	s.add(mustPlan(t, s.buildIn(t, nil, small), small, true).Event("S", nil))
	s.say("", "new")
	s.result("new", tokens(1900))
	c := s.buildIn(t, nil, small)
	var lengths []int
	for _, m := range c.Messages {
		if m.Role == protocol.RoleToolResult {
			lengths = append(lengths, len([]rune(m.PlainText())))
		}
	}
	if len(lengths) != 6 || lengths[0] != resultChars || lengths[4] != resultChars || lengths[5] != 4*1900 {
		t.Errorf("the results have %v characters", lengths)
	}
	if text := c.Messages[3].PlainText(); !strings.Contains(text, `Read path "result:c3"`) {
		t.Errorf("a cut result does not say how to get it back: …%s…", text[1400:1600])
	}
	// The next compaction keeps them cut.
	for i := range 6 {
		id := fmt.Sprint("d", i)
		s.say("", id)
		s.result(id, tokens(500))
	}
	s.add(mustPlan(t, s.buildIn(t, nil, small), small, false).Event("S2", nil))
	for _, m := range s.buildIn(t, nil, small).Messages {
		if m.ToolCallID == "c7" && len(m.PlainText()) > resultChars+20 {
			t.Error("a result that was cut came back whole")
		}
	}
}

func TestSummaryOfAHookIsInsideTheNewSummary(t *testing.T) {
	s := newTalk()
	for i := range 12 {
		s.user(fmt.Sprintf("question %d", i))
		s.say(tokens(1500))
	}
	hook := pop{context: func(list []Element) ([]Element, error) {
		return append([]Element{list[0].With(protocol.UserText("[Summary of a hook]"))}, list[4:]...), nil
	}}
	cut := mustPlan(t, s.buildIn(t, hook, small), small, false)
	got := brief(cut.Summarise)
	if !strings.HasPrefix(got, "user: [Summary of a hook]\n") || strings.Contains(got, "question 1\n") {
		t.Errorf("to be summarised: %.300s", got)
	}
}

func TestCutFallsOnlyAtAMessageThatHasAnEvent(t *testing.T) {
	s := newTalk()
	var events []protocol.EventID
	for range 12 {
		s.user("question")
		events = append(events, s.say(tokens(1500)))
	}
	hook := pop{context: func(list []Element) ([]Element, error) { // only the 5th question keeps its event
		for i := range list {
			if i != 8 && list[i].Message.Role == protocol.RoleUser {
				list[i] = list[i].With(*list[i].Message)
			}
		}
		return list, nil
	}}
	cut := mustPlan(t, s.buildIn(t, hook, small), small, false)
	if cut.CompactedThrough != events[3] {
		t.Errorf("cut through %s, want %s", cut.CompactedThrough, events[3])
	}
	// Reordered so that no place parts the list as it parts the path.
	mixed := pop{context: func(list []Element) ([]Element, error) {
		last := len(list) - 1
		list[0], list[last] = list[last], list[0]
		return list, nil
	}}
	for _, harder := range []bool{false, true} {
		if cut, ok := Plan(s.buildIn(t, mixed, small), small, harder); ok {
			t.Errorf("harder %v: cut through %s of a mixed list", harder, cut.CompactedThrough)
		}
	}
}

func TestAttachmentsAreSummarisedAndWhatComesBackIsNot(t *testing.T) {
	s := newTalk()
	s.user("see the file")
	s.item(protocol.ItemAttachment, "the file says 42")
	s.item(protocol.ItemSkillListing, "skill-a")
	for i := range 6 {
		id := fmt.Sprint("c", i)
		s.say("", id)
		s.result(id, tokens(2500))
	}
	s.item(protocol.ItemRuntimeNotice, "in the tail")
	got := brief(mustPlan(t, s.buildIn(t, nil, small), small, false).Summarise)
	if !strings.Contains(got, "42") || !strings.Contains(got, "result c0: wordword") ||
		strings.Contains(got, "skill-a") || strings.Contains(got, "in the tail") {
		t.Errorf("to be summarised: %.300s", got)
	}
}

func TestFilesAreCollectedOverCompactions(t *testing.T) {
	s := newTalk()
	s.user("work")
	call := func(id, tool string, fails bool) {
		s.say("", id+":"+tool)
		m := resultOf(id, tokens(2500))
		m.IsError = fails
		s.message(m)
	}
	call("r1", "Read", false)
	call("w1", "Write", false)
	call("w2", "Edit", true)
	s.say("", "x")
	s.message(resultOf("x", "y"))
	s.last.Body.(*protocol.MessageBody).Message.IsError = true
	call("t1", "Bash", false)
	call("t2", "Bash", false)
	call("t3", "Bash", false)
	cut := mustPlan(t, s.buildIn(t, nil, small), small, false)
	s.add(cut.Event("S", nil))
	if got := s.build(t, nil).Messages[0].PlainText(); !strings.Contains(got, "<read-files>\n/r1.go\n</read-files>") {
		t.Errorf("the summary message is %q", got)
	}
	call("w3", "Write", false)
	call("r1", "Edit", false)
	call("t4", "Bash", false)
	call("t5", "Bash", false)
	call("t6", "Bash", false)
	cut = mustPlan(t, s.buildIn(t, nil, small), small, false)
	if got := asJSON(t, cut.Details); got != `{"modifiedFiles":["/r1.go","/w3.go","/w1.go"]}` {
		t.Errorf("details: %s", got)
	}
}

func TestStaleUsageIsNotTakenAfterCompaction(t *testing.T) {
	s := newTalk()
	s.user("work")
	through := s.say("first")
	s.user("more")
	m := answerOf("second")
	m.Usage = &protocol.Usage{InputTokens: 100, CacheReadTokens: 150_000, OutputTokens: 50}
	s.message(m)
	s.user(tokens(96))
	if c := s.build(t, nil); c.Tokens != 150_150+100 {
		t.Errorf("%d tokens before the compaction, want what was counted and 100", c.Tokens)
	}
	s.compact(through, "", "S")
	if c := s.build(t, nil); c.Tokens > 4000 {
		t.Errorf("%d tokens behind the compaction: the old count was taken", c.Tokens)
	}
}

func TestOfAnAnswerThatIsCutOnlyWhatIsSentFillsTheContext(t *testing.T) {
	s := newTalk()
	s.user("work")
	m := protocol.Message{Role: protocol.RoleAssistant, StopReason: protocol.StopEndTurn, Content: []protocol.Block{
		{Type: protocol.BlockText, Text: strings.Repeat("x", 400), Blob: strings.Repeat("0", 64)}}}
	m.Usage = &protocol.Usage{InputTokens: 1000, OutputTokens: 2_500_000}
	s.message(m)
	if c := s.build(t, nil); c.Tokens != 1000+104 {
		t.Errorf("%d tokens, want what was counted before it and 104", c.Tokens)
	}
}

func TestHarderCompactionShortensASingleStepInPlace(t *testing.T) {
	s := newTalk()
	turn := s.user("read all")
	s.item(protocol.ItemAttachment, "attached")
	s.say("", "a", "b")
	s.result("a", tokens(15_000))
	s.result("b", tokens(15_000))
	if _, ok := Plan(s.buildIn(t, nil, small), small, false); ok {
		t.Error("the first compaction has something to cut")
	}
	cut := mustPlan(t, s.buildIn(t, nil, small), small, true)
	if !cut.Reuse || cut.TurnMessageID != turn {
		t.Fatalf("reuse %v, turn %q", cut.Reuse, cut.TurnMessageID)
	}
	body := cut.Event(cut.PreviousSummary, nil)
	s.add(body)
	c := s.buildIn(t, nil, small)
	if c.Tokens != body.TokensAfter || c.Tokens > 3000 {
		t.Errorf("%d tokens, planned %d", c.Tokens, body.TokensAfter)
	}
	if got := brief(c.Messages); !strings.Contains(got, "user: read all\nuser: "+note1("attached")+"\nassistant: ") {
		t.Errorf("sent: %.400s", got)
	}
	if cut, ok := Plan(c, small, true); ok {
		t.Errorf("it is cut again through %s", cut.CompactedThrough)
	}
}

func TestTurnMessageIsTheLogsWhateverHooksMadeOfIt(t *testing.T) {
	s := newTalk()
	s.user("old")
	s.say("done")
	turn := s.user("work")
	for i := range 6 {
		id := fmt.Sprint("c", i)
		s.say("", id)
		s.result(id, tokens(2500))
	}
	hook := pop{transform: func(list []Element) ([]Element, error) {
		list[2] = list[2].With(protocol.UserText("work, please"))
		return list, nil
	}}
	if cut := mustPlan(t, s.buildIn(t, hook, small), small, false); cut.TurnMessageID != turn {
		t.Errorf("the turn is %s, want %s", cut.TurnMessageID, turn)
	}
}

func TestStaleUsageIsNotTakenAfterShrinking(t *testing.T) {
	s := newTalk()
	s.user("work")
	s.say("", "a")
	a := s.result("a", tokens(5000))
	m := answerOf("done")
	m.Usage = &protocol.Usage{InputTokens: 9000}
	s.message(m)
	s.user("more")
	b, err := New(Config{Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), s.leaf, window); err != nil {
		t.Fatal(err)
	}
	s.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: a})
	b.Extend(s.last)
	kept, err := b.Build(t.Context(), s.leaf, window)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.build(t, nil); c.Tokens > 4000 || kept.Tokens != c.Tokens {
		t.Errorf("%d tokens, %d for the kept builder: the old count was taken", c.Tokens, kept.Tokens)
	}
}

func TestContextCutSeenFromAnotherLeafDropsWhatIsKept(t *testing.T) {
	s := newTalk()
	s.user("work")
	s.say("", "a")
	a := s.result("a", tokens(500))
	s.say("done")
	b, err := New(Config{Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), s.leaf, window); err != nil {
		t.Fatal(err)
	}
	leaf := s.leaf
	s.leaf = a
	s.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: a})
	b.Extend(s.last)
	c, err := b.Build(t.Context(), leaf, window)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(brief(c.Messages), "omitted") {
		t.Error("a cut that does not belong to the path counts")
	}
}

func TestResultsBetweenTwoHarderCompactionsAreCut(t *testing.T) {
	s := newTalk()
	s.user("work")
	through := s.say("one")
	add := func(id string) {
		s.say("", id)
		s.result(id, tokens(1500))
	}
	harder := func() {
		s.add(&protocol.Compact{Summary: "S", CompactedThrough: through, ResultChars: resultChars})
	}
	add("a")
	harder()
	add("b")
	harder()
	add("c")
	for _, m := range s.build(t, nil).Messages {
		if n := len([]rune(m.PlainText())); m.Role == protocol.RoleToolResult && (n == resultChars) != (m.ToolCallID != "c") {
			t.Errorf("result %s has %d characters", m.ToolCallID, n)
		}
	}
}

func TestSteersStayTogetherWithTheAnswerToThem(t *testing.T) {
	s := newTalk()
	s.user("old")
	s.say("", "a")
	through := s.result("a", "out")
	s.steer(tokens(5500))
	s.steer(tokens(100))
	s.say(tokens(700))
	cut := mustPlan(t, s.buildIn(t, nil, small), small, false)
	if cut.CompactedThrough != through {
		t.Errorf("cut through %s, want %s", cut.CompactedThrough, through)
	}
	if cut.KeepTokens < 6300 {
		t.Errorf("the tail has %d tokens", cut.KeepTokens)
	}
}

func TestOlderContextCutDoesNotMoveTheBoundaryBack(t *testing.T) {
	s := newTalk()
	s.user("work")
	s.say("", "a")
	a := s.result("a", tokens(500))
	s.say("", "b")
	c := s.result("b", tokens(500))
	s.say("done")
	kept, err := New(Config{Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Build(t.Context(), s.leaf, window); err != nil {
		t.Fatal(err)
	}
	for _, through := range []protocol.EventID{c, a} {
		s.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: through})
		kept.Extend(s.last)
	}
	got, err := kept.Build(t.Context(), s.leaf, window)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Context{"kept": got, "new": s.build(t, nil)} {
		if n := strings.Count(brief(c.Messages), "omitted"); n != 2 {
			t.Errorf("the %s builder omits %d results", name, n)
		}
	}
}

func TestStepIsNotShortenedInPlaceBehindWhatNoSummaryHolds(t *testing.T) {
	s := newTalk()
	s.add(&protocol.CustomMessage{Kind: "k", Message: protocol.UserText("of an extension")})
	s.say("", "a")
	s.result("a", tokens(20_000))
	if cut, ok := Plan(s.buildIn(t, nil, small), small, true); ok {
		t.Errorf("cut through %s", cut.CompactedThrough)
	}
}

func TestCorrectionOfTheEstimateIsBounded(t *testing.T) {
	for tokens, want := range map[int]int{1000: 100, 2000: 200, 1_000_000: 400, 1: 25} {
		c := Context{Tokens: tokens, guess: 1000}
		if got := c.scale(100); got != want {
			t.Errorf("with %d tokens for an estimate of 1,000, 100 are %d, want %d", tokens, got, want)
		}
	}
}

func TestStepIsShortenedInPlaceAlsoBehindWhatAHookPutInFront(t *testing.T) {
	s := newTalk()
	s.user("work")
	s.say("first")
	s.say("", "a")
	s.result("a", tokens(20_000))
	front := pop{context: func(list []Element) ([]Element, error) {
		return append([]Element{list[0].With(protocol.UserText("hint"))}, append(list[:1:1], list[2:]...)...), nil
	}}
	if cut := mustPlan(t, s.buildIn(t, front, small), small, true); !cut.Reuse {
		t.Error("a summary is asked for")
	}
	mixed := pop{context: func(list []Element) ([]Element, error) {
		list[0], list[1] = list[1], list[0]
		return list, nil
	}}
	if cut, ok := Plan(s.buildIn(t, mixed, small), small, true); ok {
		t.Errorf("cut through %s of a mixed list", cut.CompactedThrough)
	}
}
