package turns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAQueueHoldsTwoMebibytesOfText(t *testing.T) {
	big := hosttest.Allowed()
	big.Window = 2_000_000
	w := hosttest.New(t, big, hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.Busy()
	for range 2 {
		hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text(strings.Repeat("x", 900<<10))})
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text(strings.Repeat("x", 900<<10))}, protocol.CodePayloadTooLarge)
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
}

func TestAQueueHoldsThirtyTwoMessages(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.Busy()
	for i := range protocol.MaxQueueItems {
		hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text(fmt.Sprint("follow ", i))})
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("one more")}, protocol.CodeRateLimited)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{TurnID: turn, Content: hosttest.Text("the other queue has room")})
	hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("x"), WhenBusy: "reject"}, protocol.CodeRuntimeBusy)
	hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("x"), WhenBusy: "never"}, protocol.CodeInvalidRequest)
	hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{}, protocol.CodeInvalidRequest)
	// What a newcomer is told of a queue is enough to rewrite it.
	q := w.Open(w.Connect(false), e.ID).Queue(protocol.QueueFollowUp)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: q.Items})
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	users := e.Users()
	if len(users) != 2+protocol.MaxQueueItems || users[1] != "the other queue has room" || users[len(users)-1] != "follow 31" {
		t.Errorf("%d messages: %q", len(users), users)
	}
	w.Judged()
}

func TestRewritingAQueueNamesTheUpdateThatWasSeen(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, _ := w.Busy()
	for _, s := range []string{"a", "b", "c"} {
		hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text(s)})
	}
	var updates []protocol.Event
	e.Until(func(ev protocol.Event) bool {
		if ev.Type == protocol.TypeQueueUpdate {
			updates = append(updates, ev)
		}
		return len(updates) == 3
	})
	items := updates[2].Body.(*protocol.QueueUpdate).Items
	change := []protocol.QueueItem{{ID: items[2].ID, Content: hosttest.Text("c first")}, {Content: hosttest.Text("new")}, {ID: "itm_0000000000000000", Content: hosttest.Text("taken")}}
	hosttest.Refused(t, e.C, e.ID, &protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Replaces: updates[1].ID, Items: change}, protocol.CodeConflict)
	hosttest.Refused(t, e.C, e.ID, &protocol.RewriteQueue{Queue: "later", Replaces: updates[2].ID, Items: change}, protocol.CodeInvalidRequest)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Replaces: updates[2].ID, Items: change})
	hosttest.Refused(t, e.C, e.ID, &protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Replaces: updates[2].ID, Items: nil}, protocol.CodeConflict)
	w.File("go", "")
	e.End()
	if got := e.Users(); !slices.Equal(got, []string{"run", "c first", "new"}) {
		t.Errorf("messages: %q", got)
	}
	w.Judged()
}

func TestACancelPausesTheQueuesUntilSomebodyResumesOrSends(t *testing.T) {
	for _, how := range []string{"resume", "send"} {
		t.Run(how, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
			e, turn := w.Busy()
			hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("follow")})
			hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{Content: hosttest.Text("steer")})
			hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
			e.End()
			if !e.Queue(protocol.QueueFollowUp).Paused || !e.Queue(protocol.QueueSteer).Paused {
				t.Errorf("the queues are not paused: %+v", e.S.Live.Queues)
			}
			if got := e.Users(); len(got) != 1 {
				t.Errorf("messages: %q", got)
			}
			e.Events = nil
			want := []string{"run", "steer", "follow"}
			if how == "resume" {
				hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.ResumeQueue{})
			} else {
				want = []string{"run", "sent", "steer", "follow"}
				e.Send("sent")
			}
			if end := e.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			if got := e.Users(); !slices.Equal(got, want) || len(e.S.Live.Queues) != 0 {
				t.Errorf("messages: %q, want %q; queues %+v", got, want, e.S.Live.Queues)
			}
			hosttest.Paired(t, e.Messages())
			w.Judged()
		})
	}
}

func TestQueuesSurviveTheHostAndAreNeitherDoubledNorLost(t *testing.T) {
	for _, how := range []string{"killed", "restarted"} {
		t.Run(how, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
			e, turn := w.Busy()
			hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{TurnID: turn, Content: hosttest.Text("steer")})
			hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("follow 1")})
			hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.FollowUp{Content: hosttest.Text("follow 2")})
			after := w
			if how == "killed" {
				after = w.Killed()
			} else {
				w.Restart()
			}
			a := after.Open(after.Connect(false), e.ID)
			if got := a.Queue(protocol.QueueFollowUp); len(got.Items) != 2 || got.Paused {
				t.Errorf("the queue after: %+v", got)
			}
			hosttest.Call[*protocol.Done](t, a.C, a.ID, &protocol.ResumeQueue{})
			if end := a.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, a.Trace())
			}
			want := []string{"run", "steer", "follow 1", "follow 2"}
			if got := a.Users(); !slices.Equal(got, want) {
				t.Errorf("messages: %q, want %q", got, want)
			}
			after.Restart()
			b := after.Open(after.Connect(false), e.ID)
			if len(b.S.Live.Queues) != 0 {
				t.Errorf("taken messages wait again: %+v", b.S.Live.Queues)
			}
			hosttest.Call[*protocol.Done](t, b.C, b.ID, &protocol.ResumeQueue{})
			if b.S.Live.Running {
				t.Error("an empty queue began a turn")
			}
			after.Judged()
			if how == "killed" {
				hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
				e.End()
			}
		})
	}
}

func TestSteeringWhenIdleSendsAndForAnotherTurnConflicts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	hosttest.Refused(t, e.C, e.ID, &protocol.Steer{TurnID: "trn_0000000000000000", Content: hosttest.Text("x")}, protocol.CodeConflict)
	sent := hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{Content: hosttest.Text("hello")})
	if sent.EventID == "" || sent.TurnID == "" {
		t.Errorf("sent: %+v", sent)
	}
	e.End()
	hosttest.Refused(t, e.C, e.ID, &protocol.Steer{TurnID: sent.TurnID, Content: hosttest.Text("x")}, protocol.CodeConflict)
	if got := e.Users(); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("messages: %q", got)
	}
}

func TestAMessageThatComesDuringACompactionOpensATurnBehindIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"if":{"kind":"compact"},"do":[{"text":"Summary."}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	e.Say("two")
	e.Say("three")
	e.Events = nil
	go func() { // ends with the compaction
		hosttest.Call[*protocol.Compacted](t, e.C, e.ID, &protocol.CompactSession{})
	}()
	e.Until(hosttest.OfType(protocol.TypeRuntimeStart))
	e.Send("during")
	e.Until(func(ev protocol.Event) bool { m, ok := ev.Message(); return ok && m.PlainText() == "during" })
	e.Until(hosttest.OfType(protocol.TypeTurnEnd))
	if got := e.Users(); !slices.Contains(got, "during") {
		t.Errorf("messages: %q", got)
	}
}
