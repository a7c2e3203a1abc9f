package turns_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const askTwo = `{"do":[{"call":"AskUser","id":"c1","input":{"questions":[` +
	`{"question":"Which base?","header":"Base","options":[{"label":"main"},{"label":"next","description":"what comes"}]},` +
	`{"question":"What else?","multiple":true,"options":[{"label":"tests"},{"label":"docs"}]}]}}]}`

func TestAQuestionIsAnsweredByLabelsAndWords(t *testing.T) {
	for _, c := range []struct{ name, value, result string }{
		{"labels", `["main",["tests","docs"]]`, `(?s)Which base\\?\\nAnswer: main\\n.*Answer: tests\\nAnswer: docs$`},
		{"words", `["the old one",["docs","and a film"]]`, `(?s)Answer in own words: the old one\\n.*Answer: docs\\nAnswer in own words: and a film$`},
		{"one left open", `[["next"],[]]`, `(?s)Answer: next\\n.*What else\\?\\nLeft open.$`},
		{"closed", `null`, `^The person closed the questions`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Attended: true}, askTwo, `{"if":{"result":"`+c.result+`"},"do":[{"text":"thanks"}]}`)
			e := w.Begin(true)
			e.Send("ask")
			d := e.Dialog()
			if d.Data.Kind != protocol.DialogQuestion || d.Data.ToolCallID != "c1" || len(d.Data.Questions) != 2 || !d.Data.Questions[1].Multiple {
				t.Errorf("%+v", d)
			}
			hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(c.value)})
			if end := e.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
			}
			for _, m := range e.Messages() {
				var d struct {
					Asked []struct{ Question string }
				}
				if m.Role == protocol.RoleToolResult && (m.IsError || json.Unmarshal(m.Details, &d) != nil || len(d.Asked) != 2 || d.Asked[0].Question != "Which base?") {
					t.Errorf("%+v", m)
				}
			}
			w.Judged()
		})
	}
}

func TestTheFirstOfTwoAnswersToADialogCounts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, askTwo, `{"if":{"result":"Answer: next"},"do":[{"text":"thanks"}]}`)
	e := w.Begin(true)
	e.Send("ask")
	d := e.Dialog()
	late := w.Open(w.Connect(true), e.ID)
	if len(late.S.Live.UI) != 1 || late.S.Live.UI[0].UIID != d.UIID || len(late.S.Live.UI[0].Data.Questions) != 2 {
		t.Fatalf("who comes in mid-turn sees %+v", late.S.Live.UI)
	}
	// What does not fit leaves the question open.
	for _, value := range []string{`["main"]`, `[["main","next"],[]]`, `{"a":1}`, `["` + strings.Repeat("x", protocol.MaxAnswer+1) + `",[]]`} {
		hosttest.Refused(t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(value)}, protocol.CodeInvalidRequest)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: protocol.PermissionID(d.UIID)}, protocol.CodeInvalidRequest)
	hosttest.Call[*protocol.Done](t, late.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`["next",[]]`)})
	hosttest.Refused(t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`["main",[]]`)}, protocol.CodeConflict)
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	resolved := 0
	for _, ev := range e.Events {
		if b, ok := ev.Body.(*protocol.UIResolved); ok {
			resolved++
			if b.Decision != "" || ev.ClientID == protocol.HostClient {
				t.Errorf("%+v by %s", b, ev.ClientID)
			}
		}
	}
	if resolved != 1 || len(e.S.Live.UI) != 0 {
		t.Errorf("resolved %d times, %d still open", resolved, len(e.S.Live.UI))
	}
}

func TestADialogThatNobodyAnswersIsResolved(t *testing.T) {
	for _, c := range []struct {
		name     string
		set      hosttest.Setting
		client   bool // interactive
		result   string
		cancel   bool
		decision protocol.Decision
	}{
		{"nobody to ask", hosttest.Setting{}, false, "nobody to ask", false, protocol.DecisionExpired},
		{"nobody in time", hosttest.Setting{Attended: true, Config: "[permissions]\ntimeoutMs = 1"}, true, "nobody answered in time", false, protocol.DecisionExpired},
		{"cancelled", hosttest.Setting{Attended: true}, true, "", true, protocol.DecisionCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hosttest.New(t, c.set, askTwo, `{"if":{"result":"`+c.result+`"},"do":[{"text":"without it"}]}`)
			e := w.Begin(c.client)
			turn := e.Send("ask")
			d := e.Dialog()
			want := protocol.TerminalCompleted
			if c.cancel {
				hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
				want = protocol.TerminalCancelled
			}
			if end := e.End(); end.Terminal != want {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			r := e.Until(hosttest.OfType(protocol.TypeUIResolved))
			if b := r.Body.(*protocol.UIResolved); b.UIID != d.UIID || b.Decision != c.decision || r.ClientID != protocol.HostClient {
				t.Errorf("%+v by %s", b, r.ClientID)
			}
			hosttest.Refused(t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(`null`)}, protocol.CodeConflict)
			hosttest.Paired(t, e.Messages())
		})
	}
}

func TestReadingOutputAndAskingArePossibleInPlanMode(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"do":[{"call":"TaskOutput","id":"c1","input":{"task_id":"task_x"}},{"call":"TaskStop","id":"c2","input":{"task_id":"task_x"}},{"call":"Bash","id":"c3","input":{"command":"sleep 9","run_in_background":true}}]}`,
		`{"do":[{"text":"the plan"}]}`)
	e := w.Begin(true)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetMode{Mode: "plan"})
	e.Say("plan")
	var got []string
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleToolResult {
			got = append(got, m.PlainText())
		}
	}
	if len(got) != 3 || !strings.Contains(got[0], "no such background command") || !strings.Contains(got[1], "Plan mode") || !strings.Contains(got[2], "Plan mode") {
		t.Errorf("%q", got)
	}
}

func TestAProposalToPlanTurnsPlanModeOnWithAYesOnly(t *testing.T) {
	const propose = `{"if":{"user":"^start"},"do":[{"call":"EnterPlanMode","id":"c1","input":{"reason":"Two designs are possible."}}]}`
	write := `{"if":{"result":"XX"},"do":[{"call":"Write","id":"c2","input":{"path":"x","content":"x"}}]}`
	for _, c := range []struct {
		name, value, result string
		plans, attended     bool
	}{
		{"yes", "true", "plan mode is on", true, true},
		{"no", "false", "wants no plan", false, true},
		{"closed", "null", "wants no plan", false, true},
		{"nobody", "", "nobody here who could be asked", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Attended: c.attended, Config: "[permissions]\nmode = \"bypassPermissions\"\n"}, propose,
				strings.Replace(write, "XX", c.result, 1), `{"again":true,"do":[{"text":"done"}]}`)
			e := w.Begin(c.attended)
			e.Send("start")
			if c.attended {
				d := e.Dialog()
				if d.Data.Kind != protocol.DialogConfirm || d.Data.ToolCallID != "c1" || !strings.HasPrefix(d.Data.Message, "Two designs are possible.") {
					t.Errorf("%+v", d.Data)
				}
				hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(c.value)})
			}
			if end := e.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
			}
			var wrote *protocol.Message
			for _, m := range e.Messages() {
				if m.ToolCallID == "c2" {
					wrote = &m
				}
			}
			if wrote == nil {
				t.Fatalf("the result is another one:\n%s", e.Trace())
			}
			if denied := wrote.IsError; denied != c.plans {
				t.Errorf("a Write in the same turn: %s", wrote.PlainText())
			}
			for _, r := range w.Server.Requests() {
				if names := strings.Count(string(r.Body), `"name":"ExitPlanMode"`); names != 0 {
					t.Error("the tools of the turn changed in its middle")
				}
			}
			w.Judged()
		})
	}
}
