package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

func ptr[T any](v T) *T { return &v }

// every makes one event of each type on leaf, and returns the new leaf.
func (w *world) every(leaf protocol.EventID, round int) ([]protocol.Event, protocol.EventID) {
	sha := strings.Repeat("ab", 32)
	u := w.user(leaf, "please read a and b \u2028 <now> "+strings.Repeat("x", 40*(round%7)))
	a := w.assistant(u.ID, "I will.", "c1", "c2")
	dec := w.event(a.ID, &protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionAllow, Scope: "once"})
	snap := w.event(a.ID, &protocol.FileSnapshot{ToolCallID: "c1", Path: "/a", Existed: true, Restorable: true, Blob: sha, Mode: 0o644})
	r1 := w.result(a.ID, "c1")
	r2 := w.result(r1.ID, "c2")
	item := w.event(r2.ID, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemMemory, Origin: protocol.OriginSystem, Content: "remember", Visibility: protocol.VisibilityHidden}})
	b := w.assistant(item.ID, "done\nwith \"it\"")
	cm := w.event(b.ID, &protocol.CustomMessage{Kind: "card", Message: protocol.UserText("a card"), Data: json.RawMessage(`{"n":1}`)})
	co := w.event(cm.ID, &protocol.Compact{Summary: "so far", CompactedThrough: b.ID, TokensBefore: 9, TokensAfter: 3})
	bs := w.event(co.ID, &protocol.BranchSummary{FromEventID: u.ID, Summary: "left"})
	back := w.rewind(bs.ID, ptr(b.ID))
	br := w.event(b.ID, &protocol.Branch{LeafEventID: bs.ID})
	rest := []protocol.Event{
		w.event(bs.ID, &protocol.ChannelInject{Channel: "mail", ExternalID: "7"}),
		w.event(bs.ID, &protocol.SessionInfo{Changes: protocol.MetaChanges{Name: ptr("name")}}),
		w.event(bs.ID, &protocol.Custom{Kind: "k", Data: json.RawMessage(`[{"type":"message"}]`)}),
		w.event(bs.ID, &protocol.Label{TargetEventID: u.ID, Label: ptr("start")}),
		w.event(bs.ID, &protocol.InstructionSnapshot{Snapshot: protocol.Instructions{Version: 1, Text: "be good"}}),
		w.event(bs.ID, &protocol.QueueUpdate{Queue: protocol.QueueSteer, Items: []protocol.QueueItem{}}),
		w.event(bs.ID, &protocol.SkillIndexSnapshot{Entries: []protocol.Skill{{Name: "s"}}}),
		w.event(bs.ID, &protocol.SkillIndexDelta{Removed: []string{"s"}}),
		w.event(bs.ID, &protocol.ContextCut{Kind: "shrink", ThroughEventID: b.ID}),
	}
	return append([]protocol.Event{u, a, dec, snap, r1, r2, item, b, cm, co, bs, back, br}, rest...), bs.ID
}

// record commits rounds of every type, closes the log and returns its bytes.
func (w *world) record(t testing.TB, rounds int) []byte {
	t.Helper()
	log := w.create(t)
	leaf := protocol.EventID("")
	for i := range rounds {
		var events []protocol.Event
		events, leaf = w.every(leaf, i)
		if err := log.Commit(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return w.mem.Bytes(w.logName())
}

// with puts other bytes in the place of the log, in a new file system.
func (w *world) with(t testing.TB, data []byte) *world {
	t.Helper()
	n := newWorld(t)
	n.id, n.seq, n.rand = w.id, w.seq, w.rand
	n.mem.Put(n.logName(), data)
	n.restart(t)
	return n
}

// lines cuts a log into its lines, without newlines.
func lines(data []byte) [][]byte {
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

func ids(t testing.TB, ix *Index) []protocol.EventID {
	t.Helper()
	var out []protocol.EventID
	for l, err := range ix.After(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l.ID)
	}
	return out
}

// damagedCopy returns the bytes that were set aside, nil when none were.
func (w *world) damagedCopy(t testing.TB, report health.Report) []byte {
	t.Helper()
	if report.SetAside == "" {
		return nil
	}
	return w.mem.Bytes(report.SetAside)
}

// goOn commits one event and checks that a reopened log is sound and has it.
func (w *world) goOn(t testing.TB, log *Log) {
	t.Helper()
	want := log.Index().Len() + 1
	w.seq = log.NextSeqFloor() - 1
	ev := w.user(log.Index().Leaf(), "I go on")
	if err := log.Commit(t.Context(), []protocol.Event{ev}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log, _, err := w.store.Open(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if got := log.Index(); got.Len() != want || got.Leaf() != ev.ID {
		t.Fatalf("after going on there are %d events with leaf %s, want %d with %s", got.Len(), got.Leaf(), want, ev.ID)
	}
}
