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
		if _, err := goja.Compile(Name, Source(), false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	natives := goja.MustCompile("natives", stub, false)
	program := goja.MustCompile(Name, Source(), false)
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
