package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/protocol"
)

const askTwo = `{"do":[{"call":"AskUser","id":"c1","input":{"questions":[` +
	`{"question":"Which base?","header":"Base","options":[{"label":"main"},{"label":"next","description":"what comes"}]},` +
	`{"question":"What else?","multiple":true,"options":[{"label":"tests"},{"label":"docs"}]}]}}]}`

// dialog waits for a dialog.
func (e *entry) dialog() protocol.UIRequest {
	e.w.t.Helper()
	return *e.until(ofType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
}

func TestAQuestionIsAnsweredByLabelsAndWords(t *testing.T) {
	for _, c := range []struct{ name, value, result string }{
		{"labels", `["main",["tests","docs"]]`, `(?s)Which base\\?\\nAnswer: main\\n.*Answer: tests\\nAnswer: docs$`},
		{"words", `["the old one",["docs","and a film"]]`, `(?s)Answer in own words: the old one\\n.*Answer: docs\\nAnswer in own words: and a film$`},
		{"one left open", `[["next"],[]]`, `(?s)Answer: next\\n.*What else\\?\\nLeft open.$`},
		{"closed", `null`, `^The person closed the questions`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setting{attended: true}, askTwo, `{"if":{"result":"`+c.result+`"},"do":[{"text":"thanks"}]}`)
			e := w.begin(true)
			e.send("ask")
			d := e.dialog()
			if d.Data.Kind != protocol.DialogQuestion || d.Data.ToolCallID != "c1" || len(d.Data.Questions) != 2 || !d.Data.Questions[1].Multiple {
				t.Errorf("%+v", d)
			}
			call[*protocol.Done](t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(c.value)})
			if end := e.end(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
			}
			for _, m := range e.messages() {
				var d struct {
					Asked []struct{ Question string }
				}
				if m.Role == protocol.RoleToolResult && (m.IsError || json.Unmarshal(m.Details, &d) != nil || len(d.Asked) != 2 || d.Asked[0].Question != "Which base?") {
					t.Errorf("%+v", m)
				}
			}
			w.judged()
		})
	}
}

func TestTheFirstOfTwoAnswersToADialogCounts(t *testing.T) {
	w := newWorld(t, setting{attended: true}, askTwo, `{"if":{"result":"Answer: next"},"do":[{"text":"thanks"}]}`)
	e := w.begin(true)
	e.send("ask")
	d := e.dialog()
	late := w.open(w.connect(true), e.id)
	if len(late.s.Live.UI) != 1 || late.s.Live.UI[0].UIID != d.UIID || len(late.s.Live.UI[0].Data.Questions) != 2 {
		t.Fatalf("who comes in mid-turn sees %+v", late.s.Live.UI)
	}
	// What does not fit leaves the question open.
	for _, value := range []string{`["main"]`, `[["main","next"],[]]`, `{"a":1}`, `["` + strings.Repeat("x", protocol.MaxAnswer+1) + `",[]]`} {
		refused(t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(value)}, protocol.CodeInvalidRequest)
	}
	refused(t, e.c, e.id, &protocol.AnswerPermission{PermissionID: protocol.PermissionID(d.UIID)}, protocol.CodeInvalidRequest)
	call[*protocol.Done](t, late.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`["next",[]]`)})
	refused(t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`["main",[]]`)}, protocol.CodeConflict)
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	resolved := 0
	for _, ev := range e.events {
		if b, ok := ev.Body.(*protocol.UIResolved); ok {
			resolved++
			if b.Decision != "" || ev.ClientID == protocol.HostClient {
				t.Errorf("%+v by %s", b, ev.ClientID)
			}
		}
	}
	if resolved != 1 || len(e.s.Live.UI) != 0 {
		t.Errorf("resolved %d times, %d still open", resolved, len(e.s.Live.UI))
	}
}

func TestADialogThatNobodyAnswersIsResolved(t *testing.T) {
	for _, c := range []struct {
		name     string
		set      setting
		client   bool // interactive
		result   string
		cancel   bool
		decision protocol.Decision
	}{
		{"nobody to ask", setting{}, false, "nobody to ask", false, protocol.DecisionExpired},
		{"nobody in time", setting{attended: true, config: "[permissions]\ntimeoutMs = 1"}, true, "nobody answered in time", false, protocol.DecisionExpired},
		{"cancelled", setting{attended: true}, true, "", true, protocol.DecisionCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.set, askTwo, `{"if":{"result":"`+c.result+`"},"do":[{"text":"without it"}]}`)
			e := w.begin(c.client)
			turn := e.send("ask")
			d := e.dialog()
			want := protocol.TerminalCompleted
			if c.cancel {
				call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
				want = protocol.TerminalCancelled
			}
			if end := e.end(); end.Terminal != want {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			r := e.until(ofType(protocol.TypeUIResolved))
			if b := r.Body.(*protocol.UIResolved); b.UIID != d.UIID || b.Decision != c.decision || r.ClientID != protocol.HostClient {
				t.Errorf("%+v by %s", b, r.ClientID)
			}
			refused(t, e.c, e.id, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`null`)}, protocol.CodeConflict)
			paired(t, e.messages())
		})
	}
}

func TestReadingOutputAndAskingArePossibleInPlanMode(t *testing.T) {
	w := newWorld(t, setting{attended: true}, `{"do":[{"call":"TaskOutput","id":"c1","input":{"task_id":"task_x"}},{"call":"TaskStop","id":"c2","input":{"task_id":"task_x"}},{"call":"Bash","id":"c3","input":{"command":"sleep 9","run_in_background":true}}]}`,
		`{"do":[{"text":"the plan"}]}`)
	e := w.begin(true)
	call[*protocol.Done](t, e.c, e.id, &protocol.SetMode{Mode: "plan"})
	e.say("plan")
	var got []string
	for _, m := range e.messages() {
		if m.Role == protocol.RoleToolResult {
			got = append(got, m.PlainText())
		}
	}
	if len(got) != 3 || !strings.Contains(got[0], "no such background command") || !strings.Contains(got[1], "Plan mode") || !strings.Contains(got[2], "Plan mode") {
		t.Errorf("%q", got)
	}
}
