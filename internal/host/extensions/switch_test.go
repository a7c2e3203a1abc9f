package extensions_test

import (
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestExtensionMayRefuseThatAPersonLeavesTheSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("stays", noting(w)+`export default function (pi: any) {
  pi.on("session_before_switch", async (e: any, ctx: any) => {
    note([e.reason, e.targetSessionId].join(" "));
    if (e.reason === "new") return { cancel: true, reason: "there is work left" };
    if (!(await ctx.ui.confirm("Leave?", "Really?"))) return { cancel: true };
  });
}`)
	e := w.Begin(true)
	leave := func(reason string, to protocol.SessionID) error {
		_, err := client.Call[*protocol.Done](t.Context(), e.C, e.ID, &protocol.LeaveSession{Reason: reason, TargetSessionID: to})
		return err
	}
	for range 2 { // before its extensions run, too: they are started
		err := leave("new", "")
		if err == nil || protocol.AsError(err).Code != protocol.CodePermissionDenied || !strings.Contains(err.Error(), "extension stays refused the switch: there is work left") {
			t.Errorf("new: %v", err)
		}
	}
	e.Say("hello")
	for _, yes := range []bool{true, false} {
		left := make(chan error, 1)
		go func() { left <- leave("resume", e.ID) }() // ends with its answer
		e.Events = nil
		asked := e.Dialog()
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: asked.UIID, Value: []byte(map[bool]string{true: "true", false: "false"}[yes])})
		if err := <-left; (err == nil) != yes {
			t.Errorf("answered with %v: %v", yes, err)
		}
	}
	if got := strings.Join(noted(w), ", "); got != "new , new , resume "+string(e.ID)+", resume "+string(e.ID) {
		t.Errorf("asked of %s", got)
	}
}
