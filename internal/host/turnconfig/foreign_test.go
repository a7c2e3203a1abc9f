package turnconfig_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// ran runs a tool in a session and returns its result.
func ran(e *hosttest.Entry, name, input string) protocol.Message {
	e.W.T.Helper()
	started := hosttest.Call[*protocol.ToolStarted](e.W.T, e.C, e.ID, &protocol.RunTool{ToolName: name, Input: json.RawMessage(input)})
	m := e.Until(func(ev protocol.Event) bool { return ev.ID == started.EventID && ev.Type == protocol.TypeMessage })
	e.Until(func(ev protocol.Event) bool { return ev.Type == protocol.TypeRuntimeEnd && ev.TurnID == started.TurnID })
	return m.Body.(*protocol.MessageBody).Message
}

func TestAForeignCallIsJudgedByRulesAndNobodyIsAsked(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Overrides: host.Overrides{Allow: []string{"Bash(echo:*)"}, Deny: []string{"Bash(rm:*)"}}})
	e := w.Begin(true) // somebody is there who could be asked
	if m := ran(e, "Bash", `{"command":"echo one"}`); m.IsError || !strings.Contains(m.PlainText(), "one") {
		t.Errorf("allowed by a rule: %+v", m)
	}
	m := ran(e, "Bash", `{"command":"touch made"}`)
	if !m.IsError || !strings.Contains(m.PlainText(), "Nobody is asked about calls of other programs.") || !strings.Contains(m.PlainText(), "permissions.allow") || !strings.Contains(m.PlainText(), "Bash(touch") {
		t.Errorf("without a rule: %s", m.PlainText())
	}
	if m := ran(e, "Bash", `{"command":"rm made"}`); !m.IsError || !strings.Contains(m.PlainText(), "Bash(rm:*)") {
		t.Errorf("against a rule: %s", m.PlainText())
	}
	if w.Exists(filepath.Join(w.Project, "made")) {
		t.Error("a call that may not run has run")
	}
	for _, ev := range e.Events {
		if _, ok := ev.Body.(*protocol.PermissionDecision); ok && ev.ClientID != protocol.HostClient {
			t.Error("somebody was asked")
		}
	}
	if m := ran(e, "Bash", `{"command":17}`); !m.IsError || !strings.Contains(m.PlainText(), "does not fit the schema") {
		t.Errorf("with a wrong input: %s", m.PlainText())
	}
	if n := len(w.Server.Requests()); n != 0 {
		t.Errorf("%d requests to a model", n)
	}
}

func TestAForeignCallIsInTheLogBeforeItsEffectAndTheModelKnowsItIsNotItsOwn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	file := filepath.Join(w.Project, "a.txt")
	w.Write(file, "before\n")
	ran(e, "Read", `{"path":"a.txt"}`)
	if m := ran(e, "Write", `{"path":"a.txt","content":"after\n"}`); m.IsError {
		t.Fatal(m.PlainText())
	}
	var kinds []string
	for _, ev := range w.Log(e.ID) {
		switch b := ev.Body.(type) {
		case *protocol.CustomMessage:
			kinds = append(kinds, b.Kind)
			if ev.Cause == nil || ev.Cause.ClientID == "" {
				t.Error("nothing says who called")
			}
		case *protocol.MessageBody:
			kinds = append(kinds, string(b.Message.Role))
		case *protocol.FileSnapshot:
			kinds = append(kinds, "snapshot")
		}
	}
	want := "scorel.tool assistant tool_result scorel.tool assistant snapshot tool_result"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("the log has %s, want %s", got, want)
	}
	if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("%+v", end)
	}
	if body := w.LastRequest(); !strings.Contains(body, "You did not call it") || !strings.Contains(body, "after") {
		t.Errorf("the model was sent %s", body)
	}
}

func TestAForeignCallRunsUnderHooks(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}, Tables: `
[[hooks]]
event = "PreToolUse"
command = '''
if grep -q forbidden; then echo "not that" >&2; exit 2; fi
'''
`})
	e := w.Begin(false)
	if m := ran(e, "Bash", `{"command":"echo forbidden"}`); !m.IsError || !strings.Contains(m.PlainText(), "not that") {
		t.Errorf("a hook refused it: %s", m.PlainText())
	}
	if m := ran(e, "Bash", `{"command":"echo fine"}`); m.IsError {
		t.Errorf("no hook refused it: %s", m.PlainText())
	}
}

func TestAForeignCallNeedsControlAFreeSessionAndAToolWithAnEffect(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}})
	e := w.Begin(false)
	for _, grant := range []protocol.Grant{protocol.GrantView, protocol.GrantAnswer} {
		other := w.Plug("other", false, grant)
		if _, err := other.Try(e.ID, &protocol.RunTool{ToolName: "Read", Input: json.RawMessage(`{"path":"a"}`)}); err == nil || err.Code != protocol.CodeForbidden {
			t.Errorf("with the grant %s: %v", grant, err)
		}
	}
	for _, name := range []string{"Task", "AskUser", "TodoWrite", "ExitPlanMode", "SearchExtraTools", "mcp__a__b", ""} {
		hosttest.Refused(t, e.C, e.ID, &protocol.RunTool{ToolName: name}, protocol.CodeInvalidRequest)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.RunTool{ToolName: "Read", Input: json.RawMessage(`[1]`)}, protocol.CodeInvalidRequest)
	started := hosttest.Call[*protocol.ToolStarted](t, e.C, e.ID, &protocol.RunTool{ToolName: "Bash", Input: json.RawMessage(`{"command":"sleep 600"}`)})
	hosttest.Refused(t, e.C, e.ID, &protocol.RunTool{ToolName: "Read", Input: json.RawMessage(`{"path":"a"}`)}, protocol.CodeRuntimeBusy)
	if c := hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: started.TurnID}); !c.Cancelled {
		t.Error("it could not be cancelled")
	}
	if end := e.End(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("%+v", end)
	}
}

func TestWhatWaitsBehindAForeignCallIsBegunAfterIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	started := hosttest.Call[*protocol.ToolStarted](t, e.C, e.ID, &protocol.RunTool{ToolName: "Bash", Input: json.RawMessage(`{"command":"until test -e go; do sleep 0.01; done"}`)})
	e.FollowUp("next")
	w.Write(filepath.Join(w.Project, "go"), "")
	e.Until(func(ev protocol.Event) bool {
		return ev.Type == protocol.TypeRuntimeEnd && ev.TurnID != started.TurnID
	})
	if users := e.Users(); len(users) == 0 || users[len(users)-1] != "next" {
		t.Errorf("users said %q", users)
	}
}

func TestARepeatedForeignCallRunsOnce(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}})
	e := w.Begin(false)
	before, after := w.Caller().Twice(w, hosttest.NewCall(e.ID, &protocol.RunTool{ToolName: "Bash", Input: json.RawMessage(`{"command":"echo x >> times"}`)}))
	if before.Err != nil || after.Err != nil || *before.Data.(*protocol.ToolStarted) != *after.Data.(*protocol.ToolStarted) {
		t.Errorf("%+v, then %+v", before, after)
	}
}

func TestTheBuiltinToolsOfAPresetAreListedWithTheirSchemas(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	e := w.Begin(false)
	names := func(preset string) string {
		var out []string
		for _, b := range hosttest.Call[*protocol.BuiltinTools](t, e.C, "", &protocol.ListBuiltinTools{WorkDir: w.Project, Preset: preset}).Tools {
			if out = append(out, b.Name); !json.Valid(b.Schema) || b.Description == "" {
				t.Errorf("%s has no description or schema", b.Name)
			}
		}
		return strings.Join(out, " ")
	}
	if got := names("readonly"); got != "Glob Grep Read" {
		t.Errorf("readonly is %s", got)
	}
	if got := names("coding"); !strings.Contains(got, "Bash") || strings.Contains(got, "Task ") || strings.Contains(got, "AskUser") || strings.Contains(got, "Monitor") {
		t.Errorf("coding is %s", got)
	}
	if err := hosttest.Refused(t, e.C, "", &protocol.ListBuiltinTools{WorkDir: w.Project, Preset: "some"}, protocol.CodeInvalidRequest); !strings.Contains(err.Message, "there are coding, readonly, all and none") {
		t.Errorf("%v", err)
	}
}
