package extensions_test

import (
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// modal is an editor with a mode of its own, set by a command.
const modal = `import { CustomEditor } from "@mariozechner/pi-coding-agent";
class Modal extends CustomEditor {
  mode = "insert";
  handleInput(data: string) {
    if (data === "!") throw new Error("no such key");
    if (data === "\x1b") this.mode = "normal";
    else if (this.mode === "insert") super.handleInput(data);
    else if (data === "i") this.mode = "insert";
    else if (data === "l") super.handleInput("\x1b[C");
    else if (data === "S") this.setText("set");
    else if (data === "I") this.insertTextAtCursor("in");
    else if (data === "G") { super.handleInput("xy"); super.handleInput("\x1b[D"); this.setText(this.getText() + "|" + JSON.stringify(this.getCursor())); }
  }
  render(width: number) {
    const lines = super.render(width);
    lines[lines.length - 1] = this.mode + " \x1b[31m" + this.getText() + "\x1b]0;PWNED\x07\x1b[2J";
    return lines;
  }
}
export default function (pi: any) {
  pi.registerCommand("editor", { description: "x", handler: async (args: string, ctx: any) => {
    if (args === "own") ctx.ui.setEditorComponent(() => ({ render: () => [], handleInput() {} }));
    else if (args === "many") ctx.ui.setEditorComponent((tui: any, theme: any, keys: any) => Object.assign(new CustomEditor(tui, theme, keys), { render: () => Array.from({ length: 5000 }, (_, i) => "line " + i) }));
    else ctx.ui.setEditorComponent(args === "off" ? undefined : (tui: any, theme: any, keys: any) => new Modal(tui, theme, keys));
  } });
}`

func editing(t *testing.T) *hosttest.Entry {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("modal", modal)
	e := w.Begin(true)
	e.Command("editor", "")
	return e
}

// typed sends keys for an editor with "a|b", whose cursor is after the a.
func typed(e *hosttest.Entry, keys ...string) *protocol.EditorDrawn {
	e.W.T.Helper()
	return hosttest.Call[*protocol.EditorDrawn](e.W.T, e.C, e.ID, input(keys...))
}

func input(keys ...string) *protocol.EditorInput {
	return &protocol.EditorInput{Source: "modal", Editor: "one", Data: keys, Text: "ab", Before: 1, Width: 20, Lines: []string{"----", "\x1b[2m> \x1b[0mab", "----"}, Cursor: &protocol.UICursor{Row: 1, Column: 3}}
}

func said(edits []protocol.EditorEdit) string {
	var all []string
	for _, e := range edits {
		switch {
		case e.Text != nil:
			all = append(all, "text "+*e.Text)
		case e.Insert != "":
			all = append(all, "insert "+e.Insert)
		default:
			all = append(all, "key "+e.Key)
		}
	}
	return strings.Join(all, ", ")
}

func TestAnEditorOfAnExtensionPassesKeysOnAndKeepsNoText(t *testing.T) {
	e := editing(t)
	if got := typed(e, "x", "\r", "\x1b[200~two\nlines\x1b[201~"); said(got.Edits) != "key x, key \r, key \x1b[200~two\nlines\x1b[201~" || got.Drawn != nil {
		t.Errorf("in insert mode: %q", said(got.Edits))
	}
	if got := typed(e, "\x1b"); len(got.Edits) != 0 || got.Drawn == nil {
		t.Errorf("a key that it keeps: %+v", got)
	}
	for keys, want := range map[string]string{"l": "key \x1b[C", "S": "text set", "I": "insert in", "q": "", "G": `key xy, key ` + "\x1b[D" + `, text axyb|{"line":0,"col":2}`} {
		if got := typed(e, keys); said(got.Edits) != want {
			t.Errorf("%s: %q, not %q", keys, said(got.Edits), want)
		}
	}
	if got := typed(e, "!"); said(got.Edits) != "key !" {
		t.Errorf("a key that it fails at: %q", said(got.Edits))
	}
	(&person{Entry: e}).told("no such key")
}

func TestAnEditorOfAnExtensionIsDrawnOnTheLinesOfTheTerminal(t *testing.T) {
	e := editing(t)
	got := typed(e)
	if got.Drawn == nil || len(got.Drawn.Lines) != 3 || got.Drawn.Lines[1] != "\x1b[2m> \x1b[mab" || got.Drawn.Lines[2] != "insert \x1b[31mab" {
		t.Fatalf("%q", got.Drawn)
	}
	if got.Cursor == nil || *got.Cursor != (protocol.UICursor{Row: 1, Column: 3}) {
		t.Errorf("the cursor is at %+v", got.Cursor)
	}
	e.Command("editor", "many")
	if got := typed(e); len(got.Drawn.Lines) != protocol.MaxFrameLines {
		t.Errorf("%d lines", len(got.Drawn.Lines))
	}
	e.Command("editor", "off")
	hosttest.Refused(t, e.C, e.ID, input("x"), protocol.CodeConflict)
}

func TestAnEditorThatHoldsItsOwnTextIsRefused(t *testing.T) {
	e := editing(t)
	if _, err := e.Run("editor", "own"); err == nil || !strings.Contains(err.Error(), "the text is the terminal's") {
		t.Errorf("%v", err)
	}
	hosttest.Refused(t, e.C, e.ID, input("x"), protocol.CodeConflict)
}

func TestExtensionsCompleteWhatIsTyped(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("issues", `export default function (pi: any) {
  pi.on("session_start", (_e: any, ctx: any) => ctx.ui.addAutocompleteProvider((current: any) => ({
    async getSuggestions(lines: string[], line: number, col: number, options: any) {
      const found = /#(\d*)$/.exec(lines[line].slice(0, col));
      if (!found) return current.getSuggestions(lines, line, col, options);
      return { prefix: found[0], items: Array.from({ length: 300 }, (_, i) => ({ value: "#" + i, label: "#" + i, description: "issue" })).filter((i) => i.value.startsWith(found[0])) };
    },
  })));
}`)
	e := w.Begin(true)
	e.Say("hello")
	if !slices.ContainsFunc(e.S.Live.UIStates, func(s protocol.UIState) bool { return s.Place == protocol.PlaceCompletions && s.Source == "issues" }) {
		t.Errorf("%+v", e.S.Live.UIStates)
	}
	ask := func(before string) *protocol.CompletionList {
		return hosttest.Call[*protocol.CompletionList](t, e.C, e.ID, &protocol.CompleteInput{Before: before})
	}
	if got := ask("see #12"); got.Prefix != "#12" || len(got.Items) != 11 || got.Items[0].Value != "#12" || got.Items[0].Description != "issue" {
		t.Errorf("%+v", got)
	}
	if got := ask("see #"); len(got.Items) != 100 {
		t.Errorf("%d items", len(got.Items))
	}
	if got := ask("nothing"); len(got.Items) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestEntriesOfAnExtensionAreDrawn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("cards", `export default function (pi: any) {
  pi.registerEntryRenderer("card", (entry: any, o: any, theme: any) => ({ render: (width: number) =>
    [theme.fg("accent", "[card]") + " " + entry.data.text + " at " + width + (o.expanded ? " whole" : ""), "\x1b]0;PWNED\x07\x1b[2Jx"] }));
  pi.registerCommand("card", { handler: async (args: string) => { await pi.appendEntry("card", { text: args, timestamp: 1 }); } });
  pi.registerCommand("other", { handler: async () => { await pi.appendEntry("other", {}); } });
}`)
	e := w.Begin(true)
	render := func(kind string, expanded bool) *protocol.RenderedEntry {
		e.Command(kind, "hello")
		ev := e.Until(func(ev protocol.Event) bool {
			b, ok := ev.Body.(*protocol.Custom)
			return ok && b.Kind == kind
		})
		return hosttest.Call[*protocol.RenderedEntry](t, e.C, e.ID, &protocol.RenderEntry{EventID: ev.ID, Width: 30, Expanded: expanded})
	}
	if got := render("card", true); got.Source != "cards" || got.Body == nil || got.Body.Lines[0] != "\x1b[36m[card]\x1b[39m hello at 30 whole" || got.Body.Lines[1] != "x" {
		t.Errorf("%+v", got.Body)
	}
	if got := render("other", false); got.Source != "" {
		t.Errorf("what nobody draws: %+v", got)
	}
}
