package prelude

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/rpc"
)

// loops is an extension with a loop in each shape of code that Scorel runs, and what is to
// go on afterwards.
const loops = `
const pause = () => new Promise((done) => setTimeout(done, 5));
const loop = () => {
  for (let n = 0; ; n++) {}
};
function* numbers() {
  yield 1;
  loop();
}
export default (pi) => {
  pi.registerTool({ name: "sync", description: "x", execute: () => loop() });
  pi.registerTool({ name: "async", description: "x", execute: async () => { await pause(); loop(); } });
  pi.registerTool({ name: "native", description: "x", execute: async () => { [1].forEach(() => loop()); } });
  pi.registerTool({ name: "sorting", description: "x", execute: () => [2, 1].sort(() => loop()) });
  pi.registerTool({ name: "generator", description: "x", execute: async () => { for (const n of numbers()) await n; } });
  pi.registerTool({ name: "asyncGenerator", description: "x", execute: async () => { for await (const n of (async function* () { yield 1; loop(); })()) await n; } });
  pi.registerTool({ name: "promise", description: "x", execute: () => new Promise(() => loop()) });
  pi.registerTool({ name: "deep", description: "x", execute: async () => { const f = async () => { await f(); }; await f(); } });
  pi.registerTool({ name: "good", description: "x", execute: async (id, input, signal, update, ctx) => {
    await pause();
    return (await (async () => { await null; return "good"; })()) + ctx.sessionManager.getEntries().length;
  } });
  pi.registerCommand("command", { description: "x", handler: async () => { await null; loop(); } });
  pi.registerCommand("timer", { description: "x", handler: async () => { setTimeout(loop, 1); } });
  pi.on("input", async (event) => { await null; if (event.text === "loop") loop(); });
  pi.on("tool_call", async (event) => { await null; if (event.toolName === "write") loop(); });
  pi.on("agent_end", async () => { await null; loop(); });
  pi.registerTool({ name: "drawn", description: "x", execute: async () => "x", renderCall: () => loop() });
  pi.registerMessageRenderer("note", () => ({ render: () => loop() }));
  pi.registerEntryRenderer("mark", () => loop());
  pi.registerCommand("panel", { description: "x", handler: (args, ctx) => ctx.ui.custom(() => ({ render: () => ["panel"], handleInput: () => loop() })) });
};`

func TestAnExtensionGoesOnAfterALoopThatWasStopped(t *testing.T) {
	d := newDouble(t)
	d.watch = engine.NewWatch(nil, 0, 2*time.Second, func() { t.Error("the heap is full") })
	d.user("hello")
	ext := d.loadSource(loops)
	goesOn := func(t *testing.T) {
		t.Helper()
		if r, err := ext.tool("good", `{}`); err != nil || len(r.Content) != 1 || r.Content[0].Text != "good1" {
			t.Errorf("the other tool gives %+v, %v", r, err)
		}
		same(t, "the hook", ext.answer("tool_call", `{"toolName":"Bash","toolCallId":"c","input":{"command":"ls"}}`), `null`)
	}
	stopped := func(t *testing.T, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "without a pause") || !strings.Contains(err.Error(), "extension.ts:4:") {
			t.Errorf("the loop gave %v", err)
		}
	}
	for _, tool := range []string{"sync", "async", "native", "sorting", "generator", "asyncGenerator", "promise"} {
		t.Run("tool "+tool, func(t *testing.T) {
			_, err := ext.tool(tool, `{}`)
			stopped(t, err)
			goesOn(t)
		})
	}
	t.Run("a stack that is full", func(t *testing.T) {
		if _, err := ext.tool("deep", `{}`); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
			t.Errorf("the tool gave %v", err)
		}
		goesOn(t)
	})
	t.Run("command", func(t *testing.T) {
		_, err := ext.command("command")
		stopped(t, err)
		goesOn(t)
	})
	for hook, data := range map[string]string{"input": `{"text":"loop"}`, "tool_call": `{"toolName":"Write","toolCallId":"c","input":{}}`} {
		t.Run("hook "+hook, func(t *testing.T) {
			_, err := ext.ask(rpc.MethodHook, rpc.HookCall{Hook: hook, Data: json.RawMessage(data)})
			stopped(t, err)
			goesOn(t)
		})
	}
	reported := func(t *testing.T, n int, what string) {
		t.Helper()
		goesOn(t)
		failed := d.notified(rpc.NoteHandlerFailed)
		if len(failed) != n || !strings.Contains(failed[n-1], what) || !strings.Contains(failed[n-1], "extension.ts:4:") {
			t.Errorf("failed: %q", failed)
		}
	}
	t.Run("event", func(t *testing.T) {
		ext.event("agent_end", `{"messages":[]}`)
		reported(t, 1, `"event":"agent_end"`)
	})
	t.Run("timer", func(t *testing.T) {
		ext.run("timer")
		for deadline := time.Now().Add(time.Minute); len(d.notified(rpc.NoteHandlerFailed)) < 2 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		reported(t, 2, "the command timer")
	})
	// Who asked shows it without long before the loop is stopped, so the answer tells nobody.
	for i, r := range []struct {
		what string
		of   rpc.Render
	}{
		{"the renderer of drawn", rpc.Render{Tool: "drawn", ToolCallID: "c", Input: json.RawMessage(`{}`)}},
		{"the renderer of note", rpc.Render{Message: &rpc.SendMessage{CustomType: "note"}}},
		{"the renderer of mark", rpc.Render{Entry: &rpc.StoredEntry{CustomType: "mark"}}},
	} {
		t.Run(r.what, func(t *testing.T) {
			r.of.Ext, r.of.Width = ext.id, 20
			_, err := ext.ask(rpc.MethodRender, r.of)
			stopped(t, err)
			reported(t, 3+i, `"event":"`+r.what+`"`)
		})
	}
	t.Run("a key", func(t *testing.T) {
		ids, closed := opened(d)
		over := make(chan error, 1)
		go func() { // ends with the command
			_, err := ext.command("panel")
			over <- err
		}()
		ext.tell(rpc.NoteInput, rpc.Input{ID: <-ids, Rev: 1, Width: 20, Height: 5, Data: []string{"x"}})
		reported(t, 6, `"event":"a key"`)
		close(closed)
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	t.Run("beside others", func(t *testing.T) {
		var others []<-chan answered
		for range 5 {
			others = append(others, ext.c.begin(rpc.MethodTool, ext.own(rpc.ToolRun{Tool: "good", ToolCallID: "c", Input: json.RawMessage(`{}`)})))
		}
		_, err := ext.tool("async", `{}`)
		stopped(t, err)
		for _, o := range others {
			if a := <-o; a.err != nil || !strings.Contains(string(a.result), "good1") {
				t.Errorf("a call beside the loop gave %s, %v", a.result, a.err)
			}
		}
	})
}
