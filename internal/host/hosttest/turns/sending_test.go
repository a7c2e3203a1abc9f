package turns_test

import (
	"slices"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// What the sending paragraph of the protocol says and no other test holds.

func TestWhatIsSentDuringATurnFollowsItUnlessTheSenderSaysOtherwise(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.Busy()
	for text, busy := range map[string]string{"by default": "", "steering": "steer"} {
		sent := hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(text)}, WhenBusy: busy})
		if sent.ItemID == "" || sent.EventID != "" {
			t.Errorf("%s: %+v", text, sent)
		}
	}
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("following"), WhenBusy: "followUp"})
	hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("refused"), WhenBusy: "reject"}, protocol.CodeRuntimeBusy)
	w.File("go", "")
	e.End()
	sources := map[string]protocol.Source{}
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleUser && m.Meta != nil {
			sources[m.PlainText()] = m.Meta.Source
		}
	}
	if sources["by default"] != protocol.SourceFollowUp || sources["following"] != protocol.SourceFollowUp || sources["steering"] != protocol.SourceSteer || len(sources) != 3 {
		t.Errorf("taken as %v", sources)
	}
}

func TestACancelIsNeverQueuedAndNamesItsTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	cancel := func(turn protocol.TurnID) bool {
		return hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn}).Cancelled
	}
	if cancel("trn_0000000000000000") {
		t.Error("a turn was cancelled where none runs")
	}
	turn := e.Send("run") // one that was queued would meet this
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	if cancel("trn_0000000000000000") {
		t.Error("another turn than the one that was named was cancelled")
	}
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v", end)
	}
	if cancel(turn) {
		t.Error("a turn that has ended was cancelled")
	}
}

func TestAlwaysNamesASuggestionAndNoRule(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, hosttest.RunTwice, `{"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	e.Send("run")
	q := e.Asked(1)
	for _, c := range []int{len(q.Suggestions), -2} {
		hosttest.Refused(t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: c}, protocol.CodeInvalidRequest)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "always")})
	e.End()
	i := slices.IndexFunc(w.Log(e.ID), func(ev protocol.Event) bool { return ev.Type == protocol.TypePermissionDecision })
	if d := w.Log(e.ID)[i].Body.(*protocol.PermissionDecision); d.Rule != q.Suggestions[hosttest.Choice(t, q, "always")].Rule {
		t.Errorf("the rule is %q", d.Rule)
	}
}
