package prelude

import (
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
)

// eval runs an expression in an extension that imports all modules.
func eval(t *testing.T, d *double, expression string) (string, error) {
	t.Helper()
	ext := d.loadSource(`
import { Type } from "@sinclair/typebox";
import * as ai from "@mariozechner/pi-ai";
import * as agent from "@mariozechner/pi-coding-agent";
import * as tui from "@mariozechner/pi-tui";
export default (pi) => pi.command("eval", { handler: async (ctx) => ({ status: JSON.stringify(` + expression + `) }) })`)
	return ext.command("eval")
}

func TestTypeBoxMakesJSONSchemas(t *testing.T) {
	for expression, want := range map[string]string{
		`Type.Object({ a: Type.String({ minLength: 1 }), b: Type.Optional(Type.Integer()) }, { additionalProperties: false })`: `{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":1},"b":{"type":"integer"}},"additionalProperties":false}`,
		`Type.Object({})`: `{"type":"object","properties":{}}`,
		`Type.Array(Type.Number(), { maxItems: 2 })`:                                                          `{"type":"array","items":{"type":"number"},"maxItems":2}`,
		`Type.Union([Type.Literal("a"), Type.Null()])`:                                                        `{"anyOf":[{"const":"a","type":"string"},{"type":"null"}]}`,
		`Type.Enum({ A: "a", B: "b" })`:                                                                       `{"anyOf":[{"const":"a","type":"string"},{"const":"b","type":"string"}]}`,
		`Type.Enum({ 0: "Zero", Zero: 0 })`:                                                                   `{"anyOf":[{"const":0,"type":"number"}]}`,
		`Type.Record(Type.String(), Type.Boolean())`:                                                          `{"type":"object","additionalProperties":{"type":"boolean"}}`,
		`Type.Record(Type.Union([Type.Literal("x"), Type.Literal("y")]), Type.Any())`:                         `{"type":"object","required":["x","y"],"properties":{"x":{},"y":{}}}`,
		`Type.Tuple([Type.String(), Type.Number()])`:                                                          `{"type":"array","items":[{"type":"string"},{"type":"number"}],"additionalItems":false,"minItems":2,"maxItems":2}`,
		`Type.Partial(Type.Object({ a: Type.String() }))`:                                                     `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`Type.Required(Type.Object({ a: Type.Optional(Type.String()) }))`:                                     `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`,
		`Type.Pick(Type.Object({ a: Type.String(), b: Type.Null() }), ["a"])`:                                 `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`,
		`Type.Omit(Type.Object({ a: Type.String(), b: Type.Null() }), ["a"])`:                                 `{"type":"object","required":["b"],"properties":{"b":{"type":"null"}}}`,
		`Type.Composite([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.Null()) })])`: `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"null"}}}`,
		`Type.Intersect([Type.Object({}), Type.Unknown()])`:                                                   `{"allOf":[{"type":"object","properties":{}},{}]}`,
		`Type.KeyOf(Type.Object({ a: Type.String() }))`:                                                       `{"anyOf":[{"const":"a","type":"string"}]}`,
		`ai.StringEnum(["a", "b"], { description: "d" })`:                                                     `{"type":"string","enum":["a","b"],"description":"d"}`,
	} {
		got, err := eval(t, newDouble(t), expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		same(t, expression, got, want)
	}
}

func TestCompleteAsksTheHostAndThrowsWhenTheModelFails(t *testing.T) {
	d := newDouble(t)
	d.complete = func(c rpc.Complete) (string, error) { return c.Messages[1].ToolName, nil }
	got, err := eval(t, d, `await ai.complete(ctx.model, { systemPrompt: "s", messages: [{ role: "user", content: "q" }, { role: "toolResult", toolCallId: "c", toolName: "x", content: [{ type: "text", text: "r" }] }] }, { apiKey: "k", maxTokens: 5 })`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, `"content":[{"type":"text","text":"x"}]`) {
		t.Errorf("the answer is %s", got)
	}
	equal(t, "the request", d.called(rpc.CallComplete), []string{`{"apiKey":"k","maxTokens":5,"messages":[{"content":"q","role":"user"},{"content":[{"text":"r","type":"text"}],"isError":false,"role":"tool_result","toolCallId":"c","toolName":"x"}],"model":"demo-1","provider":"demo","system":"s"}`})

	d = newDouble(t)
	if _, err := eval(t, d, `await ai.complete(ctx.model, { messages: [] })`); err == nil || !strings.Contains(err.Error(), "no model answers") {
		t.Errorf("a model that fails gives %v", err)
	}
	if _, err := eval(t, d, `await ai.complete(ctx.model, { messages: [], tools: [{}] })`); err == nil || !strings.Contains(err.Error(), "tools") {
		t.Errorf("tools give %v", err)
	}
}

func TestTheHelpersOfPisModules(t *testing.T) {
	for expression, want := range map[string]string{
		`ai.getModel("demo", "demo-2").name`: `"Demo 2"`, `ai.getModels("demo").length`: `2`, `ai.getProviders()`: `["demo"]`,
		`[agent.isToolCallEventType("bash", { toolName: "bash" }), agent.isToolCallEventType("Bash", { toolName: "bash" }), agent.isToolCallEventType("x", { toolName: "y" })]`: `[true,true,false]`,
		`agent.isReadToolResult({ toolName: "read" })`: `true`,
		`(({ content, truncatedBy, totalLines, outputLines }) => [content, truncatedBy, totalLines, outputLines])(agent.truncateHead("a\nb\nc", { maxLines: 2 }))`:  `["a\nb","lines",3,2]`,
		`(({ content, truncatedBy, outputBytes, totalBytes }) => [content, truncatedBy, outputBytes, totalBytes])(agent.truncateTail("ä\nbb\nc", { maxBytes: 4 }))`: `["bb\nc","bytes",4,7]`,
		`agent.truncateHead("long", { maxBytes: 2 }).firstLineExceedsLimit`:                                                                                         `true`,
		`agent.truncateHead("short").truncated`: `false`,
		`agent.truncateLine("abc", 2)`:          `{"text":"ab... [truncated]","wasTruncated":true}`,
		`agent.formatSize(1536)`:                `"1.5KB"`,
		`agent.serializeConversation([{ role: "user", content: "q" }, { role: "assistant", content: [{ type: "toolCall", name: "x", arguments: { a: 1 } }] }, { role: "toolResult", toolName: "x", content: [{ type: "text", text: "r" }] }])`: `"[User]: q\n\n[Assistant calls]: x({\"a\":1})\n\n[Tool result of x]: r"`,
		`await agent.withFileMutationQueue("f", async () => 1)`: `1`,
		`agent.getAgentDir() === "/home/u/.scorel"`:             `true`,
		`agent.CONFIG_DIR_NAME`:                                 `".scorel"`,
		`tui.Key.ctrl("k") + tui.Key.escape`:                    `"ctrl+kescape"`, `tui.visibleWidth("\x1b[31mab\x1b[0m")`: `2`, `tui.truncateToWidth("abcdef", 4)`: `"a..."`,
	} {
		got, err := eval(t, newDouble(t), expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		same(t, expression, got, want)
	}
}

func TestWhatIsAbortedIsGivenUpAndTheHostIsTold(t *testing.T) {
	d := newDouble(t)
	hang, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	d.dialog = func(rpc.Dialog) any { close(hang); <-release; return "late" }
	d.complete = func(rpc.Complete) (string, error) { <-release; return "late", nil }
	ext := d.loadSource(`
import { complete } from "@mariozechner/pi-ai";
export default (pi) => {
	const stop = new AbortController();
	pi.command("ask", { handler: async (ctx) => ({ status: String(await ctx.ui.select("t", ["a"], { signal: stop.signal })) }) });
	pi.registerCommand("stop", { immediate: true, handler: async () => stop.abort() });
	pi.command("again", { handler: async (ctx) => {
		const out = [await ctx.ui.confirm("t", "m", { signal: stop.signal })];
		try { await complete(ctx.model, { messages: [] }, { signal: stop.signal }); } catch (err) { out.push(err.name); }
		return { status: out.join() };
	} });
}`)
	asked := make(chan string)
	go func() { // ends with the command
		status, err := ext.command("ask")
		if err != nil {
			status = err.Error()
		}
		asked <- status
	}()
	<-hang
	ext.run("stop")
	if got := <-asked; got != "undefined" {
		t.Errorf("the dialog gives %s", got)
	}
	if n := len(d.notified(rpc.NoteCancel)); n != 1 {
		t.Errorf("the host is told %d times", n)
	}
	if got := ext.run("again"); got != "false,AbortError" {
		t.Errorf("with a signal that is aborted already: %s", got)
	}
}
