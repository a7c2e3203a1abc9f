package host_test

import (
	"slices"
	"testing"

	"scorel/protocol"
)

// What the sending paragraph of the protocol says and no other test holds.

func TestWhatIsSentDuringATurnFollowsItUnlessTheSenderSaysOtherwise(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.busy()
	for text, busy := range map[string]string{"by default": "", "steering": "steer"} {
		sent := call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(text)}, WhenBusy: busy})
		if sent.ItemID == "" || sent.EventID != "" {
			t.Errorf("%s: %+v", text, sent)
		}
	}
	call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: text("following"), WhenBusy: "followUp"})
	refused(t, e.c, e.id, &protocol.SendMessage{Content: text("refused"), WhenBusy: "reject"}, protocol.CodeRuntimeBusy)
	w.file("go", "")
	e.end()
	sources := map[string]protocol.Source{}
	for _, m := range e.messages() {
		if m.Role == protocol.RoleUser && m.Meta != nil {
			sources[m.PlainText()] = m.Meta.Source
		}
	}
	if sources["by default"] != protocol.SourceFollowUp || sources["following"] != protocol.SourceFollowUp || sources["steering"] != protocol.SourceSteer || len(sources) != 3 {
		t.Errorf("taken as %v", sources)
	}
}

func TestACancelIsNeverQueuedAndNamesItsTurn(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	cancel := func(turn protocol.TurnID) bool {
		return call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn}).Cancelled
	}
	if cancel("trn_0000000000000000") {
		t.Error("a turn was cancelled where none runs")
	}
	turn := e.send("run") // one that was queued would meet this
	e.until(ofType(protocol.TypeToolExecutionStart))
	if cancel("trn_0000000000000000") {
		t.Error("another turn than the one that was named was cancelled")
	}
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v", end)
	}
	if cancel(turn) {
		t.Error("a turn that has ended was cancelled")
	}
}

func TestAlwaysNamesASuggestionAndNoRule(t *testing.T) {
	w := newWorld(t, setting{attended: true}, runTwice, `{"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.send("run")
	q := e.asked(1)
	for _, c := range []int{len(q.Suggestions), -2} {
		refused(t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: c}, protocol.CodeInvalidRequest)
	}
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "always")})
	e.end()
	i := slices.IndexFunc(w.log(e.id), func(ev protocol.Event) bool { return ev.Type == protocol.TypePermissionDecision })
	if d := w.log(e.id)[i].Body.(*protocol.PermissionDecision); d.Rule != q.Suggestions[choice(t, q, "always")].Rule {
		t.Errorf("the rule is %q", d.Rule)
	}
}
