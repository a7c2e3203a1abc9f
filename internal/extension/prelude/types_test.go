package prelude

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const declarations = "../../../docs/extensions/scorel.d.ts"

// body returns the lines of a declaration, from its opening to the line that closes it at
// the same indentation.
func body(t *testing.T, text, opening string) []string {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), opening) {
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		end := slices.IndexFunc(lines[i+1:], func(l string) bool { return strings.HasPrefix(l, indent+"}") })
		if end < 0 {
			t.Fatalf("%s is not closed", opening)
		}
		return lines[i+1 : i+1+end]
	}
	t.Fatalf("%s is not declared", opening)
	return nil
}

var member = regexp.MustCompile(`^(?:readonly )?([A-Za-z_]\w*)\??[(<:]`)

// membersIn returns the names of the members that stand at the outermost level of lines.
func membersIn(lines []string) []string {
	var names []string
	least := -1
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if text == "" || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/*") {
			continue
		}
		if least < 0 {
			least = indent
		}
		if m := member.FindStringSubmatch(text); m != nil && indent == least && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

// exported returns the values, not the types, that a declared module exports.
func exported(lines []string) []string {
	var names []string
	value := regexp.MustCompile(`^  export (?:function|const|class) (\w+)`)
	list := regexp.MustCompile(`^  export \{(.*)\} from`)
	for _, line := range lines {
		if m := value.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
		if m := list.FindStringSubmatch(line); m != nil {
			for _, part := range strings.Split(m[1], ",") {
				if part = strings.TrimSpace(part); !strings.HasPrefix(part, "type ") {
					names = append(names, part)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func typesText(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(declarations)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheDeclarationsNameExactlyWhatTheObjectsHave(t *testing.T) {
	text := typesText(t)
	pi := newDouble(t).loadSource(`export default (pi) => {
		const show = (o) => ({ status: Object.keys(o).sort().join() });
		for (const [name, pick] of Object.entries({
			pi: () => pi, bus: () => pi.events, command: (ctx) => ctx, ui: (ctx) => ctx.ui, theme: (ctx) => ctx.ui.theme,
			manager: (ctx) => ctx.sessionManager, registry: (ctx) => ctx.modelRegistry,
		})) pi.command(name, { handler: async (ctx) => show(pick(ctx)) });
		pi.registerTool({ name: "ctx", description: "d", execute: async (_id, _p, _s, _u, ctx) => Object.keys(ctx).sort().join() });
	}`)
	own := newDouble(t).loadSource(`export default { commands: () => Object.fromEntries(Object.entries({
		context: (ctx) => ctx, session: (ctx) => ctx.session, agent: (ctx) => ctx.agent, model: (ctx) => ctx.agent.model, logger: (ctx) => ctx.logger,
	}).map(([name, pick]) => [name, { run: (_args, ctx) => Object.keys(pick(ctx)).sort().join() }])) }`)
	result, err := pi.tool("ctx", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		got        string
		interfaces []string
	}{
		{pi.run("pi"), []string{"export interface HookAPI {", "export interface ExtensionAPI "}},
		{pi.run("bus"), []string{"export interface EventBus "}},
		{result.Content[0].Text, []string{"export interface ExtensionContext "}},
		{pi.run("command"), []string{"export interface ExtensionContext ", "export interface HookCommandContext "}},
		{pi.run("ui"), []string{"export interface UI "}},
		{pi.run("theme"), []string{"export interface Theme "}},
		{pi.run("manager"), []string{"export interface SessionManager "}},
		{pi.run("registry"), []string{"export interface ModelRegistry "}},
		{own.run("context"), []string{"export interface Context ", "export interface CommandContext "}},
		{own.run("session"), []string{"export interface SessionView "}},
		{own.run("agent"), []string{"export interface Agent "}},
		{own.run("model"), []string{"readonly model: {"}},
		{own.run("logger"), []string{"export interface Logger "}},
	} {
		var declared []string
		for _, opening := range c.interfaces {
			declared = append(declared, membersIn(body(t, text, opening))...)
		}
		slices.Sort(declared)
		if want := strings.Join(slices.Compact(declared), ","); c.got != want {
			t.Errorf("%v:\n the object has  %s\n the type has    %s", c.interfaces, c.got, want)
		}
	}
}

func TestTheDeclarationsNameExactlyWhatTheModulesExport(t *testing.T) {
	text := typesText(t)
	for _, name := range []string{"scorel", "@sinclair/typebox", "@mariozechner/pi-ai", "@mariozechner/pi-coding-agent", "@mariozechner/pi-tui"} {
		ext := newDouble(t).loadSource(`
import * as m from "` + name + `";
export default (pi) => pi.command("names", { handler: async () => ({ status: Object.keys(m).filter((n) => n !== "default").sort().join() }) })`)
		want := strings.Join(exported(body(t, text, `declare module "`+name+`" {`)), ",")
		if got := ext.run("names"); got != want {
			t.Errorf("%s:\n the module has  %s\n the types have  %s", name, got, want)
		}
	}
	ext := newDouble(t).loadSource(`
import { Type } from "scorel";
export default (pi) => pi.command("names", { handler: async () => ({ status: Object.keys(Type).sort().join() }) })`)
	if got, want := ext.run("names"), strings.Join(membersIn(body(t, text, "export const Type: {")), ","); got != want {
		t.Errorf("Type:\n the object has  %s\n the type has    %s", got, want)
	}
}

func TestTheDeclarationsNameExactlyTheEventsAndHooksThatThereAre(t *testing.T) {
	text := typesText(t)
	declared := membersIn(body(t, text, "export interface Events {"))
	ext := newDouble(t).loadSource(`export default (pi) => { for (const e of ["` + strings.Join(declared, `","`) + `"]) pi.on(e, () => {}); }`)
	if len(ext.reg.Unsupported) > 0 {
		t.Errorf("declared and not there: %q", ext.reg.Unsupported)
	}
	source, err := files.ReadFile("js/handlers.js")
	if err != nil {
		t.Fatal(err)
	}
	known, _, _ := strings.Cut(string(source), `return "local"`)
	for _, m := range regexp.MustCompile(`case "(\w+)"`).FindAllStringSubmatch(known, -1) {
		if !slices.Contains(declared, m[1]) {
			t.Errorf("the event %s is not declared", m[1])
		}
	}

	native := membersIn(body(t, text, "export interface NativeHooks "))
	ext = newDouble(t).loadSource(`export default { hooks: () => ({ ` + strings.Join(native, `() {}, `) + `() {} }) }`)
	if len(ext.reg.Unsupported) > 0 || len(ext.reg.Hooks) != len(native) {
		t.Errorf("of %q are hooks %q; not there: %q", native, ext.reg.Hooks, ext.reg.Unsupported)
	}
	source, err = files.ReadFile("js/scorel.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`case "(\w+)": (?:case "(\w+)": )?(?:case "(\w+)": )?return (?:name|")`).FindAllStringSubmatch(string(source), -1) {
		for _, name := range m[1:] {
			if name != "" && !slices.Contains(native, name) {
				t.Errorf("the hook %s is not declared", name)
			}
		}
	}
}
