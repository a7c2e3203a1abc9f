package prelude

import (
	"strings"
	"testing"
)

func TestABellOfAnExtensionIsANotice(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
	pi.registerCommand("bell", { handler: async () => { process.stdout.write("\x07"); } });
	pi.registerCommand("line", { handler: async () => { process.stdout.write("no bell \x07 in a line\n"); } });
}`)
	ext.run("bell")
	ext.run("line")
	equal(t, "notices", d.called("ui/notify"), []string{`{"level":"info","message":"The extension ` + ext.id + ` rings the bell."}`})
}

func TestWhatHasNoEffectIsToldOfAndTheRestOfAHandlerRuns(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.registerCommand("start", { handler: async (_a, ctx) => {
	ctx.ui.setWorkingVisible(false);
	ctx.ui.addAutocompleteProvider((current) => current);
	ctx.ui.notify("the rest");
} })`)
	ext.run("start")
	equal(t, "notices", d.called("ui/notify"), []string{`{"level":"info","message":"the rest"}`})
	d.await("register", 1)
	last := d.called("register")
	for _, name := range []string{"setWorkingVisible", "addAutocompleteProvider"} {
		if !strings.Contains(last[len(last)-1], "ui."+name+" has no effect in Scorel. ") {
			t.Errorf("people are not told that %s has no effect: %s", name, last)
		}
	}
}

func TestIndicatorThoughtsAndThemeAreToldToClients(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => {
	const command = (name, run) => pi.registerCommand(name, { handler: async (_a, ctx) => run(ctx.ui) });
	command("set", (ui) => {
		ui.setWorkingIndicator({ frames: ["\x1b[31m*\x1b[0m", "+"], intervalMs: 120.4 });
		ui.setHiddenThinkingLabel("Pondering");
	});
	command("hide", (ui) => ui.setWorkingIndicator({ frames: [] }));
	command("reset", (ui) => {
		ui.setWorkingIndicator();
		ui.setHiddenThinkingLabel();
	});
	command("theme", (ui) => {
		const odd = [ui.setTheme(7), ui.setTheme("")].filter((r) => r.success || !r.error);
		ui.notify(JSON.stringify([ui.setTheme("light"), odd]));
	});
}`)
	for i, name := range []string{"set", "hide", "reset", "theme"} {
		ext.run(name)
		d.await("ui/state", []int{2, 3, 5, 6}[i])
	}
	equal(t, "states", d.called("ui/state"), []string{
		`{"intervalMs":120,"key":"scorel:indicator","lines":["*","+"],"place":"indicator"}`,
		`{"key":"scorel:thinking","lines":["Pondering"],"place":"thinking"}`,
		`{"key":"scorel:indicator","lines":[""],"place":"indicator"}`,
		`{"key":"scorel:indicator","lines":null,"place":"indicator"}`,
		`{"key":"scorel:thinking","lines":null,"place":"thinking"}`,
		`{"key":"scorel:theme","lines":["light"],"place":"theme"}`,
	})
	equal(t, "answers", d.called("ui/notify"), []string{`{"level":"info","message":"[{\"success\":true},[]]"}`})
}
