package host_test

import (
	"encoding/json"
	"testing"

	"scorel/protocol"
)

const sameStep = `{"again":true,"do":[{"call":"Glob","input":{"pattern":"*"}}]}`

func TestPeopleAreAskedWhetherAModelThatRepeatsItselfGoesOn(t *testing.T) {
	for value, want := range map[string]int{`"Stop"`: 5, `null`: 5, `"Go on"`: 10} {
		t.Run(value, func(t *testing.T) {
			w := newWorld(t, setting{attended: true}, sameStep)
			e := w.begin(true)
			e.send("go")
			d := e.dialog()
			if d.Data.Kind != protocol.DialogSelect || len(d.Data.Options) != 2 {
				t.Errorf("%+v", d)
			}
			call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(value)})
			if value == `"Go on"` {
				e.until(ofType(protocol.TypeUIResolved))
				e.events = nil
				again := *e.until(ofType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
				call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: again.UIID, Value: json.RawMessage(`"Stop"`)})
			}
			if end := e.end(); end.Terminal != protocol.TerminalLoop || end.Error == nil || end.Error.Code != protocol.CodeLoop {
				t.Errorf("end: %+v %v", end, end.Error)
			}
			steps := 0
			for _, m := range e.messages() {
				if m.Role == protocol.RoleAssistant {
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
	w := newWorld(t, setting{attended: true}, sameStep)
	e := w.begin(true)
	turn := e.send("go")
	d := e.dialog()
	call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
	if end := e.end(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("end: %+v %v", end, end.Error)
	}
	refused(t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`"Go on"`)}, protocol.CodeConflict)
}
