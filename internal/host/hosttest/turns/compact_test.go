package turns_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAFailureInACompactionIsRecoveredFromLikeAnyOther(t *testing.T) {
	for _, api := range hosttest.APIs() {
		for _, c := range []struct {
			name     string
			lines    []string
			terminal protocol.Terminal
			waits    int
		}{
			{"overloaded once", []string{`{"if":{"kind":"compact"},"do":[{"error":{"status":529}}]}`, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`}, protocol.TerminalCompleted, 1},
			{"cut once", []string{`{"if":{"kind":"compact"},"do":[{"text":"They ta"},{"cut":true}]}`, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`}, protocol.TerminalCompleted, 1},
			{"refused", []string{`{"if":{"kind":"compact"},"do":[{"error":{"status":403}}]}`}, protocol.TerminalModelError, 0},
		} {
			t.Run(api+"/"+c.name, func(t *testing.T) {
				w := hosttest.New(t, hosttest.Setting{API: api, Window: 20_000, Overrides: hosttest.FewTools()}, append(c.lines, hosttest.Long, `{"again":true,"do":[{"text":"ok"}]}`)...)
				e := w.Begin(false)
				e.Say("fill")
				e.Say("a second turn " + strings.Repeat("with words ", 900))
				before := len(e.Messages())
				if end := e.Say("and now " + strings.Repeat("with words ", 900)); end.Terminal != c.terminal {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.Trace())
				}
				if got := len(w.Waits.All()); got != c.waits {
					t.Errorf("%d waits, want %d", got, c.waits)
				}
				compacts := 0
				for _, ev := range e.Events {
					switch b := ev.Body.(type) {
					case *protocol.Compact:
						compacts++
						if b.Summary == "" || b.TokensAfter >= b.TokensBefore || b.Usage == nil {
							t.Errorf("the compaction: %+v", b)
						}
					case *protocol.TextDelta:
						if strings.Contains(b.Delta, "They") {
							t.Errorf("the summary was shown as an answer: %q", b.Delta)
						}
					}
				}
				if c.terminal == protocol.TerminalCompleted && compacts != 1 {
					t.Errorf("%d compactions", compacts)
				}
				if c.terminal != protocol.TerminalCompleted && (compacts != 0 || len(e.Messages()) != before+2 || !e.Messages()[before+1].IsFailure()) {
					t.Errorf("after a failed compaction %d messages stand, before %d", len(e.Messages()), before)
				}
				e.Announced()
				w.Judged()
			})
		}
	}
}

func TestCancelInACompactionThatATurnNeedsEndsTheTurn(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			compacting := make(chan struct{}, 10)
			w := hosttest.New(t, hosttest.Setting{API: api, Window: 20_000, Overrides: hosttest.FewTools(), Request: func(body []byte) {
				if hosttest.KindOf(body) == "compact" {
					compacting <- struct{}{}
				}
			}}, `{"if":{"kind":"compact"},"do":[{"text":"They ta"},{"hang":true}]}`, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`,
				hosttest.Long, `{"again":true,"do":[{"text":"ok"}]}`)
			e := w.Begin(false)
			e.Say("fill")
			e.Say("a second turn " + strings.Repeat("with words ", 900))
			e.Events = nil
			turn := e.Send("and now " + strings.Repeat("with words ", 900))
			<-compacting
			hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
			if end := e.End(); end.Terminal != protocol.TerminalCancelled || end.Error != nil {
				t.Errorf("end: %+v %+v", end, end.Error)
			}
			if m := e.Messages(); m[len(m)-1].Role != protocol.RoleUser {
				t.Errorf("stored: %+v", m[len(m)-1])
			}
			if end := e.Say("go on"); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("the next turn: %+v %+v", end, end.Error)
			}
			w.Judged()
		})
	}
}

func TestAnEmptyConversationHasNothingToCompact(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	e := w.Begin(false)
	done := hosttest.Call[*protocol.Compacted](t, e.C, e.ID, &protocol.CompactSession{})
	if done.EventID != "" || w.Server.Count() != 0 {
		t.Errorf("compacted: %+v, %d requests", done, w.Server.Count())
	}
}
