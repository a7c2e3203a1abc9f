package host_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"scorel/client"
	"scorel/protocol"
)

const tried = `{"if":{"kind":"compact"},"again":true,"do":[{"text":"They tried the red door."}]}`

func TestABranchThatIsLeftIsSummarisedAtTheTarget(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api}, tried, `{"again":true,"do":[{"text":"Yes."}]}`)
			e := w.begin(false)
			e.say("the beginning")
			first := e.answers()[0]
			e.say("open the red door")
			left := e.s.Live.LeafID
			used := e.s.Live.Usage
			e.events = nil
			moved := call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &first, ExpectedLeafID: &left, Summarise: "yes", Instructions: "name the colour"})
			e.end()
			if moved.SummaryID == "" || moved.LeafID != moved.SummaryID || e.s.Live.LeafID != moved.LeafID {
				t.Errorf("moved: %+v, the leaf is %s", moved, e.s.Live.LeafID)
			}
			ev := e.until(ofType(protocol.TypeBranchSummary))
			if b := ev.Body.(*protocol.BranchSummary); ev.ParentID != first || b.FromEventID != left || b.Summary != "They tried the red door." || b.Usage == nil {
				t.Errorf("the summary: %+v %+v", ev.Envelope, b)
			}
			asked := w.lastRequest()
			for s, want := range map[string]bool{"open the red door": true, "name the colour": true, "the beginning": false} {
				if strings.Contains(asked, s) != want {
					t.Errorf("the request for the summary has %q: %v: %s", s, !want, asked)
				}
			}
			if e.s.Live.Usage.OutputTokens <= used.OutputTokens {
				t.Errorf("the sum of the session leaves it out: %+v, before %+v", e.s.Live.Usage, used)
			}
			live := e.s.Live.Usage
			e.say("and now")
			last := w.lastRequest()
			if !strings.Contains(last, "They tried the red door.") || strings.Contains(last, "open the red door") || !strings.Contains(last, "the beginning") {
				t.Errorf("the model is sent %s", last)
			}
			w.restart()
			if again := w.open(w.connect(false), e.id); again.s.Live.Usage.OutputTokens <= live.OutputTokens {
				t.Errorf("a later host counts %+v, this one %+v", again.s.Live.Usage, live)
			}
			w.judged()
		})
	}
}

func TestASummaryThatFailsOrIsCancelledMovesNothing(t *testing.T) {
	w := newWorld(t, setting{}, `{"if":{"kind":"compact"},"do":[{"error":{"status":403}}]}`,
		`{"if":{"kind":"compact"},"do":[{"error":{"status":529}}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	first := e.answers()[0]
	e.say("two")
	leaf := e.s.Live.LeafID
	e.events = nil
	refused(t, e.c, e.id, &protocol.BranchTo{LeafEventID: first, Summarise: "yes"}, protocol.CodeProviderError)
	refused(t, e.c, e.id, &protocol.BranchTo{LeafEventID: first, Summarise: "perhaps"}, protocol.CodeInvalidRequest)
	refused(t, e.c, e.id, &protocol.BranchTo{LeafEventID: first, Summarise: "yes", Instructions: strings.Repeat("x", 9000)}, protocol.CodeInvalidRequest)
	e.end()
	e.events = nil
	w.waits.hook = func(ctx context.Context) { <-ctx.Done() } // it is overloaded, and waits before it is asked again
	done := make(chan error, 1)
	go func() {
		_, err := client.Call[*protocol.Moved](t.Context(), e.c, e.id, &protocol.BranchTo{LeafEventID: first, Summarise: "yes"})
		done <- err
	}()
	turn := e.until(ofType(protocol.TypeRuntimeStart)).TurnID
	if !call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn}).Cancelled {
		t.Error("there was nothing to cancel")
	}
	var pe *protocol.Error
	if err := <-done; !errors.As(err, &pe) || pe.Code != protocol.CodeConflict || !strings.Contains(pe.Message, "nothing has moved") {
		t.Errorf("the move: %v", err)
	}
	e.end()
	if e.s.Live.LeafID != leaf {
		t.Errorf("the leaf is %s, not %s", e.s.Live.LeafID, leaf)
	}
	for _, ev := range w.log(e.id) {
		if ev.Type == protocol.TypeBranch || ev.Type == protocol.TypeBranchSummary {
			t.Errorf("%+v", ev)
		}
	}
}

func TestWhereNothingIsLeftNothingIsSummarised(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	first := e.answers()[0]
	e.say("two")
	two := e.s.Live.LeafID
	call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &first})
	if m := call[*protocol.Moved](t, e.c, e.id, &protocol.BranchTo{LeafEventID: two, Summarise: "yes"}); m.SummaryID != "" || m.LeafID != two {
		t.Errorf("%+v", m)
	}
	if n := w.server.Count(); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestAMoveWithASummaryMovesOnceAndTakesFilesBackOnce(t *testing.T) {
	s := allowed()
	s.overrides.Mode = "acceptEdits"
	w := newWorld(t, s, tried, `{"if":{"user":"^write"},"do":[{"call":"Write","id":"w1","input":{"path":"b.txt","content":"x"}}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	first := e.answers()[0]
	e.say("write it")
	c := w.caller()
	ask := newCall(e.id, &protocol.RewindTo{TargetEventID: &first, RestoreFiles: true, Summarise: "yes"})
	reply := c.call(ask)
	moved, ok := reply.Data.(*protocol.Moved)
	if !ok || moved.SummaryID == "" || len(moved.Removed) != 1 {
		t.Fatalf("%s", asText(t, reply))
	}
	w.write(w.project+"/b.txt", "of somebody else")
	w.restart()
	c.connect()
	ask.Repeat = true
	again, ok := c.call(ask).Data.(*protocol.Moved)
	if !ok || again.LeafID != moved.LeafID || again.SummaryID != moved.SummaryID {
		t.Errorf("%+v, before %+v", again, moved)
	}
	if w.read("b.txt") != "of somebody else" {
		t.Error("what was written since is gone")
	}
	l := w.open(w.connect(false), e.id)
	l.say("go on")
	if again, ok = c.call(ask).Data.(*protocol.Moved); !ok || again.LeafID != moved.LeafID {
		t.Errorf("behind another message: %+v", again)
	}
	n := 0
	for _, ev := range w.log(e.id) {
		if ev.Type == protocol.TypeBranchSummary || ev.Type == protocol.TypeRewind {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d events of the move", n)
	}
	if err := os.Remove(w.project + "/b.txt"); err != nil {
		t.Fatal(err)
	}
}
