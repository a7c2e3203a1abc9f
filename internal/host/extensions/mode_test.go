package extensions_test

import (
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestExtensionsKnowWhetherATerminalOrAScriptHasTheirSession(t *testing.T) {
	for want, set := range map[string]func(*host.Config){
		"print": func(c *host.Config) { c.Unattended = true },
		"tui":   func(c *host.Config) { c.Unattended, c.Terminal = true, true },
		"rpc":   func(*host.Config) {},
	} {
		w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"again":true,"do":[{"text":"fine"}]}`)
		w.Ts("mode", `export default (pi: any) => pi.registerCommand("whichmode", { description: "x", handler: async (_: string, ctx: any) => ctx.mode });`)
		set(&w.Config)
		w.Restart()
		e := w.Begin(true)
		if got := hosttest.Call[*protocol.CommandResult](t, e.C, e.ID, &protocol.RunCommand{Name: "whichmode"}).Status; got != want {
			t.Errorf("the mode is %q, not %q", got, want)
		}
	}
}
