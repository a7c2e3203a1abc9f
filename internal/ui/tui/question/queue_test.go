package question

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
)

// asking is a session that asks.
type asking struct{ live protocol.Live }

func (s *asking) ID() protocol.SessionID { return "ses_1" }
func (s *asking) Live() *protocol.Live   { return &s.live }

// nobody does not look, and types nothing.
type nobody struct{}

func (nobody) Notify(string) tea.Cmd { return nil }
func (nobody) Draft(string) tea.Cmd  { return nil }
func (nobody) Size() (int, int)      { return 80, 24 }

func TestAQuestionThatWasAnsweredHereIsNotOpenedAgain(t *testing.T) {
	s := &asking{live: protocol.Live{Permissions: []protocol.PermissionRequest{{PermissionID: "prm_1", ToolName: "Bash", Args: []byte(`{"command":"ls"}`)}}}}
	q := New(Config{Link: link.New(t.Context(), link.Config{}), Toasts: &status.Toasts{}, Session: s, Person: nobody{}})
	q.SetKeys(keymap.Default())
	q.Sync()
	if q.Front() == nil {
		t.Fatal("nothing is asked")
	}
	q.Insert("n") // its answer is on the way to the host
	if q.Front() != nil {
		t.Fatal("it is still open")
	}
	q.Sync() // something else has come of the session
	if q.Front() != nil {
		t.Error("it is open again")
	}
	s.live.Permissions = nil
	q.Sync()
	if len(q.given) > 0 {
		t.Error("it is remembered for ever")
	}
}
