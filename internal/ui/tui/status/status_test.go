package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"scorel/client"
	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

func facts() Facts {
	return Facts{Model: "anthropic/claude-sonnet-4-5", Thinking: "high", Mode: "acceptEdits", ContextTokens: 150_000, ContextWindow: 200_000,
		Usage: protocol.Usage{InputTokens: 12_000, OutputTokens: 3_400, CacheReadTokens: 140_000, CostUSD: 1.234}, Place: "main",
		Clients: 2, Queued: 1, Tasks: 2, Words: []string{"lint ok"}, State: client.StateConnected}
}

func queues() []protocol.LiveQueue {
	item := func(id, text string) protocol.QueueItem {
		return protocol.QueueItem{ID: protocol.ItemID(id), Content: []protocol.Block{protocol.Text(text)}}
	}
	return []protocol.LiveQueue{
		{Queue: protocol.QueueSteer, Items: []protocol.QueueItem{item("itm_1", "use the other\nfile")}, UpdateID: "evt_1"},
		{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{item("itm_2", "then run the tests"), item("itm_3", "and commit"), item("itm_4", "and push")}, UpdateID: "evt_2"},
	}
}

func tasks() []protocol.TaskInfo {
	code := 1
	return []protocol.TaskInfo{
		{TaskID: "t1", Command: "make\ntest", State: protocol.TaskExited, StartedAt: start.UnixMilli(), EndedAt: after(90 * time.Second).UnixMilli(), ExitCode: &code, LastLine: "FAIL"},
		{TaskID: "t2", Command: "npm run dev", State: protocol.TaskRunning, StartedAt: start.UnixMilli(), LastLine: "ready on :3000"},
		{TaskID: "t3", Command: "explore: look for callers", Agent: "explore", State: protocol.TaskRunning, StartedAt: after(time.Minute).UnixMilli()},
	}
}

func one(line string) []string { return []string{line} }

func TestGoldenFrames(t *testing.T) {
	now := after(2 * time.Minute)
	golden.Check(t, "header", func(th *theme.Theme, width int) []string {
		return Header(th, width, Welcome{Name: "scorel", Version: "1.0", Folder: "~/src/shop", Model: "anthropic/claude-sonnet-4-5",
			Tips: []string{"/help lists the commands", "@ names a file", "Shift+Tab changes the mode", "a fourth tip"}, Problems: []string{"config.toml:3: There is no key colour; it is left out."}})
	})
	golden.Check(t, "header-first", func(th *theme.Theme, width int) []string {
		return Header(th, width, Welcome{Name: "scorel", Version: "1.0", Folder: "~/src/shop", Hint: "No model is set up yet. Type /login to add an API key."})
	})
	golden.Check(t, "line", func(th *theme.Theme, width int) []string {
		away := facts()
		away.State, away.Reconnect, away.Mode = client.StateReconnecting, "3s", "bypassPermissions"
		replaced := facts()
		replaced.Replaced = Output("\x1b[31mshop\x1b[0m on main\n 75%")
		return []string{Line(th, width, facts()), Line(th, width, away), Line(th, width, replaced), Line(th, width, Facts{Model: "demo", State: client.StateConnected})}
	})
	golden.Check(t, "queue", func(th *theme.Theme, width int) []string {
		paused := queues()[1:]
		paused[0].Paused = true
		return append(QueueStrip(th, width, queues(), "alt+up", "Enter"), QueueStrip(th, width, paused, "alt+up", "Enter")...)
	})
	golden.Check(t, "tasks", func(th *theme.Theme, width int) []string {
		lines := one(TaskStrip(th, width, tasks(), "/tasks", now))
		for _, it := range TaskItems(th, tasks(), now) {
			lines = append(lines, cell.Cut(fmt.Sprintf("%s %s | %s | %s | %s", it.Mark, it.Group, it.Title, it.Detail, it.Right), width, ""))
		}
		return lines
	})
	golden.Check(t, "todos", func(th *theme.Theme, width int) []string {
		var todos []protocol.Todo
		for i, text := range []string{"Find the cause", "Mend it", "Write the test that fails without the mend and passes with it", "Run all tests", "Commit"} {
			todos = append(todos, protocol.Todo{Content: text, Status: []string{"completed", "completed", "in_progress", "pending", "pending"}[i]})
		}
		return append(TodoStrip(th, width, 1, todos), TodoStrip(th, width, 4, todos)...)
	})
	golden.Check(t, "widgets", func(th *theme.Theme, width int) []string {
		states := []protocol.UIState{{Source: "a", Key: "k", Place: Above, Lines: []string{"first\x1b[31m line", "second line", "third line"}}, {Source: "b", Place: Below, Lines: []string{"below"}}, {Source: "c", Place: "status", Lines: []string{"a very long word of an extension that goes on"}}}
		lines := append(Widgets(th, width, 2, states, Above), Widgets(th, width, 2, states, Below)...)
		return append(lines, Words(th, states)...)
	})
	golden.Check(t, "toasts", func(th *theme.Theme, width int) []string {
		var ts Toasts
		ts.Add(Info, "", "The session was saved.", start)
		ts.Add(Warning, "deploy", "The token ends tomorrow; get another one with deploy login.", start)
		ts.Add(Warning, "deploy", "The token ends tomorrow; get another one with deploy login.", start)
		ts.Add(Error, "", "The host does not answer: it was stopped, or the network is away. What you type is kept.", start)
		return ts.Render(th, width, start)
	})
	golden.Check(t, "working", func(th *theme.Theme, width int) []string {
		var lines []string
		for _, l := range []*protocol.Live{
			{Running: true},
			{Running: true, Messages: []protocol.LiveMessage{{Blocks: []protocol.LiveBlock{{Type: protocol.BlockThinking, Text: make([]byte, 4000)}}}}},
			{Running: true, Messages: []protocol.LiveMessage{{Blocks: []protocol.LiveBlock{{Type: protocol.BlockToolUse, Name: "Edit"}}}}},
			{Running: true, Tools: []protocol.LiveTool{{EventID: "e1", ToolName: "Bash"}, {EventID: "e2", ToolName: "Read"}}},
			{Running: true, Retry: &protocol.Retry{Attempt: 2, MaxAttempts: 5, DelayMS: 20_000, Error: "529 overloaded: the model has too many requests at the moment"}},
			{Running: true, Permissions: []protocol.PermissionRequest{{PermissionID: "p"}}},
		} {
			w := Working{CancelKey: "esc"}
			w.Observe(l, time.Time{}, start)
			w.Observe(l, time.Time{}, after(12*time.Second))
			lines = append(lines, w.Render(th, width, after(12*time.Second+300*time.Millisecond)))
		}
		w := Working{}
		w.Other("Compacting", start)
		return append(lines, w.Render(th, width, after(75*time.Second)))
	})
}

func TestTheStatusLineDropsWhatMattersLeastWhenItIsNarrow(t *testing.T) {
	f := facts()
	f.State = client.StateReconnecting
	var before string
	for width := 150; width >= 1; width-- {
		line := Line(golden.Dark(), width, f)
		golden.Lines(t, []string{line}, width)
		text := ansi.Strip(line)
		for _, pair := range [][2]string{{"accepts edits", "reconnecting"}, {"75%", "accepts edits"}, {"claude-sonnet", "75%"}, {"1 queued", "claude-sonnet"}, {"main", "1 queued"}, {"$1.23", "main"}, {"lint ok", "$1.23"}, {"155k tokens", "lint ok"}} {
			if strings.Contains(text, pair[0]) && !strings.Contains(text, pair[1]) {
				t.Fatalf("at %d %q is shown without %q: %s", width, pair[0], pair[1], text)
			}
		}
		before = text
	}
	if !strings.Contains(ansi.Strip(Line(golden.Dark(), 60, f)), "reconnecting") {
		t.Errorf("at 60: %s", before)
	}
}

func TestTheContextIsToldWhenTheWindowIsNotKnown(t *testing.T) {
	for tokens, want := range map[int]string{12_300: " demo  12.3k in context", 0: " demo"} {
		if got := Line(golden.Plain(), 60, Facts{Model: "demo", ContextTokens: tokens, State: client.StateConnected}); strings.TrimRight(got, " ") != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestASingleTaskTellsWhatItPrintedLast(t *testing.T) {
	ts := []protocol.TaskInfo{{TaskID: "a", Command: strings.Repeat("make all ", 20), State: protocol.TaskRunning, StartedAt: start.UnixMilli(), LastLine: "12 of 40 done"}}
	if got := TaskStrip(golden.Plain(), 80, ts, "/tasks", after(5*time.Second)); !strings.Contains(got, "... 5s: 12 of 40 done") || !strings.HasSuffix(got, "/tasks") {
		t.Errorf("%q", got)
	}
	if got := TaskStrip(golden.Plain(), 30, ts, "/tasks", after(5*time.Second)); strings.Contains(got, "/tasks") {
		t.Errorf("%q", got)
	}
}

func TestHostileTextsStayInTheirLine(t *testing.T) {
	bad := "\x1b]0;x\x07\x1b[2J\u202e\r\nsecond\x00" + strings.Repeat("w", 500)
	f := facts()
	f.Model, f.Place, f.Thinking, f.Mode, f.Words, f.Reconnect, f.State = bad, bad, bad, bad, []string{bad}, bad, client.StateReconnecting
	todos := []protocol.Todo{{Content: bad, Status: bad}}
	qs := []protocol.LiveQueue{{Queue: "x", Items: []protocol.QueueItem{{Content: []protocol.Block{protocol.Text(bad), {Type: protocol.BlockFile, Name: bad}}}}}}
	ts := []protocol.TaskInfo{{TaskID: "t", Command: bad, Agent: bad, LastLine: bad, State: protocol.TaskRunning}}
	states := []protocol.UIState{{Place: Above, Lines: []string{bad, bad}}}
	live := &protocol.Live{Running: true, Tools: []protocol.LiveTool{{ToolName: bad}}}
	for _, width := range []int{1, 2, 7, 40, 120} {
		th := golden.Dark()
		var w Working
		w.Observe(live, time.Time{}, start)
		lines := []string{Line(th, width, f), TaskStrip(th, width, ts, "/tasks", start), w.Render(th, width, start)}
		w.Observe(&protocol.Live{Running: true, Retry: &protocol.Retry{Error: bad}}, time.Time{}, start)
		lines = append(lines, w.Render(th, width, start))
		lines = append(lines, QueueStrip(th, width, qs, "alt+up", "Enter")...)
		lines = append(lines, TodoStrip(th, width, 3, todos)...)
		lines = append(lines, Widgets(th, width, 3, states, Above)...)
		lines = append(lines, Header(th, width, Welcome{Name: bad, Version: bad, Folder: bad, Model: bad, Hint: bad, Session: bad, Tips: []string{bad}, Problems: []string{bad}})...)
		var toasts Toasts
		toasts.Add(Error, bad, bad, start)
		lines = append(lines, toasts.Render(th, width, start)...)
		golden.Lines(t, lines, width)
	}
	if got := Title([]protocol.UIState{{Place: "title", Lines: []string{"a\x07b"}}}); got != "ab" {
		t.Errorf("%q", got)
	}
}

func TestTheWorkingLineTellsTimesOfTheTurnAndOfTheTool(t *testing.T) {
	var w Working
	th := golden.Plain()
	text := func(at time.Duration) string { return w.Render(th, 100, after(at)) }
	live := &protocol.Live{Running: true, Usage: protocol.Usage{OutputTokens: 500}}
	w.Observe(live, time.Time{}, start)
	if got := text(3 * time.Second); got != "* Asking the model (3s)" {
		t.Errorf("%q", got)
	}
	live.Tools = []protocol.LiveTool{{EventID: "a", ToolName: "Bash"}}
	w.Observe(live, time.Time{}, after(5*time.Second))
	live.Tools = append([]protocol.LiveTool{}, live.Tools...)
	live.Tools = append(live.Tools, protocol.LiveTool{EventID: "b", ToolName: "Read"})
	live.Usage.OutputTokens = 1700
	w.Observe(live, time.Time{}, after(7*time.Second))
	if got := text(17 * time.Second); got != "* Running Bash and 1 more 12s (17s, 1.2k tokens)" {
		t.Errorf("%q", got)
	}
	live.Tools = live.Tools[1:]
	w.Observe(live, time.Time{}, after(20*time.Second))
	if got := text(20 * time.Second); !strings.Contains(got, "Running Read 13s (20s") {
		t.Errorf("%q", got)
	}
	live.Tools, live.Retry = nil, &protocol.Retry{Attempt: 1, MaxAttempts: 3, DelayMS: 5000, Error: "overloaded"}
	w.Observe(live, time.Time{}, after(30*time.Second))
	w.Observe(live, time.Time{}, after(32*time.Second))
	if got := text(32*time.Second + 100*time.Millisecond); !strings.Contains(got, "Trying again (1 of 3) in 3s (") {
		t.Errorf("%q", got)
	}
	live.Retry = &protocol.Retry{Attempt: 2, MaxAttempts: 3, DelayMS: 9000}
	w.Observe(live, time.Time{}, after(40*time.Second))
	if got := text(40 * time.Second); !strings.Contains(got, "(2 of 3) in 9s") {
		t.Errorf("%q", got)
	}
	w.Observe(&protocol.Live{}, time.Time{}, after(50*time.Second))
	if got := text(50 * time.Second); got != "" || w.On() || w.Next(th, after(50*time.Second)) != 0 {
		t.Errorf("after the turn: %q", got)
	}
}

func TestNothingTicksWithoutAnimation(t *testing.T) {
	var w Working
	w.Observe(&protocol.Live{Running: true}, time.Time{}, start)
	if got := w.Next(golden.Dark(), after(130*time.Millisecond)); got != 70*time.Millisecond {
		t.Errorf("a spinner: %v", got)
	}
	if got := w.Next(golden.Plain(), after(130*time.Millisecond)); got != 870*time.Millisecond {
		t.Errorf("plain: %v", got)
	}
	w.Observe(&protocol.Live{Running: true, UI: []protocol.UIRequest{{}}}, time.Time{}, after(time.Second))
	if got := w.Next(golden.Dark(), after(1130*time.Millisecond)); got != 870*time.Millisecond {
		t.Errorf("while it waits for a person: %v", got)
	}
}

func TestObservingForEveryFrameCostsNothing(t *testing.T) {
	live := &protocol.Live{Running: true, Messages: []protocol.LiveMessage{{Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: make([]byte, 1<<20)}}}}}
	var w Working
	if n := testing.AllocsPerRun(100, func() { w.Observe(live, time.Time{}, start) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNoticesGoAwayAndAreBounded(t *testing.T) {
	var ts Toasts
	ts.Add(Info, "", "saved", start)
	ts.Add(Info, "", "saved", after(2*time.Second))
	ts.Add(Warning, "", "low disk", start)
	if got := golden.Text(ts.Render(golden.Plain(), 40, after(6*time.Second))); got != "* saved (2 times)\n! low disk\n" {
		t.Errorf("%q", got)
	}
	if got := ts.Next(after(6 * time.Second)); got != time.Second {
		t.Errorf("next in %v", got)
	}
	if got := golden.Text(ts.Render(golden.Plain(), 40, after(8*time.Second))); got != "! low disk\n" {
		t.Errorf("%q", got)
	}
	ts.Add(Error, "", "the first error", after(9*time.Second))
	for i := range 100 {
		ts.Add(Info, "", fmt.Sprint("note ", i), after(9*time.Second))
	}
	if len(ts.all) != maxToasts || ts.all[0].text != "low disk" || ts.all[1].text != "the first error" {
		t.Errorf("%d are kept: %+v", len(ts.all), ts.all[:2])
	}
	if got := golden.Text(ts.Render(golden.Plain(), 40, after(9*time.Second))); got != "17 earlier notices: /notices\n* note 97\n* note 98\n* note 99\n" {
		t.Errorf("%q", got)
	}
	past := golden.Text(ts.Past(golden.Plain()))
	if lines := strings.Split(strings.TrimSpace(past), "\n"); len(lines) != maxPast || !strings.HasSuffix(lines[0], " * note 99") || !strings.HasSuffix(lines[maxPast-1], " * note 0") {
		t.Errorf("kept are\n%s", past)
	}
	ts.Add(Error, "x", "the second error", after(9*time.Second))
	ts.Add(Error, "x", "the second error", after(9*time.Second))
	ts.DismissProblems()
	if got := golden.Text(ts.Render(golden.Plain(), 40, after(9*time.Second))); strings.Contains(got, "error") || !strings.Contains(got, "* note 99") {
		t.Errorf("of another session: %q", got)
	}
	if got := ts.Past(golden.Plain()); !strings.HasSuffix(got[0], "x: the second error (2 times)") {
		t.Errorf("the newest is %q", got[0])
	}
}

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 59 * time.Second: "59s", 125 * time.Second: "2m 5s", 3780 * time.Second: "1h 3m", 52 * time.Hour: "2d 4h", -time.Second: "0s"} {
		if got := Elapsed(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 12_345: "12.3k", 100_000: "100k", 1_250_000: "1.2M"} {
		if got := Tokens(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if Cost(0.0042) != "$0.004" || Cost(1.239) != "$1.24" {
		t.Error(Cost(0.0042), Cost(1.239))
	}
}

func TestALongNoticeKeepsItsBeginningAndThePlaceAtItsEnd(t *testing.T) {
	start := time.Now()
	text := "The extension bad failed at tool_call: " + strings.Repeat("it cannot read what is not there ", 8) + "(bad.ts:12)"
	var alone Toasts
	alone.Add(Warning, "", text, start)
	got := golden.Text(alone.Render(golden.Plain(), 60, start))
	if lines := strings.Split(strings.TrimSpace(got), "\n"); len(lines) != maxToastLines || !strings.Contains(lines[0], "tool_call") || !strings.HasSuffix(lines[2], "…") || !strings.HasSuffix(lines[3], "(bad.ts:12)") {
		t.Errorf("%s", got)
	}
	var info Toasts
	info.Add(Info, "", text, start)
	if got := strings.TrimSpace(golden.Text(info.Render(golden.Plain(), 60, start))); strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "…") {
		t.Errorf("%s", got)
	}
}

func TestTheTimeOfATurnCountsFromItsBeginning(t *testing.T) {
	var w Working
	text := func(at time.Time) string { return golden.Text([]string{w.Render(golden.Plain(), 60, at)}) }
	w.Observe(&protocol.Live{Running: true, TurnID: "turn_a"}, start, after(90*time.Second)) // somebody joins
	if got := text(after(91 * time.Second)); !strings.Contains(got, "(1m 31s)") {
		t.Errorf("a turn that was joined: %q", got)
	}
	w.Observe(&protocol.Live{Running: true, TurnID: "turn_b"}, after(95*time.Second), after(95*time.Second)) // at once after the other
	if got := text(after(97 * time.Second)); !strings.Contains(got, "(2s)") {
		t.Errorf("the turn after it: %q", got)
	}
	w.Observe(&protocol.Live{Running: true, TurnID: "turn_c"}, after(time.Hour), after(100*time.Second)) // of a clock that is ahead
	if got := text(after(101 * time.Second)); !strings.Contains(got, "(1s)") {
		t.Errorf("a turn of the future: %q", got)
	}
}

func TestARunThatIsACommandIsNamed(t *testing.T) {
	for command, want := range map[string]string{"": "Asking the model", "deploy": "Running /deploy", "shortcut:alt+k": "Running the shortcut alt+k"} {
		var w Working
		w.Observe(&protocol.Live{Running: true, Command: command}, start, start)
		if got := w.Render(golden.Plain(), 60, start); !strings.Contains(got, want) {
			t.Errorf("%q is shown as %q", command, got)
		}
	}
}

func TestWhatIsTakenFirstIsShownFirst(t *testing.T) {
	item := func(text string) []protocol.QueueItem {
		return []protocol.QueueItem{{Content: []protocol.Block{protocol.Text(text)}}}
	}
	th, _ := theme.New(theme.Options{Name: theme.Dark})
	lines := QueueStrip(th, 80, []protocol.LiveQueue{{Queue: protocol.QueueFollowUp, Items: item("later")}, {Queue: protocol.QueueSteer, Items: item("now")}}, "alt+up", "Enter")
	if len(lines) != 2 || !strings.Contains(lines[0], "now") || !strings.Contains(lines[1], "later") {
		t.Errorf("%q", lines)
	}
}
