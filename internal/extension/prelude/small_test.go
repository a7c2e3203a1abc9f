package prelude

import (
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
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

func TestTheLineOfAWorkingTurnIsHiddenAndShown(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`export default (pi) => pi.registerCommand("set", { handler: async (arg, ctx) => ctx.ui.setWorkingVisible(arg === "on") })`)
	ext.run("set off")
	ext.run("set on")
	d.await("ui/state", 2)
	equal(t, "states", d.called("ui/state"), []string{`{"key":"scorel:working-visible","lines":["hidden"],"place":"working"}`, `{"key":"scorel:working-visible","lines":null,"place":"working"}`})
}

func TestAStreamHasTheAnswerAsEvents(t *testing.T) {
	d := newDouble(t)
	ext := d.loadSource(`
import { streamSimple } from "@mariozechner/pi-ai";
export default (pi) => pi.registerCommand("s", { handler: async (arg, ctx) => {
	const context = arg === "bad" ? {} : { messages: [{ role: "user", content: "hello" }] };
	const stream = streamSimple(ctx.model, context);
	const types = [];
	for await (const event of stream) types.push(event.type + (event.delta ? " " + event.delta : ""));
	const whole = await stream.result();
	return { status: types.join() + " | " + whole.stopReason + " " + (whole.errorMessage || "") };
} })`)
	d.complete = func(rpc.Complete) (string, error) { return "a whole answer", nil }
	good, err := ext.command("s")
	if err != nil || !strings.HasPrefix(good, "start,text_start,text_delta a whole answer,") || !strings.Contains(good, ",text_end,done | ") {
		t.Errorf("%q, %v", good, err)
	}
	bad, err := ext.command("s bad")
	if err != nil || !strings.HasPrefix(bad, "error | error complete needs") {
		t.Errorf("%q, %v", bad, err)
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
