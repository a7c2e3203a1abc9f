package registry_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestABranchThatIsLeftIsSummarisedAtTheTarget(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api}, hosttest.Tried, `{"again":true,"do":[{"text":"Yes."}]}`)
			e := w.Begin(false)
			e.Say("the beginning")
			first := e.Answers()[0]
			e.Say("open the red door")
			left := e.S.Live.LeafID
			used := e.S.Live.Usage
			e.Events = nil
			moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &first, ExpectedLeafID: &left, Summarise: "yes", Instructions: "name the colour"})
			e.End()
			if moved.SummaryID == "" || moved.LeafID != moved.SummaryID || e.S.Live.LeafID != moved.LeafID {
				t.Errorf("moved: %+v, the leaf is %s", moved, e.S.Live.LeafID)
			}
			ev := e.Until(hosttest.OfType(protocol.TypeBranchSummary))
			if b := ev.Body.(*protocol.BranchSummary); ev.ParentID != first || b.FromEventID != left || b.Summary != "They tried the red door." || b.Usage == nil {
				t.Errorf("the summary: %+v %+v", ev.Envelope, b)
			}
			asked := w.LastRequest()
			for s, want := range map[string]bool{"open the red door": true, "name the colour": true, "the beginning": false} {
				if strings.Contains(asked, s) != want {
					t.Errorf("the request for the summary has %q: %v: %s", s, !want, asked)
				}
			}
			if e.S.Live.Usage.OutputTokens <= used.OutputTokens {
				t.Errorf("the sum of the session leaves it out: %+v, before %+v", e.S.Live.Usage, used)
			}
			live := e.S.Live.Usage
			e.Say("and now")
			last := w.LastRequest()
			if !strings.Contains(last, "They tried the red door.") || strings.Contains(last, "open the red door") || !strings.Contains(last, "the beginning") {
				t.Errorf("the model is sent %s", last)
			}
			w.Restart()
			if again := w.Open(w.Connect(false), e.ID); again.S.Live.Usage.OutputTokens <= live.OutputTokens {
				t.Errorf("a later host counts %+v, this one %+v", again.S.Live.Usage, live)
			}
			w.Judged()
		})
	}
}

func TestASummaryThatFailsOrIsCancelledMovesNothing(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"if":{"kind":"compact"},"do":[{"error":{"status":403}}]}`,
		`{"if":{"kind":"compact"},"do":[{"error":{"status":529}}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	first := e.Answers()[0]
	e.Say("two")
	leaf := e.S.Live.LeafID
	e.Events = nil
	hosttest.Refused(t, e.C, e.ID, &protocol.BranchTo{LeafEventID: first, Summarise: "yes"}, protocol.CodeProviderError)
	hosttest.Refused(t, e.C, e.ID, &protocol.BranchTo{LeafEventID: first, Summarise: "perhaps"}, protocol.CodeInvalidRequest)
	hosttest.Refused(t, e.C, e.ID, &protocol.BranchTo{LeafEventID: first, Summarise: "yes", Instructions: strings.Repeat("x", 9000)}, protocol.CodeInvalidRequest)
	e.End()
	e.Events = nil
	w.Waits.Hook = func(ctx context.Context) { <-ctx.Done() } // it is overloaded, and waits before it is asked again
	done := make(chan error, 1)
	go func() {
		_, err := client.Call[*protocol.Moved](t.Context(), e.C, e.ID, &protocol.BranchTo{LeafEventID: first, Summarise: "yes"})
		done <- err
	}()
	turn := e.Until(hosttest.OfType(protocol.TypeRuntimeStart)).TurnID
	if !hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn}).Cancelled {
		t.Error("there was nothing to cancel")
	}
	var pe *protocol.Error
	if err := <-done; !errors.As(err, &pe) || pe.Code != protocol.CodeConflict || !strings.Contains(pe.Message, "nothing has moved") {
		t.Errorf("the move: %v", err)
	}
	e.End()
	if e.S.Live.LeafID != leaf {
		t.Errorf("the leaf is %s, not %s", e.S.Live.LeafID, leaf)
	}
	for _, ev := range w.Log(e.ID) {
		if ev.Type == protocol.TypeBranch || ev.Type == protocol.TypeBranchSummary {
			t.Errorf("%+v", ev)
		}
	}
}

func TestWhereNothingIsLeftNothingIsSummarised(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	first := e.Answers()[0]
	e.Say("two")
	two := e.S.Live.LeafID
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &first})
	if m := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.BranchTo{LeafEventID: two, Summarise: "yes"}); m.SummaryID != "" || m.LeafID != two {
		t.Errorf("%+v", m)
	}
	if n := w.Server.Count(); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestAMoveWithASummaryMovesOnceAndTakesFilesBackOnce(t *testing.T) {
	s := hosttest.Allowed()
	s.Overrides.Mode = "acceptEdits"
	w := hosttest.New(t, s, hosttest.Tried, `{"if":{"user":"^write"},"do":[{"call":"Write","id":"w1","input":{"path":"b.txt","content":"x"}}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	first := e.Answers()[0]
	e.Say("write it")
	c := w.Caller()
	ask := hosttest.NewCall(e.ID, &protocol.RewindTo{TargetEventID: &first, RestoreFiles: true, Summarise: "yes"})
	reply := c.Call(ask)
	moved, ok := reply.Data.(*protocol.Moved)
	if !ok || moved.SummaryID == "" || len(moved.Removed) != 1 {
		t.Fatalf("%s", hosttest.AsText(t, reply))
	}
	w.Write(w.Project+"/b.txt", "of somebody else")
	w.Restart()
	c.Connect()
	ask.Repeat = true
	again, ok := c.Call(ask).Data.(*protocol.Moved)
	if !ok || again.LeafID != moved.LeafID || again.SummaryID != moved.SummaryID {
		t.Errorf("%+v, before %+v", again, moved)
	}
	if w.Read("b.txt") != "of somebody else" {
		t.Error("what was written since is gone")
	}
	l := w.Open(w.Connect(false), e.ID)
	l.Say("go on")
	if again, ok = c.Call(ask).Data.(*protocol.Moved); !ok || again.LeafID != moved.LeafID {
		t.Errorf("behind another message: %+v", again)
	}
	n := 0
	for _, ev := range w.Log(e.ID) {
		if ev.Type == protocol.TypeBranchSummary || ev.Type == protocol.TypeRewind {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d events of the move", n)
	}
	if err := os.Remove(w.Project + "/b.txt"); err != nil {
		t.Fatal(err)
	}
}
