package extensions_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestExamplesGuardWhatToolsDo(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}},
		`{"do":[{"call":"Write","id":"c1","input":{"path":".env","content":"x"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"rm -rf nothing"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Bash","id":"c3","input":{"command":"rm -rf something"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Write","id":"c4","input":{"path":"fine.txt","content":"x"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	w.Typescript("protected-paths", "permission-gate")
	w.File("something/a.txt", "kept")
	e := w.Begin(true)
	e.Send("go")
	for _, yes := range []string{"true", "false"} {
		d := e.Dialog()
		if d.Data.Kind != protocol.DialogConfirm || !strings.HasPrefix(d.Data.Message, "rm -rf") {
			t.Errorf("%+v", d)
		}
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(yes)})
		e.Events = nil
	}
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	got := e.Texts()
	if !strings.Contains(got["c1"], ".env is protected") || !strings.Contains(got["c3"], "did not allow this command") {
		t.Errorf("%q", got)
	}
	if strings.Contains(got["c2"], "did not allow") || w.Read("fine.txt") != "x" || w.Read("something/a.txt") != "kept" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(w.Project, ".env")); err == nil {
		t.Error(".env was written")
	}
	w.Judged()
}

func TestExamplesKeepStateInTheLog(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"todo"}}},
		`{"do":[{"call":"todo","id":"c1","input":{"action":"add","text":"write"}}],"stop":"tool_use"}`, `{"do":[{"text":"added"}]}`,
		`{"do":[{"call":"todo","id":"c2","input":{"action":"done","n":1}},{"call":"todo","id":"c3","input":{"action":"done","n":7}}],"stop":"tool_use"}`, `{"do":[{"text":"done"}]}`)
	w.Typescript("todo-tool")
	e := w.Begin(false)
	e.Say("add")
	id, added := e.ID, w.Nth(e.ID, "added")
	w.Restart()
	e = w.Open(w.Connect(false), id)
	e.Say("done")
	got := e.Texts()
	if got["c1"] != "1. [ ] write" || got["c2"] != "1. [x] write" || !strings.Contains(got["c3"], "no number 7") {
		t.Errorf("%q", got)
	}
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &added})
	r := hosttest.Call[*protocol.CommandResult](t, e.C, e.ID, &protocol.RunCommand{Name: "todos"})
	if r.Status != "1. [ ] write" {
		t.Errorf("behind a rewind: %q", r.Status)
	}
	w.Judged()
}

func TestExamplesChangeWhatIsSent(t *testing.T) {
	long := strings.Repeat("many words ", 100)
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"call":"Read","id":"c1","input":{"path":"long.txt"}}],"stop":"tool_use"}`, `{"do":[{"text":"read"}]}`,
		`{"do":[{"text":"whole"}]}`, `{"do":[{"text":"short"}]}`)
	w.Typescript("prune", "input-transform")
	w.File("long.txt", long)
	e := w.Begin(false)
	e.Say("?quick read it")
	if got := e.Messages()[0].PlainText(); got != "read it\n\nAnswer in at most two sentences." {
		t.Errorf("the message is %q", got)
	}
	e.Say("and now")
	if sent := w.LastRequest(); !strings.Contains(sent, "many words") {
		t.Errorf("before /prune: %s", sent)
	}
	if r, err := e.Run("prune", ""); err != nil || !strings.Contains(r.Status, "left out") {
		t.Fatalf("/prune: %+v, %v", r, err)
	}
	e.Say("again")
	if sent := w.LastRequest(); strings.Contains(sent, "many words") || !strings.Contains(sent, "characters of output, pruned") {
		t.Errorf("behind /prune: %s", sent)
	}
	w.Judged()
}

func TestTheExampleOfACompactionWritesItsSummary(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"text":"first answer"}]}`, `{"do":[{"text":"second answer"}]}`, `{"do":[{"text":"Goal: the summary of the extension"}]}`, `{"do":[{"text":"third"}]}`)
	w.Typescript("custom-compaction")
	e := w.Begin(false)
	e.Say("first question " + strings.Repeat("with many words ", 2000))
	e.Say("second question")
	e.Compact()
	e.Say("third question")
	var summary string
	for _, ev := range w.Log(e.ID) {
		if c, ok := ev.Body.(*protocol.Compact); ok {
			summary = c.Summary
		}
	}
	if !strings.Contains(summary, "Goal: the summary of the extension") || !strings.Contains(w.LastRequest(), "Goal: the summary of the extension") {
		t.Errorf("the summary is %q", summary)
	}
	asked := string(w.Server.Requests()[2].Body)
	if !strings.Contains(asked, "Use these headings") || !strings.Contains(asked, "first question") {
		t.Errorf("the model was asked %.300s", asked)
	}
	w.Judged()
}

func TestTheExampleOfACheckpointBringsFilesBack(t *testing.T) {
	needs(t, "git")
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}},
		`{"do":[{"call":"Write","id":"c1","input":{"path":"new.txt","content":"by the agent"}}],"stop":"tool_use"}`, `{"do":[{"text":"written"}]}`)
	w.Typescript("git-checkpoint")
	w.File("a.txt", "as it was\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.Project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	e := w.Begin(false)
	e.Say("go")
	w.File("a.txt", "changed\n")
	if _, err := e.Run("checkpoint", "last"); err != nil {
		t.Fatal(err)
	}
	if got := w.Read("a.txt"); got != "as it was\n" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestTheExampleOfAQuestionAsksWhoeverIsThere(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Overrides: host.Overrides{Allow: []string{"question"}}},
		`{"do":[{"call":"question","id":"c1","input":{"question":"Which?","options":["red","blue"]}}],"stop":"tool_use"}`,
		`{"if":{"result":"The user answered: blue"},"do":[{"text":"blue it is"}]}`)
	w.Typescript("question")
	e := w.Begin(true)
	e.Send("ask")
	d := e.Dialog()
	if d.Data.Kind != protocol.DialogSelect || len(d.Data.Options) != 3 || d.Data.Source == "" {
		t.Errorf("%+v", d)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`"blue"`)})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	w.Judged()
}

func TestTheExampleOfDynamicToolsMakesScriptsTools(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"script_hello"}}},
		`{"do":[{"text":"hi"}]}`,
		`{"do":[{"call":"script_hello","id":"c1","input":{"args":["world"]}}],"stop":"tool_use"}`,
		`{"if":{"result":"hello world"},"do":[{"text":"it ran"}]}`)
	w.Typescript("dynamic-tools")
	w.File("tools/hello.sh", "echo hello $1\n")
	e := w.Begin(false)
	e.Say("first") // the session begins, and with it the tool
	for deadline := time.Now().Add(hosttest.Patience); !slices.Contains(e.Offered(), "script_hello"); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the tool was never registered")
		}
	}
	if end := e.Say("run it"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	if got := e.Texts()["c1"]; !strings.Contains(got, "hello world") {
		t.Errorf("%q", got)
	}
	w.Judged()
}

func TestTheExamplesOfLinesAreSeenByClients(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"an answer"}]}`, `{"do":[{"text":"It was short."}]}`)
	w.Typescript("status-line", "summarize")
	e := w.Begin(false)
	e.Say("a question")
	if _, err := e.Run("summarize", ""); err != nil {
		t.Fatal(err)
	}
	shown := func(key, begins string) {
		t.Helper()
		e.Until(func(ev protocol.Event) bool {
			s, ok := ev.Body.(*protocol.UIState)
			return ok && s.Key == key && strings.HasPrefix(strings.Join(s.Lines, "|"), begins)
		})
	}
	shown("widget:summary", "Summary (/summarize off takes it away)|It was short.")
	shown("counts", "ready · 1 turn · 0 tools")
	later := map[string]string{}
	for _, s := range w.Open(w.Connect(false), e.ID).S.Live.UIStates {
		later[s.Key+" "+s.Place] = strings.Join(s.Lines, "|")
	}
	if later["widget:summary above"] != "Summary (/summarize off takes it away)|It was short." || later["counts status"] != "ready · 1 turn · 0 tools" {
		t.Errorf("who comes later sees %q", later)
	}
}
