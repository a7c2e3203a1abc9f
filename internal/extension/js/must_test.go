package js_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/extension/js/jstest"
	"scorel/internal/extension/rpc"
)

// second loads another extension into a child and returns a check that it still answers.
func second(t *testing.T, h *jstest.Host) (alive func()) {
	t.Helper()
	dir := t.TempDir()
	if _, err := h.Load("other", write(t, dir, "other.ts", `export default () => ({ hooks: { ping: () => "pong" } })`)); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		var got json.RawMessage
		var err error
		for range 5 { // a machine that does ten things at once may be late
			if got, err = h.Hook("other", "ping", nil); err == nil || !strings.Contains(err.Error(), "of its own time") {
				break
			}
		}
		if err != nil || string(got) != `"pong"` {
			t.Errorf("the other extension gave %s, %v", got, err)
		}
	}
}

func TestAnExtensionThatFailsToLoadIsAnErrorWithItsLineAndTheOthersGoOn(t *testing.T) {
	h := loaded(t, `export default () => ({})`)
	alive := second(t, h)
	for name, c := range map[string]struct{ source, want, at string }{
		"throws":      {"const a: number = 1;\nthrow new Error('at load ' + a);", "at load 1", "bad.ts:2:"},
		"in activate": {"export default () => {\n\n  throw new TypeError('no');\n};", "TypeError: no", "bad.ts:3:"},
		"rejects":     {"export default async () => { await null;\n throw 'text'; };", "text", ""},
		"top level":   {"await Promise.reject(new Error('tla'));\nexport default 1;", "tla", "bad.ts:1:"},
		"syntax":      {"export default () => {\n  const x = ;\n}", `bad.ts:2:13: Unexpected ";"`, ""},
		"import":      {"import x from './none';\nexport default x;", "bad.ts:1:15: Could not resolve \"./none\"", ""},
		"package":     {"import x from 'left-pad';\nexport default x;", "node_modules", ""},
		"rejected":    {"export default async () => { throw 'text'; };", "bad.ts: text", ""},
		"required":    {"const net = require('net');\nexport default () => net.connect();", `there is no module "net" in Scorel; there are no sockets: use http, https or the global fetch`, "bad.ts:1:"},
		"node module": {"import x from 'node:http2';\nexport default x;", `there is no module "node:http2" in Scorel; use https or the global fetch`, ""},
	} {
		_, err := h.Load("bad", write(t, t.TempDir(), "bad.ts", c.source))
		e, ok := err.(*jstest.Error)
		if !ok || !strings.Contains(e.Message, c.want) || !strings.Contains(e.Data.Stack, c.at) {
			t.Errorf("%s: %v\n%s", name, err, e.Data.Stack)
		}
		if _, err := h.Hook("bad", "x", nil); err == nil || !strings.Contains(err.Error(), "not loaded") {
			t.Errorf("%s: a hook of what did not load gave %v", name, err)
		}
	}
	alive()
}

func TestAHandlerThatThrowsOrRejectsIsAnErrorOfItsCallAlone(t *testing.T) {
	h := loaded(t, `
export default () => ({
  hooks: {
    a() { throw new RangeError("thrown") },
    async b() { await 1; throw { odd: true } },
    c() { return null.x },
    d() { const o = {}; o.self = o; return o },
    e() { return 1n },
    f: () => Promise.reject(undefined),
    ok: () => 1,
  },
  tools: { t() { throw new Error("the tool failed") } },
})`)
	for hook, want := range map[string]string{"a": "RangeError: thrown", "b": "{ odd: true }", "c": "TypeError: Cannot read property 'x'", "d": "circular", "e": "BigInt", "f": "undefined was thrown", "none": "TypeError"} {
		if got, err := h.Hook("x", hook, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %s, %v", hook, got, err)
		}
	}
	if _, err := h.Call(rpc.MethodTool, rpc.ToolRun{Ext: "x", Tool: "t", Input: json.RawMessage(`{}`)}); err == nil || err.Error() != "the tool failed" {
		t.Errorf("the tool gave %v", err)
	}
	if got, err := h.Hook("x", "ok", nil); err != nil || string(got) != "1" {
		t.Errorf("afterwards: %s, %v", got, err)
	}
}

func TestAnUnhandledRejectionAndAFailingTimerAreReported(t *testing.T) {
	h := loaded(t, `
export default () => ({ hooks: { go() {
  Promise.reject(new Error("nobody waits"));
  setTimeout(() => { throw new Error("in a timer") }, 1);
  const handled = Promise.reject(new Error("handled")); handled.catch(() => {});
} } })`)
	if _, err := h.Hook("x", "go", nil); err != nil {
		t.Fatal(err)
	}
	n := h.Note(rpc.NoteHandlerFailed, "nobody waits")
	if !strings.Contains(string(n.Params), `"ext":"x"`) || !strings.Contains(string(n.Params), "x.ts:3:") {
		t.Errorf("the note is %s", n.Params)
	}
	h.Note(rpc.NoteHandlerFailed, "in a timer")
	for _, n := range h.Notes(rpc.NoteHandlerFailed) {
		if strings.Contains(string(n.Params), `"handled"`) {
			t.Errorf("what was handled is reported: %s", n.Params)
		}
	}
}

func TestALoopIsInterruptedAndNamedWhileOthersAnswer(t *testing.T) {
	t.Parallel()
	h := loaded(t, `export default () => ({ hooks: { loop() { for (;;) { try { for (;;); } finally { continue } } }, storm() { const f = () => Promise.resolve().then(f); return f() }, ok: () => 1 } })`,
		jstest.Within(5*time.Second, 4*time.Second))
	alive := second(t, h)
	_, answer := h.Send(rpc.MethodHook, rpc.HookCall{Ext: "x", Hook: "loop", Data: json.RawMessage("null")})
	for h.Page.Since(0) == 0 {
		time.Sleep(time.Millisecond)
	}
	if h.Page.Since(1) != 0 {
		t.Error("the page says that the other one runs")
	}
	alive()
	if len(answer) > 0 {
		t.Error("the loop of one extension held the other up until it was stopped")
	}
	if _, err := h.Await("the loop", answer); err == nil || !strings.Contains(err.Error(), "has run for 4s without a pause") {
		t.Errorf("the loop gave %v", err)
	}
	if got, err := h.Hook("x", "ok", nil); err != nil || string(got) != "1" {
		t.Errorf("afterwards: %s, %v", got, err)
	}
	if _, err := h.Hook("x", "storm", nil); err == nil || !strings.Contains(err.Error(), "without a pause") {
		t.Errorf("a storm of promises gave %v", err)
	}
	alive()
}

func TestAPromiseThatNeverSettlesIsGivenUpAndItsSignalAborted(t *testing.T) {
	t.Parallel()
	const handler = 4 * time.Second
	h := loaded(t, `
let aborted = "no";
export default (host) => ({ hooks: {
  never: (d, signal) => new Promise(() => signal.addEventListener("abort", () => { aborted = signal.reason.name })),
  async asks() { await host.call("ui/dialog", { kind: "confirm", title: "?" }); return "answered" },
  aborted: () => aborted,
} })`, jstest.Within(handler, 0))
	ask := make(chan struct{})
	h.OnCall(rpc.CallDialog, func(json.RawMessage) (any, error) { <-ask; return map[string]any{"value": true}, nil })
	start := time.Now()
	_, asked := h.Send(rpc.MethodHook, rpc.HookCall{Ext: "x", Hook: "asks", Data: json.RawMessage("null")})
	if _, err := h.Hook("x", "never", nil); err == nil || err.Error() != "the handler of never gave no answer within 4 s of its own time" {
		t.Errorf("the handler gave %v", err)
	}
	if d := time.Since(start); d < handler-time.Second/2 {
		t.Errorf("it was given up after %s", d)
	}
	if got, _ := h.Hook("x", "aborted", nil); string(got) != `"AbortError"` {
		t.Errorf("its signal: %s", got)
	}
	// The one that waits for a person has its time still, longer than the limit later.
	for time.Since(start) < handler+time.Second/2 {
		time.Sleep(10 * time.Millisecond)
	}
	close(ask)
	if got, err := h.Await("the question", asked); err != nil || string(got) != `"answered"` {
		t.Errorf("the one that waited for a person gave %s, %v", got, err)
	}
}

func TestAnExtensionThatNeverLoadsIsGivenUp(t *testing.T) {
	t.Parallel()
	h := jstest.Start(t, jstest.Within(2*time.Second, 0))
	h.Begin(t.TempDir())
	_, err := h.Load("x", write(t, t.TempDir(), "x.ts", `await new Promise(() => {}); export default 1`))
	if err == nil || !strings.Contains(err.Error(), "loading gave no answer within 2 s") {
		t.Errorf("the load gave %v", err)
	}
}

func TestABacktrackingExpressionGivesUp(t *testing.T) {
	t.Parallel()
	h := loaded(t, `export default () => ({ hooks: { re: () => /^(a+)+\1$/.test("a".repeat(40) + "b"), ok: () => 1 } })`)
	if got, err := h.Hook("x", "re", nil); err != nil || string(got) != "false" {
		t.Errorf("the expression gave %s, %v", got, err)
	}
}

// bombs are what no interrupt stops: the child may end, or an error may come back, but
// the page says who it was, or all goes on.
func TestWhatCannotBeInterruptedEndsTheChildOrIsNamedOnThePage(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		kill bool // it runs on until the parent kills
	}{
		"fill":              {code: `new Array(2 ** 31).fill(0)`, kill: true},
		"sparse join":       {code: `new Array(2 ** 31).join()`, kill: true},
		"array buffer":      {code: `new ArrayBuffer(1e12)`},
		"json":              {code: `JSON.parse("[".repeat(5e6))`},
		"eval":              {code: `eval("(".repeat(3e6))`},
		"deep recursion":    {code: `(function f() { return [1].map(f) })()`},
		"padStart":          {code: `"a".padStart(2 ** 31)`, kill: true},
		"hoard":             {code: `(() => { const a = []; for (;;) a.push({ x: a.length }); })()`},
		"4 GB":              {code: `(() => { const a = []; for (let i = 0; i < 64; i++) a.push(new Uint8Array(64 << 20).fill(1)); return a.length })()`, kill: true},
		"kill itself":       {code: `process.kill(process.pid, "SIGKILL")`},
		"a huge number":     {code: `2n ** BigInt(2 ** (d.x + 30)) ** 2n`, kill: true},
		"exit":              {code: `process.exit(3)`},
		"exit in a promise": {code: `Promise.resolve().then(() => process.exit(3))`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := loaded(t, `export default () => ({ hooks: { bomb(d) { return typeof (`+c.code+`) }, ok: () => 1 } })`, rpc.EnvMemory+"=268435456", jstest.Within(0, 2*time.Second))
			alive := second(t, h)
			_, answer := h.Send(rpc.MethodHook, rpc.HookCall{Ext: "x", Hook: "bomb", Data: json.RawMessage(`{"x":2}`)})
			deadline := time.Now().Add(3 * time.Minute)
			for {
				select {
				case a := <-answer:
					select {
					case <-h.Done():
						// It ended, by itself: the page names it, unless it was killed between.
						if r := h.Page.Running(); len(r) != 1 || r[0] != 0 {
							t.Errorf("the page names %v; stderr: %.300s", r, h.Stderr())
						}
						t.Logf("ended: reason %d, %.100q", h.Page.Reason(), h.Stderr())
					default:
						if a.Err != nil && a.Err.Message == "the child has ended" {
							h.Ended()
							if r := h.Page.Running(); len(r) != 1 || r[0] != 0 {
								t.Errorf("the page names %v; stderr: %.300s", r, h.Stderr())
							}
							t.Logf("ended: reason %d, %.100q", h.Page.Reason(), h.Stderr())
							return
						}
						t.Logf("answered: %s, %v", a.Result, a.Err)
						alive()
					}
					return
				default:
				}
				// What the parent does.
				patience := 3 * time.Second
				if !c.kill { // it ends by itself, on a loaded machine not within that
					patience = 2 * time.Minute
				}
				if since := h.Page.Since(0); since > patience {
					if !c.kill {
						t.Errorf("it ran on for %s", since)
					}
					if r := h.Page.Running(); len(r) != 1 || r[0] != 0 {
						t.Errorf("the page names %v", r)
					}
					_ = h.Cmd.Process.Kill()
					h.Ended()
					return
				}
				if time.Now().After(deadline) {
					t.Fatal("neither an answer nor a mark on the page")
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
}

func TestASourceThatHangsTheCompilerIsNamedOnThePage(t *testing.T) {
	t.Parallel()
	h := jstest.Start(t, jstest.Within(0, 2*time.Second))
	h.Begin(t.TempDir())
	_, answer := h.Send(rpc.MethodLoad, rpc.Load{Ext: "x", Path: write(t, t.TempDir(), "x.ts", `export default 2n ** (2n ** 34n)`), Reason: "startup"})
	for deadline := time.Now().Add(3 * time.Minute); h.Page.Since(0) < 3*time.Second; time.Sleep(time.Millisecond) {
		select {
		case a := <-answer:
			t.Fatalf("it loaded: %s, %v", a.Result, a.Err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("the page does not name it")
		}
	}
	_ = h.Cmd.Process.Kill()
	h.Ended()
}

func TestNestedSourceIsRefusedBeforeTheBundlerSeesIt(t *testing.T) {
	h := loaded(t, `export default () => ({})`)
	alive := second(t, h)
	for name, source := range map[string]string{
		"brackets":  "export default " + strings.Repeat("(", 1_000_000),
		"templates": "export default " + strings.Repeat("`${", 1_000_000),
		"operators": "export default " + strings.Repeat("!", 1_000_000) + "1",
		"arrows":    "export default " + strings.Repeat("a=>", 1_000_000) + "1",
		"ifs":       strings.Repeat("if (1) ", 300_000) + ";",
	} {
		if _, err := h.Load("deep-"+name, write(t, t.TempDir(), "x.ts", source)); err == nil || !strings.Contains(err.Error(), "x.ts: line 1: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	alive()
}

func TestTheChildEndsWithItsInputAndTakesItsProcessesAlong(t *testing.T) {
	h := loaded(t, `
import { spawn } from "child_process";
export default () => ({ hooks: { go() { return spawn("sleep", ["1000"]).pid } } })`)
	got, err := h.Hook("x", "go", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Call(rpc.MethodShutdown, struct{}{}); err != nil {
		t.Fatal(err)
	}
	h.Ended()
	gone(t, string(got))
}

func TestARequestThatIsCancelledIsStillAnswered(t *testing.T) {
	h := loaded(t, `
export default () => ({ tools: { wait: (input, signal) => new Promise((ok, no) => signal.addEventListener("abort", () => no(signal.reason))) } })`)
	id, answer := h.Send(rpc.MethodTool, rpc.ToolRun{Ext: "x", Tool: "wait", Input: json.RawMessage(`{}`)})
	h.Notify(rpc.NoteCancel, rpc.Cancel{ID: json.RawMessage(fmt.Sprint(id))})
	if _, err := h.Await("the tool", answer); err == nil || !strings.Contains(err.Error(), "AbortError") {
		t.Errorf("the tool gave %v", err)
	}
}

func TestCallsNestBothWays(t *testing.T) {
	h := loaded(t, `
export default (host) => ({ hooks: {
  async outer() { const r = await host.call("models/list", {}); return r.models },
  inner: () => "inner",
} })`)
	h.OnCall(rpc.CallModels, func(params json.RawMessage) (any, error) {
		if string(params) != `{"ext":"x"}` {
			t.Errorf("the parameters are %s", params)
		}
		got, err := h.Hook("x", "inner", nil) // while the outer one waits
		return map[string]any{"models": []string{string(got)}}, err
	})
	if got, err := h.Hook("x", "outer", nil); err != nil || string(got) != `["\"inner\""]` {
		t.Errorf("the outer one gave %s, %v", got, err)
	}
}

func TestAnUnloadedExtensionIsGoneAndItsTimersWithIt(t *testing.T) {
	h := loaded(t, `
export default (host) => { setInterval(() => host.notify("tick", {}), 1); return { unload: (reason) => host.notify("bye", { reason }) } }`)
	h.Note("tick", "")
	if _, err := h.Call(rpc.MethodUnload, rpc.Unload{Ext: "x", Reason: "reload"}); err != nil {
		t.Fatal(err)
	}
	h.Note("bye", "reload")
	if _, err := h.Hook("x", "a", nil); err == nil || !strings.Contains(err.Error(), "not loaded") {
		t.Errorf("a hook gave %v", err)
	}
	if _, err := h.Load("x", write(t, t.TempDir(), "x.ts", `export default () => ({ hooks: { a: () => "new" } })`)); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Hook("x", "a", nil); err != nil || string(got) != `"new"` {
		t.Errorf("the new one gave %s, %v", got, err)
	}
}

func TestTheConsoleGoesToTheLogInOrder(t *testing.T) {
	h := loaded(t, `
export default () => { console.log("hello %s", "you", { a: [1] }); console.error(new Error("bad")); return { hooks: { flood() { for (let i = 0; i < 2000; i++) console.log("flood " + i) } } } }`)
	n := h.Note(rpc.NoteLog, "hello you { a: [ 1 ] }")
	if !strings.Contains(string(n.Params), `"level":"info"`) || !strings.Contains(string(n.Params), `"ext":"x"`) {
		t.Errorf("the note is %s", n.Params)
	}
	if n := h.Note(rpc.NoteLog, "Error: bad"); !strings.Contains(string(n.Params), "x.ts:2:") {
		t.Errorf("the note is %s", n.Params)
	}
	if _, err := h.Hook("x", "flood", nil); err != nil {
		t.Fatal(err)
	}
	h.Note(rpc.NoteLog, "flood 1999")
}

func TestPackagesOfNodeModulesAreBundled(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "package.json", `{"name":"e","scorel":{"extensions":["./src/index.ts"]}}`)
	write(t, dir, "node_modules/esm-only/package.json", `{"name":"esm-only","type":"module","exports":{".":{"import":"./lib/a.mjs"},"./sub":"./lib/sub.js"}}`)
	write(t, dir, "node_modules/esm-only/lib/a.mjs", `import { b } from "./b.mjs"; export const a = b + 1; export default class A { #x = 1; static { this.s = 2 } get x() { return this.#x } }`)
	write(t, dir, "node_modules/esm-only/lib/b.mjs", `export const b = await Promise.resolve(1);`)
	write(t, dir, "node_modules/esm-only/lib/sub.js", `export const sub = "sub";`)
	write(t, dir, "node_modules/@scope/cjs/package.json", `{"name":"@scope/cjs","main":"main.js"}`)
	write(t, dir, "node_modules/@scope/cjs/main.js", `const path = require("path"); exports.name = path.basename(__filename || "x"); exports.__esModule = true; exports.default = function () { return require("./data.json").n };`)
	write(t, dir, "node_modules/@scope/cjs/data.json", `{"n":7}`)
	entry := write(t, dir, "src/index.ts", `
import A, { a } from "esm-only";
import { sub } from "esm-only/sub";
import seven from "@scope/cjs";
import config from "../package.json";
import { helper } from "./helper";
enum Kind { One = 1 }
export default () => ({ hooks: {
  async all() {
    const out = [];
    for await (const v of (async function* () { yield 1; yield 2 })()) out.push(v);
    const lazy = await import("./lazy");
    return [new A().x, (A as any).s, a, sub, seven(), config.name, helper(Kind.One), out, lazy.default, "a1é".match(/[\p{L}\d]+/u)?.[0], "日本 x".replace(/\p{Script=Han}/gu, "H"), new RegExp("^\\p{Lu}", "u").test("É"), /p/.test("p"), [..."ab"].values().map((x) => x + x).toArray()];
  } } })`)
	write(t, dir, "src/helper.ts", `export function helper(n: number): string { return "h" + n }`)
	write(t, dir, "src/lazy.ts", `export default "lazy" as const;`)
	h := jstest.Start(t)
	h.Begin(dir)
	data, err := h.Call(rpc.MethodLoad, rpc.Load{Ext: "p", Path: entry, Root: dir, Scope: "user", Reason: "startup"})
	if err != nil {
		t.Fatalf("%v (%s)", err, data)
	}
	want := `[1,2,2,"sub",7,"e","h1",[1,2],"lazy","a1é","HH x",true,true,["aa","bb"]]`
	if got, err := h.Hook("p", "all", nil); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestSyntaxThatTheInterpreterLacksIsLowered(t *testing.T) {
	h := loaded(t, `
const log: string[] = [];
function logged(value: any, ctx: any) { log.push("decorated " + ctx.name); return value }
class A { @logged m() { return 1 } accessor x = 2; static #n = 3; static n() { return A.#n } }
async function* numbers() { yield 1; yield 2 }
export default () => ({ hooks: { async all() {
  { using r = { [Symbol.dispose]() { log.push("disposed") } }; log.push("used") }
  { await using r = { async [Symbol.asyncDispose]() { log.push("async disposed") } } }
  for await (const n of numbers()) log.push("n" + n);
  label: for (;;) { for (;;) break label }
  const o = { a: { b: null as any } };
  o.a.b ??= 5;
  const m = "2026-11-20".match(/(?<year>\d{4})-(?<month>\d\d)/)!.groups!;
  try { throw new Error("x", { cause: 1 }) } catch { }
  return [log, new A().x, A.n(), o?.a?.b, m.year, 2n ** 64n > 1, (1234.5).toLocaleString(), "ß".localeCompare("z") !== 0, [3, 1, 2].toSorted().at(-1), /(?<=a)b/.test("ab"), import.meta.url.startsWith("file:///"), import.meta.filename.endsWith("x.ts")];
} } })`)
	want := `[["decorated m","used","disposed","async disposed","n1","n2"],2,3,5,"2026",true,"1234.5",true,3,true,true,true]`
	if got, err := h.Hook("x", "all", nil); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestFilesOfAnExtensionAreReadOnceAndOnlyThoseThatAreTrusted(t *testing.T) {
	dir := t.TempDir()
	entry := write(t, dir, "x.ts", `import { a } from "./a"; export default () => ({ hooks: { get: () => a } })`)
	write(t, dir, "a.ts", `export const a = 1`)
	h := jstest.Start(t)
	h.Begin(dir)
	load := func(id string, files map[string]string) error {
		_, err := h.Call(rpc.MethodLoad, rpc.Load{Ext: id, Path: entry, Root: dir, Scope: "project", Files: files, Reason: "startup", Cache: filepath.Join(dir, "cache")})
		return err
	}
	sums := map[string]string{"x.ts": sum(t, entry), "a.ts": sum(t, filepath.Join(dir, "a.ts"))}
	if err := load("1", sums); err != nil {
		t.Fatal(err)
	}
	if err := load("2", map[string]string{"x.ts": sums["x.ts"]}); err == nil || !strings.Contains(err.Error(), "a.ts is not among the files that are trusted for this extension") {
		t.Errorf("without a.ts: %v", err)
	}
	write(t, dir, "a.ts", `export const a = 2`)
	if err := load("3", sums); err == nil || !strings.Contains(err.Error(), "a.ts has changed since it was trusted") {
		t.Errorf("after a change: %v", err)
	}
	if err := load("4", nil); err != nil { // the user's own are not listed
		t.Error(err)
	}
	if got, _ := h.Hook("4", "get", nil); string(got) != "2" {
		t.Errorf("the new file is not used: %s", got)
	}
}
