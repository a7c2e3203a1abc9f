package overlay

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/theme"
)

func newStack() *Stack {
	s := &Stack{}
	s.SetKeys(keymap.Default())
	return s
}

func TestUppermostOverlayHasTheFocusUntilItIsClosed(t *testing.T) {
	s := newStack()
	closed := 0
	p := &Picker{List: list.New(list.Config{Title: "List"}), OnClose: func() tea.Cmd { closed++; return nil }}
	s.Pick(p)
	s.Page("Text", []string{"line"})
	if s.Top() == p {
		t.Error("the picker has the focus under the page")
	}
	s.Abort()
	if s.Top() != p || closed != 0 {
		t.Error("the page is not the one that was closed")
	}
	if s.Abort(); s.Top() != nil || closed != 1 {
		t.Errorf("the picker was closed %d times", closed)
	}
	s.Abort() // nothing is open
}

func TestPageIsBoundedAndScrolls(t *testing.T) {
	th, _ := theme.New(theme.Options{Name: theme.Colourless, Plain: true})
	s := newStack()
	s.Page("Text", make([]string, 2*maxPage))
	s.Top().Render(th, 60, 10)
	s.Top().Do(keymap.ScrollBottom)
	lines, _ := s.Top().Render(th, 60, 10)
	if text := ansi.Strip(strings.Join(lines, "\n")); !strings.Contains(text, "20000 more lines") || !strings.Contains(text, "of 20001") {
		t.Error(text)
	}
}

func TestPromptReturnsWhatWasTypedAndHidesASecret(t *testing.T) {
	th, _ := theme.New(theme.Options{Name: theme.Colourless, Plain: true})
	s := newStack()
	got := ""
	s.Prompt(PromptConfig{Title: "Key", Message: "It is secret.", Secret: true}, func(text string) tea.Cmd { got = text; return nil })
	s.Top().Insert("sk-")
	s.Top().Paste("123")
	lines, _ := s.Top().Render(th, 60, 10)
	if text := ansi.Strip(strings.Join(lines, "\n")); strings.Contains(text, "sk-") || !strings.Contains(text, "> ******") {
		t.Error(text)
	}
	if s.Top().Do(keymap.Submit); got != "sk-123" || s.Top() != nil {
		t.Errorf("%q, %v", got, s.Top())
	}
}

func TestATextThatIsClosedShowsWhatItWasOpenedFrom(t *testing.T) {
	for _, close := range []func(s *Stack){
		func(s *Stack) { s.Top().Do(keymap.ListClose) },
		func(s *Stack) { s.Top().Insert("q") },
		func(s *Stack) { s.Abort() },
	} {
		s := newStack()
		backs := 0
		s.PageOf("Log", []string{"line"}, func() tea.Cmd { backs++; return nil })
		close(s)
		if backs != 1 || s.Top() != nil {
			t.Errorf("it was shown %d times", backs)
		}
	}
}
