package prelude

import (
	"testing"

	"github.com/dop251/goja"

	"scorel/internal/extension/rpc"
)

// BenchmarkCompile is once a child, BenchmarkRun once an extension.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := goja.Compile(Name, string(Source()), false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	natives := goja.MustCompile("natives", stub, false)
	program := goja.MustCompile(Name, string(Source()), false)
	b.ReportAllocs()
	for b.Loop() {
		vm := goja.New()
		if _, err := vm.RunProgram(natives); err != nil {
			b.Fatal(err)
		}
		if _, err := vm.RunProgram(program); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkContext asks a handler about a conversation of 10,000 messages.
func benchmarkContext(b *testing.B, source string) {
	d := newDouble(b)
	for i := range 10_000 {
		if i%2 == 0 {
			d.user("a message of a person, of which there are many")
		} else {
			d.assistant("an answer to it, with a few more words than there were")
		}
	}
	ext := d.loadSource(source)
	list := d.defaultList()
	ext.hook("context", list, nil)
	for b.Loop() {
		ext.hook("context", list, nil)
	}
}

func BenchmarkContextUnchanged(b *testing.B) {
	benchmarkContext(b, `export default (pi) => pi.on("context", () => undefined)`)
}

func BenchmarkContextLookedThrough(b *testing.B) {
	benchmarkContext(b, `export default (pi) => pi.on("context", ({ entries }) => { if (entries.some((e) => e.type === "stack_pop")) throw new Error("no"); })`)
}

func BenchmarkContextSameMessages(b *testing.B) {
	benchmarkContext(b, `export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.filter((m) => m.role !== "none") }))`)
}

func BenchmarkToolCall(b *testing.B) {
	ext := newDouble(b).loadSource(`export default (pi) => pi.on("tool_call", (e) => e.toolName === "bash" ? undefined : { block: true })`)
	data := rpc.ToolCallData{ToolName: "Bash", ToolCallID: "c", Input: []byte(`{"command":"ls"}`)}
	for b.Loop() {
		ext.hook("tool_call", data, nil)
	}
}

// BenchmarkFrame draws what a dialog of an extension shows after a key: text, Markdown, a
// list and an editor.
func BenchmarkFrame(b *testing.B) {
	ext := newDouble(b).loadSource(`
import { Box, Container, Editor, Markdown, SelectList, Text } from "@mariozechner/pi-tui";
const all = new Container(), box = new Box(1, 1, (s) => "\x1b[7m" + s + "\x1b[27m");
for (let i = 0; i < 20; i++) box.addChild(new Text("日本語 and some words of a line that is broken " + i, 0, 0));
const list = new SelectList(Array.from({ length: 200 }, (_, i) => ({ value: "v" + i, label: "Entry " + i, description: "what it is" })), 15);
const editor = new Editor({ requestRender() {}, terminal: { rows: 40 } });
editor.setText("some words of a long text, 日本語 too\n".repeat(20));
for (const c of [box, new Markdown("# Title\n\n" + "- an item with **strong** words\n".repeat(20)), list, editor]) all.addChild(c);
let keys = 0;
export default (pi) => {
	pi.command("frame", { handler: async () => {
		list.handleInput("\x1b[B"); editor.handleInput("x"); all.invalidate(); keys++;
		return { status: String(all.render(80).length) };
	} });
}`)
	for b.Loop() {
		ext.run("frame")
	}
}
