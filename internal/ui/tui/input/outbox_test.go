package input

import (
	"strconv"
	"testing"

	"scorel/internal/ui/tui/status"
	"scorel/protocol"
)

// none is no session.
type none struct{}

func (none) ID() protocol.SessionID     { return "" }
func (none) Completes() bool            { return false }
func (none) MainID() protocol.SessionID { return "" }

func TestTextsThatCouldNotBeSentAreBounded(t *testing.T) {
	in := New(Config{Toasts: &status.Toasts{}, Session: none{}, Dir: t.TempDir(), WorkDir: "/p"})
	if err := in.editor.Insert("what is typed now"); err != nil {
		t.Fatal(err)
	}
	for i := range 10 * maxUnsent {
		in.GiveBack("text "+strconv.Itoa(i), "text "+strconv.Itoa(i))
	}
	if unsent := in.outbox.unsent; len(unsent) != maxUnsent || unsent[maxUnsent-1] != "text "+strconv.Itoa(10*maxUnsent-1) {
		t.Errorf("%d are kept", len(unsent))
	}
	if in.Text() != "what is typed now" {
		t.Errorf("the editor has %q", in.Text())
	}
	if past := in.past.Entries(); len(past) != 10*maxUnsent {
		t.Errorf("the history has %d", len(past))
	}
}
