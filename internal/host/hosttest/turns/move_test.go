package turns_test

import (
	"sync"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestMovesInATurnNeedToCancelIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e, turn := w.Busy()
	hosttest.Refused(t, e.C, e.ID, &protocol.RewindTo{}, protocol.CodeRuntimeBusy)
	hosttest.Refused(t, e.C, e.ID, &protocol.RewindTo{CancelFirst: "trn_0000000000000000"}, protocol.CodeRuntimeBusy)
	hosttest.Refused(t, e.C, e.ID, &protocol.CompactSession{}, protocol.CodeRuntimeBusy)
	hosttest.Refused(t, e.C, e.ID, &protocol.CompactSession{CancelFirst: "trn_0000000000000000"}, protocol.CodeRuntimeBusy)
	hosttest.Refused(t, e.C, e.ID, &protocol.BranchTo{LeafEventID: e.S.Live.LeafID, CancelFirst: "trn_0000000000000000"}, protocol.CodeRuntimeBusy)
	hosttest.Refused(t, e.C, e.ID, &protocol.BranchTo{LeafEventID: e.S.Live.LeafID}, protocol.CodeRuntimeBusy)
	before := protocol.EventID("")
	moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{CancelFirst: turn, ExpectedLeafID: &before})
	if moved.LeafID != "" {
		t.Errorf("moved to %s", moved.LeafID)
	}
	if end := e.End(); end.Terminal != protocol.TerminalCancelled {
		t.Errorf("end: %+v", end)
	}
	e.Say("anew")
	if got := e.Users(); len(got) != 1 || got[0] != "anew" {
		t.Errorf("messages: %q", got)
	}
	w.Judged()
}

func TestAMoveComesBeforeWhatIsSentWhileItCancels(t *testing.T) {
	for range 5 {
		w := hosttest.New(t, hosttest.Allowed(), hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
		e, turn := w.Busy()
		var wg sync.WaitGroup
		for range 4 { // they go into the queue, or after the move
			wg.Go(func() {
				_, err := client.Call[*protocol.Sent](t.Context(), e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("more")})
				if err != nil {
					t.Error(err)
				}
			})
		}
		hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{CancelFirst: turn})
		wg.Wait()
		for _, ev := range w.Log(e.ID) {
			if m, ok := ev.Message(); ok && m.PlainText() == "more" && ev.Seq < rewindSeq(w.Log(e.ID)) {
				t.Error("a message was taken between the cancel and the move")
			}
		}
		w.Host.Close()
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
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	none := protocol.EventID("")
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("one"), ExpectedLeafID: &none})
	e.End()
	leaf := e.S.Live.LeafID
	pe := hosttest.Refused(t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("x"), ExpectedLeafID: &none}, protocol.CodeConflict)
	if string(pe.Details) != `{"leafId":"`+string(leaf)+`"}` {
		t.Errorf("details: %s", pe.Details)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.RewindTo{ExpectedLeafID: &none}, protocol.CodeConflict)
	unknown := protocol.EventID("evt_0000000000000000")
	hosttest.Refused(t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &unknown}, protocol.CodeInvalidEventID)
	hosttest.Refused(t, e.C, e.ID, &protocol.BranchTo{LeafEventID: unknown}, protocol.CodeInvalidEventID)
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{ExpectedLeafID: &leaf})
}

func TestAnOldLeafIsNotRightAfterACancelledTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), `{"if":{"user":"one|two"},"again":true,"do":[{"text":"ok"}]}`, hosttest.Wait)
	e := w.Begin(false)
	e.Say("one")
	old := e.Answers()[0]
	e.Say("two")
	e.Events = nil
	turn := e.Send("run")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	hosttest.Refused(t, e.C, e.ID, &protocol.RewindTo{CancelFirst: turn, ExpectedLeafID: &old}, protocol.CodeConflict)
	if end := e.End(); end.Terminal != protocol.TerminalCancelled {
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
				w := hosttest.New(t, hosttest.Allowed(), `{"if":{"user":"one|two|three"},"again":true,"do":[{"text":"ok"}]}`, hosttest.Wait,
					`{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`)
				e := w.Begin(false)
				e.Say("one")
				e.Say("two")
				e.Say("three")
				before := e.S.Live.LeafID
				e.Events = nil
				turn := e.Send("run")
				e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
				page := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{Limit: 2})
				expected := map[string]protocol.EventID{"the leaf before": before, "the message that began it": page.Events[1].ID, "its newest event": page.Events[0].ID}[seen]
				switch how {
				case "rewind":
					hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &before, CancelFirst: turn, ExpectedLeafID: &expected})
				case "branch":
					hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.BranchTo{LeafEventID: before, CancelFirst: turn, ExpectedLeafID: &expected})
				case "compact":
					c := hosttest.Call[*protocol.Compacted](t, e.C, e.ID, &protocol.CompactSession{CancelFirst: turn, ExpectedLeafID: &expected})
					if c.EventID == "" {
						t.Errorf("nothing was compacted: %+v", c)
					}
				}
				if end := e.End(); end.Terminal != protocol.TerminalCancelled {
					t.Errorf("the turn: %+v", end)
				}
				w.Judged()
			})
		}
	}
}

func TestACompactionThatCancelsComesBeforeWhatIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Allowed(), `{"if":{"user":"one|two|three"},"again":true,"do":[{"text":"ok"}]}`, hosttest.Wait,
		`{"if":{"kind":"compact"},"do":[{"text":"They talked."}]}`, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	for _, s := range []string{"one", "two", "three"} {
		e.Say(s)
	}
	e.Events = nil
	turn := e.Send("run")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := client.Call[*protocol.Sent](t.Context(), e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("more")}); err != nil {
				t.Error(err)
			}
		})
	}
	hosttest.Call[*protocol.Compacted](t, e.C, e.ID, &protocol.CompactSession{CancelFirst: turn})
	wg.Wait()
	var compacted protocol.Seq
	for _, ev := range w.Log(e.ID) {
		if ev.Type == protocol.TypeCompact {
			compacted = ev.Seq
		}
	}
	for _, ev := range w.Log(e.ID) {
		if m, ok := ev.Message(); ok && m.PlainText() == "more" && ev.Seq < compacted {
			t.Error("a message was taken between the cancel and the compaction")
		}
	}
}

func TestACompactionOfAnOldLeafConflicts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("one")
	old := protocol.EventID("")
	pe := hosttest.Refused(t, e.C, e.ID, &protocol.CompactSession{ExpectedLeafID: &old}, protocol.CodeConflict)
	if string(pe.Details) != `{"leafId":"`+string(e.S.Live.LeafID)+`"}` {
		t.Errorf("details: %s", pe.Details)
	}
}

func TestTwoClientsThatMoveAtOnceDoNotBothWin(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for range 10 {
			w := hosttest.New(t, hosttest.Allowed(), `{"if":{"user":"one"},"again":true,"do":[{"text":"ok"}]}`, hosttest.Wait)
			e := w.Begin(false)
			e.Say("one")
			target := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{}).Events[1].ID
			leaf, turn := e.S.Live.LeafID, protocol.TurnID("")
			if busy {
				e.Events = nil
				turn = e.Send("run")
				e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
			}
			other := w.Connect(false)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for i, c := range []*client.Client{e.C, other} {
				wg.Go(func() {
					to := &target
					if i == 1 {
						to = nil
					}
					_, errs[i] = client.Call[*protocol.Moved](t.Context(), c, e.ID, &protocol.RewindTo{TargetEventID: to, ExpectedLeafID: &leaf, CancelFirst: turn})
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
			if err := w.Host.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNothingBeginsBeforeFilesAreRestored(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}},
		`{"if":{"user":"one"},"do":[{"call":"Write","id":"c1","input":{"path":"a.txt","content":"first"}}]}`, `{"do":[{"text":"done"}]}`,
		`{"if":{"user":"again"},"do":[{"call":"Write","id":"c2","input":{"path":"a.txt","content":"first"}}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	e.Say("one")
	e.Events = nil
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := client.Call[*protocol.Moved](t.Context(), e.C, e.ID, &protocol.RewindTo{RestoreFiles: true}); err != nil {
			t.Error(err)
		}
	})
	e.Until(hosttest.OfType(protocol.TypeRewind))
	e.Send("again")
	wg.Wait()
	e.End()
	if got := w.Read("a.txt"); got != "first" { // else the restore came after the write of the next turn
		t.Errorf("the file holds %q", got)
	}
}
