package host_test

import (
	"fmt"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/protocol"
)

// results gives the texts of the results of the path, by call.
func (e *entry) results() map[string]protocol.Message {
	out := map[string]protocol.Message{}
	for _, m := range e.messages() {
		if m.Role == protocol.RoleToolResult {
			out[m.ToolCallID] = m
		}
	}
	return out
}

func TestLimitsEndATurnWithEveryCallAnswered(t *testing.T) {
	const step = `{"again":true,"do":[{"call":"Read","input":{"path":"a.txt"}}],"usage":{"inputTokens":1000000,"outputTokens":10}}`
	const goOn = `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`
	price := "price = { input = 0.5, output = 1.0 }"
	for _, c := range []struct {
		name     string
		setting  setting
		lines    []string
		terminal protocol.Terminal
		requests int
		result   string // in the last result
	}{
		{"steps", setting{overrides: host.Overrides{MaxSteps: 3}}, []string{goOn, step}, protocol.TerminalMaxSteps, 3, "hello"},
		{"cost", setting{overrides: host.Overrides{MaxBudgetUSD: 1.2}, tables: price}, []string{goOn, step}, protocol.TerminalBudget, 3, "cost limit"},
		{"refusal", setting{}, []string{`{"do":[{"text":"No."},{"call":"Read","input":{"path":"a.txt"}}],"stop":"refusal"}`, goOn}, protocol.TerminalRefused, 1, "refused to go on"},
	} {
		for _, api := range apis() {
			t.Run(c.name+"/"+api, func(t *testing.T) {
				s := c.setting
				s.api, s.window = api, 4_000_000 // the usage says a million
				w := newWorld(t, s, c.lines...)
				w.file("a.txt", "hello\n")
				e := w.begin(false)
				end := e.say("work")
				if end.Terminal != c.terminal || end.Reason != protocol.EndCompleted || end.Error == nil || end.Error.Message == "" {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.trace())
				}
				if w.server.Count() != c.requests {
					t.Errorf("%d requests, want %d", w.server.Count(), c.requests)
				}
				m := e.messages()
				paired(t, m)
				if last := m[len(m)-1]; last.Role != protocol.RoleToolResult || !strings.Contains(last.PlainText(), c.result) {
					t.Errorf("the last message: %+v", last)
				}
				if end := e.say("go on"); end.Terminal != protocol.TerminalCompleted {
					t.Errorf("the next turn: %+v %+v", end, end.Error)
				}
				w.judged()
			})
		}
	}
}

func TestCallsThatCannotRunSayWhatWasWrong(t *testing.T) {
	for _, c := range []struct{ name, call, want string }{
		{"unknown tool", `{"call":"Delete","id":"c1","input":{}}`, `no tool named "Delete"`},
		{"input that is no JSON", `{"call":"Read","id":"c1","raw":"{\"path\": a.txt}"}`, "not a valid JSON object"},
		{"input that lacks a field", `{"call":"Read","id":"c1","input":{}}`, "path"},
		{"input with a field too many", `{"call":"Read","id":"c1","input":{"path":"a.txt","colour":"red"}}`, "colour"},
		{"input of another type", `{"call":"Read","id":"c1","input":{"path":7}}`, "schema of Read"},
		{"input that is no object", `{"call":"Read","id":"c1","raw":"[1]"}`, "not a valid JSON object"},
	} {
		for _, api := range apis() {
			if whole(api) && strings.Contains(c.call, `"raw"`) {
				continue
			}
			t.Run(c.name+"/"+api, func(t *testing.T) {
				w := newWorld(t, setting{api: api}, `{"do":[`+c.call+`]}`, `{"do":[{"text":"I see."}]}`)
				w.file("a.txt", "hello\n")
				e := w.begin(false)
				if end := e.say("look"); end.Terminal != protocol.TerminalCompleted {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.trace())
				}
				paired(t, e.messages())
				if got := e.results()["c1"]; !got.IsError || !strings.Contains(got.PlainText(), c.want) {
					t.Errorf("the result: %+v", got)
				}
				w.judged()
			})
		}
	}
}

func TestRepeatedAndMissingCallIDsAreMadeDistinct(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			bad, said := `"raw":"{no"`, "not a valid JSON object"
			if whole(api) {
				bad, said = `"input":{"path":7}`, "schema of Read"
			}
			w := newWorld(t, setting{api: api},
				`{"do":[{"call":"Read","id":"same","input":{"path":"a.txt"}},{"call":"Read","id":"same",`+bad+`},{"call":"Read","id":"same","input":{"path":"b.txt"}}]}`,
				`{"do":[{"text":"done"}]}`)
			w.file("a.txt", "aaa\n")
			w.file("b.txt", "bbb\n")
			e := w.begin(false)
			if end := e.say("look"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.trace())
			}
			m := e.messages()
			paired(t, m)
			calls := m[1].Calls()
			if len(calls) != 3 || calls[0].ID == calls[1].ID || calls[1].ID == calls[2].ID || calls[0].ID == calls[2].ID {
				t.Fatalf("calls: %+v", calls)
			}
			r := e.results()
			for i, want := range []string{"aaa", said, "bbb"} {
				if got := r[calls[i].ID].PlainText(); !strings.Contains(got, want) {
					t.Errorf("the result of call %d: %q, want %q", i, got, want)
				}
			}
			w.judged()
		})
	}
}

func TestReadsOfOneMessageRunSideBySideAndAnswerInOrder(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			var calls []string
			for i := range 12 {
				calls = append(calls, fmt.Sprintf(`{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}}`, i, i))
			}
			w := newWorld(t, setting{api: api}, `{"do":[`+strings.Join(calls, ",")+`]}`, `{"do":[{"text":"done"}]}`)
			for i := range 12 {
				w.file(fmt.Sprintf("f%d.txt", i), fmt.Sprintf("file %d\n", i))
			}
			e := w.begin(false)
			if end := e.say("look"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.trace())
			}
			paired(t, e.messages())
			started, ended, first := 0, 0, -1
			for _, ev := range e.events {
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
				if got := e.results()[fmt.Sprintf("c%d", i)].PlainText(); !strings.Contains(got, fmt.Sprintf("file %d", i)) {
					t.Errorf("the result of call %d: %q", i, got)
				}
			}
			w.judged()
		})
	}
}

func TestAnEmptyAnswerEndsTheTurnAndSpoilsNothing(t *testing.T) {
	for _, api := range apis() {
		for name, do := range map[string]string{"nothing at all": "", "white space": `{"text":"  \n"}`, "an empty text": `{"text":""}`} {
			t.Run(api+"/"+name, func(t *testing.T) {
				w := newWorld(t, setting{api: api}, `{"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}]}`, `{"do":[`+do+`]}`, `{"if":{"user":"go on"},"do":[{"text":"Going on."}]}`)
				w.file("a.txt", "hello\n")
				e := w.begin(false)
				if end := e.say("look"); end.Terminal != protocol.TerminalCompleted {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.trace())
				}
				e.announced()
				if m := e.messages(); len(m) != 3 {
					t.Errorf("stored: %+v", m)
				}
				if end := e.say("go on"); end.Terminal != protocol.TerminalCompleted {
					t.Errorf("the next turn: %+v", end)
				}
				paired(t, e.messages())
				w.judged()
			})
		}
	}
}
