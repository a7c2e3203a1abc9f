package library_test

import (
	"encoding/json"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const sameStep = `{"again":true,"do":[{"call":"Glob","input":{"pattern":"*"}}]}`

func TestPeopleAreAskedWhetherAModelThatRepeatsItselfGoesOn(t *testing.T) {
	for value, want := range map[string]int{`"Stop"`: 5, `null`: 5, `"Go on"`: 10} {
		t.Run(value, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Attended: true}, sameStep)
			e := w.Begin(true)
			e.Send("go")
			d := e.Dialog()
			if d.Data.Kind != protocol.DialogSelect || len(d.Data.Options) != 2 {
				t.Errorf("%+v", d)
			}
			hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(value)})
			if value == `"Go on"` {
				e.Until(hosttest.OfType(protocol.TypeUIResolved))
				e.Events = nil
				again := *e.Until(hosttest.OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
				hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: again.UIID, Value: json.RawMessage(`"Stop"`)})
			}
			if end := e.End(); end.Terminal != protocol.TerminalLoop || end.Error == nil || end.Error.Code != protocol.CodeLoop {
				t.Errorf("end: %+v %v", end, end.Error)
			}
			steps := 0
			for _, m := range e.Messages() {
				if m.Role == protocol.RoleAssistant && !m.IsFailure() {
					steps++
				}
			}
			if steps != want {
				t.Errorf("%d steps", steps)
			}
		})
	}
}

func TestAQuestionAboutRepetitionEndsWithItsTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, sameStep)
	e := w.Begin(true)
	turn := e.Send("go")
	d := e.Dialog()
	hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
	if end := e.End(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("end: %+v %v", end, end.Error)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`"Go on"`)}, protocol.CodeConflict)
}
