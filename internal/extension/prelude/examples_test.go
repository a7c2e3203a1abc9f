package prelude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

const examples = "../../../examples/extensions/"

func TestEveryExampleLoadsWithoutAnythingUnsupportedAndStandsInTheTable(t *testing.T) {
	found, err := filepath.Glob(examples + "*.ts")
	if err != nil || len(found) < 12 {
		t.Fatalf("there are %d examples: %v", len(found), err)
	}
	readme, err := os.ReadFile(examples + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		ext := newDouble(t).load(file)
		if len(ext.reg.Unsupported) > 0 {
			t.Errorf("%s: %q", file, ext.reg.Unsupported)
		}
		if name := filepath.Base(file); !strings.Contains(string(readme), "| [`"+name+"`]("+name+")") {
			t.Errorf("README.md has no row for %s", name)
		}
	}
	for _, m := range regexp.MustCompile("`(\\w[\\w-]*\\.ts)`").FindAllStringSubmatch(string(readme), -1) {
		if !slices.Contains(found, examples+m[1]) {
			t.Errorf("README.md names %s, which is not there", m[1])
		}
	}
}

func TestPruneLeavesOldToolOutputOut(t *testing.T) {
	d := newDouble(t)
	long := strings.Repeat("x", 300)
	result := func(id, text string) {
		d.say(protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, ToolName: "Read", Content: []protocol.Block{protocol.Text(text)}})
	}
	d.user("one")
	result("c1", long)
	result("c2", "short")
	d.user("two")
	result("c3", long)
	prune := d.load(examples + "prune.ts")
	if got := d.context(prune); got[1] != long {
		t.Errorf("it prunes before it was asked to: %q", got)
	}
	prune.run("prune")
	equal(t, "the context", d.context(prune), []string{"one", fmt.Sprintf("[%d characters of output, pruned]", len(long)+len(`[{"type":"text","text":""}]`)), "short", "two", long})
	var list rpc.ContextData
	prune.hook("context", d.defaultList(), &list)
	if got := d.messages(list)[1]; got.ToolCallID != "c1" || got.Role != protocol.RoleToolResult {
		t.Errorf("the pruned result is %+v", got)
	}
}

func TestThePermissionGateAsksBeforeWhatIsHardToUndo(t *testing.T) {
	d := newDouble(t)
	asked := 0
	d.dialog = func(q rpc.Dialog) any { asked++; return strings.Contains(q.Message, "build") }
	gate := d.load(examples + "permission-gate.ts")
	call := func(tool, command string) string {
		return gate.answer("tool_call", string(marshal(rpc.ToolCallData{ToolName: tool, ToolCallID: "c", Input: marshal(map[string]string{"command": command})})))
	}
	for _, c := range []struct {
		tool, command string
		asked         int
		want          string
	}{
		{"Bash", "ls -la", 0, `null`},
		{"Read", "rm -rf /", 0, `null`},
		{"Bash", "rm -rf build", 1, `null`},
		{"Bash", "rm -rf src", 2, `{"block":true,"reason":"The user did not allow this command. Do not try another way; ask."}`},
	} {
		same(t, c.command, call(c.tool, c.command), c.want)
		if asked != c.asked {
			t.Errorf("%s: asked %d times, not %d", c.command, asked, c.asked)
		}
	}
	d.state.HasUI = false
	if got := call("Bash", "sudo reboot"); !strings.Contains(got, "nobody is attached") || asked != 2 {
		t.Errorf("with nobody attached: %s", got)
	}
}

func TestProtectedPathsCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		config, tool, path string
		blocked            bool
	}{
		{`{}`, "Write", "/work/.env", true},
		{`{}`, "Edit", "node_modules/x/index.js", true},
		{`{}`, "Write", "a/.git/config", true},
		{`{}`, "Read", ".env", false},
		{`{}`, "Write", "src/environment.ts", false},
		{`{"paths":["secrets/"]}`, "Write", "secrets/key", true},
		{`{"paths":["secrets/"]}`, "Write", ".env", false},
	} {
		d := newDouble(t)
		d.config = json.RawMessage(c.config)
		ext := d.load(examples + "protected-paths.ts")
		var answer *rpc.ToolCallAnswer
		ext.hook("tool_call", rpc.ToolCallData{ToolName: c.tool, ToolCallID: "c", Input: marshal(map[string]string{"path": c.path})}, &answer)
		if blocked := answer != nil && answer.Block; blocked != c.blocked {
			t.Errorf("%s of %s with %s: blocked is %v", c.tool, c.path, c.config, blocked)
		}
	}
}

func TestGitCheckpointsAreNotedAndBroughtBack(t *testing.T) {
	d := newDouble(t)
	commit, ran := "1111111111aaaa", []string{}
	d.answer[rpc.CallExec] = func(params json.RawMessage) (any, error) {
		var p rpc.Exec
		mustUnmarshal(t, params, &p)
		ran = append(ran, strings.Join(p.Args, " "))
		return rpc.ExecResult{Stdout: commit + "\n"}, nil
	}
	ext := d.load(examples + "git-checkpoint.ts")
	begin := func() { ext.hook("before_agent_start", rpc.AgentStartData{Prompt: "go"}, nil) }
	begin()
	begin() // nothing has changed
	commit = "2222222222bbbb"
	begin()
	if n := len(d.called(rpc.CallAppend)); n != 2 {
		t.Fatalf("%d checkpoints", n)
	}
	d.dialog = func(q rpc.Dialog) any {
		if len(q.Options) != 2 || !strings.HasSuffix(q.Options[0].Label, "2222222222") {
			t.Errorf("the options are %v", q.Options)
		}
		return q.Options[1].Label
	}
	ext.run("checkpoint")
	if got := ran[len(ran)-1]; got != "restore --source 1111111111aaaa --worktree -- ." {
		t.Errorf("git %s", got)
	}
	ext.run("checkpoint last")
	if got := ran[len(ran)-1]; got != "restore --source 2222222222bbbb --worktree -- ." {
		t.Errorf("git %s", got)
	}
}

func TestTheTodoToolHasItsStateFromTheLog(t *testing.T) {
	d := newDouble(t)
	todo := d.load(examples + "todo-tool.ts")
	do := func(e *extension, input, want string) {
		t.Helper()
		got, err := e.tool("todo", input)
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Content[0].Text; text != want {
			t.Errorf("%s gives %q, not %q", input, text, want)
		}
	}
	do(todo, `{"action":"list"}`, "The list is empty.")
	do(todo, `{"action":"add","text":"write"}`, "1. [ ] write")
	do(todo, `{"action":"add","text":"test"}`, "1. [ ] write\n2. [ ] test")
	before := len(d.entries)
	do(todo, `{"action":"done","n":2}`, "1. [ ] write\n2. [x] test")
	if _, err := todo.tool("todo", `{"action":"done","n":9}`); err == nil || !strings.Contains(err.Error(), "no number 9") {
		t.Errorf("a number that is not there: %v", err)
	}

	again := d.load(examples + "todo-tool.ts")
	do(again, `{"action":"list"}`, "1. [ ] write\n2. [x] test")

	d.entries, d.replaced = d.entries[:before], true // a rewind
	if got := again.run("todos"); got != "1. [ ] write\n2. [ ] test" {
		t.Errorf("behind a rewind: %q", got)
	}
}

func TestTheCustomCompactionWritesTheSummary(t *testing.T) {
	d := newDouble(t)
	d.models = append(d.models, rpc.Model{ID: "demo-mini", Provider: "demo"})
	var asked rpc.Complete
	d.complete = func(c rpc.Complete) (string, error) { asked = c; return "Goal: all is well", nil }
	ext := d.load(examples + "custom-compaction.ts")
	data := rpc.CompactData{Reason: "threshold", TokensBefore: 9, CustomInstructions: "mention the cat", PreviousSummary: "before",
		Messages: []protocol.Message{protocol.UserText("the question"), protocol.ToolError("c", "Bash", "the output")}}
	same(t, "answer", ext.answer("session_before_compact", string(marshal(data))), `{"summary":"Goal: all is well"}`)
	prompt := asked.Messages[0].PlainText()
	for _, want := range []string{"the question", "the output", "mention the cat", "before"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("%q was not told to the model:\n%s", want, prompt)
		}
	}
	if asked.Model != "demo-mini" {
		t.Errorf("the model is %s", asked.Model)
	}
	d.complete = nil
	same(t, "when the model fails", ext.answer("session_before_compact", string(marshal(data))), `null`)
	if len(d.notified(rpc.NoteHandlerFailed)) != 1 {
		t.Error("nobody is told that it failed")
	}
}

func TestInputIsTransformedOrAnswered(t *testing.T) {
	d := newDouble(t)
	ext := d.load(examples + "input-transform.ts")
	same(t, "quick", ext.answer("input", `{"text":"?quick why","source":"interactive"}`), `{"action":"transform","text":"why\n\nAnswer in at most two sentences.","images":[]}`)
	same(t, "ping", ext.answer("input", `{"text":"ping","source":"interactive"}`), `{"action":"handled"}`)
	same(t, "of an extension", ext.answer("input", `{"text":"ping","source":"extension"}`), `null`)
	equal(t, "notices", d.called(rpc.CallNotify), []string{`{"level":"info","message":"pong"}`})
}

func TestTheStatusLineCountsWhatStandsInTheLog(t *testing.T) {
	d := newDouble(t)
	d.user("one")
	ext := d.load(examples + "status-line.ts")
	n := 0
	event := func(name, fields string) {
		ext.event(name, fields)
		n++
		d.await(rpc.CallUIState, n)
	}
	event("session_start", `{"reason":"startup"}`)
	d.user("two")
	event("message", `{"seq":3}`)
	d.say(protocol.ToolError("c", "Bash", "x"))
	event("message", `{"seq":4}`)
	ext.event("text_delta", `{"delta":"x"}`)
	event("runtime_end", `{"reason":"completed"}`)
	var shown []string
	for _, c := range d.called(rpc.CallUIState) {
		var s struct{ Lines []string }
		mustUnmarshal(t, []byte(c), &s)
		shown = append(shown, s.Lines...)
	}
	equal(t, "the status", shown, []string{"ready · 1 turn · 0 tools", "working · 2 turns · 0 tools", "working · 2 turns · 1 tool", "ready · 2 turns · 1 tool"})
}

func TestTheQuestionToolAsksAPerson(t *testing.T) {
	const input = `{"question":"Which?","options":["a","b"]}`
	d := newDouble(t)
	d.dialog = func(q rpc.Dialog) any {
		if q.Kind == "input" {
			return "c"
		}
		return q.Options[len(q.Options)-1].Label
	}
	ext := d.load(examples + "question.ts")
	got, err := ext.tool("question", input)
	if err != nil || got.Content[0].Text != "The user answered: c" {
		t.Errorf("%v, %v", got, err)
	}
	d.dialog = nil
	got, err = ext.tool("question", input)
	if err != nil || got.Content[0].Text != "The user did not answer." {
		t.Errorf("%v, %v", got, err)
	}
	d.state.HasUI = false
	if _, err = ext.tool("question", input); err == nil || !strings.Contains(err.Error(), "Nobody is attached") {
		t.Errorf("with nobody attached: %v", err)
	}
}

func TestSummarizeShowsASummaryAndStoresNothing(t *testing.T) {
	d := newDouble(t)
	d.user("the question")
	d.complete = func(c rpc.Complete) (string, error) {
		if !strings.Contains(c.Messages[0].PlainText(), "[User]: the question") {
			t.Errorf("the model is told %s", c.Messages[0].PlainText())
		}
		return "It was about\na question.", nil
	}
	ext := d.load(examples + "summarize.ts")
	ext.run("summarize")
	ext.run("summarize off")
	equal(t, "what is shown", d.called(rpc.CallUIState), []string{
		`{"key":"summary","lines":["summarising …"],"place":"status"}`,
		`{"key":"widget:summary","lines":["Summary (/summarize off takes it away)","It was about","a question."],"place":"above"}`,
		`{"key":"summary","lines":null,"place":"status"}`,
		`{"key":"widget:summary","lines":null,"place":"above"}`,
	})
	if n := len(d.called(rpc.CallAppend)); n != 0 {
		t.Errorf("%d entries were stored", n)
	}
}

func TestDynamicToolsComeFromAFolderAndGo(t *testing.T) {
	d := newDouble(t)
	d.session.Cwd = t.TempDir()
	if err := os.MkdirAll(filepath.Join(d.session.Cwd, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.session.Cwd, "tools", "say-hi.sh"), []byte("echo hi"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := ""
	d.answer[rpc.CallExec] = func(params json.RawMessage) (any, error) {
		var p rpc.Exec
		mustUnmarshal(t, params, &p)
		ran = p.Command + " " + strings.Join(p.Args, " ")
		return rpc.ExecResult{Stdout: "hi\n"}, nil
	}
	ext := d.load(examples + "dynamic-tools.ts")
	if len(ext.reg.Tools) != 0 {
		t.Errorf("it has tools before the session began: %v", ext.reg.Tools)
	}
	ext.event("session_start", `{"reason":"startup"}`)
	var reg rpc.Registration
	mustUnmarshal(t, []byte(d.called(rpc.CallRegister)[0]), &reg)
	if len(reg.Tools) != 1 || reg.Tools[0].Name != "script_say_hi" {
		t.Fatalf("the tools are %v", reg.Tools)
	}
	got, err := ext.tool("script_say_hi", `{"args":["x"]}`)
	if err != nil || got.Content[0].Text != "hi\n" || ran != "bash "+filepath.Join(d.session.Cwd, "tools", "say-hi.sh")+" x" {
		t.Errorf("%v, %v; it ran %q", got, err, ran)
	}
	ext.run("readonly")
	equal(t, "the tools that are left", d.called(rpc.CallActiveTools), []string{`{"names":["Read"]}`})
}
