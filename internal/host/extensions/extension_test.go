package extensions_test

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
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// needs says which program of the machine a test cannot do without.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("this test runs an example in %s, which is not on PATH: %v", program, err)
	}
}

func TestExtensionInPythonGivesATool(t *testing.T) {
	needs(t, "python3")
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"call":"count_words","id":"c1","input":{"text":"one two Two"}}],"stop":"tool_use"}`,
		`{"if":{"result":"3 words, 2 different"},"do":[{"text":"Three."}]}`)
	w.Example("python-words")
	e := w.Begin(false)
	if end := e.Say("count"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	m := e.Messages()
	if got := m[len(m)-1].PlainText(); got != "Three." {
		t.Errorf("answer: %q\n%s", got, e.Trace())
	}
	for _, msg := range m {
		if msg.Role == protocol.RoleToolResult && string(msg.Details) != `{"words":3}` {
			t.Errorf("details: %s", msg.Details)
		}
	}
	if strings.Contains(string(w.Server.Requests()[1].Body), `"words":3`) {
		t.Error("the model was sent the details")
	}
	w.Judged()
}

func TestHookOfAnExtensionBlocksACall(t *testing.T) {
	needs(t, "python3")
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}, Tables: "[extensions.python-words]\nforbidden = [\"push\"]\n"},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"git push"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Commands with push are not run here"},"do":[{"text":"Not pushed."}]}`)
	w.Example("python-words")
	e := w.Begin(false)
	if end := e.Say("push"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	m := e.Messages()
	if got := m[len(m)-1].PlainText(); got != "Not pushed." {
		t.Errorf("answer: %q\n%s", got, e.Trace())
	}
}

func TestExtensionInShellIsAskedForAsItsKindSays(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"note"}}},
		`{"do":[{"call":"note","id":"c1","input":{"text":"a \"quoted\" word\nand a line"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Noted."},"do":[{"text":"Done."}]}`)
	w.Example("shell-note")
	e := w.Begin(false)
	if end := e.Say("note it"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	var note struct{ Text string }
	if err := json.Unmarshal([]byte(w.Read("notes.jsonl")), &note); err != nil || note.Text != "a \"quoted\" word\nand a line" {
		t.Errorf("%q, %v", note.Text, err)
	}

	w = hosttest.New(t, hosttest.Setting{},
		`{"do":[{"call":"note","id":"c1","input":{"text":"x"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Nobody can be asked"},"do":[{"text":"Not noted."}]}`)
	w.Example("shell-note")
	e = w.Begin(false)
	e.Say("note it")
	if _, err := os.Stat(filepath.Join(w.Project, "notes.jsonl")); err == nil {
		t.Error("the tool ran without permission")
	}
}

func TestOpeningASessionStartsNoExtension(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"hello"}]}`)
	w.Example("shell-note")
	e := w.Begin(false)
	list, err := client.Call[*protocol.ExtensionList](t.Context(), e.C, e.ID, &protocol.ListExtensions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Extensions) != 1 || list.Extensions[0].State != protocol.ExtensionFound || list.Extensions[0].ID != "shell-note" {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(filepath.Join(w.Home, ".scorel", "run", string(e.ID))); err == nil {
		t.Error("a process was started")
	}
}

func TestCommandOfAnExtensionSeesTheConversation(t *testing.T) {
	needs(t, "python3")
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"four words are here"}]}`)
	w.Example("python-words")
	e := w.Begin(false)
	e.Say("one two")
	r, err := e.Run("words", "")
	if err != nil || r.Status != "6 words in 2 messages" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := e.Run("words", "user"); err != nil || r.Status != "2 words in 1 messages" {
		t.Errorf("%+v, %v", r, err)
	}
	list, err := client.Call[*protocol.CommandList](t.Context(), e.C, e.ID, &protocol.ListCommands{})
	if err != nil || !slices.ContainsFunc(list.Commands, func(c protocol.CommandInfo) bool {
		return c.Name == "words" && c.Source == protocol.CommandExtension && c.Origin == "python-words"
	}) {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestSecondExtensionWithACommandHasItUnderItsOwnName(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	for _, name := range []string{"first", "second"} {
		w.Ts(name, `export default function (pi: any) {
  pi.registerCommand("same", { description: "x", getArgumentCompletions: () => [{ value: "`+name+`", label: "x" }], handler: async (_: string, ctx: any) => ctx.ui.notify("ran in `+name+`", "info") });
  pi.registerShortcut("f8", { description: "x", handler: (ctx: any) => ctx.ui.notify("pressed in `+name+`", "info") });
}`)
	}
	e := w.Begin(false)
	list, err := client.Call[*protocol.CommandList](t.Context(), e.C, e.ID, &protocol.ListCommands{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range list.Commands {
		if c.Source == protocol.CommandExtension {
			names = append(names, c.Name)
		}
	}
	if got := strings.Join(names, " "); got != "same same:second shortcut:f8 shortcut:f8:second" {
		t.Errorf("listed: %s", got)
	}
	told := e.Trace()
	for name, want := range map[string]string{"same": "ran in first", "same:first": "ran in first", "same:second": "ran in second", "shortcut:f8:second": "pressed in second"} {
		_, err := e.Run(name, "")
		trace := e.Trace()
		if err != nil || !strings.Contains(trace, want) {
			t.Errorf("/%s: %v; no %q in:\n%s", name, err, want, trace)
		}
		told += trace
	}
	done, err := client.Call[*protocol.CompletionList](t.Context(), e.C, e.ID, &protocol.CompleteCommand{Name: "same:second"})
	if err != nil || len(done.Items) != 1 || done.Items[0].Value != "second" {
		t.Errorf("completed: %+v, %v", done, err)
	}
	if want := "The extensions first and second both have a command /same: /same runs that of first, and /same:second that of second."; strings.Count(told, want) != 1 || strings.Contains(told, "both have a command /shortcut") {
		t.Errorf("the notice:\n%s", told)
	}
}

func TestExtensionInTypeScriptKeepsStateThatARewindTakesBack(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("marks", `export default function (pi: any) {
  pi.command("mark", { description: "x", handler: async (ctx: any) => { await ctx.saveEntry({ type: "mark", n: 1 }); } });
  pi.command("marks", { description: "x", handler: async (ctx: any) => ({ status: ctx.entries.filter((e: any) => e.type === "mark").length + " marks in " + ctx.entries.length }) });
  pi.command("core", { description: "x", handler: async (ctx: any) => { await ctx.saveEntry({ type: "message" }); } });
}`)
	e := w.Begin(false)
	e.Say("first")
	status := func() string {
		t.Helper()
		r, err := e.Run("marks", "")
		if err != nil {
			t.Fatal(err)
		}
		return r.Status
	}
	if got := status(); got != "0 marks in 2" {
		t.Errorf("%s", got)
	}
	e.Say("second")
	if _, err := e.Run("mark", ""); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != "1 marks in 5" {
		t.Errorf("%s", got)
	}
	if _, err := e.Run("core", ""); err == nil || !strings.Contains(err.Error(), "belong to Scorel") {
		t.Errorf("a core type: %v", err)
	}
	var target protocol.EventID
	for _, ev := range w.Log(e.ID) {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleAssistant && target == "" {
			target = ev.ID
		}
	}
	if _, err := client.Call[*protocol.Moved](t.Context(), e.C, e.ID, &protocol.RewindTo{TargetEventID: &target}); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != "0 marks in 2" {
		t.Errorf("behind the rewind %s", got)
	}
}

// tool returns the source of an extension with one tool that answers with a text.
func toolSource(name, text string) string {
	return `export default function (pi: any) {
  pi.registerTool({ name: "` + name + `", kind: "read", description: "x", execute: async () => ({ content: [{ type: "text", text: "` + text + `" }] }) });
}`
}

func TestExtensionsOfAProjectRunWhenTheyAreTrustedAndAskAgainWhenChanged(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"call":"mine","id":"c1","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"There is no tool named"},"do":[{"text":"none"}]}`,
		`{"do":[{"call":"mine","id":"c2","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"from the project"},"do":[{"text":"one"}]}`)
	w.File(".scorel/extensions/mine.ts", toolSource("mine", "from the project"))
	e := w.Begin(false)
	e.Say("try")
	if got := e.Extension("mine"); got.State != protocol.ExtensionUntrusted || !strings.Contains(got.Problem, "scorel trust") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(w.Home, ".scorel", "run", string(e.ID))); err == nil {
		t.Error("a process was started")
	}
	p := hosttest.Call[*protocol.Project](t, e.C, "", &protocol.RegisterProject{WorkDir: w.Project})
	trusted := func() {
		r := hosttest.Call[*protocol.TrustReport](t, e.C, "", &protocol.GetTrust{ProjectID: p.ProjectID})
		hosttest.Call[*protocol.ProjectTrust](t, e.C, "", &protocol.TrustProject{ProjectID: p.ProjectID, Hash: r.Hash, Trusted: true})
	}
	trusted()
	e.Say("again")
	if got := e.Extension("mine"); got.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", got)
	}
	if m := e.Messages(); m[len(m)-1].PlainText() != "one" {
		t.Errorf("%s", e.Trace())
	}
	w.File(".scorel/extensions/mine.ts", toolSource("mine", "something else"))
	e.Events = nil
	r := hosttest.Call[*protocol.Reloaded](t, e.C, e.ID, &protocol.Reload{})
	if got := e.Extension("mine"); got.State != protocol.ExtensionUntrusted || !strings.Contains(got.Problem, "changed") || r.Extensions != 0 || len(r.Problems) != 1 {
		t.Errorf("%+v, %+v", got, r)
	}
	w.Judged()
}

func TestReloadTakesWhatHasChanged(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"text":"fine"}]}`,
		`{"do":[{"call":"second","id":"c1","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"new text"},"do":[{"text":"done"}]}`)
	w.Ts("mine", toolSource("first", "old text"))
	e := w.Begin(false)
	e.Say("go")
	if got := e.Extension("mine"); !slices.Equal(got.Tools, []string{"first"}) {
		t.Errorf("%+v", got)
	}
	w.Ts("mine", toolSource("second", "new text"))
	e.Events = nil
	if r := hosttest.Call[*protocol.Reloaded](t, e.C, e.ID, &protocol.Reload{}); r.Extensions != 1 || len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
	e.End()
	e.Say("again")
	if m := e.Messages(); m[len(m)-1].PlainText() != "done" {
		t.Errorf("%s", e.Trace())
	}
}

func TestAnExtensionThatIsSwitchedOffDoesNotRun(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("mine", toolSource("first", "x"))
	c := w.Connect(false)
	hosttest.Call[*protocol.Done](t, c, "", &protocol.EnableExtension{ID: "mine"})
	e := w.Begin(false)
	e.Say("go")
	if got := e.Extension("mine"); got.State != protocol.ExtensionDisabled {
		t.Errorf("%+v", got)
	}
	hosttest.Call[*protocol.Done](t, c, "", &protocol.EnableExtension{ID: "mine", Enabled: true})
	e.Events = nil
	if r := hosttest.Call[*protocol.Reloaded](t, e.C, e.ID, &protocol.Reload{}); r.Extensions != 1 {
		t.Errorf("%+v", r)
	}
	for _, text := range []string{"", "null", "[]", "{damaged"} {
		w.Write(filepath.Join(w.Home, ".scorel", "extensions.json"), text)
		pe := hosttest.Refused(t, c, "", &protocol.EnableExtension{ID: "mine"}, protocol.CodeInvalidRequest)
		if !strings.Contains(pe.Message, "is damaged; repair it or remove it") {
			t.Errorf("%q: %v", text, pe)
		}
	}
	// Nobody knows now what is switched off: nothing runs.
	r := hosttest.Call[*protocol.Reloaded](t, e.C, e.ID, &protocol.Reload{})
	if r.Extensions != 0 || !strings.Contains(strings.Join(r.Problems, "\n"), "no extension runs") {
		t.Errorf("%+v", r)
	}
}

func TestGateThatThrowsBlocksTheToolOfASession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"touch made"}}],"stop":"tool_use"}`,
		`{"if":{"result":"gate is broken"},"do":[{"text":"blocked"}]}`)
	w.Ts("gate", `export default function (pi: any) { pi.on("tool_call", () => { throw new Error("the gate is broken"); }); }`)
	e := w.Begin(false)
	e.Say("go")
	if m := e.Messages(); m[len(m)-1].PlainText() != "blocked" {
		t.Errorf("%s", e.Trace())
	}
	if _, err := os.Stat(filepath.Join(w.Project, "made")); err == nil {
		t.Error("the command ran")
	}
}

func TestCheckSaysWhatAnExtensionRegistersAndStartsNoSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.Ts("mine", toolSource("first", "x"))
	w.Ts("bad", "export default 7")
	c := w.Connect(false)
	dir := filepath.Join(w.Home, ".scorel", "extensions")
	got := hosttest.Call[*protocol.ExtensionInfo](t, c, "", &protocol.CheckExtension{Path: filepath.Join(dir, "mine.ts")})
	if got.State != protocol.ExtensionLoaded || !slices.Equal(got.Tools, []string{"first"}) {
		t.Errorf("%+v", got)
	}
	if got := hosttest.Call[*protocol.ExtensionInfo](t, c, "", &protocol.CheckExtension{Path: filepath.Join(dir, "bad.ts")}); got.State != protocol.ExtensionFailed || got.Problem == "" {
		t.Errorf("%+v", got)
	}
	w.Ts("newer", "export default (pi: any) => {\n  pi.registerNewerThing({});\n}")
	got = hosttest.Call[*protocol.ExtensionInfo](t, c, "", &protocol.CheckExtension{Path: filepath.Join(dir, "newer.ts")})
	if text := strings.Join(got.Unsupported, " "); !strings.Contains(text, "newer.ts:2: pi.registerNewerThing is not provided by Scorel.") || !strings.Contains(text, "It cannot be loaded: ") {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"mine.ts", filepath.Join(dir, "none.ts"), w.Home} {
		hosttest.Refused(t, c, "", &protocol.CheckExtension{Path: path}, protocol.CodeInvalidRequest)
	}
}

// TestContextHandlerChangesWhatIsSent has an extension replace a message and bring one
// of its own, on its way to the model.
func TestContextHandlerChangesWhatIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("change", `export default function (pi: any) {
  pi.on("context", (event: any) => {
    const messages = event.messages.filter((m: any) => !JSON.stringify(m.message.content).includes("forget this"));
    return { messages: [...messages, { message: { role: "user", content: "and a word of the extension", timestamp: 1 }, entryIndex: null }] };
  });
}`)
	e := w.Begin(false)
	e.Say("forget this")
	e.Say("keep this")
	body := string(w.Server.Requests()[1].Body)
	if strings.Contains(body, "forget this") || !strings.Contains(body, "keep this") || !strings.Contains(body, "and a word of the extension") {
		t.Errorf("sent: %s", body)
	}
	for _, ev := range w.Log(e.ID) {
		if m, ok := ev.Message(); ok && strings.Contains(m.PlainText(), "word of the extension") {
			t.Error("what was only sent stands in the log")
		}
	}
}

func TestMessagesThatAnExtensionSendsBeginATurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("sender", `export default function (pi: any) {
  pi.command("ask", { description: "x", handler: async () => { await pi.sendUserMessage("from the extension"); } });
  pi.command("note", { description: "x", handler: async () => { await pi.sendMessage({ customType: "note", content: "a note for the model", display: true }); } });
}`)
	e := w.Begin(false)
	e.Say("hello")
	if _, err := e.Run("note", ""); err != nil {
		t.Fatal(err)
	}
	e.Events = nil
	if _, err := client.Call[*protocol.CommandResult](t.Context(), e.C, e.ID, &protocol.RunCommand{Name: "ask"}); err != nil {
		t.Fatal(err)
	}
	e.Until(func(ev protocol.Event) bool {
		m, ok := ev.Message()
		return ok && m.Role == protocol.RoleAssistant
	})
	body := string(w.Server.Requests()[1].Body)
	if !strings.Contains(body, "from the extension") || !strings.Contains(body, "a note for the model") {
		t.Errorf("sent: %s", body)
	}
}

func TestDialogOfAnExtensionIsAnsweredOrTakesItsDefault(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("ask", `export default function (pi: any) {
  pi.command("ask", { description: "x", handler: async (ctx: any) => ({ status: "it is " + await ctx.ui.confirm("Sure?", "Really?") + " " + ctx.hasUI }) });
}`)
	alone := w.Begin(false)
	alone.Say("hello")
	if r, err := alone.Run("ask", ""); err != nil || r.Status != "it is false false" {
		t.Errorf("with nobody there: %+v, %v", r, err)
	}
	c := w.Connect(true)
	e := w.Open(c, alone.ID)
	answered := make(chan *protocol.CommandResult, 1)
	go func() { // ends with the command
		r, err := client.Call[*protocol.CommandResult](context.Background(), c, e.ID, &protocol.RunCommand{Name: "ask"})
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	ask := e.Until(hosttest.OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	if ask.Data.Source != "ask" || ask.Data.Title != "Sure?" {
		t.Errorf("%+v", ask.Data)
	}
	hosttest.Call[*protocol.Done](t, c, e.ID, &protocol.AnswerUI{UIID: ask.UIID, Value: json.RawMessage("true")})
	if r := <-answered; r == nil || r.Status != "it is true true" {
		t.Errorf("%+v", r)
	}
}

// TestAFormOfAnExtensionIsAskedForAndOneThatCannotBeShownIsItsError: a wrong answer is
// refused with its field, and the dialog stays open.
func TestAFormOfAnExtensionIsAskedForAndOneThatCannotBeShownIsItsError(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("ask", `export default function (pi: any) {
  const schema = { type: "object", properties: { name: { type: "string", minLength: 2 }, age: { type: "integer" } }, required: ["name"] };
  pi.command("form", { description: "x", handler: async (ctx: any) => ({ status: JSON.stringify(await ctx.ui.form("Who?", schema)) }) });
  pi.command("bad", { description: "x", handler: async (ctx: any) => ({ status: JSON.stringify(await ctx.ui.form("Who?", { type: "array" })) }) });
  pi.command("url", { description: "x", handler: async (ctx: any) => ({ status: String(await ctx.ui.url("Open", "file:///etc/passwd")) }) });
}`)
	e := w.Begin(true)
	e.Say("hello")
	for name, want := range map[string]string{"bad": "JSON Schema of type object", "url": "http or https"} {
		if r, err := e.Run(name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	answered := make(chan *protocol.CommandResult, 1)
	go func() { // ends with the command
		r, err := client.Call[*protocol.CommandResult](context.Background(), e.C, e.ID, &protocol.RunCommand{Name: "form"})
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	ask := e.Until(hosttest.OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	for value, field := range map[string]string{`{"name":"x"}`: "value.name", `{}`: "value.name", `{"name":"Ada","age":1.5}`: "value.age", `true`: ""} {
		_, err := client.Call[*protocol.Done](t.Context(), e.C, e.ID, &protocol.AnswerUI{UIID: ask.UIID, Value: json.RawMessage(value)})
		if err == nil || protocol.AboutOf(err).Field != field {
			t.Errorf("%s: %v", value, err)
		}
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: ask.UIID, Value: json.RawMessage(`{"name":"Ada","age":7}`)})
	if r := <-answered; r == nil || r.Status != `{"name":"Ada","age":7}` {
		t.Errorf("%+v", r)
	}
}

func TestWhatAnExtensionShowsGoesWithIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("status", `export default function (pi: any) { pi.on("session_start", (e: any, ctx: any) => ctx.ui.setStatus("s", "here")); }`)
	e := w.Begin(false)
	e.Say("hello")
	shown := func(lines int) func(protocol.Event) bool {
		return func(ev protocol.Event) bool {
			u, ok := ev.Body.(*protocol.UIState)
			return ok && u.Source == "status" && len(u.Lines) == lines
		}
	}
	e.Until(shown(1))
	if err := os.Remove(filepath.Join(w.Home, ".scorel", "extensions", "status.ts")); err != nil {
		t.Fatal(err)
	}
	e.Events = nil
	hosttest.Call[*protocol.Reloaded](t, e.C, e.ID, &protocol.Reload{})
	e.Until(shown(0))
}

func TestCommandWhileATurnRunsWaitsForItsBoundary(t *testing.T) {
	asked := make(chan struct{}, 8)
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}, Request: func([]byte) { asked <- struct{}{} }},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do sleep 0.02; done"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	w.Ts("two", `export default function (pi: any) {
  pi.command("wait", { description: "x", handler: async (ctx: any) => { await ctx.saveEntry({ type: "mark" }); return { status: "at the boundary" }; } });
  pi.command("now", { description: "x", immediate: true, handler: async () => ({ status: "at once" }) });
}`)
	e := w.Begin(false)
	e.Send("work")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	run := func(name string) *protocol.CommandResult {
		return hosttest.Call[*protocol.CommandResult](t, e.C, e.ID, &protocol.RunCommand{Name: name})
	}
	if r := run("wait"); !r.Queued {
		t.Errorf("%+v", r)
	}
	if r := run("now"); r.Queued || r.Status != "at once" {
		t.Errorf("%+v", r)
	}
	w.File("go", "")
	e.End()
	order := ""
	for _, ev := range w.Log(e.ID) {
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
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("last", `export default function (pi: any) {
  pi.on("session_shutdown", async (e: any) => { await pi.appendEntry("last_word", { reason: e.reason }); });
}`)
	e := w.Begin(false)
	e.Say("hello")
	if left, err := os.ReadDir(filepath.Join(w.Home, ".scorel", "run", string(e.ID))); err != nil || len(left) != 1 {
		t.Errorf("while it is open: %v, %v", left, err)
	}
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Home, ".scorel", "run", string(e.ID))); err == nil {
		t.Error("a process is left")
	}
	log := w.Log(e.ID)
	if b, ok := log[len(log)-1].Body.(*protocol.Custom); !ok || b.Kind != "last_word" || string(b.Data) != `{"reason":"quit"}` {
		t.Errorf("the last event is %+v", log[len(log)-1])
	}
}

// TestExtensionThatAnswersItselfForEverIsStopped has one send a message at the end of
// each turn.
func TestExtensionThatAnswersItselfForEverIsStopped(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("loop", `export default function (pi: any) { pi.on("agent_end", () => { pi.sendUserMessage("again").catch((err: any) => pi.appendEntry("stopped", { why: err.message })); }); }`)
	e := w.Begin(false)
	e.Send("hello")
	stop := e.Until(hosttest.OfType(protocol.TypeCustom)).Body.(*protocol.Custom)
	if !strings.Contains(string(stop.Data), "50 messages in a row") {
		t.Errorf("%s", stop.Data)
	}
	n := 0
	for _, ev := range w.Log(e.ID) {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleUser {
			n++
		}
	}
	if n != 51 {
		t.Errorf("there are %d messages", n)
	}
}

func TestModelReadsTheWholeOutputOfAnExtension(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"call":"long","id":"c1","input":{}}],"stop":"tool_use"}`,
		`{"if":{"result":"result:c1"},"do":[{"call":"Read","id":"c2","input":{"path":"result:c1","offset":5000,"limit":1}}],"stop":"tool_use"}`,
		`{"if":{"result":"line 4999"},"do":[{"text":"read"}]}`)
	w.Ts("long", `export default function (pi: any) {
  pi.registerTool({ name: "long", kind: "read", description: "x", execute: async () => ({ content: [{ type: "text", text: Array.from({ length: 10000 }, (_, i) => "line " + i).join("\n") }] }) });
}`)
	e := w.Begin(false)
	e.Say("go")
	if m := e.Messages(); m[len(m)-1].PlainText() != "read" {
		t.Errorf("%s", e.Trace())
	}
}
