package host_test

import (
	"testing"

	"scorel/protocol"
)

func TestAnExtensionSeesTheContextOfThePathThatCounts(t *testing.T) {
	w := newWorld(t, setting{},
		`{"if":{"user":"one"},"do":[{"text":"first"}],"usage":{"inputTokens":5000,"outputTokens":10}}`,
		`{"if":{"user":"two"},"do":[{"text":"second"}],"usage":{"inputTokens":60000,"outputTokens":10}}`)
	w.ts("size", `export default function (pi: any) {
  pi.registerCommand("size", { description: "x", handler: async (_args: any, ctx: any) => {
    const u = ctx.getContextUsage(); await pi.appendEntry("size", { tokens: u ? u.tokens : 0 });
  } });
}`)
	e := w.begin(false)
	size := func() string {
		t.Helper()
		if _, err := e.run("size", ""); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, ev := range w.log(e.id) {
			if b, ok := ev.Body.(*protocol.Custom); ok && b.Kind == "size" {
				found = string(b.Data)
			}
		}
		return found
	}
	e.say("one")
	small := size()
	var answer protocol.EventID
	for _, ev := range w.log(e.id) {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleAssistant {
			answer = ev.ID
		}
	}
	e.say("two")
	large := size()
	call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &answer})
	if back := size(); back != small || large == small || small == `{"tokens":0}` {
		t.Errorf("first %s, then %s, and %s behind the rewind", small, large, back)
	}
}
