package prelude

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

func TestAnExtensionOfScorelsShapeOffersWhatItsFunctionsGive(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`
import { defineExtension, Type } from "scorel";
export default defineExtension({
	id: "x", name: "An extension", version: "1.2.3",
	async activate(ctx) { ctx.logger.warn("activated in", ctx.session.cwd, { a: 1 }); },
	deactivate() { this.done = true; },
	tools: () => [{ name: "t", description: "d", parameters: Type.Object({}), parallel: true, execute: async () => "x" }],
	commands: () => ({ c: { description: "a command", immediate: true, run: () => "said", complete: () => ["one"] } }),
	onEvent() {},
	hooks: () => ({ beforeToolCall() {}, transformContext() {}, stop() {}, nosuch() {} }),
})`)
	same(t, "registration", ext.reg, `{"api":"scorel","name":"An extension","version":"1.2.3",
		"tools":[{"name":"t","description":"d","parallel":true,"parameters":{"type":"object","properties":{}}}],
		"commands":[{"name":"c","description":"a command","immediate":true,"completes":true}],
		"hooks":["tool_call","transformContext","stop","session_start"],"events":["*"],
		"unsupported":["The hook nosuch is never called. Scorel has no hook of this name."]}`)
	if got := ext.run("c"); got != "said" {
		t.Errorf("/c says %q", got)
	}
	equal(t, "log", d.notified(rpc.NoteLog), []string{`{"level":"warning","message":"activated in /work/dir {\"a\":1}"}`})
}

func TestScorelsNativeHooksSeeTheLogsForm(t *testing.T) {
	const call = `{"toolName":"Bash","toolCallId":"c1","input":{"command":"ls"}}`
	const result = `{"toolName":"Bash","toolCallId":"c1","input":{},"content":[{"type":"text","text":"out"}],"isError":false}`
	for _, c := range []struct{ hook, name, data, want string }{
		{`beforeToolCall: (c) => ({ block: true, reason: c.toolName })`, "tool_call", call, `{"block":true,"reason":"Bash"}`},
		{`beforeToolCall: (c) => { c.input.command = "pwd"; }`, "tool_call", call, `{"block":false,"input":{"command":"pwd"}}`},
		{`beforeToolCall: () => ({ decision: "allow" })`, "tool_call", call, `{"block":false,"decision":"allow"}`},
		{`beforeToolCall: () => ({ result: { content: "it", isError: true } })`, "tool_call", call, `{"block":false,"result":{"content":[{"type":"text","text":"it"}],"isError":true}}`},
		{`afterToolCall: (r) => ({ content: r.content[0].text + "!" })`, "tool_result", result, `{"content":[{"type":"text","text":"out!"}]}`},
		{`afterToolCall: () => undefined`, "tool_result", result, `null`},
		{`prompt: (p) => ({ action: "transform", text: p.text + "?" })`, "input", `{"text":"a","source":"interactive"}`, `{"action":"transform","text":"a?"}`},
		{`beforeAgent: () => ({ message: { customType: "n", content: "hi" } })`, "before_agent_start", `{"prompt":"p","systemPrompt":"s"}`, `{"message":{"customType":"n","display":true,"content":[{"type":"text","text":"hi"}]}}`},
		{`stop: () => "go on"`, "stop", `{"blocked":0,"text":""}`, `{"text":"go on"}`},
		{`beforeCompact: (c) => ({ summary: c.messages[0].role })`, "session_before_compact", `{"reason":"manual","tokensBefore":1,"messages":[{"role":"tool_result","content":[]}]}`, `{"summary":"tool_result"}`},
		{`beforeMove: () => ({ cancel: true, reason: "stay" })`, "session_before_tree", `{"kind":"rewind"}`, `{"cancel":true,"reason":"stay"}`},
		{`userCommand: (c) => (c.command === "ls" ? { result: { output: "a", exitCode: 1 } } : undefined)`, "user_bash", `{"command":"ls","cwd":"/"}`, `{"result":{"output":"a","exitCode":1}}`},
		{`beforeRequest: (p) => ({ ...p, a: 1 })`, "before_provider_request", `{"payload":{"b":2}}`, `{"payload":{"b":2,"a":1}}`},
	} {
		ext := newDouble(t).loadSource(`export default { hooks: () => ({ ` + c.hook + ` }) }`)
		same(t, c.hook, ext.answer(c.name, c.data), c.want)
	}
}

func TestScorelsListHooksFilterAndReplaceMessages(t *testing.T) {
	d := newDouble(t)
	d.user("one")
	d.say(protocol.ToolError("c1", "Bash", "broken"))
	d.user("two")
	ext := d.loadSource(`export default { hooks: () => ({
		context: (messages) => messages.filter((m) => m.role !== "tool_result"),
		transformContext: (messages) => messages.map((m) => m.role === "tool_result" ? { ...m, content: [{ type: "text", text: "mended" }] } : m),
		convertToLlm: () => undefined,
	}) }`)
	var list rpc.ContextData
	ext.hook("context", d.defaultList(), &list)
	if got := d.messages(list); len(got) != 2 || got[1].PlainText() != "two" || list.List[0].Run == nil {
		t.Errorf("context gives %s", marshal(list))
	}
	ext.hook("transformContext", d.defaultList(), &list)
	if got := d.messages(list); len(got) != 3 || got[1].PlainText() != "mended" || got[1].ToolCallID != "c1" {
		t.Errorf("transformContext gives %s", marshal(list))
	}
	same(t, "convertToLlm", ext.answer("convertToLlm", string(marshal(d.defaultList()))), `null`)
}

func TestANativeHookThatFailsFailsTheHook(t *testing.T) {
	ext := newDouble(t).loadSource(`export default { hooks: () => ({ transformContext() { throw new Error("broken"); } }) }`)
	if _, err := ext.ask(rpc.MethodHook, rpc.HookCall{Hook: "transformContext", Data: json.RawMessage(`{"list":[]}`)}); err == nil {
		t.Error("it passed; the host would not say that the layer was skipped")
	}
}

func TestOnEventGetsEventsWholeAndMayFail(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default { onEvent(event, ctx) {
		if (event.type === "turn_error") throw new Error("not this one");
		ctx.ui.notify(event.type + " " + event.seq);
	} }`)
	ext.event("message", `{"type":"message","seq":7}`)
	ext.event("turn_error", `{}`)
	ext.event("turn_finish", `{"seq":9}`)
	d.await(rpc.CallNotify, 2)
	equal(t, "notices", d.called(rpc.CallNotify), []string{`{"level":"info","message":"message 7"}`, `{"level":"info","message":"turn_finish 9"}`})
	if failed := d.notified(rpc.NoteHandlerFailed); len(failed) != 1 || !strings.Contains(failed[0], "turn_error") {
		t.Errorf("failed: %q", failed)
	}
}

func TestScorelsContextReachesTheHost(t *testing.T) {
	for _, c := range []struct{ use, method, want string }{
		{`ctx.agent.send("a")`, rpc.CallSendUser, `{"content":[{"text":"a","type":"text"}]}`},
		{`ctx.agent.steer("a")`, rpc.CallSendUser, `{"content":[{"text":"a","type":"text"}],"deliverAs":"steer"}`},
		{`ctx.agent.followUp([{ type: "text", text: "a" }])`, rpc.CallSendUser, `{"content":[{"text":"a","type":"text"}],"deliverAs":"followUp"}`},
		{`ctx.agent.cancel()`, rpc.CallCancel, `{}`},
		{`ctx.agent.compact("short")`, rpc.CallCompact, `{"instructions":"short"}`},
		{`ctx.agent.setActiveTools(["Read"])`, rpc.CallActiveTools, `{"names":["Read"]}`},
		{`ctx.agent.model.set({ provider: "demo", id: "demo-2" })`, rpc.CallSetModel, `{"id":"demo-2","provider":"demo"}`},
		{`ctx.agent.model.setThinkingLevel("high")`, rpc.CallSetThinking, `{"level":"high"}`},
		{`ctx.session.append("bookmark", { at: 1 })`, rpc.CallAppend, `{"data":{"at":1},"kind":"bookmark"}`},
		{`ctx.session.setName("n")`, rpc.CallSessionName, `{"name":"n"}`},
		{`ctx.session.setLabel("evt_0", "l")`, rpc.CallLabel, `{"entryId":"evt_0","label":"l"}`},
		{`ctx.exec("git", ["status"], { timeout: 5, stdin: "in" })`, rpc.CallExec, `{"args":["status"],"command":"git","stdin":"in","timeoutMs":5}`},
		{`ctx.agent.model.complete({ messages: [{ role: "user", content: "q" }], systemPrompt: "s" }, { maxTokens: 9 })`, rpc.CallComplete, `{"maxTokens":9,"messages":[{"content":"q","role":"user"}],"system":"s"}`},
	} {
		d := newDouble(t)
		d.user("first")
		d.complete = func(rpc.Complete) (string, error) { return "answer", nil }
		d.answer[rpc.CallExec] = func(json.RawMessage) (any, error) { return rpc.ExecResult{Stdout: "out"}, nil }
		ext := d.loadSource(`export default { commands: () => ({ use: { run: async (args, ctx) => { await ` + c.use + `; } } }) }`)
		ext.run("use")
		equal(t, c.use, d.called(c.method), []string{c.want})
	}
}

func TestScorelsContextKnowsTheSession(t *testing.T) {
	for use, want := range map[string]string{
		`ctx.session.id`: `"ses_1"`, `ctx.session.cwd`: `"/work/dir"`, `ctx.session.projectRoot`: `"/work"`, `ctx.session.name`: `"a session"`,
		`ctx.session.path`: `"/home/u/.scorel/sessions/ses_1.jsonl"`, `ctx.session.leafId`: `"evt_1"`, `ctx.agent.idle`: `true`, `ctx.agent.activeTools`: `["Bash","Read"]`,
		`ctx.agent.model.current.id`: `"demo-1"`, `ctx.agent.model.thinkingLevel`: `"low"`, `(await ctx.agent.model.list()).length`: `2`,
		`ctx.config`: `{"a":[1]}`, `ctx.session.entries.map((e) => e.message.role)`: `["user","tool_result"]`, `ctx.args`: `["x"]`, `args`: `["x"]`, `ctx.argsRaw`: `"x"`,
		`(await ctx.exec("a")).code`: `3`,
	} {
		d := newDouble(t)
		d.user("one")
		d.say(protocol.ToolError("c", "x", "y"))
		d.config = json.RawMessage(`{"a":[1]}`)
		d.answer[rpc.CallExec] = func(json.RawMessage) (any, error) { return rpc.ExecResult{Code: 3}, nil }
		ext := d.loadSource(`export default { commands: () => ({ use: { run: async (args, ctx) => JSON.stringify(` + use + `) } }) }`)
		same(t, use, ext.run("use x"), want)
	}
}

func TestAPartOfAnExtensionThatIsNoFunctionFailsTheLoadByName(t *testing.T) {
	for source, want := range map[string]string{
		`export default { tools: [] }`:                             "tools of the extension must be a function",
		`export default { commands: () => ({ c: {} }) }`:           "run of the command c",
		`export default { hooks: () => ({ stop: 1 }) }`:            "The hook stop must be a function",
		`export default { activate() { throw new Error("no"); } }`: "no",
	} {
		if _, err := newDouble(t).tryLoad(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; it should say %q", source, err, want)
		}
	}
}
