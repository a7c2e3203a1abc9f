package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
)

// cards returns what is seen of a conversation in plain text.
func cards(t *testing.T, tr *Transcript) string {
	t.Helper()
	return ansi.Strip(strings.Join(tr.View(plainTheme(t), 80, 60), "\n"))
}

func has(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q is not in\n%s", w, got)
		}
	}
}

func hasNot(t *testing.T, got string, bad ...string) {
	t.Helper()
	for _, b := range bad {
		if strings.Contains(got, b) {
			t.Errorf("%q is in\n%s", b, got)
		}
	}
}

func TestASearchIsNamedByWhatIsLookedForAndCountsWhatItGives(t *testing.T) {
	l := &log{}
	l.call("Grep", `{"pattern":"TODO","path":"internal"}`, "internal/a.go\ninternal/b.go\n", nil, false)
	l.call("Grep", `{"pattern":"FIXME","mode":"content"}`, "a.go:1:x\n", nil, false)
	has(t, cards(t, filled(l)), "Grep TODO in internal", "2 files", "Grep FIXME", "1 line")
}

func TestWhatIsRunOrOpenedIsShownWithWhatNobodySees(t *testing.T) {
	l := &log{}
	l.call("Bash", `{"command":"rm a\u200db\u00a0c"}`, "", nil, false)
	l.call("Read", `{"path":"x\u200cy"}`, "z", nil, false)
	l.call("Grep", `{"pattern":"p\ufe0fq"}`, "", nil, false)
	has(t, cards(t, filled(l)), "rm a[U+200D]b[U+00A0]c", "x[U+200C]y", "p[U+FE0F]q")
}

func TestTheTextOfAResultIsShownWhereItsDetailsDoNotSayIt(t *testing.T) {
	l := &log{}
	l.call("TodoWrite", `{"todos":[{"content":"read","status":"completed"}]}`, "What a hook says.", nil, false)
	has(t, cards(t, filled(l)), "read", "What a hook says.")
}

func TestACallThatAPersonDeniedSaysSoOnceAndWhy(t *testing.T) {
	l := &log{}
	for id, reason := range map[string]string{"c1": "", "c2": "use make"} {
		l.answer(protocol.ToolUse(id, "Bash", json.RawMessage(`{"command":"rm x"}`)))
		l.add(&protocol.PermissionDecision{ToolCallID: id, Decision: protocol.DecisionDeny, Scope: "once", Reason: reason})
		l.result(id, "Bash", "Not run: a person refused it. "+reason, nil, true)
	}
	got := cards(t, filled(l))
	has(t, got, "Bash rm x  denied\n", "You denied this.", "use make")
	hasNot(t, got, "once", "denied 1")
	if n := strings.Count(got, "use make"); n != 1 {
		t.Errorf("the reason stands there %d times:\n%s", n, got)
	}
}

func TestTheTimeOfACallIsWithoutTheWaitForAPerson(t *testing.T) {
	l := &log{}
	l.answer(protocol.ToolUse("c1", "Bash", json.RawMessage(`{"command":"make"}`)))
	for range 20 { // 1.5 s each
		l.add(&protocol.TurnStart{})
	}
	l.add(&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionAllow, Scope: "once"})
	l.result("c1", "Bash", "ok", nil, false)
	has(t, cards(t, filled(l)), "Bash make  done 1.5s")
}

func TestAQuestionOfTheModelWaitsForAnAnswer(t *testing.T) {
	l := &log{}
	l.answer(protocol.ToolUse("c1", "AskUser", json.RawMessage(`{"questions":[{"question":"Which?"}]}`)))
	tr := filled(l)
	live := &protocol.Live{Running: true, Tools: []protocol.LiveTool{{EventID: "e", ToolCallID: "c1", ToolName: "AskUser"}}, UI: []protocol.UIRequest{{UIID: "u", Data: protocol.Dialog{Kind: protocol.DialogQuestion, ToolCallID: "c1"}}}}
	tr.Live(live)
	has(t, cards(t, tr), "waiting for your answer")
	tr.Live(&protocol.Live{Running: true, Tools: live.Tools})
	hasNot(t, cards(t, tr), "waiting for your answer")
}

func TestACallWithoutAResultIsNotWaitedForOnceItsTurnHasEnded(t *testing.T) {
	call := func(l *log, id string) {
		l.answer(protocol.ToolUse(id, "Bash", json.RawMessage(`{"command":"make `+id+`"}`)))
	}
	const none = "no result: it may have taken effect"
	t.Run("the host was killed", func(t *testing.T) {
		l := &log{}
		l.user("go")
		call(l, "c1")
		tr := filled(l)
		tr.Live(&protocol.Live{Running: true})
		hasNot(t, cards(t, tr), none)
		tr.Settle()
		has(t, cards(t, tr), "Bash make c1  "+none)
		if got := strings.Join(tr.Commit(plainTheme(t), 80), "\n"); !strings.Contains(got, none) {
			t.Errorf("not given to the scrollback: %q", got)
		}
	})
	t.Run("the conversation went on", func(t *testing.T) {
		l := &log{}
		call(l, "c1")
		l.user("and now?")
		call(l, "c2")
		tr := filled(l)
		tr.Live(&protocol.Live{Running: true})
		got := cards(t, tr)
		has(t, got, "Bash make c1  "+none)
		hasNot(t, got, "make c2  "+none)
		l.result("c2", "Bash", "ok", nil, false)
		tr.Append(l.events[len(l.events)-1])
		tr.Settle()
		got = cards(t, tr)
		if strings.Count(got, none) != 1 {
			t.Errorf("%s", got)
		}
	})
	t.Run("older events are loaded", func(t *testing.T) {
		l := &log{}
		call(l, "c1")
		l.answer(protocol.ToolUse("c2", "Bash", json.RawMessage(`{"command":"make c2"}`)), protocol.ToolUse("c3", "Bash", json.RawMessage(`{"command":"make c3"}`)))
		l.result("c2", "Bash", "ok", nil, false)
		tr := New(Config{})
		tr.Live(&protocol.Live{}) // before anything is known of the session
		tr.Append(l.events[2])
		live := &protocol.Live{Running: true, Tools: []protocol.LiveTool{{EventID: "e", ToolCallID: "c3", ToolName: "Bash"}}}
		tr.Live(live)
		tr.Prepend(l.events[:2])
		tr.Live(live)
		got := cards(t, tr)
		has(t, got, "Bash make c1  "+none, "Bash make c3  running")
		if strings.Count(got, "running") != 1 {
			t.Errorf("%s", got)
		}
	})
	t.Run("the result is rewound", func(t *testing.T) {
		l := &log{}
		call(l, "c1")
		l.result("c1", "Bash", "ok", nil, false)
		tr := filled(l)
		tr.Settle()
		hasNot(t, cards(t, tr), none)
		tr.Cut(l.events[0].ID)
		tr.Settle()
		has(t, cards(t, tr), none)
	})
}

func TestAPlanStandsInTheConversationAsItWasProposed(t *testing.T) {
	l := &log{}
	l.call("ExitPlanMode", `{"plan":"# Mend it\n\n1. Read the *code*"}`, "The plan is approved.\nCarry it out.", nil, false)
	l.call("ExitPlanMode", `{"plan":"second"}`, "Not now.", nil, true)
	got := cards(t, filled(l))
	has(t, got, "Plan", "Mend it\n", "1. Read the code", "The plan is approved.", "second\n", "Not now.")
	hasNot(t, got, "{", "Carry it out")
}

func TestWhatAPersonSaysToAPlanStandsInItsCard(t *testing.T) {
	l := &log{}
	l.call("ExitPlanMode", `{"plan":"first"}`, "The person does not approve the plan yet. Plan mode goes on.\nThe person says: be careful", &protocol.ToolDetails{Plan: &protocol.PlanResult{Decision: protocol.PlanRevise, Feedback: "be careful"}}, false)
	l.call("ExitPlanMode", `{"plan":"second"}`, "The person approved the plan. Carry it out now.", &protocol.ToolDetails{Plan: &protocol.PlanResult{Decision: protocol.PlanApprove}}, false)
	got := cards(t, filled(l))
	has(t, got, "not approved yet", "be careful", "second\n  approved")
	hasNot(t, got, "The person")
}

func TestACommandOfAPersonTellsItsExitCodeInItsHeadAlone(t *testing.T) {
	l := &log{}
	data, _ := json.Marshal(protocol.ShellResult{Command: "ls", ExitCode: ptr(2), InContext: true})
	l.add(&protocol.CustomMessage{Kind: protocol.ShellKind, Data: data, Message: protocol.Message{Role: protocol.RoleInternal, Content: []protocol.Block{protocol.Text("no such file\n[exit code 2]")}}})
	got := cards(t, filled(l))
	has(t, got, "! ls  exit 2", "no such file")
	hasNot(t, got, "[exit code")
}

func TestTheReportOfASubAgentIsShownWithoutWhatTheModelNeeds(t *testing.T) {
	l := &log{}
	l.answer(protocol.ToolUse("c1", "Task", json.RawMessage(`{"agent":"explore","description":"look","prompt":"Look."}`)))
	m := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", ToolName: "Task", Content: []protocol.Block{protocol.Text("All is well.\n[agent explore, session ses_1]")}}
	m.Process, _ = json.Marshal(protocol.ProcessSummary{Events: []protocol.ProcessEvent{{OperationID: "o1", Status: protocol.ProcessCompleted, Message: "explore has ended (1 step)"}}})
	l.add(&protocol.MessageBody{Message: m})
	got := cards(t, filled(l))
	has(t, got, "All is well.")
	hasNot(t, got, "ses_1", "has ended")
}

func TestWhatACommandPutIntoTheRepositoryStandsInItsCardAndInANotice(t *testing.T) {
	l := &log{}
	moved := `{"setAside":[{"path":"/p/.git/commondir","to":"/p/.git/scorel-set-aside-1/commondir.aside","why":"it leads"},{"path":"/p/.git/gitdir","why":"it leads","error":"no room"}]`
	l.call("Bash", `{"command":"make"}`, "ok\n", json.RawMessage(moved+"}"), false)
	l.add(&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityDisplay,
		Content: "Attention", Data: json.RawMessage(moved + `,"changed":["/p/.envrc"]}`)}})
	l.add(&protocol.CustomMessage{Kind: protocol.ShellKind, Message: protocol.Message{Role: protocol.RoleInternal, Content: []protocol.Block{protocol.Text("ok")}},
		Data: json.RawMessage(`{"command":"make mine","exitCode":0,"changedProtected":["/p/.mcp.json"],"setAside":[{"path":"/p/.git/mine","to":"/p/x","why":"y"}]}`)})
	got := cards(t, filled(l))
	has(t, got, "changed a protected file: /p/.mcp.json", "led Git elsewhere: /p/.git/mine")
	has(t, got, "led Git elsewhere: /p/.git/commondir", "could not be moved: /p/.git/gitdir", "! A command added files to the repository", "/p/.envrc was changed")
	hasNot(t, got, "Attention")
}

func TestAMessageThatWasChangedInTheLogIsMarked(t *testing.T) {
	l := &log{}
	tr := filled(l)
	for _, e := range []protocol.Event{l.user("go on"), l.answer(protocol.Text("Fine."))} {
		e.SessionID, e.ClientID = "ses_x", protocol.HostClient
		sealed, err := e.SealAfter(e.Seq - 1)
		if err != nil {
			t.Fatal(err)
		}
		tr.Append(sealed)
		hasNot(t, cards(t, tr), "changed after it was written")
		changed := strings.NewReplacer("go on", "go in", "Fine.", "Fire.", string(e.ID), "evt_000000000000000"+string(e.ID[len(e.ID)-1])).Replace(string(sealed.Raw()))
		bad, err := protocol.ParseEvent([]byte(changed))
		if err != nil {
			t.Fatal(err)
		}
		at := filled(&log{})
		at.Append(bad)
		has(t, cards(t, at), "this was changed after it was written")
	}
}

func TestACardReadsTheSameWithoutTheDecisionsAboutItsCall(t *testing.T) {
	draw := func(decisions bool) string {
		l := &log{}
		add := func(d *protocol.PermissionDecision) {
			if e := l.add(d); !decisions {
				l.events = slices.DeleteFunc(l.events, func(x protocol.Event) bool { return x.ID == e.ID })
			}
		}
		l.answer(protocol.ToolUse("c1", "Bash", json.RawMessage(`{"command":"rm x"}`)))
		add(&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionDeny, Scope: "once", Reason: "use make"})
		l.result("c1", "Bash", "Not run: a person refused it and says: use make",
			protocol.ToolDetails{Outcome: protocol.OutcomeNotRun, Denied: &protocol.Denial{Reason: "use make"}}, true)
		l.answer(protocol.ToolUse("c2", "Bash", json.RawMessage(`{"command":"make"}`)))
		for range 20 { // 1.5 s each
			l.add(&protocol.TurnStart{})
		}
		add(&protocol.PermissionDecision{ToolCallID: "c2", Decision: protocol.DecisionAllow, Scope: "once"})
		l.result("c2", "Bash", "ok", protocol.ToolDetails{DurationMS: 1500}, false)
		return cards(t, filled(l))
	}
	live, attached := draw(true), draw(false)
	has(t, live, "denied", "You denied this: use make", "done 1.5s")
	if live != attached {
		t.Errorf("live:\n%s\nattached:\n%s", live, attached)
	}
}

func TestTheRuleThatDeniesACallIsNamedOnce(t *testing.T) {
	l := &log{}
	const why = "The rule Bash(curl:*) denies this (the command line)."
	l.answer(protocol.ToolUse("c1", "Bash", json.RawMessage(`{"command":"curl x"}`)))
	l.add(&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionDeny, Rule: "Bash(curl:*)", Scope: "rule", Reason: why})
	l.result("c1", "Bash", why, protocol.ToolDetails{Outcome: protocol.OutcomeNotRun, Denied: &protocol.Denial{Rule: "Bash(curl:*)"}}, true)
	got := cards(t, filled(l))
	has(t, got, "denied", "(the command line)")
	if n := strings.Count(got, "Bash(curl:*)"); n != 1 {
		t.Errorf("the rule is named %d times:\n%s", n, got)
	}
}

func TestTheReasonOfAHookStandsOnceBesideItsName(t *testing.T) {
	l := &log{}
	l.answer(protocol.ToolUse("c1", "Bash", json.RawMessage(`{"command":"git push"}`)))
	l.add(&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionDeny, Scope: "hook", By: "hook 1 of a.toml", Reason: "Pushing is for people."})
	l.result("c1", "Bash", "Pushing is for people.", protocol.ToolDetails{Outcome: protocol.OutcomeNotRun}, true)
	got := cards(t, filled(l))
	has(t, got, "Denied by hook 1 of a.toml")
	if n := strings.Count(got, "Pushing is for people."); n != 1 {
		t.Errorf("the reason stands %d times:\n%s", n, got)
	}
}

func TestAnAttachedFileIsNamedAndCanBeUnfolded(t *testing.T) {
	l := &log{}
	frame := "<file path=\"big.txt\">\none\ntwo\n\n</file>"
	l.add(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("look at @big.txt"), protocol.Text(frame)}}})
	l.user(frame) // which somebody has typed
	tr := filled(l)
	got := cards(t, tr)
	has(t, got, "look at @big.txt", "[big.txt, 2 lines]", "<file path=")
	if strings.Count(got, "two") != 1 {
		t.Errorf("the file is not folded, or what was typed is:\n%s", got)
	}
	tr.Do(keymap.ToggleTools)
	if got := cards(t, tr); strings.Count(got, "two") != 2 {
		t.Errorf("the file is not unfolded:\n%s", got)
	}
}

// TestALongMessageOfAPersonIsFolded: pasted text fills no screens; all of it can be seen.
func TestALongMessageOfAPersonIsFolded(t *testing.T) {
	l := &log{}
	var lines []string
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf("line %d.", i))
	}
	l.user(strings.Join(lines, "\n"))
	l.user(strings.Join(lines[:41], "\n"))
	tr := filled(l)
	th := plainTheme(t)
	if n := tr.lines(tr.items[0], th, 80).len(); n > 50 {
		t.Errorf("it has %d lines", n)
	}
	all := func(i int) string {
		var text []string
		s := tr.lines(tr.items[i], th, 80)
		for k := range s.len() {
			text = append(text, ansi.Strip(s.at(k)))
		}
		return strings.Join(text, "\n")
	}
	has(t, all(0), "line 39.", "… 9960 more lines")
	hasNot(t, all(0), "line 40.")
	has(t, all(1), "line 40.") // the line that says so would take its place
	hasNot(t, all(1), "more line")
	if !tr.opens(tr.items[0]) || tr.opens(tr.items[1]) {
		t.Error("what can be unfolded is not what is folded")
	}
	tr.Do(keymap.ToggleTools)
	has(t, all(0), "line 1999.", "… 8000 more lines")
	if got := tr.raw(tr.items[0]); !strings.HasSuffix(got, "line 9999.") {
		t.Error("copying does not take all of it")
	}
}
