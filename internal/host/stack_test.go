package host_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/modeltest"
	"scorel/protocol"
)

// stacks are the two extensions that give /pop: the one that the design of hooks v2
// prints, and the example.
func stacks() []string {
	return []string{
		filepath.Join("..", "extension", "prelude", "testdata", "stack-seed.ts"),
		filepath.Join("..", "..", "examples", "extensions", "stack.ts"),
	}
}

// install copies an extension of one file to where the user's are.
func (w *world) install(id, file string) {
	w.t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	w.ts(id, string(source))
}

// appended appends events to the log of a session that no host has open.
func (w *world) appended(id protocol.SessionID, bodies ...protocol.Body) {
	w.t.Helper()
	name := filepath.Join(w.home, ".scorel", "sessions", string(id)+".jsonl")
	log := string(w.readAll(name))
	parent, seq := protocol.EventID(""), protocol.Seq(0)
	for _, e := range w.log(id) {
		seq = e.Seq
		if !e.Control {
			parent = e.ID
		}
	}
	for _, b := range bodies {
		seq++
		e := protocol.NewEvent(b)
		e.ID, e.ParentID, e.Seq, e.SessionID, e.ClientID, e.TS = protocol.NewEventID(rand.Reader), parent, seq, id, protocol.HostClient, time.Now().UnixMilli()
		e, err := e.Seal()
		if err != nil {
			w.t.Fatal(err)
		}
		log += string(e.Raw()) + "\n"
		parent = e.ID
	}
	w.write(name, log)
}

// close ends the world's host.
func (w *world) close() {
	w.t.Helper()
	if err := w.host.Close(); err != nil {
		w.t.Fatalf("close the host: %v", err)
	}
}

// nth gives the id of the message with a text.
func (w *world) nth(id protocol.SessionID, text string) protocol.EventID {
	w.t.Helper()
	for _, e := range w.log(id) {
		if m, ok := e.Message(); ok && m.PlainText() == text {
			return e.ID
		}
	}
	w.t.Fatalf("no message says %s", text)
	return ""
}

// sent gives what a request tells of the scenario: the names of its messages and
// summaries, in order.
func sent(r modeltest.Request) []string {
	return regexp.MustCompile(`\b(?:msg\d+|[CPS]\d)\b`).FindAllString(strings.ReplaceAll(string(r.Body), `\n`, " "), -1)
}

// The worked scenario of hooks v2, from the log to the bytes that the vendor gets. Its
// messages have the indexes 0 to 4 here and not 1 to 5.
func TestThePopScenarioSendsItsListedContexts(t *testing.T) {
	for _, file := range stacks() {
		for _, api := range apis() {
			t.Run(filepath.Base(file)+" "+api, func(t *testing.T) {
				w := newWorld(t, setting{api: api},
					`{"do":[{"text":"msg7"}]}`, `{"do":[{"text":"P1"}]}`, `{"do":[{"text":"S1"}]}`, `{"do":[{"text":"msg11"}]}`, `{"do":[{"text":"done"}]}`)
				w.install("stack", file)
				id, _ := w.written()
				user := func(text string) protocol.Body {
					return &protocol.MessageBody{Message: protocol.UserText(text)}
				}
				answer := func(text string) protocol.Body {
					return &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text(text)}, StopReason: protocol.StopEndTurn, Usage: &protocol.Usage{}}}
				}
				w.appended(id, user("msg1"), user("msg2"), answer("msg3"), user("msg4"), answer("msg5"))
				w.appended(id, &protocol.Compact{Summary: "C1", CompactedThrough: w.nth(id, "msg3"), TokensBefore: 900, TokensAfter: 90})

				e := w.open(w.connect(false), id)
				e.say("msg6")
				if r, err := e.run("pop", "1"); err != nil || r.Status == "" {
					t.Fatalf("/pop: %+v, %v\n%s", r, err, e.trace())
				}
				e.say("msg10")

				w.close()
				w.appended(id, &protocol.Compact{Summary: "C2", CompactedThrough: w.nth(id, "msg10"), TokensBefore: 900, TokensAfter: 90})
				w.start()
				e = w.open(w.connect(false), id)
				e.say("msg12")

				var got []string
				for _, r := range w.server.Requests() {
					got = append(got, strings.Join(sent(r), " "))
				}
				want := []string{
					"C1 msg4 msg5 msg6",             // while it goes on behind the first compaction
					"msg1",                          // summarised as P1
					"msg2 msg3 msg4 msg5 msg6 msg7", // summarised as S1
					"P1 S1 msg10",                   // behind the pop
					"C2 msg11 msg12",                // behind the second compaction
				}
				if !slices.Equal(got, want) {
					t.Errorf("the model was sent\n %s\nnot\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
				}
				w.judged()
			})
		}
	}
}

func TestWithoutItsHookAPopIsUndoneAndWithItAgainItIsBack(t *testing.T) {
	for _, file := range stacks() {
		w := newWorld(t, setting{}, `{"do":[{"text":"msg2"}]}`, `{"do":[{"text":"msg4"}]}`, `{"do":[{"text":"S1"}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
		e := w.begin(false) // an old session, to which the hook is added
		e.say("msg1")
		e.say("msg3")
		id := e.id
		last := func(text string) []string {
			t.Helper()
			w.restart()
			e = w.open(w.connect(false), id)
			e.say(text)
			all := w.server.Requests()
			return sent(all[len(all)-1])
		}
		w.install("stack", file)
		w.restart()
		e = w.open(w.connect(false), id)
		if r, err := e.run("pop", "0"); err != nil || r.Status == "" {
			t.Fatalf("/pop: %+v, %v\n%s", r, err, e.trace())
		}
		if got := last("msg5"); !slices.Equal(got, []string{"S1", "msg5"}) {
			t.Errorf("with the hook: %v", got)
		}
		if err := os.Remove(filepath.Join(w.home, ".scorel", "extensions", "stack.ts")); err != nil {
			t.Fatal(err)
		}
		if got := last("msg6"); !slices.Equal(got, []string{"msg1", "msg2", "msg3", "msg4", "msg5", "msg6"}) {
			t.Errorf("without it: %v", got)
		}
		w.install("stack", file)
		if got := last("msg7"); !slices.Equal(got, []string{"S1", "msg5", "msg6", "msg7"}) {
			t.Errorf("with it again: %v", got)
		}
	}
}
