package prelude

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/text/cell"
)

var update = flag.Bool("update", false, "write the golden files")

// drawing is an extension whose command draw evaluates the body of a function and shows
// what it returns.
func drawing(t *testing.T) func(body string) string {
	t.Helper()
	ext := newDouble(t).loadSource(`
import * as tui from "@earendil-works/pi-tui";
import * as agent from "@earendil-works/pi-coding-agent";
export default (pi) => pi.command("draw", { handler: async (ctx) => {
	const { default: _, ...names } = { ...tui, ...agent, theme: ctx.ui.theme };
	const body = new Function(...Object.keys(names), ctx.argsRaw);
	return { status: JSON.stringify(body(...Object.values(names))) };
} })`)
	return func(body string) string {
		t.Helper()
		got, err := ext.command("draw " + body)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return got
	}
}

// linesIn reads lines, none of which may be wider than width.
func linesIn(t *testing.T, what, text string, width int) []string {
	t.Helper()
	var lines []string
	if err := json.Unmarshal([]byte(text), &lines); err != nil {
		t.Fatalf("%s gives %s: %v", what, text, err)
	}
	for _, l := range lines {
		plain := strings.ReplaceAll(l, "\x1b_pi:c\x07", "")
		if w := cell.Width(cell.Clean(cell.Plain(plain))); w > width {
			t.Errorf("%s: a line of %d cells, at most %d: %q", what, w, width, l)
		}
		if strings.ContainsAny(plain, "\n\r\t") {
			t.Errorf("%s: a line with a control character: %q", what, l)
		}
	}
	return lines
}

// widely is a text with wide characters, joined ones, marks upon letters and tabs.
const widely = `"Zoe\u0308 reads 日本語のテキスト,\tthen 👩\u200d👩\u200d👧\u200d👦 play; \x1b[31mred words\x1b[39m go on."`

var drawn = []struct{ name, body string }{
	{"Text", `return new Text(` + widely + `, 1, 1)`},
	{"Text without padding", `return new Text("one two three four five six\n\nseven", 0, 0)`},
	{"Text with a background", `return new Text("one two three", 1, 0, (s) => "\x1b[7m" + s + "\x1b[27m")`},
	{"Text of nothing", `return new Text("  ", 1, 1)`},
	{"TruncatedText", `return new TruncatedText(` + widely + ` + "\nnever seen", 1, 0)`},
	{"Spacer", `return new Spacer(2)`},
	{"Box", `const b = new Box(2, 1, (s) => "\x1b[44m" + s + "\x1b[49m"); b.addChild(new Text(` + widely + `, 0, 0)); return b`},
	{"Container", `const c = new Container(), gone = new Text("gone"); c.addChild(new DynamicBorder()); c.addChild(gone); c.addChild(new Text("kept", 1, 0)); c.removeChild(gone); c.addChild(new DynamicBorder((s) => theme.fg("accent", s))); return c`},
	{"Markdown", `return new Markdown("# Title 日本\n\nSome **bold** and *slanted* text with ` + "`code`" + ` and a [link](https://example.com/a).\n\n- one\n  1. two\n\n> quoted\n\n` + "```go\\nfunc main() {\\n\\treturn\\n}\\n```" + `\n\n| a | b |\n|--|--:|\n| x | 1 |\n\n---", 1, 0, getMarkdownTheme(), { color: (s) => theme.fg("muted", s) })`},
	{"Image", `return new Image("aGVsbG8=".repeat(200), "image/png", { fallbackColor: (s) => theme.fg("dim", s) }, { filename: "picture.png" }, { widthPx: 10, heightPx: 20 })`},
	{"Loader", `const l = new Loader({ requestRender() {} }, (s) => theme.fg("accent", s), (s) => theme.fg("muted", s), "Reading files"); l.stop(); return l`},
	{"BorderedLoader", `const l = new BorderedLoader({ requestRender() {} }, theme, "Asking the model"); l.dispose(); return l`},
	{"SelectList", `const l = new SelectList([{ value: "a", label: "Alpha", description: "the first letter of the Greek alphabet" }, { value: "b", label: "Beta 日本語" }, ...Array.from({ length: 8 }, (_, i) => ({ value: "v" + i }))].map((i) => ({ label: i.value, ...i })), 4, getSelectListTheme()); l.setSelectedIndex(1); return l`},
	{"SelectList of nothing", `const l = new SelectList([{ value: "a", label: "a" }], 4); l.setFilter("zzz"); return l`},
	{"SettingsList", `return new SettingsList([{ id: "v", label: "Verbose", currentValue: "off", values: ["on", "off"], description: "Says more about what it does than it would otherwise." }, { id: "c", label: "Colour 日本", currentValue: "a value that is long enough to be cut" }], 5, getSettingsListTheme(), () => {}, () => {})`},
	{"SettingsList with a search", `const l = new SettingsList([{ id: "v", label: "Verbose", currentValue: "off" }, { id: "c", label: "Colour", currentValue: "on" }], 5, getSettingsListTheme(), () => {}, () => {}, { enableSearch: true }); for (const k of "cl") l.handleInput(k); return l`},
	{"Input", `const i = new Input(); i.focused = true; i.setValue("日本語 and a long line of words that moves sideways"); return i`},
	{"Input at its beginning", `const i = new Input(); i.setValue("日本語 and a long line of words"); i.handleInput("\x1b[H"); return i`},
	{"Editor", `const e = new Editor({ requestRender() {}, terminal: { rows: 24 } }, undefined, { paddingX: 1 }); e.focused = true; e.setText("first line of words that is broken\n日本語のテキスト\n\nlast"); e.handleInput("\x1b[A"); return e`},
	{"Editor with many lines", `const e = new CustomEditor({ requestRender() {} }); e.setText(Array.from({ length: 20 }, (_, i) => "line " + i).join("\n")); for (let i = 0; i < 4; i++) e.handleInput("\x1b[A"); return e`},
}

func TestComponentsDrawTheirLines(t *testing.T) {
	draw := drawing(t)
	var b strings.Builder
	for _, c := range drawn {
		for _, width := range []int{60, 24, 9} {
			name := fmt.Sprintf("%s at %d", c.name, width)
			got := draw(fmt.Sprintf(`const made = (() => { %s })(); const lines = made.render(%d); made.invalidate(); if (JSON.stringify(made.render(%d)) !== JSON.stringify(lines)) throw new Error("drawn again it looks different"); return lines`, c.body, width, width))
			fmt.Fprintf(&b, "== %s\n", name)
			for _, l := range linesIn(t, name, got, width) {
				fmt.Fprintf(&b, "%s|\n", strings.NewReplacer("\x1b_pi:c\x07", "‸", "\x1b", "␛").Replace(l))
			}
		}
	}
	path := filepath.Join("testdata", "tui.golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i, l := range gotLines {
			if i >= len(wantLines) || l != wantLines[i] {
				t.Fatalf("line %d of %s:\n got  %q\n want %q", i+1, path, l, append(wantLines, "")[min(i, len(wantLines))])
			}
		}
		t.Fatalf("%s has %d lines more", path, len(wantLines)-len(gotLines))
	}
}

func TestComponentsAreNeverWiderThanTheyMay(t *testing.T) {
	draw := drawing(t)
	hostile := []string{
		`"a\x07b\x08c\x1b[2Jd\x1b]0;title\x07e\x9b31mf\rg\u202eh\u200bi"`, `"\x1b[31"`, `"\x1b]8;;http://x"`, `"\u0301\u0301\u0301"`, `"\ud83d"`,
		`"日".repeat(50)`, `"\t\t\t"`, `"👩\u200d".repeat(40)`, `"\x1b[38;2;1;2;3m".repeat(30) + "x".repeat(300)`, `" ".repeat(100)`, `"\n\n\n"`, `"# \x1b[1mx\n- " + "日".repeat(30)`,
	}
	for _, text := range hostile {
		for _, width := range []int{1, 2, 3, 7, 40} {
			got := draw(fmt.Sprintf(`
				const text = %s, ui = { requestRender() {}, terminal: { rows: 9 } }, all = [];
				const input = new Input(); input.focused = true; input.setValue(text); input.handleInput("\x1b[200~" + text + "\x1b[201~");
				const editor = new Editor(ui); editor.focused = true; editor.setText(text); editor.handleInput(text); editor.handleInput("\x1b[200~" + text + "\x1b[201~");
				const loader = new BorderedLoader(ui, theme, text); loader.dispose();
				const box = new Box(1, 1, (s) => theme.bg("selectedBg", s)); box.addChild(new Text(text, 3, 0));
				const item = { id: text, value: text, label: text, description: text, currentValue: text };
				for (const c of [new Text(text), new TruncatedText(text, 2, 1), new Markdown(text), new Image(text, text), box, loader, new SelectList([item, item], 1), new SettingsList([item, item], 1, undefined), input, editor, new DynamicBorder()]) {
					for (const line of c.render(%d)) all.push(line);
				}
				return all.concat(wrapTextWithAnsi(text, %d), truncateToWidth(text, %d), truncateToWidth(text, %d, "…", true))`, text, width, width, width, width))
			linesIn(t, fmt.Sprintf("%s at %d", text, width), got, width)
		}
	}
}

func TestTextIsMeasuredCutAndBrokenAsTheTerminalDoes(t *testing.T) {
	draw := drawing(t)
	for body, want := range map[string]string{
		`[visibleWidth("ab"), visibleWidth("\x1b[31mab\x1b[0m"), visibleWidth("日本"), visibleWidth("👩\u200d👩\u200d👧"), visibleWidth("e\u0301"), visibleWidth("a\tb"), visibleWidth(CURSOR_MARKER + "x"), visibleWidth("a\x07b"), visibleWidth("\u200b")]`: `[2,2,4,2,1,6,1,2,8]`,
		`[truncateToWidth("abcdef", 4), truncateToWidth("abcdef", 6), truncateToWidth("abcdef", 4, ""), truncateToWidth("abcdef", 2), truncateToWidth("ab", 4, "", true), truncateToWidth("日本語", 4, "")]`:                                                `["a...","abcdef","abcd","..","ab  ","日本"]`,
		`truncateToWidth("ab" + CURSOR_MARKER + "cdef", 3, "")`:                                                   `"ab\u001b_pi:c\u0007c\u001b[m"`,
		`wrapTextWithAnsi("\x1b[1mone two\x1b[22m three", 5)`:                                                     `["\u001b[1mone\u001b[m","\u001b[1mtwo\u001b[22m","three"]`,
		`wrapTextWithAnsi("", 5)`:                                                                                 `[""]`,
		`fuzzyFilter(["read file", "write file", "fire alarm"], "fl", String)`:                                    `["read file","write file","fire alarm"]`,
		`fuzzyFilter([{ n: "beta" }, { n: "alphabet" }, { n: "bet" }], "bet", (i) => i.n)`:                        `[{"n":"bet"},{"n":"beta"},{"n":"alphabet"}]`,
		`[fuzzyMatch("abc", "a-b-c").matches, fuzzyMatch("acb", "abc").matches, fuzzyFilter(["a"], " ", String)]`: `[true,false,["a"]]`,
		`truncateToVisualLines("one\ntwo\nthree four", 2, 6)`:                                                     `{"visualLines":["three ","four  "],"skippedCount":2}`,
		`[keyText("tui.select.cancel"), keyHint("tui.select.confirm", "select")]`:                                 `["escape/ctrl+c","\u001b[2menter\u001b[22m\u001b[2m select\u001b[22m"]`,
		`keyHint("app.nosuch", "to do nothing")`:                                                                  `"\u001b[2mto do nothing\u001b[22m"`,
	} {
		same(t, body, draw("return "+body), want)
	}
	if got := draw(`try { visibleWidth("é".repeat(1 << 20)); return "no" } catch (err) { return err.message }`); !strings.Contains(got, "too long to be drawn") {
		t.Errorf("a text of 2 MiB: %s", got)
	}
}

func TestKeysAreKnownInAllForms(t *testing.T) {
	draw := drawing(t)
	var b strings.Builder
	for _, c := range []struct{ data, ids, not string }{
		{`\x1b`, "escape esc", "enter alt+escape"},
		{`\x1b[27u`, "escape", "ctrl+escape"},
		{`\r`, "enter return", "shift+enter"},
		{`\n`, "enter ctrl+j", "shift+enter"},
		{`\x1b[13;2u`, "shift+enter", "enter"},
		{`\x1b[27;2;13~`, "shift+enter", "enter"},
		{`\x1b\r`, "alt+enter", "enter"},
		{`\t`, "tab ctrl+i", "shift+tab"},
		{`\x1b[Z`, "shift+tab", "tab"},
		{`\x1b[9;2u`, "shift+tab", "tab"},
		{` `, "space", "ctrl+space"},
		{`\x00`, "ctrl+space", "space"},
		{`\x7f`, "backspace", "delete"},
		{`\x08`, "backspace ctrl+h", "delete"},
		{`\x1b\x7f`, "alt+backspace", "backspace"},
		{`\x1b[3~`, "delete", "insert"},
		{`\x1b[3;5~`, "ctrl+delete", "delete"},
		{`\x1b[A`, "up", "shift+up"},
		{`\x1bOA`, "up", "down"},
		{`\x1b[1;5D`, "ctrl+left", "left"},
		{`\x1b[1;3:1C`, "alt+right", "right"},
		{`\x1b[a`, "shift+up", "up"},
		{`\x1bOc`, "ctrl+right", "right"},
		{`\x1b\x1b[A`, "alt+up", "up"},
		{`\x1bb`, "alt+b alt+left", "b"},
		{`\x1b[H`, "home", "end"},
		{`\x1b[4~`, "end", "home"},
		{`\x1b[5~`, "pageUp pageup", "pageDown"},
		{`\x1bOP`, "f1", "f2"},
		{`\x1b[24~`, "f12", "f11"},
		{`\x03`, "ctrl+c", "c"},
		{`\x1b[99;5u`, "ctrl+c", "c"},
		{`\x1b[1089:1057:99;5u`, "ctrl+c", "c"},
		{`\x1b[112;6u`, "ctrl+shift+p shift+ctrl+p", "ctrl+p"},
		{`\x1b\x10`, "ctrl+alt+p alt+ctrl+p", "ctrl+p"},
		{`\x1b[107;9u`, "super+k", "k"},
		{`\x1b[97;65u`, "a", "shift+a"},
		{`a`, "a", "A shift+a"},
		{`A`, "shift+a A", "a"},
		{`+`, "+", "-"},
		{`\x1b[43;5u`, "ctrl++", "+"},
		{`\x1f`, "ctrl+- ctrl+_", "-"},
		{`\x1d`, "ctrl+]", "]"},
		{`é`, "é", "e"},
		{`\x1b[57417u`, "left", "right"},
		{`ab`, "", "a b"},
		{`\x1b[200~a\x1b[201~`, "", "a"},
		{`\x1b[I`, "", "up"},
	} {
		fmt.Fprintf(&b, `for (const id of %q.split(" ")) if (id && !matchesKey("%s", id)) wrong.push("%[2]s is not " + id);`, c.ids, strings.ReplaceAll(c.data, `"`, `\"`))
		fmt.Fprintf(&b, `for (const id of %q.split(" ")) if (matchesKey("%s", id)) wrong.push("%[2]s is " + id);`, c.not, c.data)
	}
	same(t, "keys", draw("const wrong = []; "+b.String()+" return wrong.map((w) => JSON.stringify(w))"), `[]`)
	same(t, "their names", draw(`return ["\x1b", "\x03", "\x1b[1;6A", "\x1b[13;2u", "a", "A", " ", "\x1b[112;6u", "\x1bx", "ab", ""].map(parseKey)`),
		`["escape","ctrl+c","shift+ctrl+up","shift+enter","a","A","space","shift+ctrl+p","alt+x",null,null]`)
	same(t, "releases", draw(`return [isKeyRelease("\x1b[97;1:3u"), isKeyRelease("\x1b[1;1:3A"), isKeyRelease("\x1b[3;1:3~"), isKeyRelease("\x1b[97;1:1u"), isKeyRelease("a"), isKeyRelease("\x1b[200~\x1b[97;1:3u"), isKeyRepeat("\x1b[97;1:2u")]`),
		`[true,true,true,false,false,false,true]`)
	same(t, "the names of keys", draw(`return [Key.escape, Key.ctrl("c"), Key.ctrlShift("p"), Key.shiftCtrl("p"), Key.f12, Key.pageUp, Key.plus, Key.ctrlShiftAlt("x")]`),
		`["escape","ctrl+c","ctrl+shift+p","shift+ctrl+p","f12","pageUp","+","ctrl+shift+alt+x"]`)
}

func TestListsTakeKeys(t *testing.T) {
	draw := drawing(t)
	same(t, "a list", draw(`
		const seen = [], list = new SelectList(["a", "b", "c"].map((value) => ({ value, label: value.toUpperCase() })), 2);
		list.onSelectionChange = (i) => seen.push("on " + i.value); list.onSelect = (i) => seen.push("took " + i.value); list.onCancel = () => seen.push("left");
		for (const k of ["\x1b[B", "\x1b[B", "\x1b[B", "\x1b[A", "\r", "x", "\x1b[5~", "\x1b", "\x03"]) list.handleInput(k);
		list.setFilter("b"); list.handleInput("\r"); list.setSelectedIndex(99);
		return [seen.join(), list.getSelectedItem().value, new SelectList([], 3).getSelectedItem()]`),
		`["on b,on c,on a,on c,took c,on a,left,left,took b","b",null]`)
	same(t, "settings", draw(`
		const seen = [], items = [{ id: "v", label: "Verbose", currentValue: "off", values: ["on", "off"] }, { id: "m", label: "Model", currentValue: "x", submenu: (now, done) => ({ render: () => ["menu of " + now], handleInput: (k) => done(k === "n" ? undefined : k), invalidate() {} }) }];
		const list = new SettingsList(items, 5, undefined, (id, value) => seen.push(id + "=" + value), () => seen.push("left"));
		for (const k of ["\r", " ", "\x1b[B", "\r"]) list.handleInput(k);
		seen.push(list.render(30).join());
		for (const k of ["n", "\r", "y", "\x1b[A", "\x1b"]) list.handleInput(k);
		list.updateValue("v", "on");
		return [seen.join(), items.map((i) => i.currentValue)]`), `["v=on,v=off,menu of x,m=y,left",["on","y"]]`)
	same(t, "loaders", draw(`
		const ui = { n: 0, requestRender() { this.n++; } }, one = new CancellableLoader(ui), seen = [];
		one.onAbort = () => seen.push("aborted"); one.handleInput("x"); one.handleInput("\x1b"); one.handleInput("\x1b"); one.dispose();
		const two = new BorderedLoader(ui, theme, "m"); two.onAbort = () => seen.push("two"); two.handleInput("\x03"); two.dispose();
		const fixed = new BorderedLoader(ui, theme, "m", { cancellable: false }); fixed.handleInput("\x1b"); fixed.dispose();
		return [seen, one.aborted, one.signal.aborted, two.signal.aborted, fixed.signal.aborted, ui.n > 2]`), `[["aborted","two"],true,true,true,false,true]`)
}

func TestFieldsTakeKeys(t *testing.T) {
	draw := drawing(t)
	const left, right, up, down, home, end = `"\x1b[D"`, `"\x1b[C"`, `"\x1b[A"`, `"\x1b[B"`, `"\x1b[H"`, `"\x1b[F"`
	for _, c := range []struct{ keys, want string }{
		{`"a", "b", ` + left + `, "x"`, "ax|b"},
		{`"日", "本", ` + left + `, "\x7f"`, "|本"},
		{`"👩\u200d👩\u200d👧", "e\u0301", "\x7f", "\x7f"`, "|"},
		{`..."one two", "\x17"`, "one |"},
		{`..."one two", "\x1bb", "\x1bb", "\x1bd"`, "| two"},
		{`..."one two", ` + home + `, "\x1b[1;5C", "\x0b"`, "one|"},
		{`..."one two", "\x15", "\x19", "\x19"`, "one twoone two|"},
		{`..."abc", "\x1f", "\x1f"`, "a|"},
		{`"\x1b[97u", "\x1b[98;2u", "\x1b[99;1:3u", "\x1b[32u"`, "aB |"},
		{`"\x1b[200~one\ttwo\x1b[31m red\x1b[0m\x07\x1b[201~"`, "one    two red|"},
		{`..."ab", ` + home + `, "\x1b[3~", ` + end + `, ` + right + `, "\x1b[15~"`, "b|"},
	} {
		for kind, made := range map[string]string{"Input": `const f = new Input(), show = () => f.value.slice(0, f.cursor) + "|" + f.value.slice(f.cursor)`,
			"Editor": `const f = new Editor({ requestRender() {} }), show = () => { const { line, col } = f.getCursor(), l = f.getLines(); l[line] = l[line].slice(0, col) + "|" + l[line].slice(col); return l.join("/"); }`} {
			var want string
			mustUnmarshal(t, []byte(draw(made+`; for (const k of [`+c.keys+`]) f.handleInput(k); return show()`)), &want)
			if want != c.want {
				t.Errorf("%s after %s has %q, want %q", kind, c.keys, want, c.want)
			}
		}
	}
	for _, c := range []struct{ keys, want string }{
		{`..."one", "\x1b[13;2u", ..."two", ` + up + `, "x"`, "onex|/two"},
		{`..."one\\", "\r", ..."two"`, "one/two|"},
		{`"\x1b[200~a\r\nb\n\nc\x1b[201~", ` + left + `, ` + left + `, "\x7f"`, "a/b|/c"},
		{`..."ab", "\x1b\r", "c", ` + home + `, "\x7f"`, "ab|c"},
		{`..."ab", "\x1b\r", "c", ` + up + `, ` + end + `, "\x1b[3~"`, "ab|c"},
		{`..."one two one", ` + home + `, "\x1d", "w"`, "one t|wo one"},
		{`..."one two", "\x1b\x1d", "n"`, "o|ne two"},
		{`..."sent", "\r", ` + up, "sent|"},
		{`..."sent", "\r", ` + up + `, ` + down, "|"},
		{`..."日本語のテキストです", ` + up + `, "x"`, "日本語のx|テキストです"},
	} {
		var got string
		mustUnmarshal(t, []byte(draw(`const f = new Editor({ requestRender() {} }), sent = []; f.onSubmit = (text) => { sent.push(text); f.addToHistory(text); }; f.render(11);
			for (const k of [`+c.keys+`]) f.handleInput(k);
			const { line, col } = f.getCursor(), l = f.getLines(); l[line] = l[line].slice(0, col) + "|" + l[line].slice(col); return l.join("/")`)), &got)
		if got != c.want {
			t.Errorf("an editor after %s has %q, want %q", c.keys, got, c.want)
		}
	}
	same(t, "what fields tell", draw(`
		const seen = [], input = new Input(), editor = new Editor({ requestRender() {} });
		input.onSubmit = (v) => seen.push("sent " + v); input.onEscape = () => seen.push("left");
		for (const k of ["a", "\r", "\x1b"]) input.handleInput(k);
		editor.onChange = (v) => seen.push("now " + v); editor.onSubmit = (v) => seen.push("sent " + v);
		for (const k of [" ", "b", "\r"]) editor.handleInput(k);
		editor.disableSubmit = true; editor.handleInput("c"); editor.handleInput("\r"); editor.insertTextAtCursor("\td");
		return [seen, input.getValue(), editor.getText()]`),
		`[["sent a","left","now  ","now  b","now ","sent b","now c","now c    d"],"a","c    d"]`)
	same(t, "the keys of an editor of the program", draw(`
		const seen = [], e = new (class extends CustomEditor { handleInput(k) { if (matchesKey(k, "ctrl+x")) seen.push("own"); else super.handleInput(k); } })({ requestRender() {} }, undefined, getKeybindings());
		e.onEscape = () => seen.push("escape"); e.onCtrlD = () => seen.push("exit"); e.onAction("app.model.select", () => seen.push("model")); e.onExtensionShortcut = (k) => k === "\x07";
		for (const k of ["\x1b", "\x04", "\x18", "\x0c", "\x07", "a", "b", "\x1b[D", "\x04"]) e.handleInput(k);
		return [seen, e.getText()]`), `[["escape","exit","own","model"],"a"]`)
	if got := draw(`const e = new Editor({ requestRender() {} }), i = new Input(); const much = "x".repeat(300000); e.setText(much); e.handleInput("y"); i.setValue(much); i.handleInput("y"); return [e.getText().length, i.getValue().length]`); got != `[262144,262144]` {
		t.Errorf("fields of 300,000 characters have %s", got)
	}
}

func TestAnEditorShowsTheSuggestionsOfItsProvider(t *testing.T) {
	ext := newDouble(t).loadSource(`
import { Editor } from "@mariozechner/pi-tui";
export default (pi) => pi.command("suggest", { handler: async () => {
	const asked = [];
	const e = new Editor({ requestRender() {} });
	e.setAutocompleteProvider({
		async getSuggestions(lines, line, col, { force }) { asked.push(lines[line].slice(0, col) + (force ? "!" : "")); return { prefix: lines[line].slice(0, col), items: [{ value: "/help", label: "help" }, { value: "/hide", label: "hide" }] }; },
		applyCompletion: (lines, line, col, item) => ({ lines: [item.value + " "], cursorLine: 0, cursorCol: item.value.length + 1 }),
	});
	const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
	for (const k of ["x", "\x7f", "/", "h"]) { e.handleInput(k); await settle(); }
	const shown = e.isShowingAutocomplete(), lines = e.render(20).length;
	e.handleInput("\x1b[B"); e.handleInput("\t");
	const text = e.getText(), closed = !e.isShowingAutocomplete();
	e.handleInput("\t"); await settle();
	const forced = e.isShowingAutocomplete();
	e.handleInput("\x1b");
	return { status: JSON.stringify([asked, shown, lines, text, closed, forced, e.isShowingAutocomplete()]) };
} })`)
	same(t, "suggestions", ext.run("suggest"), `[["/","/h","/hide !"],true,5,"/hide ",true,true,false]`)
}

func TestTheThemeWritesTheColoursOfTheTerminal(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
	pi.registerCommand("show", { handler: async (_a, ctx) => { ctx.ui.setStatus("s", ctx.ui.theme.fg("accent", "on")); ctx.ui.notify(ctx.ui.theme.bold("told")); } });
	pi.command("theme", { handler: async (ctx) => { const th = ctx.ui.theme; return { status: JSON.stringify([th.fg("error", "x"), th.fg("dim", "x"), th.bg("selectedBg", "x"), th.bg("toolErrorBg", "x"), th.fg("nothing", "x"), th.italic("i") + th.underline("u") + th.inverse("v") + th.strikethrough("s"), th.getFgAnsi("warning"), th.getThinkingBorderColor("high")("x")]) }; } });
}`)
	same(t, "styles", ext.run("theme"), `["\u001b[31mx\u001b[39m","\u001b[2mx\u001b[22m","\u001b[7mx\u001b[27m","x","x","\u001b[3mi\u001b[23m\u001b[4mu\u001b[24m\u001b[7mv\u001b[27m\u001b[9ms\u001b[29m","\u001b[33m","\u001b[33mx\u001b[39m"]`)
	ext.run("show")
	equal(t, "a status for clients of all kinds", d.called("ui/state"), []string{`{"key":"s","lines":["on"],"place":"status"}`})
	equal(t, "a notice", d.called("ui/notify"), []string{`{"level":"info","message":"told"}`})
}
