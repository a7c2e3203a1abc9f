package host_test

import (
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/protocol"
)

// fewTools are the tools of these tests, by name: what all tools take of the
// window changes with every tool that is added.
func fewTools() host.Overrides {
	return host.Overrides{Preset: "Bash,Edit,Glob,Grep,Read,TodoWrite,Write"}
}

// long fills the smaller window of these tests, so that the next call compacts.
const long = `{"if":{"user":"^fill"},"do":[{"text":"many words here ","times":900}]}`

func TestAFailureInACompactionIsRecoveredFromLikeAnyOther(t *testing.T) {
	for _, api := range apis() {
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
				w := newWorld(t, setting{api: api, window: 20_000, overrides: fewTools()}, append(c.lines, long, `{"again":true,"do":[{"text":"ok"}]}`)...)
				e := w.begin(false)
				e.say("fill")
				e.say("a second turn " + strings.Repeat("with words ", 900))
				before := len(e.messages())
				if end := e.say("and now " + strings.Repeat("with words ", 900)); end.Terminal != c.terminal {
					t.Fatalf("end: %+v %+v\n%s", end, end.Error, e.trace())
				}
				if got := len(w.waits.all()); got != c.waits {
					t.Errorf("%d waits, want %d", got, c.waits)
				}
				compacts := 0
				for _, ev := range e.events {
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
				if c.terminal != protocol.TerminalCompleted && (compacts != 0 || len(e.messages()) != before+1) {
					t.Errorf("after a failed compaction %d messages stand, before %d", len(e.messages()), before)
				}
				e.announced()
				w.judged()
			})
		}
	}
}

func TestCancelInACompactionThatATurnNeedsEndsTheTurn(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			compacting := make(chan struct{}, 10)
			w := newWorld(t, setting{api: api, window: 20_000, overrides: fewTools(), request: func(body []byte) {
				if kindOf(body) == "compact" {
					compacting <- struct{}{}
				}
			}}, `{"if":{"kind":"compact"},"do":[{"text":"They ta"},{"hang":true}]}`, `{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`,
				long, `{"again":true,"do":[{"text":"ok"}]}`)
			e := w.begin(false)
			e.say("fill")
			e.say("a second turn " + strings.Repeat("with words ", 900))
			e.events = nil
			turn := e.send("and now " + strings.Repeat("with words ", 900))
			<-compacting
			call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
			if end := e.end(); end.Terminal != protocol.TerminalCancelled || end.Error != nil {
				t.Errorf("end: %+v %+v", end, end.Error)
			}
			if m := e.messages(); m[len(m)-1].Role != protocol.RoleUser {
				t.Errorf("stored: %+v", m[len(m)-1])
			}
			if end := e.say("go on"); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("the next turn: %+v %+v", end, end.Error)
			}
			w.judged()
		})
	}
}

func TestAnEmptyConversationHasNothingToCompact(t *testing.T) {
	w := newWorld(t, setting{})
	e := w.begin(false)
	done := call[*protocol.Compacted](t, e.c, e.id, &protocol.CompactSession{})
	if done.EventID != "" || w.server.Count() != 0 {
		t.Errorf("compacted: %+v, %d requests", done, w.server.Count())
	}
}
