package extensions

import (
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

func TestTheWriterOfASessionWaitsForNobodyWhoAsksTheLane(t *testing.T) {
	x := &Session{}
	x.mu.Lock() // as who tells extensions the state of the session
	defer x.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.watch(protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Usage: &protocol.Usage{InputTokens: 7}}}))
		x.watch(protocol.NewEvent(&protocol.RuntimeEnd{}))
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("it waits")
	}
	if x.seen.tokens != 7 {
		t.Error("nothing was noted")
	}
}

func TestEntriesOfExtensionsInASessionAreBounded(t *testing.T) {
	x := &Session{kept: kept{counted: true, entries: maxEntries - 1}}
	back, err := x.reserve(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.reserve(t.Context(), 10); err == nil {
		t.Error("too many were taken")
	}
	back()
	if _, err := x.reserve(t.Context(), 10); err != nil {
		t.Error(err)
	}
	x.kept = kept{counted: true, bytes: maxEntryBytes - 10}
	if _, err := x.reserve(t.Context(), 11); err == nil {
		t.Error("too large a one was taken")
	}
	if _, err := x.reserve(t.Context(), 10); err != nil {
		t.Error(err)
	}
}

func TestKindsOfEntriesHaveNothingThatATerminalObeys(t *testing.T) {
	for kind, ok := range map[string]bool{"notes_mark": true, "ext:märke": true, "": false, "a\nb": false, "a\x1b[2J": false, "a\u202eb": false, "\xff": false, strings.Repeat("x", maxEntryKind+1): false} {
		if kindName(kind) != ok {
			t.Errorf("%q: %v", kind, !ok)
		}
	}
}
