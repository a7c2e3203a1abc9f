package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/protocol"
)

const (
	present = `{"if":{"user":"^plan"},"do":[{"call":"ExitPlanMode","id":"p1","input":{"plan":"1. Write b."}}]}`
	carry   = `{"if":{"result":"approved the plan"},"do":[{"call":"Write","id":"w1","input":{"path":"b.txt","content":"x"}}]}`
)

// plan waits for the question about a plan.
func (e *entry) plan(n int) protocol.UIRequest {
	e.w.t.Helper()
	var found *protocol.UIRequest
	e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.UIRequest)
		if ok && b.Data.Kind == protocol.DialogPlan {
			n--
			found = b
		}
		return found != nil && n == 0
	})
	return *found
}

func answerPlan(d protocol.PlanDecision, feedback string) json.RawMessage {
	data, err := json.Marshal(protocol.PlanAnswer{Decision: d, Feedback: feedback})
	if err != nil {
		panic(err)
	}
	return data
}

func (e *entry) mode(mode string) {
	e.w.t.Helper()
	call[*protocol.Done](e.w.t, e.c, e.id, &protocol.SetMode{Mode: mode})
}

func TestAnApprovedPlanIsCarriedOut(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api, attended: true}, `{"if":{"user":"^hello"},"do":[{"text":"hello"}]}`, present, carry, `{"again":true,"do":[{"text":"done"}]}`)
			e := w.begin(true)
			e.say("hello")
			if strings.Contains(w.lastRequest(), "ExitPlanMode") {
				t.Error("outside of plan mode the tool is offered")
			}
			e.mode("plan")
			e.send("plan it")
			q := e.plan(1)
			if q.Data.Text != "1. Write b." || q.Data.ToolCallID == "" {
				t.Errorf("the question: %+v", q.Data)
			}
			other := w.open(w.connect(true), e.id)
			if ui := other.s.Live.UI; len(ui) != 1 || ui[0].UIID != q.UIID {
				t.Errorf("a newcomer sees %+v", ui)
			}
			refused(t, e.c, e.id, &protocol.AnswerUI{UIID: q.UIID, Value: json.RawMessage(`{"decision":"perhaps"}`)}, protocol.CodeInvalidRequest)
			call[*protocol.Done](t, other.c, e.id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanAcceptEdits, "use b")})
			refused(t, e.c, e.id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanRevise, "")}, protocol.CodeConflict)
			e.events = nil
			if end := e.end(); end.Terminal != protocol.TerminalCompleted || w.read("b.txt") != "x" {
				t.Errorf("end: %+v\n%s", end, e.trace())
			}
			if e.s.Live.Mode != "acceptEdits" || len(e.s.Live.UI) != 0 {
				t.Errorf("mode %q, open %+v", e.s.Live.Mode, e.s.Live.UI)
			}
			last := w.lastRequest()
			if n := strings.Count(last, "Plan mode is on"); n != 1 || !strings.Contains(last, "The person says: use b") {
				t.Errorf("it is told %d times that plan mode is on: %s", n, last)
			}
			e.say("hello again")
			if last := w.lastRequest(); strings.Count(last, "Plan mode is over: what") != 1 {
				t.Errorf("that it has ended is told: %s", last)
			}
			w.judged()
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
			w := newWorld(t, setting{attended: true, tables: c.config}, present, `{"again":true,"do":[{"text":"done"}]}`)
			e := w.begin(true)
			if c.before != "" {
				e.mode(c.before)
			}
			w.restart() // it is known of an earlier host, too
			e = w.open(w.connect(true), e.id)
			if !strings.Contains(c.config, "plan") {
				e.mode("plan")
			}
			e.send("plan it")
			q := e.plan(1)
			call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanApprove, "")})
			e.end()
			if e.s.Live.Mode != c.want {
				t.Errorf("behind the plan the mode is %q, want %q", e.s.Live.Mode, c.want)
			}
		})
	}
}

func TestAPlanThatIsNotApprovedKeepsPlanMode(t *testing.T) {
	w := newWorld(t, setting{attended: true}, present,
		`{"if":{"result":"says: smaller"},"do":[{"call":"ExitPlanMode","id":"p2","input":{"plan":"1. Nothing."}}]}`,
		`{"if":{"result":"closed the plan"},"do":[{"call":"Write","id":"w1","input":{"path":"b.txt","content":"x"}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.mode("plan")
	e.send("plan it")
	q := e.plan(1)
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanRevise, "smaller")})
	q = e.plan(2)
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: q.UIID, Value: json.RawMessage("null")})
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	if m := e.lastResult(); !m.IsError || !strings.Contains(m.PlainText(), "Plan mode") || e.s.Live.Mode != "plan" {
		t.Errorf("a write in plan mode gives %+v, the mode is %q", m, e.s.Live.Mode)
	}
	w.judged()
}

func TestWhereNobodyIsTheModelIsToldToAnswerWithItsPlan(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Mode: "plan"}}, present, `{"if":{"result":"nobody here who could approve.*acceptEdits"},"do":[{"text":"My plan is 1."}]}`)
	e := w.begin(false)
	if end := e.say("plan it"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	if m := e.lastResult(); !m.IsError {
		t.Errorf("%+v", m)
	}
	w.judged()
}

func TestAPersonEndsPlanModeWithoutAPlan(t *testing.T) {
	w := newWorld(t, setting{attended: true}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(true)
	e.mode("plan")
	e.say("one")
	e.mode("default")
	e.say("two")
	e.say("three")
	if last := w.lastRequest(); strings.Count(last, "Plan mode is on") != 1 || strings.Count(last, "Plan mode is over") != 1 || strings.Contains(last, `"ExitPlanMode"`) {
		t.Errorf("the model is told: %s", last)
	}
	all := w.bodies()
	extends(t, "behind plan mode", all[1], all[2])
}

func TestAnEntryThatMayOnlyAnswerApprovesNoPlan(t *testing.T) {
	w := servingWorld(t, setting{}, present, `{"again":true,"do":[{"text":"done"}]}`)
	c := w.plug("works", false, protocol.GrantControl)
	b := w.plug("person", true, protocol.GrantAnswer)
	id := c.newSession()
	c.open(id, nil, 0)
	b.open(id, nil, 0)
	c.do(id, &protocol.SetMode{Mode: "plan"})
	c.do(id, &protocol.SendMessage{Content: text("plan it")})
	var q *protocol.UIRequest
	b.until(func(e protocol.Event) bool {
		r, ok := e.Body.(*protocol.UIRequest)
		q = r
		return ok
	})
	for _, d := range []protocol.PlanDecision{protocol.PlanApprove, protocol.PlanAcceptEdits} {
		if _, err := b.try(id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(d, "")}); err == nil || err.Code != protocol.CodeForbidden {
			t.Errorf("%s: %v", d, err)
		}
	}
	b.do(id, &protocol.AnswerUI{UIID: q.UIID, Value: answerPlan(protocol.PlanRevise, "no")})
	c.until(ofType(protocol.TypeRuntimeEnd))
}
