package prelude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

func TestAToolCallHandlerBlocksChangesAnswersOrLetsThrough(t *testing.T) {
	const data = `{"toolName":"Bash","toolCallId":"c1","input":{"command":"ls"}}`
	for _, c := range []struct{ handler, want string }{
		{`() => undefined`, `null`},
		{`(e) => { e.input.command += " -l"; }`, `{"input":{"command":"ls -l"}}`},
		{`(e) => ({ input: { command: e.toolName + e.toolCallId } })`, `{"input":{"command":"bashc1"}}`},
		{`() => ({ block: true, reason: "no" })`, `{"block":true,"reason":"no"}`},
		{`() => ({ result: "done" })`, `{"result":{"content":[{"type":"text","text":"done"}]}}`},
		{`() => ({ decision: "ask", reason: "look" })`, `{"decision":"ask","reason":"look"}`},
	} {
		ext := newDouble(t).loadSource(`export default (pi) => pi.on("tool_call", ` + c.handler + `)`)
		same(t, c.handler, ext.answer("tool_call", data), c.want)
	}
}

func TestToolCallHandlersChainAndTheFirstThatBlocksEndsTheChain(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
		pi.on("tool_call", (e) => { e.input.n = 1; });
		pi.on("tool_call", (e) => ({ block: true, reason: "n is " + e.input.n }));
		pi.on("tool_call", () => { throw new Error("never asked"); });
	}`)
	same(t, "answer", ext.answer("tool_call", `{"toolName":"x","toolCallId":"c","input":{}}`), `{"block":true,"reason":"n is 1"}`)
}

func TestAToolCallHandlerThatFailsFailsTheHook(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.on("tool_call", async () => { throw new Error("the gate is broken"); })`)
	_, err := ext.ask(rpc.MethodHook, rpc.HookCall{Hook: "tool_call", Data: json.RawMessage(`{"toolName":"Bash","input":{}}`)})
	if err == nil || !strings.Contains(err.Error(), "the gate is broken") {
		t.Errorf("the hook gives %v", err)
	}
}

func TestToolResultHandlersChainAndOneThatFailsIsSkipped(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
		pi.on("tool_result", (e) => ({ content: [{ type: "text", text: e.content[0].text + "!" }] }));
		pi.on("tool_result", () => { throw new Error("broken"); });
		pi.on("tool_result", (e) => ({ details: { seen: e.content[0].text, tool: e.toolName }, isError: true }));
	}`)
	same(t, "answer", ext.answer("tool_result", `{"toolName":"Read","toolCallId":"c","input":{},"content":[{"type":"text","text":"a"}],"isError":false}`),
		`{"content":[{"type":"text","text":"a!"}],"details":{"seen":"a!","tool":"read"},"isError":true}`)
	if failed := d.notified(rpc.NoteHandlerFailed); len(failed) != 1 || !strings.Contains(failed[0], "broken") {
		t.Errorf("failed: %q", failed)
	}
	same(t, "nothing changed", newDouble(t).loadSource(`export default (pi) => pi.on("tool_result", () => {})`).
		answer("tool_result", `{"toolName":"Read","toolCallId":"c","input":{},"content":[],"isError":false}`), `null`)
}

func TestImagesOfResultsHaveTheFormOfThePiAPI(t *testing.T) {
	ext := newDouble(t).loadSource(`export default (pi) => pi.on("tool_result", (e) => ({ content: [...e.content, { type: "text", text: Object.keys(e.content[0]).sort().join() }] }))`)
	same(t, "answer", ext.answer("tool_result", `{"toolName":"Read","toolCallId":"c","input":{},"content":[{"type":"image","mediaType":"image/png","blob":"ab"}],"isError":false}`),
		`{"content":[{"type":"image","mediaType":"image/png","blob":"ab"},{"type":"text","text":"blob,data,mimeType,type"}]}`)
}

func TestInputHandlersTransformHandleAndBlock(t *testing.T) {
	const data = `{"text":"hello","source":"interactive"}`
	for _, c := range []struct{ handlers, want string }{
		{`pi.on("input", () => ({ action: "continue" }))`, `null`},
		{`pi.on("input", (e) => ({ action: "transform", text: e.text + "1" })); pi.on("input", (e) => ({ action: "transform", text: e.text + "2" }))`, `{"action":"transform","text":"hello12","images":[]}`},
		{`pi.on("input", () => ({ action: "handled" })); pi.on("input", () => ({ action: "transform", text: "x" }))`, `{"action":"handled"}`},
		{`pi.on("input", () => ({ action: "block", reason: "not now" }))`, `{"action":"block","reason":"not now"}`},
	} {
		ext := newDouble(t).loadSource(`export default (pi) => { ` + c.handlers + ` }`)
		same(t, c.handlers, ext.answer("input", data), c.want)
	}
	for handler, why := range map[string]string{
		`() => ({ action: "transfrom", text: "x" })`: "There is no action",
		`() => ({ action: "transform", text: 5 })`:   "The text of an answer is a string",
	} {
		d := newDouble(t)
		ext := d.loadSource(`export default (pi) => { pi.on("input", ` + handler + `) }`)
		same(t, handler, ext.answer("input", data), `null`)
		if failed := strings.Join(d.notified(rpc.NoteHandlerFailed), "\n"); !strings.Contains(failed, why) {
			t.Errorf("%s: told is %s", handler, failed)
		}
	}
}

func TestBeforeAgentStartChainsThePromptAndJoinsMessages(t *testing.T) {
	ext := newDouble(t).loadSource(`export default (pi) => {
		pi.on("before_agent_start", (e, ctx) => ({ systemPrompt: e.systemPrompt + " A" + (ctx.getSystemPrompt() === e.systemPrompt), message: { customType: "a", content: "one", display: false } }));
		pi.on("before_agent_start", (e, ctx) => ({ systemPrompt: ctx.getSystemPrompt() + " B", message: { customType: "b", content: [{ type: "text", text: "two" }] } }));
	}`)
	same(t, "answer", ext.answer("before_agent_start", `{"prompt":"p","systemPrompt":"S"}`),
		`{"systemPrompt":"S Atrue B","message":{"customType":"a","display":false,"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}}`)
}

func TestCompactionAndMovesCanBeCancelledOrShaped(t *testing.T) {
	d := newDouble(t)
	d.user("kept")
	ext := d.loadSource(`export default (pi) => {
		pi.on("session_before_compact", (e) => e.reason === "manual" ? { cancel: true, reason: "not today" } : {
			compaction: { summary: [e.preparation.messagesToSummarize[0].content, e.branchEntries.length, e.preparation.tokensBefore, e.willRetry].join() },
		});
		pi.on("session_before_tree", (e) => e.preparation.targetId ? { label: "seen " + e.preparation.kind } : { cancel: true });
		pi.on("stop", (e) => e.blocked < 1 ? { text: "go on" } : undefined);
		pi.on("before_provider_request", (e) => ({ ...e.payload, temperature: 0 }));
	}`)
	const compact = `{"reason":"%s","tokensBefore":9,"messages":[{"role":"user","content":[{"type":"text","text":"old"}]}]}`
	same(t, "cancel", ext.answer("session_before_compact", fmt.Sprintf(compact, "manual")), `{"cancel":true,"reason":"not today"}`)
	same(t, "summary", ext.answer("session_before_compact", fmt.Sprintf(compact, "overflow")), `{"summary":"old,1,9,true"}`)
	same(t, "label", ext.answer("session_before_tree", `{"kind":"rewind","targetId":"evt_1"}`), `{"label":"seen rewind"}`)
	same(t, "no move", ext.answer("session_before_tree", `{"kind":"rewind"}`), `{"cancel":true}`)
	same(t, "go on", ext.answer("stop", `{"blocked":0,"text":"x"}`), `{"text":"go on"}`)
	same(t, "stop", ext.answer("stop", `{"blocked":1,"text":"x"}`), `null`)
	same(t, "request", ext.answer("before_provider_request", `{"payload":{"model":"m"}}`), `{"payload":{"model":"m","temperature":0}}`)
}

func TestEventsReachTheirHandlersWithMessagesInTheirForm(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
		const seen = [];
		pi.on("turn_end", (e) => { seen.push([e.type, e.turnIndex, e.message.content[0].type, e.toolResults[0].role].join()); });
		pi.on("turn_end", () => { throw new Error("this one is broken"); });
		pi.on("turn_end", () => { seen.push("third"); });
		pi.on("tool_execution_start", (e) => { seen.push(e.toolName); });
		pi.on("session_shutdown", (e, ctx) => { ctx.ui.notify(e.reason); });
		pi.command("seen", { handler: async () => ({ status: seen.join(" ") }) });
	}`)
	ext.event("turn_end", `{"turnIndex":2,"message":{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"x","input":{}}]},"toolResults":[{"role":"tool_result","toolCallId":"c","content":[]}]}`)
	ext.event("tool_execution_start", `{"toolName":"Glob","toolCallId":"c"}`)
	if got := ext.run("seen"); got != "turn_end,2,toolCall,toolResult third find" {
		t.Errorf("seen: %s", got)
	}
	same(t, "events", ext.reg.Events, `["turn_end","tool_execution_start"]`)
	if failed := d.notified(rpc.NoteHandlerFailed); len(failed) != 1 {
		t.Errorf("failed: %q", failed)
	}
	ext.unload("quit")
	equal(t, "at the end", d.called(rpc.CallNotify), []string{`{"level":"info","message":"quit"}`})
}

func TestTheProgressAndTheEndOfACallComeWithItsNameAndArguments(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
		pi.on("tool_execution_update", (e, ctx) => ctx.ui.notify([e.type, e.toolName, e.args.command, e.partialResult.content[0].text].join()));
		pi.on("tool_execution_end", (e, ctx) => ctx.ui.notify([e.type, e.toolName, e.args.command, e.isError].join()));
	}`)
	ext.event("tool_execution_start", `{"toolCallId":"c","toolName":"Bash","args":{"command":"ls"}}`)
	ext.event("tool_execution_update", `{"toolCallId":"c","partialResult":{"content":[{"type":"text","text":"out"}]}}`)
	ext.event("tool_execution_end", `{"toolCallId":"c","toolName":"Bash","durationMs":1,"isError":false}`)
	d.await(rpc.CallNotify, 2)
	equal(t, "notices", d.called(rpc.CallNotify), []string{
		`{"level":"info","message":"tool_execution_update,bash,ls,out"}`, `{"level":"info","message":"tool_execution_end,bash,ls,false"}`,
	})
}

func TestWhatDoesNotExistIsListedAndDoesNotFailTheLoad(t *testing.T) {
	ext := newDouble(t).loadSource(`export default (pi) => {
		pi.on("project_trust", () => {});
		pi.on("no_such_event", () => {});
		pi.registerProvider("mine", {});
		pi.registerMessageRenderer("note", () => {});
		pi.registerTool({ name: "t", description: "d", parameters: {}, execute: async () => "x", renderCall() {} });
	}`)
	got := strings.Join(ext.reg.Unsupported, "\n")
	for _, want := range []string{"project_trust", "no_such_event", "provider mine is not registered"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if len(ext.reg.Unsupported) != 3 || len(ext.reg.Tools) != 1 {
		t.Errorf("registration: %s", marshal(ext.reg))
	}
}

func TestWhatIsRefusedSaysSoWhenItIsUsed(t *testing.T) {
	ext := newDouble(t).loadSource(`
import { Text, Container, Nothing } from "@mariozechner/pi-tui";
class Mine extends Container { own() { return "own"; } }
export default (pi) => pi.registerCommand("refuse", { handler: async (name, ctx) => {
	await ({
		widget: () => ctx.ui.setWidget("k", () => new Text("x")),
		keys: () => ctx.ui.onTerminalInput(() => {}), editor: () => ctx.ui.setEditorComponent(() => new Text("x")),
		own: () => { if (new Mine().own() !== "own") throw new Error("a class of its own is spoilt"); throw new Error("fine"); },
		missing: () => Nothing,
		setup: () => ctx.newSession({ setup() {} }), navigateTree: () => ctx.navigateTree("x", { summarize: true }),
		getTree: () => ctx.sessionManager.getTree(),
		core: () => ctx.saveEntry({ type: "message" }), compaction: () => ctx.saveEntry({ type: "compaction" }), untyped: () => ctx.saveEntry({ a: 1 }),
	})[name]();
} })`)
	for name, want := range map[string]string{
		"widget": "does not draw components", "keys": "ui.onTerminalInput is not supported", "editor": "render(width) and handleInput(data)",
		"own":     "fine",
		"missing": "@mariozechner/pi-tui has no Nothing", "setup": "Use withSession",
		"navigateTree": "summarize of ctx.navigateTree", "getTree": "active path",
		"core": `"message" belong to Scorel`, "compaction": `"compaction" belong to Scorel`, "untyped": "type of an entry",
	} {
		if _, err := ext.command("refuse " + name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; it should say %q", name, err, want)
		}
	}
}

func TestACommandMayWaitForIdleOnlyWhenNoTurnRuns(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.registerCommand("w", { handler: (_a, ctx) => ctx.waitForIdle() })`)
	ext.run("w")
	d.state.Idle = false
	if _, err := ext.command("w"); err == nil || !strings.Contains(err.Error(), "waitForIdle") {
		t.Errorf("while a turn runs: %v", err)
	}
}

func TestBothKindsOfCommandsGetTheirArguments(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
		pi.command("two", { description: "v2", argumentHint: "<x>", handler: async (ctx) => ({ status: JSON.stringify([ctx.args, ctx.argsRaw, ctx.signal === undefined]) }) });
		pi.registerCommand("/one", { handler: async (args, ctx) => { ctx.ui.notify(args + "|" + ctx.args.length, "warning"); }, getArgumentCompletions: (prefix) => ["alpha", "beta"].filter((w) => w.startsWith(prefix)).map((value) => ({ value, label: value.toUpperCase() })) });
		pi.registerShortcut("ctrl+k", { description: "a key", handler: (ctx) => ctx.ui.setStatus("k", "pressed") });
	}`)
	same(t, "commands", ext.reg.Commands, `[{"name":"two","description":"v2","argumentHint":"<x>"},{"name":"one","completes":true}]`)
	same(t, "shortcuts", ext.reg.Shortcuts, `[{"key":"ctrl+k","description":"a key"}]`)
	if got := ext.run("two a  b"); got != `[["a","b"],"a  b",false]` && got != `[["a","b"],"a  b",true]` {
		t.Errorf("/two: %s", got)
	}
	ext.run("one x y")
	equal(t, "/one", d.called(rpc.CallNotify), []string{`{"level":"warning","message":"x y|2"}`})
	got, err := ext.ask(rpc.MethodComplete, rpc.CommandComplete{Command: "one", Prefix: "be"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "completion", string(got), `{"items":[{"value":"beta","label":"BETA"}]}`)
	ext.run("shortcut:ctrl+k")
	equal(t, "the key", d.called(rpc.CallUIState), []string{`{"key":"k","lines":["pressed"],"place":"status"}`})
	if _, err := ext.command("gone"); err == nil {
		t.Error("a command that does not exist ran")
	}
}

func TestToolsGiveTextsContentsDetailsAndFailByThrowing(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`
import { Type } from "typebox";
export default (pi) => pi.registerTool({
	name: "work", label: "Work", description: "works", kind: "read", promptSnippet: "s", promptGuidelines: ["g"],
	parameters: Type.Object({ how: Type.String(), old: Type.Optional(Type.Number()) }),
	prepareArguments: (a) => ({ how: a.how ?? a.legacy }),
	async execute(id, { how }, signal, onUpdate, ctx) {
		onUpdate({ content: [{ type: "text", text: "one" }] });
		onUpdate({ content: [{ type: "text", text: "one two" }] });
		onUpdate({ content: [{ type: "text", text: "other" }], process: { message: "half", percent: 50 } });
		switch (how) {
			case "text": return "plain";
			case "nothing": return;
			case "value": return { a: 1 };
			case "throw": throw new Error("it cannot");
		}
		return { content: [{ type: "text", text: how + id }, { type: "image", data: "QQ==", mimeType: "image/png" }], details: { cwd: ctx.cwd } };
	},
})`)
	same(t, "tools", ext.reg.Tools, `[{"name":"work","label":"Work","description":"works","kind":"read","snippet":"s","guidelines":["g"],
		"parameters":{"type":"object","required":["how"],"properties":{"how":{"type":"string"},"old":{"type":"number"}}}}]`)
	for input, want := range map[string]string{
		`{"how":"text"}`:    `{"content":[{"type":"text","text":"plain"}]}`,
		`{"how":"nothing"}`: `{"content":[]}`,
		`{"how":"value"}`:   `{"content":[{"type":"text","text":"{\"a\":1}"}]}`,
		`{"legacy":"all"}`:  `{"content":[{"type":"text","text":"allcall_1"},{"type":"image","mediaType":"image/png","blob":"data:QQ=="}],"details":{"cwd":"/work/dir"}}`,
	} {
		got, err := ext.tool("work", input)
		if err != nil {
			t.Fatal(err)
		}
		same(t, input, got, want)
	}
	if _, err := ext.tool("work", `{"how":"throw"}`); err == nil || !strings.Contains(err.Error(), "it cannot") {
		t.Errorf("a tool that throws gives %v", err)
	}
	updates := d.notified(rpc.NoteToolUpdate)
	equal(t, "updates", updates[:3], []string{`{"text":"one","toolCallId":"call_1"}`, `{"text":" two","toolCallId":"call_1"}`, `{"text":"\nother","toolCallId":"call_1"}`})
	equal(t, "process", d.notified(rpc.NoteProcess)[:1], []string{`{"toolCallId":"call_1","update":{"message":"half","percent":50}}`})
}

func TestAToolThatCannotBeRegisteredFailsTheLoadWithASentence(t *testing.T) {
	for source, want := range map[string]string{
		`pi.registerTool({ name: "a b", description: "d", execute() {} })`:             `The tool name "a b"`,
		`pi.registerTool({ name: "a", execute() {} })`:                                 "description of the tool a",
		`pi.registerTool({ name: "a", description: "d" })`:                             "execute of the tool a",
		`pi.registerTool({ name: "a", description: "d", kind: "root", execute() {} })`: "kind of the tool a",
		`pi.on("tool_call")`:                        "handler of tool_call",
		`pi.command("x", {})`:                       "handler of the command x",
		`pi.registerCommand("a b", {handler(){}})`:  `command name "a b"`,
		`pi.registerFlag("f", { type: "number" })`:  "type of the flag f",
		`throw new Error("the factory is broken")`:  "the factory is broken",
		`return Promise.reject(new Error("later"))`: "later",
	} {
		_, err := newDouble(t).tryLoad(`export default function (pi) { ` + source + ` }`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; it should say %q", source, err, want)
		}
	}
	for _, source := range []string{`export const a = 1`, `export default { id: "x" }`, `export default "x"`, ``} {
		_, err := newDouble(t).tryLoad(source)
		if err == nil || !strings.Contains(err.Error(), "exports no extension") {
			t.Errorf("%q: %v", source, err)
		}
	}
}

func TestToolsThatAreRegisteredLaterAreToldOnceForAllOfThem(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.on("session_start", () => {
		for (const name of ["a", "b"]) pi.registerTool({ name, description: name, execute: async () => name });
	})`)
	ext.event("session_start", `{"reason":"startup"}`)
	calls := d.called(rpc.CallRegister)
	if len(calls) != 1 {
		t.Fatalf("told %d times: %q", len(calls), calls)
	}
	var reg rpc.Registration
	mustUnmarshal(t, []byte(calls[0]), &reg)
	if len(reg.Tools) != 2 || len(reg.Events) != 1 {
		t.Errorf("told: %s", calls[0])
	}
}

func TestFlagsComeFromTheTableOfTheExtension(t *testing.T) {
	d := newDouble(t)
	d.config = json.RawMessage(`{"plan":true}`)
	ext := d.loadSource(`export default (pi) => {
		pi.registerFlag("plan", { type: "boolean", default: false, description: "d" });
		pi.registerFlag("name", { type: "string", default: "x" });
		pi.command("flags", { handler: async () => ({ status: [pi.getFlag("plan"), pi.getFlag("name"), pi.getFlag("none")].join() }) });
	}`)
	same(t, "flags", ext.reg.Flags, `[{"name":"plan","type":"boolean","description":"d","default":false},{"name":"name","type":"string","default":"x"}]`)
	if got := ext.run("flags"); got != "true,x," {
		t.Errorf("flags: %s", got)
	}
}

func TestThePiObjectReachesTheHost(t *testing.T) {
	for _, c := range []struct{ use, method, want string }{
		{`pi.sendMessage({ customType: "n", content: "hi", display: true, details: { a: 1 } }, { deliverAs: "nextTurn", triggerTurn: true })`, rpc.CallSendMessage,
			`{"content":[{"text":"hi","type":"text"}],"customType":"n","deliverAs":"nextTurn","details":{"a":1},"display":true,"triggerTurn":true}`},
		{`pi.sendUserMessage("go", { deliverAs: "followUp" })`, rpc.CallSendUser, `{"content":[{"text":"go","type":"text"}],"deliverAs":"followUp"}`},
		{`pi.appendEntry("mine", { a: 1 })`, rpc.CallAppend, `{"data":{"a":1},"kind":"mine"}`},
		{`pi.appendEntry("mine", [1])`, rpc.CallAppend, `{"data":{"$value":[1]},"kind":"mine"}`},
		{`pi.appendEntry("mine", { id: 7 })`, rpc.CallAppend, `{"data":{"$value":{"id":7}},"kind":"mine"}`},
		{`pi.appendEntry("mine")`, rpc.CallAppend, `{"kind":"mine"}`},
		{`ctx.saveEntry({ type: "x_y", id: 1, timestamp: 2, a: 3 })`, rpc.CallAppend, `{"data":{"a":3},"kind":"x_y"}`},
		{`pi.setSessionName("n")`, rpc.CallSessionName, `{"name":"n"}`},
		{`pi.setLabel("evt_0", "l")`, rpc.CallLabel, `{"entryId":"evt_0","label":"l"}`},
		{`pi.setLabel("evt_0", undefined)`, rpc.CallLabel, `{"entryId":"evt_0","label":null}`},
		{`pi.setActiveTools(["bash", "read", "own"])`, rpc.CallActiveTools, `{"names":["Bash","Read","own"]}`},
		{`pi.setModel({ provider: "demo", id: "demo-2" })`, rpc.CallSetModel, `{"id":"demo-2","provider":"demo"}`},
		{`pi.setThinkingLevel("high")`, rpc.CallSetThinking, `{"level":"high"}`},
		{`ctx.setModel(ctx.findModel("demo", "demo-2"))`, rpc.CallSetModel, `{"id":"demo-2","provider":"demo"}`},
		{`ctx.abort()`, rpc.CallCancel, `{}`},
		{`ctx.compact({ customInstructions: "short" })`, rpc.CallCompact, `{"instructions":"short","later":true}`},
		{`ctx.ui.select("t", ["a", { label: "b", description: "d" }], { timeout: 5 })`, rpc.CallDialog, `{"kind":"select","options":[{"label":"a"},{"description":"d","label":"b"}],"timeoutMs":5,"title":"t"}`},
		{`ctx.ui.editor("t", "text")`, rpc.CallDialog, `{"kind":"editor","text":"text","title":"t"}`},
		{`ctx.ui.form("t", { type: "object" }, { message: "m" })`, rpc.CallDialog, `{"kind":"form","message":"m","schema":{"type":"object"},"title":"t"}`},
		{`ctx.ui.url("t", "https://a.b/", { timeout: 5 })`, rpc.CallDialog, `{"kind":"url","timeoutMs":5,"title":"t","url":"https://a.b/"}`},
		{`ctx.ui.setWidget("w", ["a", "b"], { placement: "belowEditor" })`, rpc.CallUIState, `{"key":"widget:w","lines":["a","b"],"place":"below"}`},
		{`ctx.ui.setStatus("s", undefined)`, rpc.CallUIState, `{"key":"s","lines":null,"place":"status"}`},
		{`ctx.ui.setTitle("t")`, rpc.CallUIState, `{"key":"scorel:title","lines":["t"],"place":"title"}`},
		{`ctx.ui.setEditorText("a\nb")`, rpc.CallUIState, `{"key":"scorel:editor","lines":["a","b"],"place":"editor"}`},
	} {
		d := newDouble(t)
		d.user("first")
		ext := d.loadSource(`export default (pi) => pi.command("use", { handler: async (ctx) => { await ` + c.use + `; } })`)
		ext.run("use")
		equal(t, c.use, d.called(c.method), []string{c.want})
	}
}

func TestTheContextKnowsTheSession(t *testing.T) {
	for use, want := range map[string]string{
		`ctx.cwd`: `"/work/dir"`, `ctx.mode`: `"tui"`, `ctx.hasUI`: `true`, `ctx.sessionFile`: `"/home/u/.scorel/sessions/ses_1.jsonl"`,
		`ctx.model.id`: `"demo-1"`, `ctx.thinkingLevel`: `"low"`, `pi.getThinkingLevel()`: `"low"`, `ctx.isIdle()`: `true`, `ctx.hasPendingMessages()`: `false`,
		`ctx.getSystemPrompt()`: `"Be good."`, `ctx.getContextUsage()`: `{"tokens":250,"contextWindow":1000,"percent":25}`, `ctx.isProjectTrusted()`: `true`,
		`ctx.findModel("demo", "demo-2").name`: `"Demo 2"`, `ctx.findModel("demo", "none")`: `null`, `(await ctx.availableModels()).length`: `2`,
		`ctx.modelRegistry.find("demo", "demo-1").id`: `"demo-1"`, `ctx.modelRegistry.getAvailable().length`: `2`,
		`await ctx.resolveApiKey(ctx.model)`: `"key-of-the-user"`, `await ctx.modelRegistry.getApiKey(ctx.model)`: `"key-of-the-user"`,
		`await ctx.modelRegistry.getApiKeyAndHeaders(ctx.model)`: `{"ok":true,"apiKey":"key-of-the-user","headers":{}}`,
		`pi.getSessionName()`: `"a session"`, `pi.getActiveTools()`: `["bash","read"]`, `pi.getAllTools()`: `[{"name":"bash","description":"Runs commands."},{"name":"read","description":"Reads files."}]`,
		`ctx.sessionManager.getSessionId()`: `"ses_1"`, `ctx.sessionManager.getCwd()`: `"/work/dir"`, `ctx.sessionManager.getSessionName()`: `"a session"`,
		`ctx.sessionManager.getLeafId()`: `"evt_4"`, `ctx.sessionManager.getLeafEntry().type`: `"compaction"`, `ctx.sessionManager.getLeafEntry().firstKeptEntryId`: `"evt_1"`,
		`ctx.sessionManager.getBranch("evt_1").length`: `2`, `ctx.sessionManager.getEntries().map((e) => e.type)`: `["message","message","custom","custom","compaction"]`,
		`ctx.sessionManager.getEntries().filter((e) => e.type === "custom").map((e) => [e.customType, e.data])`: `[["state",{"a":1}],["list",[1,2]]]`,
		`ctx.entries.map((e) => e.type)`: `["message","message","state","list","compaction"]`, `ctx.entries[2].a`: `1`, `ctx.entries[4].firstKeptEntryIndex`: `1`,
		`ctx.sessionManager.getEntry("evt_0").message.role`:                                                                    `"user"`,
		`[await ctx.ui.select("a", ["b"]), await ctx.ui.confirm("a", "b"), await ctx.ui.input("a"), await ctx.ui.editor("a")]`: `[null,false,null,null]`,
		`ctx.ui.theme.fg("accent", "x") + ctx.ui.theme.bold("y")`:                                                              `"\u001b[36mx\u001b[39m\u001b[1my\u001b[22m"`,
	} {
		d := newDouble(t)
		d.user("one")
		d.assistant("two")
		d.add(rpc.Entry{Type: "state", Custom: true, Data: json.RawMessage(`{"a":1}`)})
		d.add(rpc.Entry{Type: "list", Custom: true, Data: json.RawMessage(`{"$value":[1,2]}`)})
		d.compaction("C", 1)
		ext := d.loadSource(`export default (pi) => pi.command("use", { handler: async (ctx) => ({ status: JSON.stringify(` + use + `) }) })`)
		same(t, use, ext.run("use"), want)
	}
}

func TestOneExtensionHearsWhatAnotherEmits(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
		const heard = [];
		const stop = pi.events.on("news", (data) => { heard.push(data.n); });
		pi.command("emit", { handler: async () => { pi.events.emit("news", { n: 1 }); } });
		pi.command("heard", { handler: async () => ({ status: heard.join() }) });
		pi.command("stop", { handler: async () => stop() && undefined });
	}`)
	ext.run("emit")
	equal(t, "told the others", d.notified(rpc.NoteBus), []string{`{"channel":"news","data":{"n":1}}`})
	ext.bus("news", `{"n":2}`)
	if got := ext.run("heard"); got != "1,2" {
		t.Errorf("heard: %s", got)
	}
	ext.run("stop")
	ext.bus("news", `{"n":3}`)
	if got := ext.run("heard"); got != "1,2" {
		t.Errorf("heard behind stop: %s", got)
	}
}

func (e *extension) bus(channel, data string) {
	e.d.t.Helper()
	e.tell(rpc.NoteBus, map[string]any{"channel": channel, "data": json.RawMessage(data)})
}

func TestTheShapeIsToldApartByWhatIsUsed(t *testing.T) {
	for source, want := range map[string]string{
		`export default (pi) => { pi.on("context", () => {}); pi.command("x", { handler() {} }); }`:           "hooks",
		`export default (pi) => { pi.registerCommand("x", { handler() {} }); }`:                               "pi",
		`export default { commands: () => ({}) }`:                                                             "scorel",
		`export function activate() {}`:                                                                       "scorel",
		`export default async (pi) => { await Promise.resolve(); pi.registerFlag("x", { type: "string" }); }`: "pi",
	} {
		if got := newDouble(t).loadSource(source).reg.API; got != want {
			t.Errorf("%s is of shape %q, not %q", source, got, want)
		}
	}
}

func TestBuiltInToolsHaveOneNameInEventsMessagesAndLists(t *testing.T) {
	d := newDouble(t)
	names := []string{"Bash", "Read", "Write", "Edit", "Grep", "Glob", "WebFetch"}
	for _, name := range names {
		d.say(protocol.ToolError("c", name, "x"))
	}
	d.state.ActiveTools = names
	ext := d.loadSource(`export default (pi) => {
		const seen = [];
		pi.on("tool_call", (e) => { seen.push(e.toolName); });
		pi.command("compare", { handler: async (ctx) => ({ status: [seen, ctx.entries.map((e) => e.message.toolName), pi.getActiveTools()].join(" ") }) });
		pi.command("back", { handler: async () => { await pi.setActiveTools(seen); } });
	}`)
	for _, name := range names {
		ext.answer("tool_call", `{"toolName":"`+name+`","toolCallId":"c","input":{}}`)
	}
	const want = "bash,read,write,edit,grep,find,WebFetch"
	if got := ext.run("compare"); got != want+" "+want+" "+want {
		t.Errorf("they are %s", got)
	}
	ext.run("back")
	equal(t, "on the way back", d.called(rpc.CallActiveTools), []string{string(marshal(map[string]any{"names": names}))})
}

func TestNothingIsAskedBeforeSessionStartHasEnded(t *testing.T) {
	d := newDouble(t)
	starting, release := make(chan struct{}), make(chan struct{})
	d.answer[rpc.CallExec] = func(json.RawMessage) (any, error) {
		close(starting)
		<-release
		return rpc.ExecResult{Stdout: "ready"}, nil
	}
	ext := d.loadSource(`export default (pi) => {
		let state = "not ready";
		pi.on("session_start", async (_e, ctx) => {
			pi.events.on("ping", () => ctx.ui.notify("pong"));
			state = (await pi.exec("x")).stdout;
		});
		pi.on("turn_start", (_e, ctx) => ctx.ui.notify(state));
		pi.on("tool_call", () => ({ block: true, reason: state }));
	}`)
	ext.send(rpc.NoteEvent, rpc.EventNote{Type: "session_start", Event: json.RawMessage(`{"reason":"startup"}`)})
	<-starting
	ext.send(rpc.NoteEvent, rpc.EventNote{Type: "turn_start", Event: json.RawMessage(`{}`)})
	asked := ext.c.begin(rpc.MethodHook, ext.own(rpc.HookCall{Hook: "tool_call", Data: json.RawMessage(`{"toolName":"x","toolCallId":"c","input":{}}`)}))
	// The bus does not wait: when this has come, the others have been taken.
	ext.send(rpc.NoteBus, map[string]string{"channel": "ping"})
	d.await(rpc.CallNotify, 1)
	close(release)
	same(t, "the answer", string((<-asked).result), `{"block":true,"reason":"ready"}`)
	d.await(rpc.CallNotify, 2)
	equal(t, "notices", d.called(rpc.CallNotify), []string{`{"level":"info","message":"pong"}`, `{"level":"info","message":"ready"}`})
}

func TestWhatIsNotWaitedForKeepsItsOrder(t *testing.T) {
	d := newDouble(t)
	first := make(chan struct{})
	hold := func(json.RawMessage) (any, error) {
		<-first // the first of them takes longest
		return map[string]string{"id": "evt_x"}, nil
	}
	d.answer[rpc.CallAppend], d.answer[rpc.CallNotify] = hold, hold
	ext := d.loadSource(`export default (pi) => pi.command("go", { handler: async (ctx) => {
		for (let n = 1; n <= 3; n++) {
			pi.appendEntry("a_b", { n });
			ctx.ui.notify("n" + n);
			ctx.ui.setStatus("k", "s" + n);
			ctx.ui.setStatus("other", "o" + n);
		}
		return { status: "done" };
	} })`)
	asked := ext.c.begin(rpc.MethodCommand, ext.own(rpc.CommandRun{Command: "go"}))
	// What comes after the command has been taken: its handler has run.
	ext.tell(rpc.NoteBus, map[string]string{"channel": "x"})
	equal(t, "entries before the first is stored", d.called(rpc.CallAppend), []string{`{"data":{"n":1},"kind":"a_b"}`})
	equal(t, "notices before the first is shown", d.called(rpc.CallNotify), []string{`{"level":"info","message":"n1"}`})
	close(first)
	if a := <-asked; a.err != nil {
		t.Fatal(a.err)
	}
	equal(t, "notices", d.called(rpc.CallNotify), []string{`{"level":"info","message":"n1"}`, `{"level":"info","message":"n2"}`, `{"level":"info","message":"n3"}`})
	equal(t, "lines, of which the newest counts", d.called(rpc.CallUIState), []string{`{"key":"k","lines":["s3"],"place":"status"}`, `{"key":"other","lines":["o3"],"place":"status"}`})
	ext.unload("quit")
	equal(t, "entries", d.called(rpc.CallAppend), []string{`{"data":{"n":1},"kind":"a_b"}`, `{"data":{"n":2},"kind":"a_b"}`, `{"data":{"n":3},"kind":"a_b"}`})
}

func TestAnExtensionThatShowsWithoutEndHasABound(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.command("go", { handler: async (ctx) => { for (let n = 0; n < 1000; n++) ctx.ui.notify("n" + n); } })`)
	ext.run("go")
	if n := len(d.called(rpc.CallNotify)); n != 256 {
		t.Errorf("%d notices", n)
	}
	if lines := d.notified(rpc.NoteLog); len(lines) != 1 || !strings.Contains(lines[0], "left out") {
		t.Errorf("log: %q", lines)
	}
}

func TestANoticeThatCannotBeToldDoesNotHoldUpTheOthers(t *testing.T) {
	d := newDouble(t)
	d.maxCall = 1 << 20
	d.answer[rpc.CallNotify] = func(params json.RawMessage) (any, error) {
		if strings.Contains(string(params), "first") {
			return nil, fmt.Errorf("not now")
		}
		return nil, nil
	}
	ext := d.loadSource(`let large = 2 << 20; // than a call may be
	export default (pi) => pi.command("go", { handler: async (ctx) => {
		if (large) ctx.ui.notify("x".repeat(large));
		large = 0;
		ctx.ui.notify("first");
		ctx.ui.notify("second");
	} })`)
	ext.run("go")
	equal(t, "notices", d.called(rpc.CallNotify), []string{`{"level":"info","message":"first"}`, `{"level":"info","message":"second"}`})
	if lines := d.notified(rpc.NoteLog); len(lines) != 2 || !strings.Contains(lines[0], "larger than 1 MiB") || !strings.Contains(lines[1], "not now") {
		t.Errorf("log: %.300q", lines)
	}
	ext.run("go")
	if n := len(d.called(rpc.CallNotify)); n != 4 {
		t.Errorf("%d notices", n)
	}
}

func TestBuiltInToolRunsTheCallOfTheToolThatReplacesIt(t *testing.T) {
	d := newDouble(t)
	d.answer[rpc.CallBuiltin] = func(params json.RawMessage) (any, error) {
		return rpc.ToolResult{Content: []protocol.Block{protocol.Text("built-in " + string(params))}, Details: json.RawMessage(`{"files":[]}`)}, nil
	}
	ext := d.loadSource(`import { createBashTool, createReadTool, parseFrontmatter } from "@earendil-works/pi-coding-agent";
	export default (pi) => {
		const read = createReadTool("/");
		pi.registerTool({ ...read, execute: async (id, input) => {
			const r = await read.execute(id, input);
			return { ...r, content: [...r.content, { type: "text", text: "and more" }] };
		} });
		const bash = createBashTool("/", { spawnHook: (c) => c });
		pi.registerTool({ ...bash, execute: (id, input) => bash.execute(id, input) });
		pi.registerCommand("parts", { handler: async () => ({ status: JSON.stringify(parseFrontmatter("---\nname: a\ntools: [x, y]\nn: 2\n---\n\nbody\n")) }) });
	}`)
	r, err := ext.tool("read", `{"path":"a"}`)
	if err != nil || len(r.Content) != 2 || !strings.Contains(r.Content[0].Text, `"input":{"path":"a"}`) || string(r.Details) != `{"files":[]}` {
		t.Errorf("read: %+v, %v", r, err)
	}
	if _, err := ext.tool("bash", `{"command":"ls"}`); err == nil || !strings.Contains(err.Error(), "spawnHook of the built-in tool bash is not supported") {
		t.Errorf("bash: %v", err)
	}
	if !strings.Contains(strings.Join(ext.reg.Unsupported, "\n"), "spawnHook of the built-in tool bash") {
		t.Errorf("unsupported: %q", ext.reg.Unsupported)
	}
	same(t, "the parts of a file", ext.run("parts"), `{"frontmatter":{"name":"a","tools":["x","y"],"n":2},"body":"body"}`)
}

func TestNotificationsForATerminalGoToTheClients(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.on("agent_end", () => {
		process.stdout.write("\x1b]777;notify;Pi;Ready\x07");
		process.stdout.write("\x1b]99;i=1:d=0;Pi\x1b\\");
		process.stdout.write("\x1b]99;i=1:p=body;Done\x1b\\");
		process.stdout.write("only a line");
	})`)
	ext.event("agent_end", `{"messages":[]}`)
	d.await(rpc.CallNotify, 2)
	got := d.called(rpc.CallNotify)
	if len(got) != 2 || !strings.Contains(got[0], "Pi: Ready") || !strings.Contains(got[1], "Pi: Done") {
		t.Errorf("notified %q", got)
	}
}

func TestForksAreAskedForAndReloadsAreSent(t *testing.T) {
	d := newDouble(t)
	reloads := 0
	d.answer["agent/reload"] = func(json.RawMessage) (any, error) { reloads++; return nil, nil }
	ext := d.loadSource(`export default (pi) => {
		pi.on("session_before_fork", (e) => (e.entryId === "evt_1" ? { cancel: true, reason: "not now" } : undefined));
		pi.registerCommand("again", { handler: async (_args, ctx) => { await ctx.reload(); } });
	}`)
	same(t, "a fork that is refused", ext.answer("session_before_fork", `{"kind":"clone","targetId":"evt_1"}`), `{"cancel":true,"reason":"not now"}`)
	same(t, "another", ext.answer("session_before_fork", `{"kind":"clone","targetId":"evt_2"}`), `null`)
	ext.run("again")
	if reloads != 1 {
		t.Errorf("%d reloads", reloads)
	}
}

// TestEachHandlerHasAContextOfItsOwn, although what is the same in all is made once.
func TestEachHandlerHasAContextOfItsOwn(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.on("input", (event, ctx) => {
  const before = "mine" in ctx;
  ctx.mine = event.text;
  const copy = { ...ctx };
  return { action: "transform", text: [before, ctx.mine, "mine" in ctx, copy.signal === ctx.signal, copy.signal instanceof AbortSignal, copy.isIdle === ctx.isIdle, typeof copy.cwd].join(" ") };
})`)
	for _, text := range []string{"one", "two"} {
		want := `{"action":"transform","text":"false ` + text + ` true true true true string","images":[]}`
		if got := ext.answer("input", `{"text":"`+text+`"}`); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
