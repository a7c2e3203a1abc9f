package extensions_test

import (
	"slices"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// painter draws its tool, a built-in one and its messages.
const painter = `import { Text } from "@mariozechner/pi-tui";
import { createReadTool } from "@mariozechner/pi-coding-agent";
export default function (pi: any) {
  const evil = "a\x1b]0;PWNED\x07b\x1b]52;c;UFdORUQ=\x1b\\c\x1b[2J\x1b[8md\u202ee\x1b[31mred";
  pi.registerTool({ name: "dice", description: "x", kind: "read", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "six" }], details: { sides: 6 } }),
    renderCall: (args: any, theme: any) => new Text(theme.fg("accent", "throws"), 0, 0),
    renderResult: (r: any, o: any) => new Text(r.content[0].text + " of " + r.details.sides + (o.expanded ? " whole" : ""), 0, 0) });
  pi.registerTool({ name: "broken", description: "x", kind: "read", parameters: { type: "object", properties: {} },
    execute: async () => "ok", renderCall() { throw new Error("no colours"); }, renderResult: () => undefined });
  const read = createReadTool(process.cwd());
  pi.registerTool({ ...read, renderResult: () => new Text("", 0, 0), execute: (id: any, args: any, s: any, u: any) => read.execute(id, args, s, u) });
  pi.registerMessageRenderer("paint", (m: any, o: any, theme: any) => m.details.loop ? ({ render() { for (;;); } }) :
    ({ render: (width: number) => m.details.many ? Array.from({ length: 5000 }, (_, i) => "line " + i) : [evil, "x".repeat(70000), m.content + " at " + width] }));
  pi.registerCommand("paint", { description: "x", handler: async (args: string) => { await pi.sendMessage({ customType: "paint", content: "hello", details: { [args]: true } }); } });
}`

func painting(t *testing.T) *hosttest.Entry {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Read", "dice", "broken"}}},
		`{"do":[{"call":"dice","id":"c1","input":{}},{"call":"broken","id":"c2","input":{}},{"call":"Read","id":"c3","input":{"path":"notes.txt"}}],"stop":"tool_use"}`,
		`{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("painter", painter)
	return w.Begin(false)
}

// drawn asks how a call, or the newest message of the extension, is drawn.
func drawn(e *hosttest.Entry, call string, expanded bool) *protocol.RenderedEntry {
	e.W.T.Helper()
	r := &protocol.RenderEntry{ToolCallID: call, Width: 30, Expanded: expanded}
	for _, event := range e.Events {
		switch b := event.Body.(type) {
		case *protocol.CustomMessage:
			if call == "" {
				r.EventID = event.ID
			}
		case *protocol.MessageBody:
			if slices.ContainsFunc(b.Message.Content, func(c protocol.Block) bool { return call != "" && c.ID == call }) {
				r.EventID = event.ID
			}
			if call != "" && b.Message.ToolCallID == call {
				r.ResultID = event.ID
			}
		}
	}
	return hosttest.Call[*protocol.RenderedEntry](e.W.T, e.C, e.ID, r)
}

func TestAnExtensionDrawsItsCallsAndWhatItHasReplaced(t *testing.T) {
	e := painting(t)
	e.Say("throw")
	got := drawn(e, "c1", false)
	if got.Source != "painter" || got.Call == nil || got.Body == nil || strings.TrimSpace(got.Call.Lines[0]) != "\x1b[36mthrows\x1b[39m" || strings.TrimSpace(got.Body.Lines[0]) != "six of 6" {
		t.Errorf("%+v", got)
	}
	if got = drawn(e, "c1", true); strings.TrimSpace(got.Body.Lines[0]) != "six of 6 whole" {
		t.Errorf("%+v", got.Body)
	}
	if got = drawn(e, "c2", false); got.Source != "painter" || got.Call != nil || got.Body != nil {
		t.Errorf("what fails, and what draws nothing, is drawn: %+v", got)
	}
	if got = drawn(e, "c3", false); got.Call != nil || got.Body == nil || len(got.Body.Lines) > 1 {
		t.Errorf("the tool that replaces Read draws %+v", got)
	}
	if bad := e.Extension("painter").Unsupported; len(bad) > 0 {
		t.Errorf("%q", bad)
	}
}

func TestMessagesAreDrawnWithNothingThatATerminalObeysButColours(t *testing.T) {
	e := painting(t)
	paint := func(how string) {
		e.Command("paint", how)
		e.Until(func(e protocol.Event) bool {
			b, ok := e.Body.(*protocol.CustomMessage)
			return ok && strings.Contains(string(b.Data), how)
		})
	}
	paint("plain")
	got := drawn(e, "", false)
	if got.Body == nil || got.Body.Lines[0] != "abcd[U+202E]e\x1b[31mred" || !strings.Contains(got.Body.Lines[1], "2 more lines are not shown") || len(got.Body.Lines) != 2 {
		t.Fatalf("%+v", got.Body)
	}
	paint("many")
	if got = drawn(e, "", false); len(got.Body.Lines) != protocol.MaxFrameLines {
		t.Errorf("%d lines", len(got.Body.Lines))
	}
	paint("loop")
	if got = drawn(e, "", false); got.Body != nil {
		t.Errorf("what never ends is drawn: %+v", got.Body)
	}
}
