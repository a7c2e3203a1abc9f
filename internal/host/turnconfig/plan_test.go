package turnconfig_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const (
	present = `{"if":{"user":"^plan"},"do":[{"call":"ExitPlanMode","id":"p1","input":{"plan":"1. Write b."}}]}`
	carry   = `{"if":{"result":"approved the plan"},"do":[{"call":"Write","id":"w1","input":{"path":"b.txt","content":"x"}}]}`
)

func answerPlan(d protocol.PlanDecision, feedback string) json.RawMessage {
	data, err := json.Marshal(protocol.PlanAnswer{Decision: d, Feedback: feedback})
	if err != nil {
		panic(err)
	}
	return data
}

func TestAnApprovedPlanIsCarriedOut(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api, Attended: true}, `{"if":{"user":"^hello"},"do":[{"text":"hello"}]}`, present, carry, `{"again":true,"do":[{"text":"done"}]}`)
			e := w.Begin(true)
			e.Say("hello")
			if strings.Contains(w.LastRequest(), "ExitPlanMode") {
				t.Error("outside of plan mode the tool is offered")
			}
			e.Mode("plan")
			e.Send("plan it")
			q := e.Plan(1)
			if q.Data.Text != "1. Write b." || q.Data.ToolCallID == "" {
				t.Errorf("the question: %+v", q.Data)
			}
			other := w.Open(w.Connect(true), e.ID)
			if ui := other.S.Live.UI; len(ui) != 1 || ui[0].UIID != q.UIID {
				t.Errorf("a newcomer sees %+v", ui)
			}
			hosttest.Refused(t, e.C, e.ID, &protocol.AnswerUI{UIID: q.UIID, Value: json.RawMessage(`{"decision":"perhaps"}`)}, protocol.CodeInvalidRequest)
			hosttest.Call[*protocol.Done](t, other.C, e.ID, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanAcceptEdits, "use b")})
			hosttest.Refused(t, e.C, e.ID, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanRevise, "")}, protocol.CodeConflict)
			e.Events = nil
			if end := e.End(); end.Terminal != protocol.TerminalCompleted || w.Read("b.txt") != "x" {
				t.Errorf("end: %+v\n%s", end, e.Trace())
			}
			if e.S.Live.Mode != "acceptEdits" || len(e.S.Live.UI) != 0 {
				t.Errorf("mode %q, open %+v", e.S.Live.Mode, e.S.Live.UI)
			}
			last := w.LastRequest()
			if n := strings.Count(last, "Plan mode is on"); n != 1 || !strings.Contains(last, "The person says: use b") {
				t.Errorf("it is told %d times that plan mode is on: %s", n, last)
			}
			e.Say("hello again")
			if last := w.LastRequest(); strings.Count(last, "Plan mode is over: what") != 1 {
				t.Errorf("that it has ended is told: %s", last)
			}
			w.Judged()
		})
	}
}

func TestTheModeFromBeforeAPlanComesBack(t *testing.T) {
	for _, c := range []struct {
		name, config, before, want string
	}{
		{"what people had set", "", "acceptEdits", "acceptEdits"},
		{"the configuration's", "[permissions]\nmode = \"dontAsk\"", "", "dontAsk"},
		{"the default where plan mode is the configuration's", "[permissions]\nmode = \"plan\"", "", "default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Attended: true, Tables: c.config}, present, `{"again":true,"do":[{"text":"done"}]}`)
			e := w.Begin(true)
			if c.before != "" {
				e.Mode(c.before)
			}
			w.Restart() // it is known of an earlier host, too
			e = w.Open(w.Connect(true), e.ID)
			if !strings.Contains(c.config, "plan") {
				e.Mode("plan")
			}
			e.Send("plan it")
			q := e.Plan(1)
			hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanApprove, "")})
			e.End()
			if e.S.Live.Mode != c.want {
				t.Errorf("behind the plan the mode is %q, want %q", e.S.Live.Mode, c.want)
			}
		})
	}
}

func TestAPlanThatIsNotApprovedKeepsPlanMode(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, present,
		`{"if":{"result":"says: smaller"},"do":[{"call":"ExitPlanMode","id":"p2","input":{"plan":"1. Nothing."}}]}`,
		`{"if":{"result":"closed the plan"},"do":[{"call":"Write","id":"w1","input":{"path":"b.txt","content":"x"}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(true)
	e.Mode("plan")
	e.Send("plan it")
	q := e.Plan(1)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanRevise, "smaller")})
	q = e.Plan(2)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: q.UIID, Value: json.RawMessage("null")})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	if m := e.LastResult(); !m.IsError || !strings.Contains(m.PlainText(), "Plan mode") || e.S.Live.Mode != "plan" {
		t.Errorf("a write in plan mode gives %+v, the mode is %q", m, e.S.Live.Mode)
	}
	w.Judged()
}

func TestWhereNobodyIsTheModelIsToldToAnswerWithItsPlan(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "plan"}}, present, `{"if":{"result":"nobody here who could approve.*acceptEdits"},"do":[{"text":"My plan is 1."}]}`)
	e := w.Begin(false)
	if end := e.Say("plan it"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	if m := e.LastResult(); !m.IsError {
		t.Errorf("%+v", m)
	}
	w.Judged()
}

func TestAPersonEndsPlanModeWithoutAPlan(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(true)
	e.Mode("plan")
	e.Say("one")
	e.Mode("default")
	e.Say("two")
	e.Say("three")
	if last := w.LastRequest(); strings.Count(last, "Plan mode is on") != 1 || strings.Count(last, "Plan mode is over") != 1 || strings.Contains(last, `"ExitPlanMode"`) {
		t.Errorf("the model is told: %s", last)
	}
	all := w.Bodies()
	hosttest.Extends(t, "behind plan mode", all[1], all[2])
}

func TestAnEntryThatMayOnlyAnswerApprovesNoPlan(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{}, present, `{"again":true,"do":[{"text":"done"}]}`)
	c := w.Plug("works", false, protocol.GrantControl)
	b := w.Plug("person", true, protocol.GrantAnswer)
	id := c.NewSession()
	c.Open(id, nil, 0)
	b.Open(id, nil, 0)
	c.Do(id, &protocol.SetMode{Mode: "plan"})
	c.Do(id, &protocol.SendMessage{Content: hosttest.Text("plan it")})
	var q *protocol.UIRequest
	b.Until(func(e protocol.Event) bool {
		r, ok := e.Body.(*protocol.UIRequest)
		q = r
		return ok
	})
	for _, d := range []protocol.PlanDecision{protocol.PlanApprove, protocol.PlanAcceptEdits} {
		if _, err := b.Try(id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(d, "")}); err == nil || err.Code != protocol.CodeForbidden {
			t.Errorf("%s: %v", d, err)
		}
	}
	b.Do(id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanRevise, "no")})
	c.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
}
