package host_test

import (
	"sync"
	"testing"

	"scorel/client"
	"scorel/protocol"
)

func TestMovesInATurnNeedToCancelIt(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.busy()
	refused(t, e.c, e.id, &protocol.RewindTo{}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.RewindTo{CancelFirst: "trn_0000000000000000"}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.CompactSession{}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.BranchTo{LeafEventID: e.s.Live.LeafID}, protocol.CodeRuntimeBusy)
	before := protocol.EventID("")
	moved := call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{CancelFirst: turn, ExpectedLeafID: &before})
	if moved.LeafID != "" {
		t.Errorf("moved to %s", moved.LeafID)
	}
	if end := e.end(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("end: %+v", end)
	}
	e.say("anew")
	if got := e.users(); len(got) != 1 || got[0] != "anew" {
		t.Errorf("messages: %q", got)
	}
	w.judged()
}

func TestAMoveComesBeforeWhatIsSentWhileItCancels(t *testing.T) {
	for range 5 {
		w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
		e, turn := w.busy()
		var wg sync.WaitGroup
		for range 4 { // they go into the queue, or behind the move
			wg.Go(func() {
				_, err := client.Call[*protocol.Sent](t.Context(), e.c, e.id, &protocol.SendMessage{Content: text("more")})
				if err != nil {
					t.Error(err)
				}
			})
		}
		call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{CancelFirst: turn})
		wg.Wait()
		for _, ev := range w.log(e.id) {
			if m, ok := ev.Message(); ok && m.PlainText() == "more" && ev.Seq < rewindSeq(w.log(e.id)) {
				t.Error("a message was taken between the cancel and the move")
			}
		}
		w.host.Close()
	}
}

func rewindSeq(events []protocol.Event) protocol.Seq {
	for _, e := range events {
		if e.Type == protocol.TypeRewind {
			return e.Seq
		}
	}
	return 0
}

func TestAnExpectedLeafThatIsNotTheLeafConflicts(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	none := protocol.EventID("")
	call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: text("one"), ExpectedLeafID: &none})
	e.end()
	leaf := e.s.Live.LeafID
	pe := refused(t, e.c, e.id, &protocol.SendMessage{Content: text("x"), ExpectedLeafID: &none}, protocol.CodeConflict)
	if string(pe.Details) != `{"leafId":"`+string(leaf)+`"}` {
		t.Errorf("details: %s", pe.Details)
	}
	refused(t, e.c, e.id, &protocol.RewindTo{ExpectedLeafID: &none}, protocol.CodeConflict)
	unknown := protocol.EventID("evt_0000000000000000")
	refused(t, e.c, e.id, &protocol.RewindTo{TargetEventID: &unknown}, protocol.CodeInvalidEventID)
	refused(t, e.c, e.id, &protocol.BranchTo{LeafEventID: unknown}, protocol.CodeInvalidEventID)
	call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{ExpectedLeafID: &leaf})
}

func TestAnOldLeafIsNotRightAfterACancelledTurn(t *testing.T) {
	w := newWorld(t, allowed(), `{"if":{"user":"one|two"},"again":true,"do":[{"text":"ok"}]}`, wait)
	e := w.begin(false)
	e.say("one")
	old := e.answers()[0]
	e.say("two")
	e.events = nil
	turn := e.send("run")
	e.until(ofType(protocol.TypeToolExecutionStart))
	refused(t, e.c, e.id, &protocol.RewindTo{CancelFirst: turn, ExpectedLeafID: &old}, protocol.CodeConflict)
	if end := e.end(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("end: %+v", end)
	}
}
