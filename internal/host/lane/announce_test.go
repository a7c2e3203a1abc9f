package lane

import (
	"testing"

	"scorel/protocol"
)

// TestAMessageIsAnsweredWhenClientsCanSeeItsTurnRun looks at the live state directly after
// each answer: a client that polls until running is false would otherwise stop before the
// turn has begun.
func TestAMessageIsAnsweredWhenClientsCanSeeItsTurnRun(t *testing.T) {
	tr := newTrial(t, again).open()
	defer tr.close()
	for range 20 {
		sent, err := tr.send("go")
		if err != nil {
			t.Fatal(err)
		}
		live := tr.lane.Publisher().Live()
		runs := live.Running && live.TurnID == sent.TurnID
		ran := live.Ended != nil && live.Ended.TurnID == sent.TurnID
		if !runs && !ran {
			t.Fatalf("the answer names the turn %s, and the state is running %v, turn %q", sent.TurnID, live.Running, live.TurnID)
		}
		tr.rest()
	}
}

// TestAResumedQueueIsAnsweredWhenClientsCanSeeItsTurnRun is the same of resume_queue.
func TestAResumedQueueIsAnsweredWhenClientsCanSeeItsTurnRun(t *testing.T) {
	tr := newTrial(t, again).open()
	defer tr.close()
	w := &told{}
	tr.lane.Listeners().Watch(w.note)
	items := []protocol.QueueItem{{Content: []protocol.Block{protocol.Text("later")}}}
	for range 10 {
		_, update := tr.followUps()
		if err := tr.lane.RewriteQueue(t.Context(), tr.caller(), protocol.QueueFollowUp, update, items); err != nil {
			t.Fatal(err)
		}
		before := w.count(string(protocol.TypeRuntimeStart))
		if err := tr.lane.ResumeQueue(t.Context(), tr.caller()); err != nil {
			t.Fatal(err)
		}
		if live, now := tr.lane.Publisher().Live(), w.count(string(protocol.TypeRuntimeStart)); now != before+1 {
			t.Fatalf("%d turns were announced with the answer; running %v", now-before, live.Running)
		}
		tr.rest()
	}
}
