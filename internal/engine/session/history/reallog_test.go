package history

import (
	"bytes"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// TestRealLogGivesWhatTheLogInMemoryGives stores a session on disk, reads it back
// and builds from it.
func TestRealLogGivesWhatTheLogInMemoryGives(t *testing.T) {
	s := everyday()
	shrunk := s.leaf
	s.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: shrunk})
	cut := mustPlan(t, s.build(t, nil), window, true)
	s.add(cut.Event("summary", nil))
	s.item(protocol.ItemMemory, "remember")
	s.say("done")
	compacted := s.leaf
	s.leaf = shrunk // a rewind past the compaction
	s.from(protocol.SourceFollowUp, "another way")

	store, err := session.OpenStore(session.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), protocol.Header{Version: protocol.HeaderVersion,
		SessionID: protocol.NewSessionID(time.Unix(1, 0), rand.Reader), DeviceID: protocol.DeviceIDOf([]byte("k")), CreatedAt: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}()
	var events []protocol.Event
	for _, ev := range s.log.events {
		events = append(events, ev)
	}
	events = append(events, s.log.controls...)
	slices.SortFunc(events, func(a, b protocol.Event) int { return int(a.Seq) - int(b.Seq) })
	for i := range events {
		events[i].SessionID = log.ID()
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Log: log.Index()})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range []protocol.EventID{shrunk, compacted, s.leaf, ""} {
		c, err := b.Build(t.Context(), leaf, window)
		if err != nil {
			t.Fatal(err)
		}
		s.leaf = leaf
		want := s.build(t, nil)
		if got, want := lines(t, c.Messages), lines(t, want.Messages); !bytes.Equal(got, want) {
			t.Errorf("at %q the real log gives\n%s\nand not\n%s", leaf, got, want)
		}
		if c.Tokens != want.Tokens || c.Compact != want.Compact || len(c.Told) != len(want.Told) {
			t.Errorf("at %q: %d tokens, compact %q; want %d, %q", leaf, c.Tokens, c.Compact, want.Tokens, want.Compact)
		}
	}
	if m, err := FindResult(t.Context(), log.Index(), compacted, "t1"); err != nil || m.PlainText() != "FAIL: got 3, want 4" {
		t.Errorf("result t1: %q, %v", m.PlainText(), err)
	}
}
