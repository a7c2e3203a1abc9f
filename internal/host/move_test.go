package host_test

import (
	"sync"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

func TestMovesInATurnNeedToCancelIt(t *testing.T) {
	w := newWorld(t, allowed(), wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.busy()
	refused(t, e.c, e.id, &protocol.RewindTo{}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.RewindTo{CancelFirst: "trn_0000000000000000"}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.CompactSession{}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.CompactSession{CancelFirst: "trn_0000000000000000"}, protocol.CodeRuntimeBusy)
	refused(t, e.c, e.id, &protocol.BranchTo{LeafEventID: e.s.Live.LeafID, CancelFirst: "trn_0000000000000000"}, protocol.CodeRuntimeBusy)
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

// TestAfterACancelledTurnItsOwnEventsAndTheLeafBeforeAreRight moves with each leaf that
// a client may have seen while the turn ran.
func TestAfterACancelledTurnItsOwnEventsAndTheLeafBeforeAreRight(t *testing.T) {
	for _, seen := range []string{"the leaf before", "the message that began it", "its newest event"} {
		for _, how := range []string{"rewind", "branch", "compact"} {
			t.Run(how+" with "+seen, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, allowed(), `{"if":{"user":"one|two|three"},"again":true,"do":[{"text":"ok"}]}`, wait,
					`{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`)
				e := w.begin(false)
				e.say("one")
				e.say("two")
				e.say("three")
				before := e.s.Live.LeafID
				e.events = nil
				turn := e.send("run")
				e.until(ofType(protocol.TypeToolExecutionStart))
				page := call[*protocol.Events](t, e.c, e.id, &protocol.GetPath{Limit: 2})
				expected := map[string]protocol.EventID{"the leaf before": before, "the message that began it": page.Events[1].ID, "its newest event": page.Events[0].ID}[seen]
				switch how {
				case "rewind":
					call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &before, CancelFirst: turn, ExpectedLeafID: &expected})
				case "branch":
					call[*protocol.Moved](t, e.c, e.id, &protocol.BranchTo{LeafEventID: before, CancelFirst: turn, ExpectedLeafID: &expected})
				case "compact":
					c := call[*protocol.Compacted](t, e.c, e.id, &protocol.CompactSession{CancelFirst: turn, ExpectedLeafID: &expected})
					if c.EventID == "" {
						t.Errorf("nothing was compacted: %+v", c)
					}
				}
				if end := e.end(); end.Terminal != protocol.TerminalCancelled {
					t.Errorf("the turn: %+v", end)
				}
				w.judged()
			})
		}
	}
}

func TestACompactionThatCancelsComesBeforeWhatIsSent(t *testing.T) {
	w := newWorld(t, allowed(), `{"if":{"user":"one|two|three"},"again":true,"do":[{"text":"ok"}]}`, wait,
		`{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	for _, s := range []string{"one", "two", "three"} {
		e.say(s)
	}
	e.events = nil
	turn := e.send("run")
	e.until(ofType(protocol.TypeToolExecutionStart))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := client.Call[*protocol.Sent](t.Context(), e.c, e.id, &protocol.SendMessage{Content: text("more")}); err != nil {
				t.Error(err)
			}
		})
	}
	call[*protocol.Compacted](t, e.c, e.id, &protocol.CompactSession{CancelFirst: turn})
	wg.Wait()
	var compacted protocol.Seq
	for _, ev := range w.log(e.id) {
		if ev.Type == protocol.TypeCompact {
			compacted = ev.Seq
		}
	}
	for _, ev := range w.log(e.id) {
		if m, ok := ev.Message(); ok && m.PlainText() == "more" && ev.Seq < compacted {
			t.Error("a message was taken between the cancel and the compaction")
		}
	}
}

func TestACompactionOfAnOldLeafConflicts(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("one")
	old := protocol.EventID("")
	pe := refused(t, e.c, e.id, &protocol.CompactSession{ExpectedLeafID: &old}, protocol.CodeConflict)
	if string(pe.Details) != `{"leafId":"`+string(e.s.Live.LeafID)+`"}` {
		t.Errorf("details: %s", pe.Details)
	}
}

func TestTwoClientsThatMoveAtOnceDoNotBothWin(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for range 10 {
			w := newWorld(t, allowed(), `{"if":{"user":"one"},"again":true,"do":[{"text":"ok"}]}`, wait)
			e := w.begin(false)
			e.say("one")
			target := call[*protocol.Events](t, e.c, e.id, &protocol.GetPath{}).Events[1].ID
			leaf, turn := e.s.Live.LeafID, protocol.TurnID("")
			if busy {
				e.events = nil
				turn = e.send("run")
				e.until(ofType(protocol.TypeToolExecutionStart))
			}
			other := w.connect(false)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for i, c := range []*client.Client{e.c, other} {
				wg.Go(func() {
					to := &target
					if i == 1 {
						to = nil
					}
					_, errs[i] = client.Call[*protocol.Moved](t.Context(), c, e.id, &protocol.RewindTo{TargetEventID: to, ExpectedLeafID: &leaf, CancelFirst: turn})
				})
			}
			wg.Wait()
			won, now := 0, target
			if errs[0] != nil {
				won, now = 1, ""
			}
			lost := protocol.AsError(errs[1-won])
			if errs[won] != nil || errs[1-won] == nil || lost.Code != protocol.CodeConflict || string(lost.Details) != `{"leafId":"`+string(now)+`"}` {
				t.Fatalf("busy %v: %v and %v, details %s", busy, errs[0], errs[1], lost.Details)
			}
			if err := w.host.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNothingBeginsBeforeFilesAreRestored(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Mode: "acceptEdits"}},
		`{"if":{"user":"one"},"do":[{"call":"Write","id":"c1","input":{"path":"a.txt","content":"first"}}]}`, `{"do":[{"text":"done"}]}`,
		`{"if":{"user":"again"},"do":[{"call":"Write","id":"c2","input":{"path":"a.txt","content":"first"}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.begin(false)
	e.say("one")
	e.events = nil
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := client.Call[*protocol.Moved](t.Context(), e.c, e.id, &protocol.RewindTo{RestoreFiles: true}); err != nil {
			t.Error(err)
		}
	})
	e.until(ofType(protocol.TypeRewind))
	e.send("again")
	wg.Wait()
	e.end()
	if got := w.read("a.txt"); got != "first" { // else the restore came behind the write of the next turn
		t.Errorf("the file holds %q", got)
	}
}
