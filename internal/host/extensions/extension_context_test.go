package extensions_test

import (
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAnExtensionSeesTheContextOfThePathThatCounts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"if":{"user":"one"},"do":[{"text":"first"}],"usage":{"inputTokens":5000,"outputTokens":10}}`,
		`{"if":{"user":"two"},"do":[{"text":"second"}],"usage":{"inputTokens":60000,"outputTokens":10}}`)
	w.Ts("size", `export default function (pi: any) {
  pi.registerCommand("size", { description: "x", handler: async (_args: any, ctx: any) => {
    const u = ctx.getContextUsage(); await pi.appendEntry("size", { tokens: u ? u.tokens : 0 });
  } });
}`)
	e := w.Begin(false)
	size := func() string {
		t.Helper()
		if _, err := e.Run("size", ""); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, ev := range w.Log(e.ID) {
			if b, ok := ev.Body.(*protocol.Custom); ok && b.Kind == "size" {
				found = string(b.Data)
			}
		}
		return found
	}
	e.Say("one")
	small := size()
	var answer protocol.EventID
	for _, ev := range w.Log(e.ID) {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleAssistant {
			answer = ev.ID
		}
	}
	e.Say("two")
	large := size()
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &answer})
	if back := size(); back != small || large == small || small == `{"tokens":0}` {
		t.Errorf("first %s, then %s, and %s behind the rewind", small, large, back)
	}
}
