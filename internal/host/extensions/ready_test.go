package extensions_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/dev/harness"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// noting is the beginning of an extension that writes lines into a file of the project.
func noting(w *hosttest.World) string {
	return `import { appendFileSync } from "node:fs";
const note = (line: string) => appendFileSync(` + jsonText(filepath.Join(w.Project, "notes")) + `, line + "\n");
`
}

func jsonText(s string) string {
	data, _ := json.Marshal(s) // texts always can be
	return string(data)
}

// noted returns the lines that an extension has written.
func noted(w *hosttest.World) []string {
	data, err := os.ReadFile(filepath.Join(w.Project, "notes"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func noteIs(t *testing.T, w *hosttest.World, want string) {
	t.Helper()
	for _, line := range noted(w) {
		if line == want {
			return
		}
	}
	t.Errorf("no note is %q; there are:\n%s", want, strings.Join(noted(w), "\n"))
}

// requestTools returns the names of the tools of a request.
func requestTools(t *testing.T, body []byte) (names []string) {
	t.Helper()
	var r struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestWhatExtensionsSetAtTheStartHoldsForTheFirstRequest(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("starts", noting(w)+`export default function (pi: any) {
  pi.on("session_start", async (_e: any, ctx: any) => {
    note("tools " + (pi.getAllTools().some((t: any) => t.name === "bash") && pi.getActiveTools().length > 3));
    note("commands " + pi.getCommands().map((c: any) => c.name).sort().join());
    note("prompt " + (ctx.getSystemPrompt().length > 100));
    note("model " + (ctx.model !== null && (await ctx.resolveApiKey(ctx.model)) !== ""));
    pi.registerTool({ name: "late", description: "x", kind: "read", execute: () => "late" });
    pi.setActiveTools(["read", "grep", "late"]);
    pi.setThinkingLevel("high");
  });
  pi.registerCommand("mine", { handler: async (_a: any, ctx: any) => { note("idle " + ctx.isIdle()); } });
  pi.on("agent_start", () => note("agent_start"));
  pi.on("agent_end", (e: any) => note("agent_end " + e.messages.length));
}`)
	w.Ts("zother", `export default function (pi: any) { pi.registerCommand("other", { handler: async () => {} }); }`)
	e := w.Begin(false)
	if _, err := e.Run("mine", ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tools true", "commands mine,other", "prompt true", "model true", "idle true"} {
		noteIs(t, w, want)
	}
	for _, line := range noted(w) {
		if strings.HasPrefix(line, "agent_") {
			t.Errorf("the run of a command is told as %s", line)
		}
	}
	e.Say("one")
	e.Say("two")
	for i, r := range w.Server.Requests()[:2] {
		if got := strings.Join(requestTools(t, r.Body), " "); got != "Grep Read late" {
			t.Errorf("the tools of request %d are %s", i+1, got)
		}
	}
	w.Restart()
	noteIs(t, w, "agent_start")
	noteIs(t, w, "agent_end 1")
}

func TestShortRunIsToldToItsEnd(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("ends", noting(w)+`const later = () => new Promise((done) => setTimeout(done, 20));
export default { async onEvent(event: any, ctx: any) {
  const entries = ctx.session.entries.length;
  await later();
  if (["message", "runtime_end", "turn_finish", "session_end"].includes(event.type)) note(event.type + " " + entries);
} };`)
	e := w.Begin(false)
	e.Say("hello")
	w.Restart() // at once
	got := strings.Join(noted(w), ", ")
	got = strings.Replace(got, "message 2, message 2,", "message 1, message 2,", 1) // what came after the first message may be there already
	if got != "message 1, message 2, runtime_end 2, turn_finish 2, session_end 2" {
		t.Errorf("told of %s", got)
	}
}

func TestModelSelectBringsTheModelThatWasChosen(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Other: "openai-completions", Lines: []string{`{"again":true,"do":[{"text":"other"}]}`}}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("model", noting(w)+`export default function (pi: any) {
  pi.on("model_select", (e: any, ctx: any) => note("chosen " + e.model.id + " of " + ctx.model.id + " after " + e.previousModel?.id));
}`)
	e := w.Begin(false)
	e.Say("hello")
	for i, model := range []string{"other", "mock"} {
		if _, err := client.Call[protocol.Response](t.Context(), e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Model: &model}}); err != nil {
			t.Fatal(err)
		}
		w.Eventually("the handler to run", func() bool { return len(noted(w)) > i })
	}
	w.Restart()
	lines := noted(w)
	if len(lines) != 2 {
		t.Fatalf("noted %q", lines)
	}
	to, back := strings.Fields(lines[0]), strings.Fields(lines[1])
	if to[1] != to[3] || back[1] != back[3] || to[5] != back[1] || back[5] != to[1] || to[1] == back[1] {
		t.Errorf("noted %q", lines)
	}
}

func TestToolReplacesTheBuiltInOneOfItsName(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Deny: []string{"Read(**/denied.txt)"}, Allow: []string{"Write"}}},
		`{"if":{"user":"read"},"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}},{"call":"Read","id":"c2","input":{"path":".env"}},{"call":"Read","id":"c3","input":{"path":"denied.txt"}}]}`,
		`{"if":{"user":"write"},"do":[{"call":"Write","id":"c4","input":{"path":"new.txt","content":"new"}}]}`,
		`{"if":{"user":"bash"},"do":[{"call":"Bash","id":"c5","input":{"command":"echo out"}}]}`,
		`{"again":true,"do":[{"text":"fine"}]}`)
	w.File("a.txt", "the content\n")
	w.File(".env", "SECRET=1\n")
	w.File("denied.txt", "denied\n")
	w.Ts("guard", noting(w)+`import { createBashTool, createReadTool, createWriteTool } from "@earendil-works/pi-coding-agent";
export default function (pi: any) {
  const read = createReadTool(process.cwd());
  pi.registerTool({ ...read, description: "Reads, but no .env.", async execute(id: string, input: any, signal: any, update: any) {
    note("read " + input.path);
    if (input.path === ".env") return { content: [{ type: "text", text: "Not for you." }], isError: true };
    const result = await read.execute(id, input, signal, update);
    return { ...result, content: [...result.content, { type: "text", text: "(guarded)" }] };
  } });
  const write = createWriteTool(process.cwd());
  pi.registerTool({ ...write, async execute(id: string, input: any, signal: any, update: any) {
    await write.execute(id, { ...input, content: "other" }, signal, update).catch((err: any) => note("other input: " + err.message));
    return write.execute(id, input, signal, update);
  } });
  const bash = createBashTool(process.cwd());
  pi.registerTool({ ...bash, execute: (id: string, input: any, signal: any, update: any) => bash.execute(id, input, signal, update) });
}`)
	e := w.Begin(false)
	result := func(id string) (found protocol.Message) {
		t.Helper()
		for _, m := range e.Messages() {
			if m.ToolCallID == id {
				found = m
			}
		}
		return found
	}
	e.Say("read")
	if got := requestTools(t, w.Server.Requests()[0].Body); !slices.Contains(got, "Read") || slices.Contains(got, "read") {
		t.Errorf("the tools are %q", got)
	}
	if !strings.Contains(string(w.Server.Requests()[0].Body), "Reads, but no .env.") {
		t.Error("the model does not see the extension's description")
	}
	if m := result("c1"); m.IsError || !strings.Contains(m.PlainText(), "the content") || !strings.HasSuffix(m.PlainText(), "(guarded)") || len(m.ToolDetails().Files) != 1 {
		t.Errorf("read: %s %s", m.PlainText(), m.Details)
	}
	if m := result("c2"); !m.IsError || m.PlainText() != "Not for you." {
		t.Errorf(".env: %s", m.PlainText())
	}
	if m := result("c3"); !m.IsError || strings.Contains(m.PlainText(), "denied\n") {
		t.Errorf("a rule of Read does not hold: %s", m.PlainText())
	}
	if slices.Contains(noted(w), "read denied.txt") {
		t.Error("the extension was asked about what a rule denies")
	}
	e.Say("write")
	if m := result("c4"); m.IsError || m.ToolDetails().Diff == "" && len(m.ToolDetails().Files) == 0 {
		t.Errorf("write: %s %s", m.PlainText(), m.Details)
	}
	if got := w.Read("new.txt"); got != "new" {
		t.Errorf("new.txt has %q", got)
	}
	snapshots := 0
	for _, ev := range w.Log(e.ID) {
		if b, ok := ev.Body.(*protocol.FileSnapshot); ok && b.ToolCallID == "c4" {
			snapshots++
		}
	}
	if snapshots != 1 || !strings.Contains(strings.Join(noted(w), "\n"), "other input: the built-in tool runs the call only with the input that was judged") {
		t.Errorf("%d snapshots; %q", snapshots, noted(w))
	}
	e.Say("bash")
	if m := result("c5"); !m.IsError || strings.Contains(m.PlainText(), "out\n") {
		t.Errorf("bash ran without permission: %s", m.PlainText())
	}
}

func TestOtherNamesOfBuiltInToolsAreLeftOutAndSaid(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("lists", `export default function (pi: any) { pi.registerTool({ name: "ls", description: "x", kind: "read", execute: () => "x" }); }`)
	e := w.Begin(false)
	e.Say("hello")
	if got := requestTools(t, w.Server.Requests()[0].Body); slices.Contains(got, "ls") {
		t.Errorf("the tools are %q", got)
	}
	if !strings.Contains(e.Trace(), "The extension lists has a tool ls, which is another name of the built-in Glob") {
		t.Errorf("people are not told:\n%s", e.Trace())
	}
}

func TestExtensionMayRefuseACopyOfTheSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("keeps", `export default function (pi: any) {
  pi.on("session_before_fork", (e: any) => ({ cancel: e.entryId.startsWith("evt_"), reason: "Not this one." }));
}`)
	e := w.Begin(false)
	e.Say("hello")
	_, err := client.Call[*protocol.SessionSummary](t.Context(), e.C, hosttest.NewID(), &protocol.CloneSession{FromSessionID: e.ID})
	if err == nil || !strings.Contains(err.Error(), "Not this one.") {
		t.Errorf("the copy: %v", err)
	}
}

func TestCommandReloadsTheExtensions(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("again", noting(w)+`export default function (pi: any) {
  pi.on("session_start", (e: any) => note("start " + e.reason));
  pi.registerCommand("again", { handler: async (_a: any, ctx: any) => { await ctx.reload(); } });
}`)
	e := w.Begin(false)
	if _, err := e.Run("again", ""); err != nil {
		t.Fatal(err)
	}
	e.Until(func(ev protocol.Event) bool {
		n, ok := ev.Body.(*protocol.Notice)
		return ok && strings.Contains(n.Text, "Loaded 1 extensions again.")
	})
	if got := strings.Join(noted(w), ", "); got != "start startup, start reload" {
		t.Errorf("noted %s", got)
	}
}

func TestCommandCompactsWhenItHasEnded(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"if":{"kind":"compact"},"again":true,"do":[{"text":"summary"}]}`, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("compacts", noting(w)+`export default function (pi: any) {
  pi.registerCommand("small", { handler: async (_a: any, ctx: any) => { ctx.compact({ onComplete: () => note("compacted"), onError: (err: any) => note(err.message) }); } });
}`)
	e := w.Begin(false)
	e.Say("one")
	e.Say("two")
	if _, err := e.Run("small", ""); err != nil {
		t.Fatal(err)
	}
	harness.Until(t, "a note", func() bool { return strings.Join(noted(w), "") != "" })
	noteIs(t, w, "compacted")
}
