package question

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/dialog"
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

// TestSecondEscOfAClosedComponentIsNotForTheEditor: under a component stands that Esc twice
// closes it, and an extension may do so at the first.
func TestSecondEscOfAClosedComponentIsNotForTheEditor(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration // the first Esc, until the second
		key   bool          // one is pressed between them
		late  bool
	}{
		"at once":           {200 * time.Millisecond, false, true},
		"later":             {600 * time.Millisecond, false, false},
		"after another key": {200 * time.Millisecond, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &asking{live: protocol.Live{UI: []protocol.UIRequest{{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogCustom}}}}}
				q := New(Config{Link: link.New(t.Context(), link.Config{}), Toasts: &status.Toasts{}, Session: s, Person: nobody{}})
				q.SetKeys(keymap.Default())
				q.Sync()
				q.Front().(*dialog.Component).SetHere(true)
				q.guard.Drawn("ui_1", time.Now())
				time.Sleep(time.Minute) // a person has seen it
				if q.Component() == nil {
					t.Fatal("it does not take keys")
				}
				q.Press("\x1b")
				s.live.UI = nil // the extension has closed it
				q.Sync()
				time.Sleep(c.after)
				if c.key {
					q.SecondEsc()
				}
				if got := q.SecondEsc(); got != c.late {
					t.Errorf("the second Esc is late: %t", got)
				}
				if q.SecondEsc() {
					t.Error("a third is late, too")
				}
			})
		})
	}
}

// drafts keeps what is typed into the editor.
type drafts struct {
	nobody
	texts []string
}

func (d *drafts) Draft(text string) tea.Cmd {
	d.texts = append(d.texts, text)
	return nil
}

func TestWhatIsTypedInAQuestionThatEndsElsewhereIsNoMessage(t *testing.T) {
	for name, c := range map[string]struct {
		live protocol.Live
		open string // what opens the line for text
		end  keymap.Action
		kept []string
	}{
		"an input":              {protocol.Live{UI: []protocol.UIRequest{{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogInput, Message: "Token"}}}}, "", keymap.Submit, []string{"first half second"}},
		"an input that closes":  {protocol.Live{UI: []protocol.UIRequest{{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogInput, Message: "Token"}}}}, "", keymap.DialogClose, nil},
		"a reason of a refusal": {protocol.Live{Permissions: []protocol.PermissionRequest{{PermissionID: "prm_1", ToolName: "Bash", Args: []byte(`{"command":"ls"}`)}}}, "\t", keymap.Submit, []string{"first half second"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := &asking{live: c.live}, &drafts{}
			q := New(Config{Link: link.New(t.Context(), link.Config{}), Toasts: &status.Toasts{}, Session: s, Person: d})
			q.SetKeys(keymap.Default())
			q.Sync()
			if c.open != "" {
				q.Do(keymap.DialogReason)
			}
			q.Insert("first half")
			s.live = protocol.Live{} // it is answered elsewhere
			q.Sync()
			q.Insert(" second")
			q.Sync() // something else has come of the session
			if q.Front() == nil {
				t.Fatal("the line is gone")
			}
			q.Do(c.end)
			if q.Front() != nil || !slices.Equal(d.texts, c.kept) {
				t.Errorf("kept as a draft: %q", d.texts)
			}
		})
	}
	// Where nothing was typed it closes.
	s := &asking{live: protocol.Live{UI: []protocol.UIRequest{{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogInput}}}}}
	q := New(Config{Link: link.New(t.Context(), link.Config{}), Toasts: &status.Toasts{}, Session: s, Person: nobody{}})
	q.SetKeys(keymap.Default())
	q.Sync()
	s.live = protocol.Live{}
	if q.Sync(); q.Front() != nil {
		t.Error("it is still open")
	}
}
