package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// long is a session of n messages of people.
func long(n int) *log {
	l := &log{}
	for i := range n {
		l.user(fmt.Sprintf("message %d of the session\nwith a second line", i))
	}
	return l
}

func TestOpeningALongSessionDrawsAScreenful(t *testing.T) {
	th := plainTheme(t)
	tr := filled(long(10_000))
	tr.View(th, 100, 30)
	if tr.draws > 31 {
		t.Errorf("%d items were drawn for 30 lines", tr.draws)
	}
	tr.Do(keymap.PageUp)
	tr.View(th, 100, 30)
	if tr.draws > 62 {
		t.Errorf("%d items were drawn for two screens", tr.draws)
	}
	before := tr.draws
	for range 120 {
		tr.View(th, 100, 30)
	}
	if tr.draws != before {
		t.Errorf("%d items were drawn again though nothing has changed", tr.draws-before)
	}
	tr.Do(keymap.ScrollTop)
	if got := tr.View(th, 100, 30); !strings.Contains(got[0], "message 0 of") {
		t.Errorf("the top is %q", got[0])
	}
}

func TestWhatIsKeptOfALongSessionIsBounded(t *testing.T) {
	th := plainTheme(t)
	tr := filled(long(15_000))
	tr.View(th, 100, 30)
	for range 15_000 * 3 / 29 {
		tr.Do(keymap.PageUp)
		tr.View(th, 100, 30)
		if tr.kept > maxKept {
			t.Fatalf("%d lines are kept", tr.kept)
		}
	}
	if got := strings.Join(tr.View(th, 100, 30), "\n"); !strings.Contains(got, "message 0 of") {
		t.Errorf("paging up does not reach the top:\n%s", got)
	}
	l := long(maxItems + 100)
	tr = filled(l)
	if len(tr.items) > maxItems || !tr.more {
		t.Errorf("%d items are held", len(tr.items))
	}
}

func TestThePlaceStaysWhenOlderEventsComeAndWhenTheWidthChanges(t *testing.T) {
	th := plainTheme(t)
	l := long(100)
	tr := New(Config{})
	for _, e := range l.events[60:] {
		tr.Append(e)
	}
	tr.More(true)
	tr.View(th, 80, 10)
	for range 4 {
		tr.Do(keymap.PageUp)
	}
	before := tr.View(th, 80, 10)
	if tr.WantOlder() == 0 {
		t.Error("near the top, no older events are wanted")
	}
	tr.Prepend(l.events[:60])
	tr.More(false)
	if after := tr.View(th, 80, 10); !slices.Equal(before, after) {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	top := tr.view.top.index
	tr.View(th, 20, 10)
	tr.View(th, 80, 10)
	if tr.view.top.index != top {
		t.Errorf("item %d was at the top, now %d", top, tr.view.top.index)
	}
	if tr.WantOlder() != 0 {
		t.Error("older events are wanted though there are none")
	}
}

func TestTheEndIsFollowedUntilSomebodyScrollsUp(t *testing.T) {
	th := plainTheme(t)
	l := long(50)
	tr := filled(l)
	tr.View(th, 80, 10)
	tr.Append(l.user("the newest one"))
	if got := strings.Join(tr.View(th, 80, 10), "\n"); !strings.Contains(got, "the newest one") {
		t.Fatalf("the end is not followed:\n%s", got)
	}
	tr.Wheel(-3)
	before := tr.View(th, 80, 10)
	tr.Append(l.user("one more"))
	live := protocol.Live{Messages: []protocol.LiveMessage{{EventID: "evt_live", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: protocol.Growing("streams\n\nin")}}}}}
	tr.Live(&live)
	after := tr.View(th, 80, 10)
	if !slices.Equal(before[:9], after[:9]) || !strings.Contains(after[9], "new below") {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	tr.Do(keymap.ScrollBottom)
	if got := strings.Join(tr.View(th, 80, 10), "\n"); !strings.Contains(got, "streams") || strings.Contains(got, "new below") {
		t.Errorf("at the end:\n%s", got)
	}
}

func TestSearchFindsWhatIsFoldedAndShowsIt(t *testing.T) {
	th := themed(t, theme.Options{Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor})
	l := long(30)
	l.call("Read", `{"path":"a.txt"}`, "first\nsecond line with Needle in it\n", nil, false)
	for _, e := range long(30).events {
		l.add(e.Body)
	}
	l.answer(protocol.Text("A **needle** again."))
	tr := filled(l)
	tr.View(th, 80, 12)
	tr.Do(keymap.Search)
	for _, r := range "needle" {
		tr.Insert(string(r))
	}
	if at, of := tr.SearchCount(); at != 2 || of != 2 {
		t.Errorf("match %d of %d", at, of)
	}
	tr.Do(keymap.Submit)
	got := tr.View(th, 80, 12)
	if s := strings.Join(got, "\n"); !strings.Contains(s, string(th.Match)) || !strings.Contains(plain(s), "A needle again.") || !strings.Contains(plain(s), "2 of 2") {
		t.Errorf("the newest match is not shown:\n%s", s)
	}
	tr.Do(keymap.SearchBack)
	got = tr.View(th, 80, 12)
	if s := strings.Join(got, "\n"); !strings.Contains(plain(s), "second line with Needle") || !strings.Contains(s, string(th.Match)+"Needle") {
		t.Errorf("the folded match is not shown:\n%s", s)
	}
	tr.Do(keymap.SearchBack)
	if at, _ := tr.SearchCount(); at != 2 {
		t.Errorf("before the first match comes match %d", at)
	}
	if o := tr.Do(keymap.Leave); o.Leave {
		t.Error("leaving the search leaves the conversation")
	}
	if n := tr.Find("message 3"); n != 2 {
		t.Errorf("%d places", n)
	}
}

func TestAnItemIsSelectedFoldedAndCopied(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	l.user("look")
	l.call("Bash", `{"command":"ls"}`, "a\nb\nc\nd\ne\nf\ng\nh\ni\nthe last", nil, false)
	tr := filled(l)
	first := tr.View(th, 60, 40)
	if s := strings.Join(first, "\n"); strings.Contains(s, "  b\n") || !strings.Contains(s, "the last") {
		t.Fatalf("folded:\n%s", s)
	}
	tr.Do(keymap.ItemUp)
	if o := tr.Do(keymap.Copy); !strings.Contains(o.Copy, "Bash ls\na\nb\n") {
		t.Errorf("copied %q", o.Copy)
	}
	tr.Do(keymap.Expand)
	if s := strings.Join(tr.View(th, 60, 40), "\n"); !strings.Contains(plain(s), "> b") {
		t.Errorf("unfolded:\n%s", s)
	}
	row := slices.IndexFunc(tr.View(th, 60, 40), func(l string) bool { return strings.Contains(l, "the last") })
	tr.Press(row, 5)
	if o := tr.Release(row, 5); !o.Handled {
		t.Error("the click did nothing")
	}
	if got := tr.View(th, 60, 40); len(got) != len(first) {
		t.Errorf("%d lines, %d before", len(got), len(first))
	}
	tr.Do(keymap.ToggleTools)
	if s := strings.Join(tr.View(th, 60, 40), "\n"); !strings.Contains(plain(s), "> b") {
		t.Errorf("all unfolded:\n%s", s)
	}
}

func TestAPathThatIsCutTakesItsResultsBack(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	l.user("first")
	call := l.answer(protocol.ToolUse("c", "Bash", []byte(`{"command":"ls"}`)))
	l.result("c", "Bash", "output of it", nil, false)
	l.user("second")
	tr := filled(l)
	tr.Cut(call.ID)
	if s := strings.Join(tr.View(th, 60, 40), "\n"); strings.Contains(s, "output of it") || strings.Contains(s, "second") || !strings.Contains(s, "waiting") {
		t.Errorf("after the cut:\n%s", s)
	}
	tr.Append(protocol.NewEvent(&protocol.Rewind{}))
	if s := strings.Join(tr.View(th, 60, 40), "\n"); strings.Contains(s, "first") || !strings.Contains(s, "Rewound to the beginning") {
		t.Errorf("after the rewind:\n%s", s)
	}
}

func TestResultsThatCameBeforeTheirCallsJoinThem(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	l.user("first")
	l.answer(protocol.ToolUse("c", "Bash", []byte(`{"command":"make it"}`)))
	l.result("c", "Bash", "output of it", nil, false)
	tr := New(Config{})
	tr.Append(l.events[2])
	tr.Prepend(l.events[:2])
	s := strings.Join(tr.View(th, 60, 40), "\n")
	if strings.Count(s, "Bash") != 1 || !strings.Contains(s, "make it") || !strings.Contains(s, "output of it") {
		t.Errorf("%s", s)
	}
}

func TestAnyActionsKeepTheFrameWithinItsBounds(t *testing.T) {
	th := themed(t, theme.Options{Name: theme.Light, Profile: colorprofile.ANSI256})
	actions := []keymap.Action{keymap.ScrollUp, keymap.ScrollDown, keymap.PageUp, keymap.PageDown, keymap.ScrollTop, keymap.ScrollBottom, keymap.ItemUp, keymap.ItemDown,
		keymap.Expand, keymap.ToggleTools, keymap.ToggleThinking, keymap.Copy, keymap.Search, keymap.SearchNext, keymap.SearchBack, keymap.Submit, keymap.Leave, keymap.Cancel, keymap.DeleteBack}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		l := day()
		tr := filled(l)
		var live protocol.Live
		for step := range 150 {
			switch r.IntN(12) {
			case 0:
				tr.Append(l.user(strings.Repeat("more text ", 1+r.IntN(30))))
			case 1:
				tr.Prepend(long(3).events)
			case 2:
				tr.Cut(l.events[r.IntN(len(l.events))].ID)
			case 3:
				live.Messages = []protocol.LiveMessage{{EventID: protocol.EventID(fmt.Sprint("evt_", step/40)), Role: protocol.RoleAssistant,
					Blocks: []protocol.LiveBlock{{Type: protocol.BlockThinking, Text: protocol.Growing(strings.Repeat("hm ", r.IntN(50)))}, {Type: protocol.BlockText, Text: protocol.Growing(randomAnswer(r))}, {Type: protocol.BlockToolUse, Name: "Bash", ID: "x", Text: protocol.Growing(`{"command":"ls`)}}}}
				tr.Live(&live)
			case 4:
				live.Messages, live.Retry = nil, &protocol.Retry{Attempt: 1, MaxAttempts: 2}
				tr.Live(&live)
			case 5:
				tr.Insert("ma")
				tr.Press(r.IntN(40), r.IntN(120))
				if r.IntN(2) == 0 {
					tr.Drag(r.IntN(44)-2, r.IntN(120))
				}
				tr.More(r.IntN(2) == 0)
				if r.IntN(3) > 0 {
					tr.Release(r.IntN(44)-2, r.IntN(120))
				}
			default:
				tr.Do(actions[r.IntN(len(actions))])
			}
			w, h := 1+r.IntN(120), 1+r.IntN(40)
			lines := tr.View(th, w, h)
			if len(lines) > h {
				t.Fatalf("seed %d, step %d: %d lines, at most %d", seed, step, len(lines), h)
			}
			for _, line := range lines {
				if cell.Width(line) > w {
					t.Fatalf("seed %d, step %d: a line of %d cells, at most %d: %q", seed, step, cell.Width(line), w, line)
				}
			}
		}
	}
}

func TestWhatIsSaidOfACallMayComeBeforeIt(t *testing.T) {
	th := plainTheme(t)
	tr, l := New(Config{}), &log{}
	tr.Append(l.add(&protocol.PermissionDecision{ToolCallID: "c", Decision: protocol.DecisionDeny, Scope: "once", Reason: "Not today."}))
	tr.Append(l.answer(protocol.ToolUse("c", "Bash", []byte(`{"command":"ls"}`))))
	tr.Append(l.result("c", "Bash", "Not run: denied.", nil, true))
	if s := strings.Join(tr.View(th, 60, 40), "\n"); !strings.Contains(s, "denied") || !strings.Contains(s, "Not today.") {
		t.Errorf("%s", s)
	}
	for i := range 10 * maxEarly {
		tr.Append(l.add(&protocol.PermissionDecision{ToolCallID: fmt.Sprint(i)}))
	}
	if n := len(tr.early); n > maxEarly {
		t.Errorf("%d calls are kept that are not there", n)
	}
}

func TestTheTextAtTheTopStaysWhenTheWidthChanges(t *testing.T) {
	th := plainTheme(t)
	l := long(3)
	var words strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&words, "w%d ", i)
	}
	l.answer(protocol.Text(words.String()))
	tr := filled(l)
	tr.View(th, 100, 12)
	for range 12 {
		tr.Do(keymap.PageUp)
	}
	first := func(width int) string { return strings.Fields(plain(tr.View(th, width, 12)[0]))[0] }
	want := first(100)
	for _, width := range []int{60, 41, 120, 33, 60} {
		lines := strings.Fields(plain(tr.View(th, width, 12)[0]))
		if !slices.Contains(lines, want) {
			t.Errorf("at width %d the top line is %q, without %s", width, lines, want)
		}
	}
	if got := first(100); got != want {
		t.Errorf("%s was at the top, now %s", want, got)
	}
}

func TestWhatStreamsInBelowIsSaid(t *testing.T) {
	th := plainTheme(t)
	l := long(30)
	tr := filled(l)
	live := &protocol.Live{Messages: []protocol.LiveMessage{{EventID: eventID(900), Role: protocol.RoleAssistant,
		Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: []byte("It begins.")}}}}}
	tr.Live(live)
	tr.View(th, 80, 10)
	tr.Do(keymap.PageUp)
	said := func() bool { return strings.Contains(strings.Join(tr.View(th, 80, 10), "\n"), "new below") }
	if said() {
		t.Error("something is new though nothing came")
	}
	live.Messages[0].Blocks[0].Text = append(live.Messages[0].Blocks[0].Text, " It goes on."...)
	tr.Live(live)
	if !said() {
		t.Error("it is not said that something came")
	}
	tr.Do(keymap.ScrollBottom)
	if said() {
		t.Error("it is said at the end")
	}
}
