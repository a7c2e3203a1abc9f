package mcpservers

import (
	"testing"

	"scorel/protocol"
)

// TestAnAgentThatEndsDoesNotTakeTheServersOfATurnThatBegins: of a person who goes on with its
// session while it ends.
func TestAnAgentThatEndsDoesNotTakeTheServersOfATurnThatBegins(t *testing.T) {
	const id = protocol.SessionID("ses_1")
	s := &Servers{open: map[protocol.SessionID]*session{}}
	closed := func(x *session) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.closed
	}
	agent := s.Hold(id)
	x := s.of(id)
	person := s.Hold(id)
	agent()
	s.CloseIdle(id)
	agent() // once more
	if closed(x) || s.of(id) != x {
		t.Fatal("the turn that begins has lost its servers")
	}
	person()
	if !closed(x) || s.of(id) == x {
		t.Error("they do not end with the turn")
	}
	y := s.of(id)
	s.CloseIdle(id)
	if !closed(y) {
		t.Error("servers that no turn holds do not end at once")
	}
	late := s.Hold(id)
	z := s.of(id)
	s.Close(id)
	if !closed(z) {
		t.Error("servers of a session that is closed do not end")
	}
	late()
}
