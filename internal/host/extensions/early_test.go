package extensions_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestACommandBeforeTheFirstTurnKnowsTheModelAndItsKey(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Key: "zq-early-key"}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("early", noting(w)+`export default function (pi: any) {
  pi.registerCommand("who", { description: "who", handler: async (_args: string, ctx: any) => {
    const m = ctx.model;
    note([m ? m.id : "no model", await ctx.modelRegistry.getApiKey(m), await ctx.modelRegistry.getApiKeyForProvider(m && m.provider)].join(" "));
  } });
}`)
	e := w.Begin(true)
	hosttest.Call[*protocol.CommandResult](t, e.C, e.ID, &protocol.RunCommand{Name: "who"})
	if got := strings.Join(noted(w), ", "); got != "mock-1 zq-early-key zq-early-key" {
		t.Errorf("it knows %q", got)
	}
}

func TestEachWayOutOfTheConversationAsksItsHook(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("keeps", noting(w)+`export default function (pi: any) {
  for (const name of ["session_before_tree", "session_before_fork", "session_before_switch"])
    pi.on(name, async (e: any) => { note(name + ":" + (e.reason || (e.preparation && e.preparation.kind) || "copy")); return { cancel: true, reason: "not now" }; });
}`)
	e := w.Begin(true)
	e.Say("hello")
	leaf := e.S.Live.LeafID
	for _, r := range []struct {
		to protocol.SessionID
		protocol.Request
	}{
		{e.ID, &protocol.RewindTo{}}, {hosttest.NewID(), &protocol.CloneSession{FromSessionID: e.ID}}, {hosttest.NewID(), &protocol.CloneSession{FromSessionID: e.ID, FromEventID: leaf}},
		{e.ID, &protocol.LeaveSession{Reason: "new"}}, {e.ID, &protocol.LeaveSession{Reason: "resume", TargetSessionID: e.ID}},
	} {
		if err := hosttest.Refused(t, e.C, r.to, r.Request, protocol.CodePermissionDenied); !strings.Contains(err.Message, "not now") {
			t.Errorf("%T: %s", r.Request, err.Message)
		}
	}
	if got := strings.Join(noted(w), " "); got != "session_before_tree:rewind session_before_fork:copy session_before_fork:copy session_before_switch:new session_before_switch:resume" {
		t.Errorf("asked %s", got)
	}
}
