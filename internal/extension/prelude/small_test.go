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
	ctx.ui.setWorkingIndicator({ frames: ["*"] });
	ctx.ui.setWorkingVisible(false);
	ctx.ui.setHiddenThinkingLabel("hm");
	ctx.ui.addAutocompleteProvider((current) => current);
	ctx.ui.notify("the rest");
} })`)
	ext.run("start")
	equal(t, "notices", d.called("ui/notify"), []string{`{"level":"info","message":"the rest"}`})
	d.await("register", 1)
	last := d.called("register")
	for _, name := range []string{"setWorkingIndicator", "setWorkingVisible", "setHiddenThinkingLabel", "addAutocompleteProvider"} {
		if !strings.Contains(last[len(last)-1], "ui."+name+" has no effect in Scorel. ") {
			t.Errorf("people are not told that %s has no effect: %s", name, last)
		}
	}
}
