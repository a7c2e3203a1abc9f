package host_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

// example copies an extension of the examples to where the user's are.
func (w *world) example(name string) {
	w.t.Helper()
	from := filepath.Join("..", "..", "examples", "extensions", name)
	if err := os.CopyFS(filepath.Join(w.home, ".scorel", "extensions", name), os.DirFS(from)); err != nil {
		w.t.Fatal(err)
	}
}

// needs says which program of the machine a test cannot do without.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("this test runs an example in %s, which is not on PATH: %v", program, err)
	}
}

func TestExtensionInPythonGivesATool(t *testing.T) {
	needs(t, "python3")
	w := newWorld(t, setting{},
		`{"do":[{"call":"count_words","id":"c1","input":{"text":"one two Two"}}],"stop":"tool_use"}`,
		`{"if":{"result":"3 words, 2 different"},"do":[{"text":"Three."}]}`)
	w.example("python-words")
	e := w.begin(false)
	if end := e.say("count"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	m := e.messages()
	if got := m[len(m)-1].PlainText(); got != "Three." {
		t.Errorf("answer: %q\n%s", got, e.trace())
	}
	for _, msg := range m {
		if msg.Role == protocol.RoleToolResult && string(msg.Details) != `{"words":3}` {
			t.Errorf("details: %s", msg.Details)
		}
	}
	if strings.Contains(string(w.server.Requests()[1].Body), `"words":3`) {
		t.Error("the model was sent the details")
	}
	w.judged()
}

func TestHookOfAnExtensionBlocksACall(t *testing.T) {
	needs(t, "python3")
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}, tables: "[extensions.python-words]\nforbidden = [\"push\"]\n"},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"git push"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Commands with push are not run here"},"do":[{"text":"Not pushed."}]}`)
	w.example("python-words")
	e := w.begin(false)
	if end := e.say("push"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	m := e.messages()
	if got := m[len(m)-1].PlainText(); got != "Not pushed." {
		t.Errorf("answer: %q\n%s", got, e.trace())
	}
}

func TestExtensionInShellIsAskedForAsItsKindSays(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"note"}}},
		`{"do":[{"call":"note","id":"c1","input":{"text":"a \"quoted\" word\nand a line"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Noted."},"do":[{"text":"Done."}]}`)
	w.example("shell-note")
	e := w.begin(false)
	if end := e.say("note it"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	var note struct{ Text string }
	if err := json.Unmarshal([]byte(w.read("notes.jsonl")), &note); err != nil || note.Text != "a \"quoted\" word\nand a line" {
		t.Errorf("%q, %v", note.Text, err)
	}

	w = newWorld(t, setting{},
		`{"do":[{"call":"note","id":"c1","input":{"text":"x"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Nobody can be asked"},"do":[{"text":"Not noted."}]}`)
	w.example("shell-note")
	e = w.begin(false)
	e.say("note it")
	if _, err := os.Stat(filepath.Join(w.project, "notes.jsonl")); err == nil {
		t.Error("the tool ran without permission")
	}
}

func TestOpeningASessionStartsNoExtension(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"hello"}]}`)
	w.example("shell-note")
	e := w.begin(false)
	list, err := client.Call[*protocol.ExtensionList](t.Context(), e.c, e.id, &protocol.ListExtensions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Extensions) != 1 || list.Extensions[0].State != protocol.ExtensionFound || list.Extensions[0].ID != "shell-note" {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".scorel", "run", string(e.id))); err == nil {
		t.Error("a process was started")
	}
}

// run runs a command while no turn runs: it is a run of its own.
func (e *entry) run(name, args string) (*protocol.CommandResult, error) {
	e.w.t.Helper()
	e.events = nil
	r, err := client.Call[*protocol.CommandResult](e.w.t.Context(), e.c, e.id, &protocol.RunCommand{Name: name, Args: args})
	e.until(ofType(protocol.TypeRuntimeEnd))
	return r, err
}

func TestCommandOfAnExtensionSeesTheConversation(t *testing.T) {
	needs(t, "python3")
	w := newWorld(t, setting{}, `{"do":[{"text":"four words are here"}]}`)
	w.example("python-words")
	e := w.begin(false)
	e.say("one two")
	r, err := e.run("words", "")
	if err != nil || r.Status != "6 words in 2 messages" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := e.run("words", "user"); err != nil || r.Status != "2 words in 1 messages" {
		t.Errorf("%+v, %v", r, err)
	}
	list, err := client.Call[*protocol.CommandList](t.Context(), e.c, e.id, &protocol.ListCommands{})
	if err != nil || !slices.ContainsFunc(list.Commands, func(c protocol.CommandInfo) bool {
		return c.Name == "words" && c.Source == protocol.CommandExtension && c.Origin == "python-words"
	}) {
		t.Errorf("%+v, %v", list, err)
	}
}

// ts writes an extension of the user in TypeScript.
func (w *world) ts(id, source string) {
	w.t.Helper()
	w.write(filepath.Join(w.home, ".scorel", "extensions", id+".ts"), source)
}

func TestExtensionInTypeScriptKeepsStateThatARewindTakesBack(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("marks", `export default function (pi: any) {
  pi.command("mark", { description: "x", handler: async (ctx: any) => { await ctx.saveEntry({ type: "mark", n: 1 }); } });
  pi.command("marks", { description: "x", handler: async (ctx: any) => ({ status: ctx.entries.filter((e: any) => e.type === "mark").length + " marks in " + ctx.entries.length }) });
  pi.command("core", { description: "x", handler: async (ctx: any) => { await ctx.saveEntry({ type: "message" }); } });
}`)
	e := w.begin(false)
	e.say("first")
	status := func() string {
		t.Helper()
		r, err := e.run("marks", "")
		if err != nil {
			t.Fatal(err)
		}
		return r.Status
	}
	if got := status(); got != "0 marks in 2" {
		t.Errorf("%s", got)
	}
	e.say("second")
	if _, err := e.run("mark", ""); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != "1 marks in 5" {
		t.Errorf("%s", got)
	}
	if _, err := e.run("core", ""); err == nil || !strings.Contains(err.Error(), "belong to Scorel") {
		t.Errorf("a core type: %v", err)
	}
	var target protocol.EventID
	for _, ev := range w.log(e.id) {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleAssistant && target == "" {
			target = ev.ID
		}
	}
	if _, err := client.Call[*protocol.Moved](t.Context(), e.c, e.id, &protocol.RewindTo{TargetEventID: &target}); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != "0 marks in 2" {
		t.Errorf("behind the rewind %s", got)
	}
}

func (e *entry) extension(id string) protocol.ExtensionInfo {
	e.w.t.Helper()
	list := call[*protocol.ExtensionList](e.w.t, e.c, e.id, &protocol.ListExtensions{})
	for _, x := range list.Extensions {
		if x.ID == id {
			return x
		}
	}
	e.w.t.Fatalf("there is no extension %s: %+v", id, list)
	return protocol.ExtensionInfo{}
}

// tool gives the source of an extension with one tool that answers with a text.
func toolSource(name, text string) string {
	return `export default function (pi: any) {
  pi.registerTool({ name: "` + name + `", kind: "read", description: "x", execute: async () => ({ content: [{ type: "text", text: "` + text + `" }] }) });
}`
}

func TestExtensionsOfAProjectRunWhenTheyAreTrustedAndAskAgainWhenChanged(t *testing.T) {
	w := newWorld(t, setting{},
		`{"do":[{"call":"mine","id":"c1","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"There is no tool named"},"do":[{"text":"none"}]}`,
		`{"do":[{"call":"mine","id":"c2","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"from the project"},"do":[{"text":"one"}]}`)
	w.file(".scorel/extensions/mine.ts", toolSource("mine", "from the project"))
	e := w.begin(false)
	e.say("try")
	if got := e.extension("mine"); got.State != protocol.ExtensionUntrusted || !strings.Contains(got.Problem, "scorel trust") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".scorel", "run", string(e.id))); err == nil {
		t.Error("a process was started")
	}
	p := call[*protocol.Project](t, e.c, "", &protocol.RegisterProject{WorkDir: w.project})
	trusted := func() {
		r := call[*protocol.TrustReport](t, e.c, "", &protocol.GetTrust{ProjectID: p.ProjectID})
		call[*protocol.ProjectTrust](t, e.c, "", &protocol.TrustProject{ProjectID: p.ProjectID, Hash: r.Hash, Trusted: true})
	}
	trusted()
	e.say("again")
	if got := e.extension("mine"); got.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", got)
	}
	if m := e.messages(); m[len(m)-1].PlainText() != "one" {
		t.Errorf("%s", e.trace())
	}
	w.file(".scorel/extensions/mine.ts", toolSource("mine", "something else"))
	e.events = nil
	r := call[*protocol.Reloaded](t, e.c, e.id, &protocol.Reload{})
	if got := e.extension("mine"); got.State != protocol.ExtensionUntrusted || !strings.Contains(got.Problem, "changed") || r.Extensions != 0 || len(r.Problems) != 1 {
		t.Errorf("%+v, %+v", got, r)
	}
	w.judged()
}

func TestReloadTakesWhatHasChanged(t *testing.T) {
	w := newWorld(t, setting{},
		`{"do":[{"text":"fine"}]}`,
		`{"do":[{"call":"second","id":"c1","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"new text"},"do":[{"text":"done"}]}`)
	w.ts("mine", toolSource("first", "old text"))
	e := w.begin(false)
	e.say("go")
	if got := e.extension("mine"); !slices.Equal(got.Tools, []string{"first"}) {
		t.Errorf("%+v", got)
	}
	w.ts("mine", toolSource("second", "new text"))
	e.events = nil
	if r := call[*protocol.Reloaded](t, e.c, e.id, &protocol.Reload{}); r.Extensions != 1 || len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
	e.end()
	e.say("again")
	if m := e.messages(); m[len(m)-1].PlainText() != "done" {
		t.Errorf("%s", e.trace())
	}
}

func TestAnExtensionThatIsSwitchedOffDoesNotRun(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("mine", toolSource("first", "x"))
	c := w.connect(false)
	call[*protocol.Done](t, c, "", &protocol.EnableExtension{ID: "mine"})
	e := w.begin(false)
	e.say("go")
	if got := e.extension("mine"); got.State != protocol.ExtensionDisabled {
		t.Errorf("%+v", got)
	}
	call[*protocol.Done](t, c, "", &protocol.EnableExtension{ID: "mine", Enabled: true})
	e.events = nil
	if r := call[*protocol.Reloaded](t, e.c, e.id, &protocol.Reload{}); r.Extensions != 1 {
		t.Errorf("%+v", r)
	}
	w.write(filepath.Join(w.home, ".scorel", "extensions.json"), "{damaged")
	pe := refused(t, c, "", &protocol.EnableExtension{ID: "mine"}, protocol.CodeInvalidRequest)
	if !strings.Contains(pe.Message, "is damaged; repair it or remove it") {
		t.Errorf("%v", pe)
	}
	// Nobody knows now what is switched off: nothing runs.
	r := call[*protocol.Reloaded](t, e.c, e.id, &protocol.Reload{})
	if r.Extensions != 0 || !strings.Contains(strings.Join(r.Problems, "\n"), "no extension runs") {
		t.Errorf("%+v", r)
	}
}

func TestGateThatThrowsBlocksTheToolOfASession(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"touch made"}}],"stop":"tool_use"}`,
		`{"if":{"result":"gate is broken"},"do":[{"text":"blocked"}]}`)
	w.ts("gate", `export default function (pi: any) { pi.on("tool_call", () => { throw new Error("the gate is broken"); }); }`)
	e := w.begin(false)
	e.say("go")
	if m := e.messages(); m[len(m)-1].PlainText() != "blocked" {
		t.Errorf("%s", e.trace())
	}
	if _, err := os.Stat(filepath.Join(w.project, "made")); err == nil {
		t.Error("the command ran")
	}
}

func TestCheckSaysWhatAnExtensionRegistersAndStartsNoSession(t *testing.T) {
	w := newWorld(t, setting{})
	w.ts("mine", toolSource("first", "x"))
	w.ts("bad", "export default 7")
	c := w.connect(false)
	dir := filepath.Join(w.home, ".scorel", "extensions")
	got := call[*protocol.ExtensionInfo](t, c, "", &protocol.CheckExtension{Path: filepath.Join(dir, "mine.ts")})
	if got.State != protocol.ExtensionLoaded || !slices.Equal(got.Tools, []string{"first"}) {
		t.Errorf("%+v", got)
	}
	if got := call[*protocol.ExtensionInfo](t, c, "", &protocol.CheckExtension{Path: filepath.Join(dir, "bad.ts")}); got.State != protocol.ExtensionFailed || got.Problem == "" {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"mine.ts", filepath.Join(dir, "none.ts"), w.home} {
		refused(t, c, "", &protocol.CheckExtension{Path: path}, protocol.CodeInvalidRequest)
	}
}

// TestContextHandlerChangesWhatIsSent has an extension replace a message and bring one
// of its own, on its way to the model.
func TestContextHandlerChangesWhatIsSent(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("change", `export default function (pi: any) {
  pi.on("context", (event: any) => {
    const messages = event.messages.filter((m: any) => !JSON.stringify(m.message.content).includes("forget this"));
    return { messages: [...messages, { message: { role: "user", content: "and a word of the extension", timestamp: 1 }, entryIndex: null }] };
  });
}`)
	e := w.begin(false)
	e.say("forget this")
	e.say("keep this")
	body := string(w.server.Requests()[1].Body)
	if strings.Contains(body, "forget this") || !strings.Contains(body, "keep this") || !strings.Contains(body, "and a word of the extension") {
		t.Errorf("sent: %s", body)
	}
	for _, ev := range w.log(e.id) {
		if m, ok := ev.Message(); ok && strings.Contains(m.PlainText(), "word of the extension") {
			t.Error("what was only sent stands in the log")
		}
	}
}

func TestMessagesThatAnExtensionSendsBeginATurn(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("sender", `export default function (pi: any) {
  pi.command("ask", { description: "x", handler: async () => { await pi.sendUserMessage("from the extension"); } });
  pi.command("note", { description: "x", handler: async () => { await pi.sendMessage({ customType: "note", content: "a note for the model", display: true }); } });
}`)
	e := w.begin(false)
	e.say("hello")
	if _, err := e.run("note", ""); err != nil {
		t.Fatal(err)
	}
	e.events = nil
	if _, err := client.Call[*protocol.CommandResult](t.Context(), e.c, e.id, &protocol.RunCommand{Name: "ask"}); err != nil {
		t.Fatal(err)
	}
	e.until(func(ev protocol.Event) bool {
		m, ok := ev.Message()
		return ok && m.Role == protocol.RoleAssistant
	})
	body := string(w.server.Requests()[1].Body)
	if !strings.Contains(body, "from the extension") || !strings.Contains(body, "a note for the model") {
		t.Errorf("sent: %s", body)
	}
}

func TestDialogOfAnExtensionIsAnsweredOrTakesItsDefault(t *testing.T) {
	w := newWorld(t, setting{attended: true}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("ask", `export default function (pi: any) {
  pi.command("ask", { description: "x", handler: async (ctx: any) => ({ status: "it is " + await ctx.ui.confirm("Sure?", "Really?") + " " + ctx.hasUI }) });
}`)
	alone := w.begin(false)
	alone.say("hello")
	if r, err := alone.run("ask", ""); err != nil || r.Status != "it is false false" {
		t.Errorf("with nobody there: %+v, %v", r, err)
	}
	c := w.connect(true)
	e := w.open(c, alone.id)
	answered := make(chan *protocol.CommandResult, 1)
	go func() { // ends with the command
		r, err := client.Call[*protocol.CommandResult](context.Background(), c, e.id, &protocol.RunCommand{Name: "ask"})
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	ask := e.until(ofType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	if ask.Data.Source != "ask" || ask.Data.Title != "Sure?" {
		t.Errorf("%+v", ask.Data)
	}
	call[*protocol.Done](t, c, e.id, &protocol.AnswerUI{UIID: ask.UIID, Value: json.RawMessage("true")})
	if r := <-answered; r == nil || r.Status != "it is true true" {
		t.Errorf("%+v", r)
	}
}

// TestAFormOfAnExtensionIsAskedForAndOneThatCannotBeShownIsItsError: a wrong answer is
// refused with its field, and the dialog stays open.
func TestAFormOfAnExtensionIsAskedForAndOneThatCannotBeShownIsItsError(t *testing.T) {
	w := newWorld(t, setting{attended: true}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("ask", `export default function (pi: any) {
  const schema = { type: "object", properties: { name: { type: "string", minLength: 2 }, age: { type: "integer" } }, required: ["name"] };
  pi.command("form", { description: "x", handler: async (ctx: any) => ({ status: JSON.stringify(await ctx.ui.form("Who?", schema)) }) });
  pi.command("bad", { description: "x", handler: async (ctx: any) => ({ status: JSON.stringify(await ctx.ui.form("Who?", { type: "array" })) }) });
  pi.command("url", { description: "x", handler: async (ctx: any) => ({ status: String(await ctx.ui.url("Open", "file:///etc/passwd")) }) });
}`)
	e := w.begin(true)
	e.say("hello")
	for name, want := range map[string]string{"bad": "JSON Schema of type object", "url": "http or https"} {
		if r, err := e.run(name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	answered := make(chan *protocol.CommandResult, 1)
	go func() { // ends with the command
		r, err := client.Call[*protocol.CommandResult](context.Background(), e.c, e.id, &protocol.RunCommand{Name: "form"})
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	ask := e.until(ofType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	for value, field := range map[string]string{`{"name":"x"}`: "value.name", `{}`: "value.name", `{"name":"Ada","age":1.5}`: "value.age", `true`: ""} {
		_, err := client.Call[*protocol.Done](t.Context(), e.c, e.id, &protocol.AnswerUI{UIID: ask.UIID, Value: json.RawMessage(value)})
		if err == nil || protocol.AboutOf(err).Field != field {
			t.Errorf("%s: %v", value, err)
		}
	}
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: ask.UIID, Value: json.RawMessage(`{"name":"Ada","age":7}`)})
	if r := <-answered; r == nil || r.Status != `{"name":"Ada","age":7}` {
		t.Errorf("%+v", r)
	}
}

func TestWhatAnExtensionShowsGoesWithIt(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("status", `export default function (pi: any) { pi.on("session_start", (e: any, ctx: any) => ctx.ui.setStatus("s", "here")); }`)
	e := w.begin(false)
	e.say("hello")
	shown := func(lines int) func(protocol.Event) bool {
		return func(ev protocol.Event) bool {
			u, ok := ev.Body.(*protocol.UIState)
			return ok && u.Source == "status" && len(u.Lines) == lines
		}
	}
	e.until(shown(1))
	if err := os.Remove(filepath.Join(w.home, ".scorel", "extensions", "status.ts")); err != nil {
		t.Fatal(err)
	}
	e.events = nil
	call[*protocol.Reloaded](t, e.c, e.id, &protocol.Reload{})
	e.until(shown(0))
}

func TestCommandWhileATurnRunsWaitsForItsBorder(t *testing.T) {
	asked := make(chan struct{}, 8)
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}, request: func([]byte) { asked <- struct{}{} }},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do sleep 0.02; done"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	w.ts("two", `export default function (pi: any) {
  pi.command("wait", { description: "x", handler: async (ctx: any) => { await ctx.saveEntry({ type: "mark" }); return { status: "at the border" }; } });
  pi.command("now", { description: "x", immediate: true, handler: async () => ({ status: "at once" }) });
}`)
	e := w.begin(false)
	e.send("work")
	e.until(ofType(protocol.TypeToolExecutionStart))
	run := func(name string) *protocol.CommandResult {
		return call[*protocol.CommandResult](t, e.c, e.id, &protocol.RunCommand{Name: name})
	}
	if r := run("wait"); !r.Queued {
		t.Errorf("%+v", r)
	}
	if r := run("now"); r.Queued || r.Status != "at once" {
		t.Errorf("%+v", r)
	}
	w.file("go", "")
	e.end()
	order := ""
	for _, ev := range w.log(e.id) {
		if m, ok := ev.Message(); ok {
			order += string(m.Role) + " "
		}
		if b, ok := ev.Body.(*protocol.Custom); ok && b.Kind == "mark" {
			order += "mark "
		}
	}
	if order != "user assistant tool_result mark assistant " {
		t.Errorf("the log has %s", order)
	}
}

func TestEndOfASessionEndsItsExtensions(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("last", `export default function (pi: any) {
  pi.on("session_shutdown", async (e: any) => { await pi.appendEntry("last_word", { reason: e.reason }); });
}`)
	e := w.begin(false)
	e.say("hello")
	if left, err := os.ReadDir(filepath.Join(w.home, ".scorel", "run", string(e.id))); err != nil || len(left) != 1 {
		t.Errorf("while it is open: %v, %v", left, err)
	}
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".scorel", "run", string(e.id))); err == nil {
		t.Error("a process is left")
	}
	log := w.log(e.id)
	if b, ok := log[len(log)-1].Body.(*protocol.Custom); !ok || b.Kind != "last_word" || string(b.Data) != `{"reason":"quit"}` {
		t.Errorf("the last event is %+v", log[len(log)-1])
	}
}

// TestExtensionThatAnswersItselfForEverIsStopped has one send a message at the end of
// each turn.
func TestExtensionThatAnswersItselfForEverIsStopped(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("loop", `export default function (pi: any) { pi.on("agent_end", () => { pi.sendUserMessage("again").catch((err: any) => pi.appendEntry("stopped", { why: err.message })); }); }`)
	e := w.begin(false)
	e.send("hello")
	stop := e.until(ofType(protocol.TypeCustom)).Body.(*protocol.Custom)
	if !strings.Contains(string(stop.Data), "50 messages in a row") {
		t.Errorf("%s", stop.Data)
	}
	n := 0
	for _, ev := range w.log(e.id) {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleUser {
			n++
		}
	}
	if n != 51 {
		t.Errorf("there are %d messages", n)
	}
}

func TestModelReadsTheWholeOutputOfAnExtension(t *testing.T) {
	w := newWorld(t, setting{},
		`{"do":[{"call":"long","id":"c1","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"result:c1"},"do":[{"call":"Read","id":"c2","input":{"path":"result:c1","offset":5000,"limit":1}}],"stop":"tool_use"}`,
		`{"if":{"result":"line 4999"},"do":[{"text":"read"}]}`)
	w.ts("long", `export default function (pi: any) {
  pi.registerTool({ name: "long", kind: "read", description: "x", execute: async () => ({ content: [{ type: "text", text: Array.from({ length: 10000 }, (_, i) => "line " + i).join("\n") }] }) });
}`)
	e := w.begin(false)
	e.say("go")
	if m := e.messages(); m[len(m)-1].PlainText() != "read" {
		t.Errorf("%s", e.trace())
	}
}
