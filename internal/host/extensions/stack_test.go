package extensions_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// stacks are the two extensions that give /pop: the one that the design of hooks v2
// prints, and the example.
func stacks() []string {
	return []string{
		filepath.Join("..", "..", "extension", "prelude", "testdata", "stack-seed.ts"),
		filepath.Join("..", "..", "..", "examples", "extensions", "stack.ts"),
	}
}

// sent returns what a request tells of the scenario: the names of its messages and
// summaries, in order.
func sent(r modeltest.Request) []string {
	return regexp.MustCompile(`\b(?:msg\d+|[CPS]\d)\b`).FindAllString(strings.ReplaceAll(string(r.Body), `\n`, " "), -1)
}

// The worked scenario of hooks v2, from the log to the bytes that the vendor gets. Its
// messages have the indexes 0 to 4 here and not 1 to 5.
func TestThePopScenarioSendsItsListedContexts(t *testing.T) {
	for _, file := range stacks() {
		for _, api := range hosttest.APIs() {
			t.Run(filepath.Base(file)+" "+api, func(t *testing.T) {
				w := hosttest.New(t, hosttest.Setting{API: api},
					`{"do":[{"text":"msg7"}]}`, `{"do":[{"text":"P1"}]}`, `{"do":[{"text":"S1"}]}`, `{"do":[{"text":"msg11"}]}`, `{"do":[{"text":"done"}]}`)
				w.Install("stack", file)
				id, _ := w.Written()
				user := func(text string) protocol.Body {
					return &protocol.MessageBody{Message: protocol.UserText(text)}
				}
				answer := func(text string) protocol.Body {
					return &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text(text)}, StopReason: protocol.StopEndTurn, Usage: &protocol.Usage{}}}
				}
				w.Appended(id, user("msg1"), user("msg2"), answer("msg3"), user("msg4"), answer("msg5"))
				w.Appended(id, &protocol.Compact{Summary: "C1", CompactedThrough: w.Nth(id, "msg3"), TokensBefore: 900, TokensAfter: 90})

				e := w.Open(w.Connect(false), id)
				e.Say("msg6")
				if r, err := e.Run("pop", "1"); err != nil || r.Status == "" {
					t.Fatalf("/pop: %+v, %v\n%s", r, err, e.Trace())
				}
				e.Say("msg10")

				w.Close()
				w.Appended(id, &protocol.Compact{Summary: "C2", CompactedThrough: w.Nth(id, "msg10"), TokensBefore: 900, TokensAfter: 90})
				w.Start()
				e = w.Open(w.Connect(false), id)
				e.Say("msg12")

				var got []string
				for _, r := range w.Server.Requests() {
					got = append(got, strings.Join(sent(r), " "))
				}
				want := []string{
					"C1 msg4 msg5 msg6",             // while it goes on after the first compaction
					"msg1",                          // summarised as P1
					"msg2 msg3 msg4 msg5 msg6 msg7", // summarised as S1
					"P1 S1 msg10",                   // after the pop
					"C2 msg11 msg12",                // after the second compaction
				}
				if !slices.Equal(got, want) {
					t.Errorf("the model was sent\n %s\nnot\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
				}
				w.Judged()
			})
		}
	}
}

func TestWithoutItsHookAPopIsUndoneAndWithItAgainItIsBack(t *testing.T) {
	for _, file := range stacks() {
		w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"msg2"}]}`, `{"do":[{"text":"msg4"}]}`, `{"do":[{"text":"S1"}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
		e := w.Begin(false) // an old session, to which the hook is added
		e.Say("msg1")
		e.Say("msg3")
		id := e.ID
		last := func(text string) []string {
			t.Helper()
			w.Restart()
			e = w.Open(w.Connect(false), id)
			e.Say(text)
			all := w.Server.Requests()
			return sent(all[len(all)-1])
		}
		w.Install("stack", file)
		w.Restart()
		e = w.Open(w.Connect(false), id)
		if r, err := e.Run("pop", "0"); err != nil || r.Status == "" {
			t.Fatalf("/pop: %+v, %v\n%s", r, err, e.Trace())
		}
		if got := last("msg5"); !slices.Equal(got, []string{"S1", "msg5"}) {
			t.Errorf("with the hook: %v", got)
		}
		if err := os.Remove(filepath.Join(w.Home, ".scorel", "extensions", "stack.ts")); err != nil {
			t.Fatal(err)
		}
		if got := last("msg6"); !slices.Equal(got, []string{"msg1", "msg2", "msg3", "msg4", "msg5", "msg6"}) {
			t.Errorf("without it: %v", got)
		}
		w.Install("stack", file)
		if got := last("msg7"); !slices.Equal(got, []string{"S1", "msg5", "msg6", "msg7"}) {
			t.Errorf("with it again: %v", got)
		}
	}
}
