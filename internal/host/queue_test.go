package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/protocol"
)

func text(s string) []protocol.Block { return []protocol.Block{protocol.Text(s)} }

// busy begins a turn whose first tool runs until the file "go" is there.
func (w *world) busy() (*entry, protocol.TurnID) {
	w.t.Helper()
	e := w.begin(false)
	turn := e.send("run")
	e.until(ofType(protocol.TypeToolExecutionStart))
	return e, turn
}

const wait = `{"if":{"user":"^run$"},"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do :; done; echo ran"}}]}`

func allowed() setting { return setting{overrides: host.Overrides{Allow: []string{"Bash"}}} }

// users gives the texts of the user messages of the path.
func (e *entry) users() []string {
	var out []string
	for _, m := range e.messages() {
		if m.Role == protocol.RoleUser {
			out = append(out, m.PlainText())
		}
	}
	return out
}

func (e *entry) queue(name protocol.QueueName) protocol.LiveQueue {
	for _, q := range e.s.Live.Queues {
		if q.Queue == name {
			return q
		}
	}
	return protocol.LiveQueue{Queue: name}
}

func TestAQueueHoldsTwoMebibytesOfText(t *testing.T) {
	big := allowed()
	big.window = 2_000_000
	w := newWorld(t, big, wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.busy()
	for range 2 {
		call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text(strings.Repeat("x", 900<<10))})
	}
	refused(t, e.c, e.id, &protocol.FollowUp{Content: text(strings.Repeat("x", 900<<10))}, protocol.CodePayloadTooLarge)
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
}

func TestAQueueHoldsThirtyTwoMessages(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.busy()
	for i := range protocol.MaxQueueItems {
		call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text(fmt.Sprint("follow ", i))})
	}
	refused(t, e.c, e.id, &protocol.FollowUp{Content: text("one more")}, protocol.CodeRateLimited)
	call[*protocol.Sent](t, e.c, e.id, &protocol.Steer{TurnID: turn, Content: text("the other queue has room")})
	refused(t, e.c, e.id, &protocol.SendMessage{Content: text("x"), WhenBusy: "reject"}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.SendMessage{Content: text("x"), WhenBusy: "never"}, protocol.CodeInvalidRequest)
	refused(t, e.c, e.id, &protocol.SendMessage{}, protocol.CodeInvalidRequest)
	// What a newcomer is told of a queue is enough to rewrite it.
	q := w.open(w.connect(false), e.id).queue(protocol.QueueFollowUp)
	call[*protocol.Sent](t, e.c, e.id, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: q.Items})
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	users := e.users()
	if len(users) != 2+protocol.MaxQueueItems || users[1] != "the other queue has room" || users[len(users)-1] != "follow 31" {
		t.Errorf("%d messages: %q", len(users), users)
	}
	w.judged()
}

func TestRewritingAQueueNamesTheUpdateThatWasSeen(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.busy()
	for _, s := range []string{"a", "b", "c"} {
		call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text(s)})
	}
	var updates []protocol.Event
	e.until(func(ev protocol.Event) bool {
		if ev.Type == protocol.TypeQueueUpdate {
			updates = append(updates, ev)
		}
		return len(updates) == 3
	})
	items := updates[2].Body.(*protocol.QueueUpdate).Items
	change := []protocol.QueueItem{{ID: items[2].ID, Content: text("c first")}, {Content: text("new")}, {ID: "itm_0000000000000000", Content: text("taken")}}
	refused(t, e.c, e.id, &protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Replaces: updates[1].ID, Items: change}, protocol.CodeConflict)
	refused(t, e.c, e.id, &protocol.RewriteQueue{Queue: "later", Replaces: updates[2].ID, Items: change}, protocol.CodeInvalidRequest)
	call[*protocol.Sent](t, e.c, e.id, &protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Replaces: updates[2].ID, Items: change})
	refused(t, e.c, e.id, &protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Replaces: updates[2].ID, Items: nil}, protocol.CodeConflict)
	w.file("go", "")
	e.end()
	if got := e.users(); !slices.Equal(got, []string{"run", "c first", "new"}) {
		t.Errorf("messages: %q", got)
	}
	w.judged()
}

func TestACancelPausesTheQueuesUntilSomebodyResumesOrSends(t *testing.T) {
	for _, how := range []string{"resume", "send"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
			e, turn := w.busy()
			call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text("follow")})
			call[*protocol.Sent](t, e.c, e.id, &protocol.Steer{Content: text("steer")})
			call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
			e.end()
			if !e.queue(protocol.QueueFollowUp).Paused || !e.queue(protocol.QueueSteer).Paused {
				t.Errorf("the queues are not paused: %+v", e.s.Live.Queues)
			}
			if got := e.users(); len(got) != 1 {
				t.Errorf("messages: %q", got)
			}
			e.events = nil
			want := []string{"run", "steer", "follow"}
			if how == "resume" {
				call[*protocol.Done](t, e.c, e.id, &protocol.ResumeQueue{})
			} else {
				want = []string{"run", "sent", "steer", "follow"}
				e.send("sent")
			}
			if end := e.end(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.trace())
			}
			if got := e.users(); !slices.Equal(got, want) || len(e.s.Live.Queues) != 0 {
				t.Errorf("messages: %q, want %q; queues %+v", got, want, e.s.Live.Queues)
			}
			paired(t, e.messages())
			w.judged()
		})
	}
}

func TestQueuesSurviveTheHostAndAreNeitherDoubledNorLost(t *testing.T) {
	for _, how := range []string{"killed", "restarted"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
			e, turn := w.busy()
			call[*protocol.Sent](t, e.c, e.id, &protocol.Steer{TurnID: turn, Content: text("steer")})
			call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text("follow 1")})
			call[*protocol.Sent](t, e.c, e.id, &protocol.FollowUp{Content: text("follow 2")})
			after := w
			if how == "killed" {
				after = w.killed()
			} else {
				w.restart()
			}
			a := after.open(after.connect(false), e.id)
			if got := a.queue(protocol.QueueFollowUp); len(got.Items) != 2 || got.Paused {
				t.Errorf("the queue after: %+v", got)
			}
			call[*protocol.Done](t, a.c, a.id, &protocol.ResumeQueue{})
			if end := a.end(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, a.trace())
			}
			want := []string{"run", "steer", "follow 1", "follow 2"}
			if got := a.users(); !slices.Equal(got, want) {
				t.Errorf("messages: %q, want %q", got, want)
			}
			after.restart()
			b := after.open(after.connect(false), e.id)
			if len(b.s.Live.Queues) != 0 {
				t.Errorf("taken messages wait again: %+v", b.s.Live.Queues)
			}
			call[*protocol.Done](t, b.c, b.id, &protocol.ResumeQueue{})
			if b.s.Live.Running {
				t.Error("an empty queue began a turn")
			}
			after.judged()
			if how == "killed" {
				call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
				e.end()
			}
		})
	}
}

func TestSteeringWhenIdleSendsAndForAnotherTurnConflicts(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	refused(t, e.c, e.id, &protocol.Steer{TurnID: "trn_0000000000000000", Content: text("x")}, protocol.CodeConflict)
	sent := call[*protocol.Sent](t, e.c, e.id, &protocol.Steer{Content: text("hello")})
	if sent.EventID == "" || sent.TurnID == "" {
		t.Errorf("sent: %+v", sent)
	}
	e.end()
	refused(t, e.c, e.id, &protocol.Steer{TurnID: sent.TurnID, Content: text("x")}, protocol.CodeConflict)
	if got := e.users(); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("messages: %q", got)
	}
}

func TestAMessageThatComesDuringACompactionOpensATurnBehindIt(t *testing.T) {
	w := newWorld(t, setting{}, `{"if":{"kind":"compact"},"do":[{"text":"Summary."}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	e.say("two")
	e.say("three")
	e.events = nil
	go func() { // ends with the compaction
		call[*protocol.Compacted](t, e.c, e.id, &protocol.CompactSession{})
	}()
	e.until(ofType(protocol.TypeRuntimeStart))
	e.send("during")
	e.until(func(ev protocol.Event) bool { m, ok := ev.Message(); return ok && m.PlainText() == "during" })
	e.until(ofType(protocol.TypeTurnEnd))
	if got := e.users(); !slices.Contains(got, "during") {
		t.Errorf("messages: %q", got)
	}
}
