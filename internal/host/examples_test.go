package host_test

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
	"scorel/protocol"
)

// typescript copies examples of one file to where the user's extensions are.
func (w *world) typescript(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.install(name, filepath.Join("..", "..", "examples", "extensions", name+".ts"))
	}
}

// texts gives the texts of the results of the path, by call.
func (e *entry) texts() map[string]string {
	out := map[string]string{}
	for _, m := range e.messages() {
		if m.Role == protocol.RoleToolResult {
			out[m.ToolCallID] = m.PlainText()
		}
	}
	return out
}

func TestExamplesGuardWhatToolsDo(t *testing.T) {
	w := newWorld(t, setting{attended: true, overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}},
		`{"do":[{"call":"Write","id":"c1","input":{"path":".env","content":"x"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"rm -rf nothing"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Bash","id":"c3","input":{"command":"rm -rf something"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Write","id":"c4","input":{"path":"fine.txt","content":"x"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	w.typescript("protected-paths", "permission-gate")
	w.file("something/a.txt", "kept")
	e := w.begin(true)
	e.send("go")
	for _, yes := range []string{"true", "false"} {
		d := e.dialog()
		if d.Data.Kind != protocol.DialogConfirm || !strings.HasPrefix(d.Data.Message, "rm -rf") {
			t.Errorf("%+v", d)
		}
		call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(yes)})
		e.events = nil
	}
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	got := e.texts()
	if !strings.Contains(got["c1"], ".env is protected") || !strings.Contains(got["c3"], "did not allow this command") {
		t.Errorf("%q", got)
	}
	if strings.Contains(got["c2"], "did not allow") || w.read("fine.txt") != "x" || w.read("something/a.txt") != "kept" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(w.project, ".env")); err == nil {
		t.Error(".env was written")
	}
	w.judged()
}

func TestExamplesKeepStateInTheLog(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"todo"}}},
		`{"do":[{"call":"todo","id":"c1","input":{"action":"add","text":"write"}}],"stop":"tool_use"}`, `{"do":[{"text":"added"}]}`,
		`{"do":[{"call":"todo","id":"c2","input":{"action":"done","n":1}},{"call":"todo","id":"c3","input":{"action":"done","n":7}}],"stop":"tool_use"}`, `{"do":[{"text":"done"}]}`)
	w.typescript("todo-tool")
	e := w.begin(false)
	e.say("add")
	id, added := e.id, w.nth(e.id, "added")
	w.restart()
	e = w.open(w.connect(false), id)
	e.say("done")
	got := e.texts()
	if got["c1"] != "1. [ ] write" || got["c2"] != "1. [x] write" || !strings.Contains(got["c3"], "no number 7") {
		t.Errorf("%q", got)
	}
	call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &added})
	r := call[*protocol.CommandResult](t, e.c, e.id, &protocol.RunCommand{Name: "todos"})
	if r.Status != "1. [ ] write" {
		t.Errorf("behind a rewind: %q", r.Status)
	}
	w.judged()
}

func TestExamplesChangeWhatIsSent(t *testing.T) {
	long := strings.Repeat("many words ", 100)
	w := newWorld(t, setting{},
		`{"do":[{"call":"Read","id":"c1","input":{"path":"long.txt"}}],"stop":"tool_use"}`, `{"do":[{"text":"read"}]}`,
		`{"do":[{"text":"whole"}]}`, `{"do":[{"text":"short"}]}`)
	w.typescript("prune", "input-transform")
	w.file("long.txt", long)
	e := w.begin(false)
	e.say("?quick read it")
	if got := e.messages()[0].PlainText(); got != "read it\n\nAnswer in at most two sentences." {
		t.Errorf("the message is %q", got)
	}
	e.say("and now")
	if sent := w.lastRequest(); !strings.Contains(sent, "many words") {
		t.Errorf("before /prune: %s", sent)
	}
	if r, err := e.run("prune", ""); err != nil || !strings.Contains(r.Status, "left out") {
		t.Fatalf("/prune: %+v, %v", r, err)
	}
	e.say("again")
	if sent := w.lastRequest(); strings.Contains(sent, "many words") || !strings.Contains(sent, "characters of output, pruned") {
		t.Errorf("behind /prune: %s", sent)
	}
	w.judged()
}

func TestTheExampleOfACompactionWritesItsSummary(t *testing.T) {
	w := newWorld(t, setting{},
		`{"do":[{"text":"first answer"}]}`, `{"do":[{"text":"second answer"}]}`, `{"do":[{"text":"Goal: the summary of the extension"}]}`, `{"do":[{"text":"third"}]}`)
	w.typescript("custom-compaction")
	e := w.begin(false)
	e.say("first question " + strings.Repeat("with many words ", 2000))
	e.say("second question")
	e.compact()
	e.say("third question")
	var summary string
	for _, ev := range w.log(e.id) {
		if c, ok := ev.Body.(*protocol.Compact); ok {
			summary = c.Summary
		}
	}
	if !strings.Contains(summary, "Goal: the summary of the extension") || !strings.Contains(w.lastRequest(), "Goal: the summary of the extension") {
		t.Errorf("the summary is %q", summary)
	}
	asked := string(w.server.Requests()[2].Body)
	if !strings.Contains(asked, "Use these headings") || !strings.Contains(asked, "first question") {
		t.Errorf("the model was asked %.300s", asked)
	}
	w.judged()
}

func TestTheExampleOfACheckpointBringsFilesBack(t *testing.T) {
	needs(t, "git")
	w := newWorld(t, setting{overrides: host.Overrides{Mode: "acceptEdits"}},
		`{"do":[{"call":"Write","id":"c1","input":{"path":"new.txt","content":"by the agent"}}],"stop":"tool_use"}`, `{"do":[{"text":"written"}]}`)
	w.typescript("git-checkpoint")
	w.file("a.txt", "as it was\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	e := w.begin(false)
	e.say("go")
	w.file("a.txt", "changed\n")
	if _, err := e.run("checkpoint", "last"); err != nil {
		t.Fatal(err)
	}
	if got := w.read("a.txt"); got != "as it was\n" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestTheExampleOfAQuestionAsksWhoeverIsThere(t *testing.T) {
	w := newWorld(t, setting{attended: true, overrides: host.Overrides{Allow: []string{"question"}}},
		`{"do":[{"call":"question","id":"c1","input":{"question":"Which?","options":["red","blue"]}}],"stop":"tool_use"}`,
		`{"if":{"result":"The user answered: blue"},"do":[{"text":"blue it is"}]}`)
	w.typescript("question")
	e := w.begin(true)
	e.send("ask")
	d := e.dialog()
	if d.Data.Kind != protocol.DialogSelect || len(d.Data.Options) != 3 || d.Data.Source == "" {
		t.Errorf("%+v", d)
	}
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`"blue"`)})
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	w.judged()
}

// offered gives the tools of the session's extensions.
func (e *entry) offered() []string {
	e.w.t.Helper()
	var tools []string
	for _, x := range call[*protocol.ExtensionList](e.w.t, e.c, e.id, &protocol.ListExtensions{}).Extensions {
		tools = append(tools, x.Tools...)
	}
	return tools
}

func TestTheExampleOfDynamicToolsMakesScriptsTools(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"script_hello"}}},
		`{"do":[{"text":"hi"}]}`,
		`{"do":[{"call":"script_hello","id":"c1","input":{"args":["world"]}}],"stop":"tool_use"}`,
		`{"if":{"result":"hello world"},"do":[{"text":"it ran"}]}`)
	w.typescript("dynamic-tools")
	w.file("tools/hello.sh", "echo hello $1\n")
	e := w.begin(false)
	e.say("first") // the session begins, and with it the tool
	for deadline := time.Now().Add(patience); !slices.Contains(e.offered(), "script_hello"); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the tool was never registered")
		}
	}
	if end := e.say("run it"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	if got := e.texts()["c1"]; !strings.Contains(got, "hello world") {
		t.Errorf("%q", got)
	}
	w.judged()
}

func TestTheExamplesOfLinesAreSeenByClients(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"an answer"}]}`, `{"do":[{"text":"It was short."}]}`)
	w.typescript("status-line", "summarize")
	e := w.begin(false)
	e.say("a question")
	if _, err := e.run("summarize", ""); err != nil {
		t.Fatal(err)
	}
	shown := func(key, begins string) {
		t.Helper()
		e.until(func(ev protocol.Event) bool {
			s, ok := ev.Body.(*protocol.UIState)
			return ok && s.Key == key && strings.HasPrefix(strings.Join(s.Lines, "|"), begins)
		})
	}
	shown("widget:summary", "Summary (/summarize off takes it away)|It was short.")
	shown("counts", "ready · 1 turn · 0 tools")
	later := map[string]string{}
	for _, s := range w.open(w.connect(false), e.id).s.Live.UIStates {
		later[s.Key+" "+s.Place] = strings.Join(s.Lines, "|")
	}
	if later["widget:summary above"] != "Summary (/summarize off takes it away)|It was short." || later["counts status"] != "ready · 1 turn · 0 tools" {
		t.Errorf("who comes later sees %q", later)
	}
}
