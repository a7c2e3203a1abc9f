package turnconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestLimitsEndATurnWithEveryCallAnswered(t *testing.T) {
	const step = `{"again":true,"do":[{"call":"Read","input":{"path":"a.txt"}}],"usage":{"inputTokens":1000000,"outputTokens":10}}`
	const goOn = `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`
	price := "price = { input = 0.5, output = 1.0 }"
	for _, c := range []struct {
		name     string
		setting  hosttest.Setting
		lines    []string
		terminal protocol.Terminal
		requests int
		result   string // in the last result
	}{
		{"steps", hosttest.Setting{Overrides: host.Overrides{MaxSteps: 3}}, []string{goOn, step}, protocol.TerminalMaxSteps, 3, "hello"},
		{"cost", hosttest.Setting{Overrides: host.Overrides{MaxBudgetUSD: 1.2}, Tables: price}, []string{goOn, step}, protocol.TerminalBudget, 3, "cost limit"},
		{"cost, of which the configuration's limit is lower", hosttest.Setting{Overrides: host.Overrides{MaxBudgetUSD: 100}, Tables: price + "\n[limits]\nmaxBudgetUSD = 1.2"}, []string{goOn, step}, protocol.TerminalBudget, 3, "cost limit"},
		{"cost, of which the run's limit is lower", hosttest.Setting{Overrides: host.Overrides{MaxBudgetUSD: 1.2}, Tables: price + "\n[limits]\nmaxBudgetUSD = 100"}, []string{goOn, step}, protocol.TerminalBudget, 3, "cost limit"},
		{"tokens", hosttest.Setting{Overrides: host.Overrides{MaxTokens: 2_000_015}}, []string{goOn, step}, protocol.TerminalBudget, 2, "token limit"},
		{"time", hosttest.Setting{Overrides: host.Overrides{MaxMinutes: 1e-9}, Tables: "[limits]\nmaxTurnMinutes = 60"}, []string{goOn, step}, protocol.TerminalBudget, 0, ""},
		{"time, of which the configuration's limit is lower", hosttest.Setting{Overrides: host.Overrides{MaxMinutes: 60}, Tables: "[limits]\nmaxTurnMinutes = 1e-9"}, []string{goOn, step}, protocol.TerminalBudget, 0, ""},
		{"refusal", hosttest.Setting{}, []string{`{"do":[{"text":"No."},{"call":"Read","input":{"path":"a.txt"}}],"stop":"refusal"}`, goOn}, protocol.TerminalRefused, 1, "refused to go on"},
	} {
		for _, api := range hosttest.APIs() {
			t.Run(c.name+"/"+api, func(t *testing.T) {
				s := c.setting
				s.API, s.Window = api, 4_000_000 // the usage says a million
				w := hosttest.New(t, s, c.lines...)
				w.File("a.txt", "hello\n")
				e := w.Begin(false)
				end := e.Say("work")
				if end.Terminal != c.terminal || end.Reason != protocol.EndCompleted || end.Error == nil || end.Error.Message == "" {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.Trace())
				}
				if w.Server.Count() != c.requests {
					t.Errorf("%d requests, want %d", w.Server.Count(), c.requests)
				}
				m := e.Messages()
				hosttest.Paired(t, m)
				if c.requests == 0 { // nothing was asked, and nothing will be
					return
				}
				if last := m[len(m)-1]; c.terminal != protocol.TerminalRefused { // of which the answer tells
					if !last.IsFailure() || last.ErrorMessage != end.Error.Message {
						t.Errorf("the log does not say why the turn has ended: %+v", last)
					}
					m = m[:len(m)-1]
				}
				if last := m[len(m)-1]; last.Role != protocol.RoleToolResult || !strings.Contains(last.PlainText(), c.result) {
					t.Errorf("the last message: %+v", last)
				}
				if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
					t.Errorf("the next turn: %+v %+v", end, end.Error)
				}
				w.Judged()
			})
		}
	}
}

func TestCallsThatCannotRunSayWhatWasWrong(t *testing.T) {
	for _, c := range []struct{ name, call, want string }{
		{"unknown tool", `{"call":"Delete","id":"c1","input":{}}`, `no tool named "Delete"`},
		{"input that is not JSON", `{"call":"Read","id":"c1","raw":"{\"path\": a.txt}"}`, "not a valid JSON object"},
		{"input that lacks a field", `{"call":"Read","id":"c1","input":{}}`, "path"},
		{"input with a field too many", `{"call":"Read","id":"c1","input":{"path":"a.txt","colour":"red"}}`, "colour"},
		{"input of another type", `{"call":"Read","id":"c1","input":{"path":7}}`, "schema of Read"},
		{"input that is not an object", `{"call":"Read","id":"c1","raw":"[1]"}`, "not a valid JSON object"},
	} {
		for _, api := range hosttest.APIs() {
			if hosttest.Whole(api) && strings.Contains(c.call, `"raw"`) {
				continue
			}
			t.Run(c.name+"/"+api, func(t *testing.T) {
				w := hosttest.New(t, hosttest.Setting{API: api}, `{"do":[`+c.call+`]}`, `{"do":[{"text":"I see."}]}`)
				w.File("a.txt", "hello\n")
				e := w.Begin(false)
				if end := e.Say("look"); end.Terminal != protocol.TerminalCompleted {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.Trace())
				}
				hosttest.Paired(t, e.Messages())
				if got := e.Results()["c1"]; !got.IsError || !strings.Contains(got.PlainText(), c.want) {
					t.Errorf("the result: %+v", got)
				}
				w.Judged()
			})
		}
	}
}

func TestRepeatedAndMissingCallIDsAreMadeDistinct(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			bad, said := `"raw":"{no"`, "not a valid JSON object"
			if hosttest.Whole(api) {
				bad, said = `"input":{"path":7}`, "schema of Read"
			}
			w := hosttest.New(t, hosttest.Setting{API: api},
				`{"do":[{"call":"Read","id":"same","input":{"path":"a.txt"}},{"call":"Read","id":"same",`+bad+`},{"call":"Read","id":"same","input":{"path":"b.txt"}}]}`,
				`{"do":[{"text":"done"}]}`)
			w.File("a.txt", "aaa\n")
			w.File("b.txt", "bbb\n")
			e := w.Begin(false)
			if end := e.Say("look"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.Trace())
			}
			m := e.Messages()
			hosttest.Paired(t, m)
			calls := m[1].Calls()
			if len(calls) != 3 || calls[0].ID == calls[1].ID || calls[1].ID == calls[2].ID || calls[0].ID == calls[2].ID {
				t.Fatalf("calls: %+v", calls)
			}
			r := e.Results()
			for i, want := range []string{"aaa", said, "bbb"} {
				if got := r[calls[i].ID].PlainText(); !strings.Contains(got, want) {
					t.Errorf("the result of call %d: %q, want %q", i, got, want)
				}
			}
			w.Judged()
		})
	}
}

func TestReadsOfOneMessageRunSideBySideAndAnswerInOrder(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			var calls []string
			for i := range 12 {
				calls = append(calls, fmt.Sprintf(`{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}}`, i, i))
			}
			w := hosttest.New(t, hosttest.Setting{API: api}, `{"do":[`+strings.Join(calls, ",")+`]}`, `{"do":[{"text":"done"}]}`)
			for i := range 12 {
				w.File(fmt.Sprintf("f%d.txt", i), fmt.Sprintf("file %d\n", i))
			}
			e := w.Begin(false)
			if end := e.Say("look"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.Trace())
			}
			hosttest.Paired(t, e.Messages())
			started, ended, first := 0, 0, -1
			for _, ev := range e.Events {
				switch ev.Type {
				case protocol.TypeToolExecutionStart:
					started++
				case protocol.TypeToolExecutionEnd:
					if ended++; first < 0 {
						first = started
					}
				}
			}
			if started != 12 || ended != 12 || first < 2 {
				t.Errorf("%d started, %d ended, %d before the first end", started, ended, first)
			}
			for i := range 12 {
				if got := e.Results()[fmt.Sprintf("c%d", i)].PlainText(); !strings.Contains(got, fmt.Sprintf("file %d", i)) {
					t.Errorf("the result of call %d: %q", i, got)
				}
			}
			w.Judged()
		})
	}
}

func TestAnEmptyAnswerEndsTheTurnAndSpoilsNothing(t *testing.T) {
	for _, api := range hosttest.APIs() {
		for name, do := range map[string]string{"nothing at all": "", "white space": `{"text":"  \n"}`, "an empty text": `{"text":""}`} {
			t.Run(api+"/"+name, func(t *testing.T) {
				w := hosttest.New(t, hosttest.Setting{API: api}, `{"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}]}`, `{"do":[`+do+`]}`, `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`)
				w.File("a.txt", "hello\n")
				e := w.Begin(false)
				if end := e.Say("look"); end.Terminal != protocol.TerminalCompleted {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.Trace())
				}
				e.Announced()
				if m := e.Messages(); len(m) != 3 {
					t.Errorf("stored: %+v", m)
				}
				if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
					t.Errorf("the next turn: %+v", end)
				}
				hosttest.Paired(t, e.Messages())
				w.Judged()
			})
		}
	}
}

// TestARefusalWithoutAWordIsInTheLog: the answer that would say so has nothing to store.
func TestARefusalWithoutAWordIsInTheLog(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[],"stop":"refusal"}`, `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`)
	e := w.Begin(false)
	if end := e.Say("work"); end.Terminal != protocol.TerminalRefused {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	m := e.Messages()
	if last := m[len(m)-1]; !last.IsFailure() || last.StopReason != protocol.StopRefusal || last.ErrorMessage != protocol.ModelRefused {
		t.Errorf("the last message: %+v", last)
	}
	if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("the next turn: %+v %+v", end, end.Error)
	}
}
