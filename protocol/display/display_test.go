package display

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"scorel/protocol"
)

var update = flag.Bool("update", false, "write the golden files")

func ptr[T any](v T) *T { return &v }

func eventID(n int) protocol.EventID { return protocol.EventID(fmt.Sprintf("evt_%016d", n)) }

// bodies is at least one body of every event type.
func bodies() []protocol.Body {
	msg := func(m protocol.Message) protocol.Body { return &protocol.MessageBody{Message: m} }
	user := protocol.UserText("Fix the \x1b[31mtest\x1b[0m.\r\nThanks\u202e!")
	steer := protocol.UserText("Not that file.")
	steer.Meta = &protocol.MessageMeta{Source: protocol.SourceSteer}
	follow := protocol.UserText("Then commit.")
	follow.Meta = &protocol.MessageMeta{Source: protocol.SourceFollowUp}
	channel := protocol.UserText("From the phone.")
	channel.Meta = &protocol.MessageMeta{Source: protocol.SourceChannel, Channel: "telegram"}
	files := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{
		protocol.Text("See:"), {Type: protocol.BlockImage, MediaType: "image/png", Blob: "ab"}, {Type: protocol.BlockFile, Name: "a\nb.pdf", MediaType: "application/pdf", Blob: "cd"}}}
	assistant := protocol.Message{Role: protocol.RoleAssistant, Provider: "demo", Model: "demo", StopReason: protocol.StopToolUse, Usage: &protocol.Usage{}, Content: []protocol.Block{
		{Type: protocol.BlockThinking, Thinking: "Look first."}, protocol.Text("I look at it:\n```go\nfunc main() {}"),
		protocol.ToolUse("c1", "Bash", json.RawMessage(`{"command":"go test ./...\n","timeout":5}`)),
		protocol.ToolUse("c2", "Edit", json.RawMessage(`{"path":"a.go","old":"x","new":"y"}`))}}
	partial := protocol.Message{Role: protocol.RoleAssistant, Model: "demo", StopReason: protocol.StopError, Usage: &protocol.Usage{}, Partial: true, ErrorMessage: "overloaded",
		Content: []protocol.Block{protocol.Text("<details>half"), {Type: protocol.BlockThinking, Redacted: true}}}
	result := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", ToolName: "Bash", Content: []protocol.Block{protocol.Text("ok\n````\n\x1b]0;title\x07done")}}
	edit := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c2", ToolName: "Edit", Content: []protocol.Block{protocol.Text("Edited.")},
		Details: json.RawMessage(`{"diff":"-x\n+y\n","files":[]}`)}
	worked := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c5", ToolName: "ExecuteSkill", Content: []protocol.Block{protocol.Text("{}")},
		Process: json.RawMessage(`{"latest":{"message":"over"},"events":[{"operationId":"tool-c5","stage":"s","status":"started","message":"begun"},{"operationId":"tool-c5","status":"completed","message":"over","percent":100}]}`)}
	cancelled := protocol.ToolError("c3", "Bash", "Cancelled by user")
	cancelled.Details = json.RawMessage(`{"cancelled":true}`)
	return []protocol.Body{
		msg(user), msg(steer), msg(follow), msg(channel), msg(files), msg(assistant), msg(partial), msg(result), msg(edit), msg(worked),
		msg(protocol.ToolError("c4", "Read", "no such file")), msg(cancelled),
		msg(protocol.Message{Role: protocol.RoleInternal, Content: []protocol.Block{protocol.Text("internal")}}),
		&protocol.Compact{Summary: "Goal: fix.", CompactedThrough: eventID(1), TokensBefore: 123456, TokensAfter: 7890},
		&protocol.CustomMessage{Kind: "poll", Message: protocol.UserText("Vote")},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Content: "Go on.", Visibility: protocol.VisibilityDisplay}},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemSkillListing, Origin: protocol.OriginSkill, Content: "a\nb", Visibility: protocol.VisibilityCompact}},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemDateChange, Origin: protocol.OriginSystem, Content: "today", Visibility: protocol.VisibilityHidden}},
		&protocol.BranchSummary{FromEventID: eventID(2), Summary: "Tried y."},
		&protocol.Rewind{TargetEventID: ptr(eventID(1))}, &protocol.Rewind{},
		&protocol.Branch{LeafEventID: eventID(3)},
		&protocol.ChannelInject{Channel: "telegram", ExternalID: "7"},
		&protocol.SessionInfo{Changes: protocol.MetaChanges{Name: ptr("Fix it"), Model: ptr("demo")}}, &protocol.SessionInfo{},
		&protocol.Custom{Kind: "stack", Data: json.RawMessage(`{}`)},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay, Content: "told", Data: json.RawMessage(`{"toolCallId":"c1","changed":["/p/.envrc","/p/.git/hooks/a\u202e"],"more":2}`)}},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay, Content: "told", Data: json.RawMessage(`{"agent":"x","setAside":[{"path":"/p/.git/commondir","to":"/p/.git/scorel-set-aside-1/commondir.aside","why":"it leads"},{"path":"/p/.git/gitdir","why":"it leads","error":"no room"}]}`)}},
		&protocol.Label{TargetEventID: eventID(1), Label: ptr("start")}, &protocol.Label{TargetEventID: eventID(1)},
		&protocol.InstructionSnapshot{Snapshot: protocol.Instructions{Version: 1, Text: "You are", Cut: []string{"workspace"}}},
		&protocol.QueueUpdate{Queue: protocol.QueueSteer, Items: []protocol.QueueItem{{ID: "itm_0000000000000000", Content: []protocol.Block{protocol.Text("wait")}}}, Paused: true},
		&protocol.SkillIndexSnapshot{}, &protocol.SkillIndexDelta{},
		&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionAllow, Rule: "Bash(go test:*)", Scope: "rule"},
		&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionAllow, Rule: "Bash(make)", Scope: "always"},
		&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionDeny, Scope: "once", Reason: "no"},
		&protocol.FileSnapshot{ToolCallID: "c2", Path: "/p/a.go", Existed: true, Restorable: true}, &protocol.FileSnapshot{ToolCallID: "c2", Path: "/p/big"},
		&protocol.ContextCut{Kind: "shrink", ThroughEventID: eventID(1)},
		&protocol.Repair{Gaps: []protocol.RepairGap{{Before: eventID(1), Missing: eventID(2)}, {Before: eventID(3), Prev: 2}}},

		&protocol.MessageStart{EventID: eventID(9), Role: protocol.RoleAssistant, Model: "demo"},
		&protocol.TextDelta{EventID: eventID(9), BlockIndex: 1, Delta: "Hel\x07lo"},
		&protocol.ThinkingDelta{EventID: eventID(9), Delta: "hm"},
		&protocol.ToolCallDelta{EventID: eventID(9), BlockIndex: 2, ToolCallID: "c1", ToolName: "Bash", Delta: `{"co`},
		&protocol.MessageCancelled{EventID: eventID(9), Reason: protocol.CancelRetry},
		&protocol.ToolExecutionStart{EventID: eventID(10), ToolCallID: "c1", ToolName: "Bash", Args: json.RawMessage(`{"command":"ls"}`)},
		&protocol.ToolExecutionUpdate{EventID: eventID(10), ToolCallID: "c1", Partial: "a\n"},
		&protocol.ToolExecutionEnd{EventID: eventID(10), ToolCallID: "c1", ToolName: "Bash", DurationMS: 1234, IsError: true},
		&protocol.ToolProcess{ToolCallID: "c1", ToolName: "Skill", Event: protocol.ProcessEvent{Message: "half", Percent: new(float64(50)), Status: protocol.ProcessRunning}},
		&protocol.ToolProcess{ToolCallID: "c1", ToolName: "ExecuteSkill", ToolLabel: "damage", Event: protocol.ProcessEvent{OperationID: "tool-c1", Stage: "detect", Message: "batch\x1b[2J done", Current: new(float64(3)), Total: new(float64(8)), Percent: new(float64(38)),
			Status: protocol.ProcessFailed, Level: protocol.ProcessError, Detail: "a\nb", Timestamp: "2026-05-06T12:00:00Z"}},
		&protocol.Notice{Source: "gate", Level: "error", Text: "It\u202e failed."}, &protocol.UIState{Source: "gate", Key: "k", Place: "status", Lines: []string{"on"}},
		&protocol.TurnStart{}, &protocol.TurnEnd{}, &protocol.RuntimeStart{},
		&protocol.RuntimeEnd{Reason: protocol.EndError, Terminal: protocol.TerminalModelError, Error: protocol.Errorf(protocol.CodeProviderError, "no key")},
		&protocol.Retry{Attempt: 2, MaxAttempts: 8, DelayMS: 1100, Error: "429"},
		&protocol.PermissionRequest{PermissionID: "prm_0000000000000000", ToolCallID: "c1", ToolName: "Bash", Args: json.RawMessage(`{"command":"rm x"}`), Reason: "It needs permission.",
			Suggestions: []protocol.Suggestion{{Label: "Allow once", Scope: "once"}, {Label: "Always\u202e", Scope: "always", Rule: "Bash(rm x)"}}},
		&protocol.PermissionResolved{PermissionID: "prm_0000000000000000", Decision: protocol.DecisionExpired},
		&protocol.UIRequest{UIID: "u1", Data: protocol.Dialog{Kind: "confirm"}}, &protocol.UIResolved{UIID: "u1"},
		&protocol.UIRequest{UIID: "u2", Data: protocol.Dialog{Kind: protocol.DialogQuestion, ToolCallID: "c1", Questions: []protocol.Question{
			{Question: "Which\u202e base?", Header: "Base", Options: []protocol.Option{{Label: "main"}, {Label: "next", Description: "what comes"}}},
			{Question: "What else?", Multiple: true, Options: []protocol.Option{{Label: "tests"}, {Label: "docs"}}}}}},
		&protocol.UIResolved{UIID: "u2", Decision: protocol.DecisionExpired},
		&protocol.UIRequest{UIID: "u3", Data: protocol.Dialog{Kind: protocol.DialogPlan, ToolCallID: "c1", Text: "1. Look\u202e.\n2. Mend."}},
		&protocol.CustomMessage{Kind: protocol.ShellKind, Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("I ran:"), protocol.Text("a\x1b[31mb\n[exit code 0]")}},
			Data: json.RawMessage(`{"command":"echo a\nb","inContext":true,"exitCode":0}`)},
		&protocol.CustomMessage{Kind: protocol.ShellKind, Message: protocol.Message{Role: protocol.RoleInternal, Content: []protocol.Block{protocol.Text("half")}},
			Data: json.RawMessage(`{"command":"make","exitCode":130,"cancelled":true}`)},
		&protocol.CustomMessage{Kind: protocol.ShellKind, Message: protocol.Message{Role: protocol.RoleInternal, Content: []protocol.Block{protocol.Text("the host stopped")}},
			Data: json.RawMessage(`{"command":"make","lost":true}`)},
		&protocol.ToolExecutionStart{EventID: eventID(3), ToolCallID: string(eventID(3)), ToolName: "Bash", Args: json.RawMessage(`{"command":"ls"}`), Shell: &protocol.Shell{Command: "ls"}},
		&protocol.Todos{Todos: []protocol.Todo{{Content: "a", Status: "pending"}}},
		&protocol.TaskUpdate{Task: protocol.TaskInfo{TaskID: "task_00000000", Command: "npm run dev", State: protocol.TaskRunning, LastLine: "ready"}},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginTool, Visibility: protocol.VisibilityCompact,
			Content: "It ended.", Data: json.RawMessage(`{"taskId":"task_00000000","command":"npm run dev","state":"exited","exitCode":1}`)}},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginTool, Visibility: protocol.VisibilityCompact,
			Content: "| ready", Data: json.RawMessage(`{"taskId":"task_00000000","command":"npm run dev","pattern":"ready","lines":3}`)}},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginTool, Visibility: protocol.VisibilityCompact,
			Content: "It ended.", Data: json.RawMessage(`{"taskId":"task_00000001","command":"explore: find callers","state":"exited","exitCode":0,"agent":"explore"}`)}},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginTool, Visibility: protocol.VisibilityCompact,
			Content: "It ended.", Data: json.RawMessage(`{"taskId":"task_00000001","command":"explore: find callers","state":"exited","exitCode":1,"agent":"explore"}`)}},
	}
}

// lines returns the bodies as parsed event lines.
func lines(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for i, b := range bodies() {
		e := protocol.NewEvent(b)
		e.Seq, e.SessionID, e.ClientID, e.TS = protocol.Seq(i+1), "ses_00000000000000000000000000", protocol.HostClient, 1
		if e.ID = eventID(i + 1); isTransient(b) {
			e.ID = ""
		}
		line, err := e.AppendLine(nil)
		if err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		out = append(out, line)
	}
	return append(out, []byte(`{"type":"later","id":"evt_9999999999999999","parentId":null,"seq":999,"control":true}`))
}

func isTransient(b protocol.Body) bool {
	e := protocol.NewEvent(b)
	e.ID = ""
	e.Seq, e.SessionID, e.ClientID = 1, "s", "c"
	_, err := e.AppendLine(nil)
	return err == nil
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s, line %d (run with -update):\n got %s\nwant %s", name, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d (run with -update)", name, len(g), len(w))
}

func TestEveryEventIsShownAsTheGoldenFileSays(t *testing.T) {
	var events, items bytes.Buffer
	enc := json.NewEncoder(&items)
	enc.SetEscapeHTML(false)
	for _, line := range lines(t) {
		e, err := protocol.ParseEvent(line)
		if err != nil {
			t.Fatal(err)
		}
		events.Write(line)
		events.WriteByte('\n')
		if err := enc.Encode(Of(e)); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "events.jsonl", events.Bytes())
	golden(t, "items.jsonl", items.Bytes())
}

// TestEveryViewIsInTheGoldenFile: of each type of event that code shows there is one. Those
// that data shows are in the shared cases.
func TestEveryViewIsInTheGoldenFile(t *testing.T) {
	seen := map[protocol.EventType]bool{}
	for _, b := range bodies() {
		seen[b.EventType()] = true
	}
	for _, s := range protocol.EventSpecs() {
		if s.Display.View != "" && !seen[s.Type] {
			t.Errorf("no event of type %s", s.Type)
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d types", len(seen))
	}
}

func TestMarkdownOfASession(t *testing.T) {
	header := protocol.Header{Version: 1, SessionID: "ses_00000000000000000000000000", CreatedAt: 1795168800000,
		Meta: protocol.Meta{Name: "Fix <the> test", WorkDir: "/home/u/p", Model: "demo"}}
	var out bytes.Buffer
	err := Markdown(&out, header, func(yield func(protocol.Event, error) bool) {
		for _, line := range lines(t) {
			e, err := protocol.ParseEvent(line)
			if !yield(e, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "session.md", out.Bytes())
}

func TestMarkdownGivesTheErrorOfTheEventsOrTheWriter(t *testing.T) {
	bad := fmt.Errorf("damaged")
	err := Markdown(&bytes.Buffer{}, protocol.Header{}, func(yield func(protocol.Event, error) bool) { yield(protocol.Event{}, bad) })
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	err = Markdown(full{}, protocol.Header{}, func(func(protocol.Event, error) bool) {})
	if err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Error(err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

func TestLongResultsAreCutInMarkdown(t *testing.T) {
	many := cut(strings.Repeat("line\n", 500))
	if n := strings.Count(many, "line\n"); n != maxResultLines || !strings.HasSuffix(many, "[cut: 501 lines, 2,500 bytes in all]") {
		t.Errorf("%d lines: %q", n, many[len(many)-60:])
	}
	wide := cut(strings.Repeat("ü", 20_000))
	if len(wide) > maxResultBytes+100 || !strings.HasSuffix(wide, "ü\n[cut: 1 lines, 40,000 bytes in all]") {
		t.Errorf("%d bytes: %q", len(wide), wide[len(wide)-60:])
	}
	if s := cut("short"); s != "short" {
		t.Error(s)
	}
}

func TestFencesAreLongerThanAnyInTheContent(t *testing.T) {
	for text, want := range map[string]string{
		"plain":            "```\nplain\n```",
		"a\n```\nb":        "````\na\n```\nb\n````",
		"`````":            "``````\n`````\n``````",
		"two `` and three": "```\ntwo `` and three\n```",
	} {
		if got := fence("", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOpenFencesAndTagsOfAMessageEndWithIt(t *testing.T) {
	for text, want := range map[string]string{
		"a\n```go\nx":             "a\n```go\nx\n```",
		"```\nx\n```\ny":          "```\nx\n```\ny",
		"````\n```\n":             "````\n```\n````",
		"~~~\n```\n~~~":           "~~~\n```\n~~~",
		"<!-- hidden":             "&lt;!-- hidden",
		"</details><b>x</b>":      "&lt;/details><b>x</b>",
		"```\n</details>\n```":    "```\n</details>\n```",
		"    ```\nno fence":       "    ```\nno fence",
		"`a```b` is inline code":  "`a```b` is inline code",
		"``` not `a` fence ```":   "``` not `a` fence ```",
		"<SCRIPT>x":               "&lt;SCRIPT>x",
		"a < b and c <d> <detail": "a < b and c <d> <detail",
	} {
		if got := prose(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestTextLosesControlSequencesAndShowsHiddenCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":        "plain\ttext\n",
		"\x1b[1;31mred\x1b[0m": "red",
		// Nothing that is written is hidden, also from who decides about a command.
		"make '\u009d'; rm -rf x; '\u009c'": "make '[U+009D]'; rm -rf x; ''",
		"true \x1b]8; id > f; true \x07; x": "true [U+001B]]8; id > f; true ; x",
		"\x1bPq\x1b\\a\x1b_x\x1b\\":         "[U+001B]Pq[U+001B]\\a[U+001B]_x[U+001B]\\",
		"a\x1b[/*/?;x":                      "a[U+001B][/*/?;x",
		"\x1b;rm":                           "[U+001B];rm",
		"\u009b>fx":                         "[U+009B]>fx",
		"cat a \x1b[1|sh":                   "cat a [U+001B][1|sh",
		"echo a \x1b[;mv b c":               "echo a [U+001B][;mv b c",
		"echo a \x1b[1;mv b c":              "echo a [U+001B][1;mv b c",
		"\x1b[m\x1b[38:2::1:2:3mx\x1b[`id`": "x[U+001B][`id`",
		"a\u2063\u180e\u206a\ufff9\u3164\u115f\uffa0\u034fb\U000e0100": "a[U+2063][U+180E][U+206A][U+FFF9][U+3164][U+115F][U+FFA0][U+034F]b[U+E0100]",
		"\x1b[2J\x1b[?25l\x1b[38:5:1m":                                 "",
		"\u009b31mx":                                                   "x",
		"\x1b(Bx\x1bcx\x1b":                                            "x[U+001B]cx[U+001B]",
		"a\r\nb\rc":                                                    "a\nb\nc",
		"a\x00\x07\x08\x7f\u0080b":                                     "ab",
		"a\xffb":                                                       "a\ufffdb",
		"x\u202ey\u2066\u200f":                                         "x[U+202E]y[U+2066][U+200F]",
		"a\u2028b":                                                     "a\nb",
		"\U000e0041\u200b":                                             "[U+E0041][U+200B]",
		"日本 ü":                                                         "日本 ü",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Line(" a\n\tb \r\nc"); got != "a b c" {
		t.Errorf("%q", got)
	}
}

func TestExactShowsEveryCharacter(t *testing.T) {
	for in, want := range map[string]string{
		"make test\n\tx":           "make test\n\tx",
		"echo a \x1b[1;1m -rf b":   "echo a [U+001B][1;1m -rf b",
		"a\x00\x07\x08\x7f\u0080b": "a[U+0000][U+0007][U+0008][U+007F][U+0080]b",
		"x\u009b31m\u202e\u009c":   "x[U+009B]31m[U+202E][U+009C]",
		"a\xffb\r\nc":              "a\ufffdb\nc",
	} {
		if got := Exact(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// literalFile holds texts as they are shown to who decides, which the TypeScript twin is held
// against, too (web/src/app/text/text.test.ts).
const literalFile = "../../web/src/display/literal.json"

func TestTextsThatAreDecidedAboutAreShownAsTheSharedCasesSay(t *testing.T) {
	type shown struct {
		In      string `json:"in"`
		Exact   string `json:"exact"`
		Literal string `json:"literal"`
	}
	var out bytes.Buffer
	for i, in := range []string{
		"make test\n\tx",
		"rm a\u200db p\u200cq 1\ufe0f2 b\u17b4c v\U0001d173w 3\u28004",
		"a\u00a0b\u2003c\u202fd\u3000e\u1680f\u2000g\u205fh\u200ai",
		"a\u180bb\u180ec\u180fd\u2065e\ufff0f\ufff9g\U0001bca0h\U000e0100i\u115fj\u3164k\u200bl\u061cm\u202en",
		"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f4bb \u2764\ufe0f 日本 ü",
		"x\x1b[31my\x00\u009b\r\nz",
	} {
		out.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(shown{in, Exact(in), Literal(in)}); err != nil {
			t.Fatal(err)
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteString("\n]\n")
	golden(t, "../"+literalFile, out.Bytes())
}

// TestNothingUnseenIsLeftInWhatIsRun compares with the tables of Unicode that Go has: the marks
// of Cf and the spaces; the others are in the shared cases.
func TestNothingUnseenIsLeftInWhatIsRun(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if s := string(r); !utf8.ValidRune(r) || r == 0x85 || r == 0x2028 || r == 0x2029 {
			continue // line ends are shown as such
		} else if (unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)) && Literal(s) == s {
			t.Errorf("U+%04X is not seen", r)
		}
	}
	prose := "\u0645\u06cc\u200c\u062e \U0001f469\u200d\U0001f4bb \u2764\ufe0f\u00a0ü"
	if Text(prose) != prose || Exact(prose) != prose {
		t.Errorf("prose is changed: %q", Exact(prose))
	}
}

func TestWhatACallWouldRunOrOpenIsShownLiterally(t *testing.T) {
	const in, literal = "a\u200db", "a[U+200D]b"
	for _, c := range []struct{ tool, member, want string }{
		{"Bash", "command", literal}, {"Bash", "description", in}, {"mcp__x__run", "command", literal}, {"mcp__x__send", "text", in},
		{"Write", "path", literal}, {"Write", "content", in}, {"Read", "path", literal}, {"WebFetch", "url", literal}, {"Task", "description", in},
	} {
		if got := Input(c.tool, c.member, in); got != c.want {
			t.Errorf("%s of %s is %q", c.member, c.tool, got)
		}
	}
}

func FuzzTextIsSafe(f *testing.F) {
	f.Add("\x1b[31m\x1b]0;x\x07\u202e\xff\r\n\u009d")
	f.Fuzz(func(t *testing.T, s string) {
		out := Text(s)
		for _, r := range out {
			if (r < ' ' && r != '\n' && r != '\t') || (r >= 0x7f && r <= 0x9f) || hides(r) {
				t.Fatalf("%q gives %q", s, out)
			}
		}
		if Text(out) != out {
			t.Fatalf("%q: shown twice it differs", s)
		}
		if strings.ContainsAny(Line(s), "\n\t") {
			t.Fatalf("%q gives more than a line", s)
		}
	})
}

func TestEventsOfScorelsOwnAreNotShown(t *testing.T) {
	for kind, want := range map[string]Kind{protocol.OwnKind + "title": Hidden, "stack": Custom} {
		if got := Of(protocol.NewEvent(&protocol.Custom{Kind: kind})).Kind; got != want {
			t.Errorf("%s is shown as %s", kind, got)
		}
	}
}

func TestAnEventThatWasChangedInTheLogSaysSo(t *testing.T) {
	for _, body := range []protocol.Body{
		&protocol.MessageBody{Message: protocol.UserText("hello")},
		&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("hello")}}},
		&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", Content: []protocol.Block{protocol.Text("hello")}}},
		&protocol.Compact{Summary: "hello"},
	} {
		e := protocol.NewEvent(body)
		e.ID, e.Seq, e.SessionID, e.ClientID = eventID(1), 1, "ses_x", protocol.HostClient
		e, err := e.SealAfter(0)
		if err != nil {
			t.Fatal(err)
		}
		bad, err := protocol.ParseEvent(bytes.Replace(e.Raw(), []byte("hello"), []byte("hallo"), 1))
		if err != nil {
			t.Fatal(err)
		}
		said := func(e protocol.Event) string {
			var out bytes.Buffer
			if err := Markdown(&out, protocol.Header{}, func(yield func(protocol.Event, error) bool) { yield(e, nil) }); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		if Changed(e) != "" || strings.Contains(said(e), "was changed") {
			t.Errorf("a %s event is marked that was not changed", e.Type)
		}
		if Changed(bad) == "" || !strings.Contains(said(bad), "this was changed after it was written") {
			t.Errorf("a changed %s event looks as\n%s", e.Type, said(bad))
		}
	}
}
