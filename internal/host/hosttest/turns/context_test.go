package turns_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestEachRequestOfAConversationBeginsWithTheOneBefore(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api, Overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}},
				`{"do":[{"thinking":"First I look."},{"text":"Looking."},{"call":"Read","id":"c1","input":{"path":"a.txt"}},{"call":"Glob","id":"c2","input":{"pattern":"*"}}]}`,
				`{"do":[{"call":"Write","id":"c3","input":{"path":"b.txt","content":"b"}},{"call":"Bash","id":"c4","input":{"command":"cd sub && pwd"}}]}`,
				`{"do":[{"call":"TodoWrite","id":"c5","input":{"todos":[{"content":"x","status":"pending"}]}},{"call":"Nothing","id":"c6","input":{}}]}`,
				`{"do":[{"text":"One is done."}]}`,
				`{"do":[{"call":"Grep","id":"c7","input":{"pattern":"hello"}}]}`,
				`{"do":[{"text":"Two is done."}]}`,
				`{"do":[{"text":"Three is done."}]}`)
			w.File("a.txt", "hello\n")
			w.File("sub/c.txt", "c")
			e := w.Begin(false)
			for _, s := range []string{"one", "two"} {
				if end := e.Say(s); end.Terminal != protocol.TerminalCompleted {
					t.Fatalf("end: %+v\n%s", end, e.Trace())
				}
			}
			w.Restart() // and the same from the log alone
			e = w.Open(w.Connect(false), e.ID)
			e.Say("three")
			all := w.Bodies()
			if len(all) != 7 {
				t.Fatalf("%d requests", len(all))
			}
			for i := 1; i < len(all); i++ {
				hosttest.Extends(t, fmt.Sprintf("request %d", i+1), all[i-1], all[i])
			}
			w.Judged()
		})
	}
}

func TestTheSamePathGivesTheSameBytes(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api}, `{"if":{"kind":"compact"},"again":true,"do":[{"text":"They counted."}]}`,
				`{"if":{"user":"two$"},"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}]}`,
				`{"again":true,"do":[{"text":"Yes."}]}`)
			w.File("a.txt", "hello\n")
			e := w.Begin(false)
			last := func() []byte {
				all := w.Bodies()
				return all[len(all)-1]
			}
			e.Say("one")
			e.Say("two")
			ids := e.Answers()
			second := ids[len(ids)-1]
			e.Say("three")
			three := last()
			third := e.S.Live.LeafID
			hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &second})
			e.Say("three")
			if !bytes.Equal(three, last()) {
				t.Errorf("after a rewind the same path gives\n%.2000s\nand gave\n%.2000s", last(), three)
			}
			hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.BranchTo{LeafEventID: third})
			e.Say("four")
			hosttest.Extends(t, "after a branch", three, last())
			done := e.Compact()
			if done.EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.Say("five")
			five := last()
			if !strings.Contains(string(five), "They counted.") || strings.Contains(string(five), `"one"`) {
				t.Errorf("behind the compaction: %s", five)
			}
			hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &done.EventID})
			e.Say("five")
			if !bytes.Equal(five, last()) {
				t.Errorf("after a rewind to the compaction the same path gives\n%.3000s\nand gave\n%.3000s", last(), five)
			}
			w.Judged()
		})
	}
}

func TestRewindPastACompactionSendsTheWholeContext(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api}, `{"if":{"kind":"compact"},"do":[{"text":"They counted."}]}`, `{"again":true,"do":[{"text":"Yes."}]}`)
			e := w.Begin(false)
			for _, s := range []string{"number one", "number two", "number three", "number four"} {
				e.Say(s)
			}
			third := e.Answers()[2]
			done := e.Compact()
			if done.EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.Say("number five")
			hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &third})
			e.Say("number six")
			all := w.Bodies()
			body := string(all[len(all)-1])
			for _, s := range []string{"number one", "number two", "number three", "number six"} {
				if !strings.Contains(body, s) {
					t.Errorf("%q is not sent: %s", s, body)
				}
			}
			for _, s := range []string{"They counted.", "number four", "number five"} {
				if strings.Contains(body, s) {
					t.Errorf("%q is sent", s)
				}
			}
			w.Judged()
		})
	}
}

func TestManyCallsOfOnePromptPassThroughASmallWindow(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			lines := []string{`{"if":{"kind":"compact"},"again":true,"do":[{"text":"Files were read, one after the other.","times":20}]}`}
			for i := 0; i < hosttest.ManyCalls; i += 3 {
				lines = append(lines, fmt.Sprintf(`{"do":[{"text":"Step %d. ","times":60},{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}},{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}},{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}}]}`,
					i, i, i, i+1, i+1, i+2, i+2))
			}
			lines = append(lines, `{"do":[{"text":"All were read."}]}`)
			w := hosttest.New(t, hosttest.Setting{API: api, Window: 32_000}, lines...)
			for i := range hosttest.ManyCalls {
				w.File(fmt.Sprintf("f%d.txt", i), strings.Repeat(fmt.Sprintf("this is line of file %d\n", i), 40))
			}
			e := w.Begin(false)
			if end := e.Say("Read all files."); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %+v", end, end.Error)
			}
			compactions, results := 0, 0
			for _, ev := range e.Events {
				switch b := ev.Body.(type) {
				case *protocol.Compact:
					compactions++
					if b.TokensAfter >= b.TokensBefore || b.TurnMessageID == "" {
						t.Errorf("a compaction: %d to %d tokens, turn message %q", b.TokensBefore, b.TokensAfter, b.TurnMessageID)
					}
				case *protocol.MessageBody:
					if b.Message.Role == protocol.RoleToolResult {
						results++
						if b.Message.IsError {
							t.Errorf("result: %s", b.Message.PlainText())
						}
					}
				}
			}
			if results != hosttest.ManyCalls || compactions < 3 || compactions > 30 {
				t.Errorf("%d results, %d compactions", results, compactions)
			}
			for i, r := range w.Server.Requests() {
				if len(r.Body) > 32_000*4 {
					t.Errorf("request %d has %d bytes", i, len(r.Body))
				}
				if hosttest.KindOf(r.Body) == "step" && !strings.Contains(string(r.Body), "Read all files.") {
					t.Errorf("request %d lacks the prompt", i)
				}
			}
			w.Judged()
			t.Logf("%d requests, %d compactions", w.Server.Count(), compactions)
		})
	}
}
