package tree

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"scorel/client"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/fold"
)

// history makes the events of a session.
type history struct {
	events []protocol.Event
	leaf   protocol.EventID
	at     time.Time
}

func newHistory() *history {
	return &history{at: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)}
}

func (h *history) put(body protocol.Body) protocol.EventID {
	e := protocol.NewEvent(body)
	e.Seq = protocol.Seq(len(h.events) + 1)
	e.ID = protocol.EventID(fmt.Sprintf("evt_%016d", e.Seq))
	e.ParentID, e.SessionID, e.ClientID = h.leaf, "ses_00000000000000000000000000", protocol.HostClient
	e.TS = h.at.Add(time.Duration(e.Seq) * time.Minute).UnixMilli()
	if !e.Control {
		h.leaf = e.ID
	}
	h.events = append(h.events, e)
	return e.ID
}

func (h *history) user(text string) protocol.EventID {
	return h.put(&protocol.MessageBody{Message: protocol.UserText(text)})
}

func (h *history) says(text string, blocks ...protocol.Block) protocol.EventID {
	m := protocol.Message{Role: protocol.RoleAssistant, StopReason: protocol.StopEndTurn, Content: blocks}
	if text != "" {
		m.Content = append([]protocol.Block{protocol.Text(text)}, blocks...)
	}
	return h.put(&protocol.MessageBody{Message: m})
}

func (h *history) result(tool, text string) protocol.EventID {
	return h.put(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: tool, Content: []protocol.Block{protocol.Text(text)}}})
}

func (h *history) rewind(to protocol.EventID) {
	b := &protocol.Rewind{}
	if to != "" {
		b.TargetEventID = &to
	}
	h.put(b)
	h.leaf = to
}

func (h *history) branch(to protocol.EventID) { h.put(&protocol.Branch{LeafEventID: to}); h.leaf = to }

func (h *history) label(id protocol.EventID, name string) {
	b := &protocol.Label{TargetEventID: id}
	if name != "" {
		b.Label = &name
	}
	h.put(b)
}

func (h *history) tree(cfg Config) *Tree {
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return h.at.Add(26 * time.Hour) }
	}
	cfg.Location = time.UTC
	t := New(cfg)
	t.Add(h.events)
	return t
}

// conversation is a session with branches: one from its second message, and one in that.
func conversation() (h *history, ids map[string]protocol.EventID) {
	h, ids = newHistory(), map[string]protocol.EventID{}
	h.user("Mend the parser of dates")
	ids["calls"] = h.says("", protocol.ToolUse("c", "Read", json.RawMessage(`{"path":"parse.go"}`)), protocol.ToolUse("d", "Grep", json.RawMessage(`{"pattern":"time.Parse"}`)))
	ids["first result"] = h.result("Read", "package dates")
	ids["last result"] = h.result("Grep", "parse.go:12")
	ids["answer"] = h.says("It is the month that is read wrong.")
	ids["wrong way"] = h.user("Then write it anew")
	h.says("I write it anew.")
	ids["deeper"] = h.user("in one file")
	h.says("One file.")
	h.rewind(ids["deeper"])
	h.says("One file, another way.")
	h.rewind(ids["answer"])
	ids["right way"] = h.user("Mend only the month")
	ids["mended"] = h.says("Mended: the month is read from 1 now.")
	h.put(&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemDateChange, Content: "It is Tuesday."}})
	ids["last"] = h.user("Thanks")
	h.says("You are welcome.")
	h.label(ids["answer"], "the cause")
	return h, ids
}

func text(t *Tree, width, height int) string {
	lines, _ := t.Render(golden.Dark(), width, height)
	return golden.Text(lines)
}

func TestGoldenFrames(t *testing.T) {
	h, ids := conversation()
	tree := h.tree(Config{Summaries: true, Keys: keymap.Default()})
	frame := func(th *theme.Theme, width int) []string {
		lines, _ := tree.Render(th, width, 15)
		return lines
	}
	golden.Check(t, "folded", frame)
	for tree.On() != ids["wrong way"] {
		tree.Do(keymap.ListUp)
	}
	tree.Do(keymap.TreeUnfold)
	for tree.On() != ids["deeper"] {
		tree.Do(keymap.ListDown)
	}
	tree.Do(keymap.ListDown)
	tree.Do(keymap.TreeUnfold)
	tree.Do(keymap.TreeTimes)
	golden.Check(t, "unfolded", frame)
	tree.Do(keymap.TreeFilter)
	golden.Check(t, "no-tools", frame)
	tree.Do(keymap.ListUp)
	tree.Do(keymap.ListPick)
	golden.Check(t, "menu", frame)
	tree.Do(keymap.ListClose)
	tree.Insert("month")
	golden.Check(t, "search", frame)
}

func TestATreeInWhichNothingMatchesOffersNoWayToGo(t *testing.T) {
	h, _ := conversation()
	tree := h.tree(Config{Keys: keymap.Default()})
	tree.Insert("nothing has this")
	tree.On() // lays it out
	if all := fmt.Sprint(tree.hints()); strings.Contains(all, " go}") || !strings.Contains(all, " close}") {
		t.Errorf("%s", all)
	}
}

func TestFiltersShowWhatTheirNameSays(t *testing.T) {
	h, ids := conversation()
	for filter, want := range map[Filter]int{Default: 14, NoTools: 11, UserOnly: 5, Labelled: 1, All: 15} {
		tree := h.tree(Config{})
		tree.SetFilter(filter)
		tree.lay()
		if tree.shown != want {
			t.Errorf("%s shows %d events, not %d", filter, tree.shown, want)
		}
	}
	tree := h.tree(Config{})
	tree.SetFilter(Labelled)
	if got := tree.On(); got != ids["answer"] {
		t.Errorf("with only the named ones %s is on", got)
	}
	for range filters {
		tree.Do(keymap.TreeFilter)
	}
	if tree.filter != Labelled {
		t.Errorf("filters do not go round: %s", tree.filter)
	}
	tree.Do(keymap.TreeFilterBack)
	if tree.filter != UserOnly {
		t.Errorf("back is %s", tree.filter)
	}
}

func TestGoingOnFromAnEvent(t *testing.T) {
	h, ids := conversation()
	on := func(id protocol.EventID) *Tree {
		tree := h.tree(Config{})
		tree.SetFilter(All)
		for head := range tree.index {
			tree.folds[tree.index[head]] = false
		}
		tree.stale = true
		tree.lay()
		tree.to(int(tree.rowOf[tree.index[id]]))
		return tree
	}
	answer := ids["answer"]
	for name, tt := range map[string]struct {
		on   protocol.EventID
		pick string
		want Go
	}{
		"a message of the person on the path":     {ids["right way"], "1", Go{Target: answer, Rewind: true, Text: ids["right way"]}},
		"with its files":                          {ids["right way"], "2", Go{Target: answer, Rewind: true, Text: ids["right way"], RestoreFiles: true}},
		"behind it":                               {ids["right way"], "3", Go{Target: ids["right way"], Rewind: true}},
		"an answer on the path":                   {answer, "1", Go{Target: answer, Rewind: true}},
		"the first message":                       {h.events[0].ID, "1", Go{Rewind: true, Text: h.events[0].ID}},
		"a message that was left":                 {ids["deeper"], "1", Go{Target: h.events[6].ID, Text: ids["deeper"]}},
		"the last of several results":             {ids["last result"], "1", Go{Target: ids["last result"], Rewind: true}},
		"one of several results is only a branch": {ids["first result"], "1", Go{Target: ids["first result"]}},
		"calls without results are only a branch": {ids["calls"], "1", Go{Target: ids["calls"]}},
		"behind one that was left":                {ids["wrong way"], "2", Go{Target: ids["wrong way"]}},
	} {
		tree := on(tt.on)
		tree.Do(keymap.ListPick)
		if out := tree.Insert(tt.pick); out.Kind != Moves || out.Go != tt.want {
			t.Errorf("%s: %+v\n%s", name, out, text(tree, 80, 30))
		}
	}
	tree := h.tree(Config{})
	tree.Do(keymap.ListPick)
	if out := tree.Do(keymap.ListPick); out.Kind != Nothing {
		t.Errorf("where the conversation stands: %+v", out)
	}
}

func TestAMoveIsTheRequestThatTheHostTakes(t *testing.T) {
	leaf := protocol.EventID("evt_leaf")
	rewind := Go{Target: "evt_a", Rewind: true, RestoreFiles: true}.Request(leaf, "trn_1").(*protocol.RewindTo)
	if *rewind.TargetEventID != "evt_a" || *rewind.ExpectedLeafID != leaf || rewind.CancelFirst != "trn_1" || !rewind.RestoreFiles || rewind.Summarise != "" {
		t.Errorf("%+v", rewind)
	}
	if empty := (Go{}).Request(leaf, "").(*protocol.RewindTo); empty.TargetEventID != nil {
		t.Errorf("%+v", empty)
	}
	branch := Go{Target: "evt_b", Summarise: true, Instructions: "short"}.Request(leaf, "").(*protocol.BranchTo)
	if branch.LeafEventID != "evt_b" || *branch.ExpectedLeafID != leaf || branch.Summarise != protocol.SummariseBranch || branch.Instructions != "short" {
		t.Errorf("%+v", branch)
	}
}

func TestASummaryIsOfferedWhenSomethingIsLeft(t *testing.T) {
	h, ids := conversation()
	tree := h.tree(Config{Summaries: true})
	for tree.On() != ids["right way"] {
		tree.Do(keymap.ListUp)
	}
	tree.Do(keymap.ListPick)
	if out := tree.Insert("1"); out.Kind != Nothing {
		t.Fatalf("not asked: %+v", out)
	}
	tree.Insert("3")
	tree.Insert("only the ")
	tree.Paste("cause")
	out := tree.Do(keymap.ListPick)
	if out.Kind != Moves || !out.Go.Summarise || out.Go.Instructions != "only the cause" || out.Go.Target != ids["answer"] {
		t.Errorf("%+v", out)
	}
	// Nothing is left by going further down.
	h.rewind(ids["answer"])
	tree = h.tree(Config{Summaries: true})
	tree.Insert("mended")
	tree.Do(keymap.ListDown)
	if tree.On() != ids["mended"] {
		t.Fatalf("%s is on", tree.On())
	}
	tree.Do(keymap.ListPick)
	if out := tree.Insert("1"); out.Kind != Moves || out.Go.Summarise {
		t.Errorf("%+v", out)
	}
}

func TestNamingAnEvent(t *testing.T) {
	h, ids := conversation()
	tree := h.tree(Config{})
	tree.SetFilter(Labelled)
	tree.Do(keymap.TreeLabel)
	lines, cursor := tree.Render(golden.Dark(), 60, 15)
	if got := golden.Text(lines); !strings.Contains(got, "Name: the cause") || cursor == nil || cursor.Y != 1 {
		t.Errorf("%s %+v", got, cursor)
	}
	tree.Insert("!")
	if out := tree.Do(keymap.ListPick); out.Kind != Labels || out.Event != ids["answer"] || *out.Label != "the cause!" {
		t.Errorf("%+v", out)
	}
	tree.Do(keymap.TreeLabel)
	tree.Do(keymap.KillLineBack)
	if out := tree.Do(keymap.ListPick); out.Kind != Labels || out.Label != nil {
		t.Errorf("%+v", out)
	}
	h.label(ids["answer"], "")
	tree.Add(h.events)
	if got := text(tree, 60, 15); strings.Contains(got, "the cause") {
		t.Errorf("the name is still shown:\n%s", got)
	}
}

func TestFoldingAndJumping(t *testing.T) {
	h, ids := conversation()
	tree := h.tree(Config{})
	if tree.On() != h.leaf {
		t.Fatalf("%s is on at first", tree.On())
	}
	tree.Do(keymap.TreeFold) // up to the branch that was left
	if tree.On() != ids["wrong way"] {
		t.Fatalf("%s is on\n%s", tree.On(), text(tree, 80, 20))
	}
	rows := len(tree.rows)
	tree.Do(keymap.TreeUnfold)
	if tree.lay(); len(tree.rows) != rows+4 {
		t.Errorf("%d rows, then %d:\n%s", rows, len(tree.rows), text(tree, 80, 20))
	}
	tree.Do(keymap.TreeUnfold) // on to where the branch itself branches
	if tree.On() != ids["deeper"] {
		t.Errorf("%s is on", tree.On())
	}
	tree.Do(keymap.TreeFold)
	tree.Do(keymap.TreeFold)
	if tree.lay(); len(tree.rows) != rows || tree.On() != ids["wrong way"] {
		t.Errorf("%d rows, %s is on:\n%s", len(tree.rows), tree.On(), text(tree, 80, 20))
	}
	tree.Do(keymap.TreeFold)
	tree.Do(keymap.TreeFold)
	if tree.On() != h.events[0].ID {
		t.Errorf("%s is on", tree.On())
	}
}

func TestEventsThatComeWhileItIsOpenKeepWhatIsOn(t *testing.T) {
	h, ids := conversation()
	tree := h.tree(Config{})
	following := h.says("One more thing.")
	tree.Add(h.events)
	if tree.On() != following {
		t.Errorf("untouched it does not follow: %s", tree.On())
	}
	for tree.On() != ids["answer"] {
		tree.Do(keymap.ListUp)
	}
	h.user("More")
	tree.Add(h.events[len(h.events)-1:])
	if tree.On() != ids["answer"] || tree.Len() != 17 {
		t.Errorf("%s is on, %d events", tree.On(), tree.Len())
	}
}

func TestAnEventWithoutItsParentHangsOnTheOneBeforeIt(t *testing.T) {
	h := newHistory()
	first := h.user("one")
	h.leaf = "evt_gone000000000000"
	second := h.says("two")
	tree := h.tree(Config{})
	if got := tree.Path(); !slices.Equal(got, []protocol.EventID{first, second}) {
		t.Errorf("%v", got)
	}
	tree.Add([]protocol.Event{{Envelope: protocol.Envelope{Type: "message", ID: first, Seq: 99}}})
	if tree.Len() != 2 {
		t.Error("an event that comes twice counts twice")
	}
}

// TestEveryEventIsReachableAndTheActivePathIsThatOfTheProjection plays random
// histories.
func TestEveryEventIsReachableAndTheActivePathIsThatOfTheProjection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory()
		live := &protocol.Live{}
		p := client.NewProjection()
		p.Older(1000)
		var ids []protocol.EventID
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before := len(h.events)
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				ids = append(ids, h.user("text"))
			case 3, 4, 5:
				ids = append(ids, h.says("text"))
			case 6:
				ids = append(ids, h.result("Bash", "ok"))
			case 7:
				h.rewind(rapid.SampledFrom(append(ids, "")).Draw(t, "to"))
			case 8:
				if len(ids) > 0 {
					h.branch(rapid.SampledFrom(ids).Draw(t, "to"))
				}
			case 9:
				ids = append(ids, h.put(&protocol.HarnessItem{Item: protocol.Item{Content: "note"}}))
			}
			for _, e := range h.events[before:] {
				fold.Apply(live, e)
				p.Apply(client.Update{Events: []protocol.Event{e}}, live)
			}
		}
		p.Apply(client.Update{Fresh: true}, live)
		tree := h.tree(Config{})
		var want []protocol.EventID
		byID := map[protocol.EventID]protocol.Event{}
		for _, e := range h.events {
			byID[e.ID] = e
		}
		for id := live.LeafID; id != ""; id = byID[id].ParentID {
			want = append([]protocol.EventID{id}, want...)
		}
		if got := tree.Path(); !slices.Equal(got, want) || tree.Leaf() != live.LeafID {
			t.Fatalf("the path is %v, not %v", got, want)
		}
		// A projection may hold only the end of the path.
		shown := p.Screen().Events
		for i, e := range shown {
			if e.ID != want[len(want)-len(shown)+i] {
				t.Fatalf("the projection shows %s where the path has %s", e.ID, want[len(want)-len(shown)+i])
			}
		}
		// With everything unfolded each event has one row; going down from the top finds all.
		for _, filter := range []Filter{All, Default, UserOnly} {
			tree := h.tree(Config{})
			tree.SetFilter(filter)
			tree.Do(keymap.ListTop)
			for range 2 * len(ids) {
				before := tree.On()
				for tree.lay(); len(tree.rows) > 0 && tree.rows[tree.at()].more > 0; tree.lay() {
					tree.Do(keymap.TreeUnfold)
				}
				if tree.Do(keymap.ListDown); tree.On() == before {
					break
				}
			}
			seen := map[protocol.EventID]int{}
			for _, l := range tree.rows {
				seen[tree.nodes[l.node].id]++
			}
			for _, id := range ids {
				n := 0
				if tree.shows(&tree.nodes[tree.index[id]], "") {
					n = 1
				}
				if seen[id] != n {
					t.Fatalf("%s: event %s has %d rows", filter, id, seen[id])
				}
			}
			lines, _ := tree.Render(golden.Dark(), rapid.IntRange(1, 90).Draw(t, "width"), 40)
			if len(lines) > 40 {
				t.Fatalf("%d lines", len(lines))
			}
		}
	})
}

func TestHostileTextsStayInTheirLine(t *testing.T) {
	bad := "\x1b]0;x\x07\x1b[2J\u202e\rsecond\x00" + strings.Repeat("\u0301", 50) + strings.Repeat("w", 3000)
	h := newHistory()
	id := h.user(bad)
	h.says("", protocol.ToolUse("c", bad, json.RawMessage(`{"command":"\u001b[2J"}`)))
	h.result(bad, bad)
	h.put(&protocol.Compact{Summary: bad})
	h.put(&protocol.CustomMessage{Kind: bad, Message: protocol.UserText(bad)})
	h.label(id, "\x1b[2Jname")
	tree := h.tree(Config{})
	tree.Insert(bad)
	tree.Do(keymap.ClearInput)
	for _, width := range []int{1, 2, 10, 40, 120} {
		lines, _ := tree.Render(golden.Dark(), width, 20)
		golden.Lines(t, lines, width)
	}
	for _, n := range tree.nodes {
		if len(n.text) > 3*maxText {
			t.Errorf("%d bytes are kept of an event", len(n.text))
		}
	}
}

func TestOnlyTheRowsThatAreSeenAreDrawn(t *testing.T) {
	h := many(20_000)
	tree := h.tree(Config{})
	th := golden.Dark()
	tree.Render(th, 80, 24)
	if n := testing.AllocsPerRun(10, func() { tree.Render(th, 80, 24) }); n > 1500 {
		t.Errorf("%v allocations to draw 24 rows", n)
	}
}

// many makes a long session that branches now and then.
func many(n int) *history {
	h := newHistory()
	long := strings.Repeat("A line of an answer that goes on. ", 20)
	for len(h.events) < n {
		u := h.user("Do the next thing, number " + fmt.Sprint(len(h.events)))
		h.says("", protocol.ToolUse("c", "Bash", json.RawMessage(`{"command":"go test ./...","description":"Run the tests"}`)))
		h.result("Bash", long)
		a := h.says(long)
		if len(h.events)%7 == 0 {
			h.rewind(u)
			h.says("Another answer.")
			h.branch(a)
		}
	}
	return h
}

func BenchmarkBuild(b *testing.B) {
	h := many(100_000)
	b.ReportAllocs()
	for b.Loop() {
		t := New(Config{})
		for from := 0; from < len(h.events); from += 2000 {
			t.Add(h.events[from:min(len(h.events), from+2000)])
		}
		t.Render(golden.Dark(), 80, 24)
	}
}

func BenchmarkSearch(b *testing.B) {
	t := many(100_000).tree(Config{})
	b.ReportAllocs()
	for b.Loop() {
		t.Insert("number 99")
		t.Render(golden.Dark(), 80, 24)
		t.Do(keymap.ClearInput)
	}
}
