package extension

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/hook"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// newRealWorld is a world with the child that runs JavaScript.
func newRealWorld(t *testing.T) *world {
	w := newWorld(t)
	w.child = []string{rpc.ChildName}
	return w
}

// ts writes an extension in TypeScript.
func (w *world) ts(id, source string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, id+".ts"), []byte(source), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// good is an extension that shares the child with the bad ones, and keeps state in the
// log.
const good = `export default function (pi: any) {
  let told: string[] = [];
  pi.on("session_start", (e: any) => { told.push(e.reason); });
  pi.on("tool_call", (e: any) => e.toolName === "bash" ? { block: true, reason: "gate" } : undefined);
  pi.registerTool({ name: "seen", description: "What it has seen.", execute: (id: string, input: any, signal: any, up: any, ctx: any) =>
    ({ content: [{ type: "text", text: JSON.stringify({ told, marks: ctx.sessionManager.getEntries().filter((e: any) => JSON.stringify(e).includes('"mark"')).length }) }] }) });
}`

// bombs are what an extension may do when its tool "bomb" is called.
func bombs() map[string]string {
	all := map[string]string{
		"loops":         "for (;;) {}",
		"promise storm": "const f = (): any => Promise.resolve().then(f); await f();",
		"backtracks":    `/^(a+)+\1$/.test("a".repeat(40) + "b"); for (;;) /^(a+)+$/.test("a".repeat(28) + "b");`,
		"fills":         "for (;;) new Array(5e8).fill(1);",
		"joins sparse":  `for (;;) { const a: any[] = []; a.length = 4e9; a.join(",").length; }`,
		"ends itself":   `require("node:child_process").execSync("kill -9 $PPID");`,
		"recurses":      `JSON.parse("[".repeat(5e6));`,
	}
	maps.Copy(all, greedy())
	return all
}

func TestWhatAnExtensionDoesToItsProcessIsNoOthersTrouble(t *testing.T) {
	for name, body := range bombs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			w.bounds.busy = 3 * time.Second // longer than the other one needs, also where much else runs
			w.ts("bad", `export default function (pi: any) {
  pi.registerTool({ name: "bomb", description: "x", execute: async () => { `+body+`; return { content: [] }; } });
}`)
			w.ts("good", good)
			w.log.add("evt_1", "", &protocol.MessageBody{Message: protocol.UserText("hello")})
			w.log.add("evt_2", "evt_1", &protocol.Custom{Kind: "mark", Data: json.RawMessage(`{}`)})
			w.load()
			ctx, cancel := context.WithTimeout(t.Context(), harness.Timeout)
			defer cancel()
			began := time.Now()
			p, err := w.tool("bomb").Prepare(ctx, toolCall("b1"))
			if err != nil {
				t.Fatal(err)
			}
			if r, err := p.Run(ctx, nil); err == nil && !r.IsError {
				t.Errorf("the bomb gave %+v", r)
			} else if ctx.Err() != nil {
				t.Errorf("nobody ended it: %v", err)
			} else {
				t.Logf("%v: %v", time.Since(began).Round(time.Millisecond), err)
			}
			told := w.told()
			if len(told) > 1 {
				t.Errorf("people were told %q", told)
			}
			// The other one is back, with its state and its gate.
			r, err := w.runTool("seen", nil)
			if err != nil || !strings.Contains(r.Content[0].Text, `"marks":1`) {
				t.Fatalf("%+v, %v", r, err)
			}
			if !strings.Contains(r.Content[0].Text, `["reload"]`) {
				t.Errorf("it was told %s", r.Content[0].Text)
			}
			d, err := w.subscriber("good").BeforeTool(t.Context(), hook.ToolCall{Name: "Bash", Input: json.RawMessage(`{}`)})
			if err != nil || d.Verdict != hook.Deny {
				t.Errorf("its gate: %+v, %v", d, err)
			}
		})
	}
}

func TestBombInAGateBlocksTheCall(t *testing.T) {
	for name, body := range map[string]string{"throws": `throw new Error("broken")`, "loops": "for (;;) {}", "never resolves": "return new Promise(() => {})", "ends itself": `require("node:child_process").execSync("kill -9 $PPID")`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			w.bounds.busy, w.bounds.handler = time.Second, 1500*time.Millisecond
			w.ts("gate", `export default function (pi: any) { pi.on("tool_call", async () => { `+body+` }); }`)
			w.load()
			for range maxKills + 1 { // also when it was switched off
				if d, err := w.subscriber("gate").BeforeTool(t.Context(), hook.ToolCall{Name: "Bash", Input: json.RawMessage(`{}`)}); err == nil {
					t.Errorf("the gate is open: %+v", d)
				}
			}
		})
	}
}

func TestExtensionThatIsBrokenAtLoadIsNamedWithItsLine(t *testing.T) {
	w := newRealWorld(t)
	w.ts("bad", "export default function (pi: any) {\n  const x: any = null;\n  x.boom();\n}")
	w.ts("syntax", "export default function (pi {")
	w.ts("good", good)
	w.load()
	for _, id := range []string{"bad", "syntax"} {
		if got := w.info(id); got.State != protocol.ExtensionFailed || !strings.Contains(got.Problem, id+".ts:") {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if got := w.info("good"); got.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", got)
	}
	if n := len(w.told()); n != 2 {
		t.Errorf("people were told %q", w.told())
	}
}

// TestContextOfAnEndedExtensionIsOfNoUse reloads while an extension waits, which then
// goes on with what it had.
func TestContextOfAnEndedExtensionIsOfNoUse(t *testing.T) {
	w := newRealWorld(t)
	reloaded := filepath.Join(t.TempDir(), "reloaded")
	w.ts("late", `export default function (pi: any) {
  pi.registerTool({ name: "late", description: "x", execute: async (id: string, input: any, signal: any, up: any, ctx: any) => {
    up("waiting");
    while (!require("node:fs").existsSync("`+reloaded+`")) await new Promise((done) => setTimeout(done, 5));
    await pi.appendEntry("late", {});
    return { content: [] };
  } });
}`)
	appended := make(chan struct{}, 8)
	w.call = func(_ context.Context, _ Extension, method string, _ json.RawMessage) (any, error) {
		if method == rpc.CallAppend {
			appended <- struct{}{}
		}
		return nil, nil
	}
	w.load()
	waiting := make(chan struct{}, 8)
	ended := make(chan error, 1)
	go func() {
		_, err := w.runTool("late", func(string) { waiting <- struct{}{} })
		ended <- err
	}()
	<-waiting
	w.set.Reload(t.Context())
	if err := os.WriteFile(reloaded, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the tool of the ended extension gave a result")
	}
	select {
	case <-appended:
		t.Error("an ended extension appended")
	case <-time.After(200 * time.Millisecond): // longer than it needs
	}
	if got := w.info("late"); got.State != protocol.ExtensionLoaded {
		t.Errorf("%+v", got)
	}
}
