package overlay

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
)

// Cursor is a place in the lines of an overlay.
type Cursor = field.Cursor

// Overlay is what lies over the editor.
type Overlay interface {
	Input
	// Places says where keys count.
	Places() []keymap.Place
	// Render returns at most height lines of at most width cells, and the cursor, nil
	// where nothing is typed.
	Render(th *theme.Theme, width, height int) ([]string, *Cursor)
}

// Input takes what a person does.
type Input interface {
	Do(a keymap.Action) tea.Cmd
	Insert(text string) tea.Cmd // what was typed
	Paste(text string) tea.Cmd  // what was pasted; it answers nothing
}

// Stack holds the overlays that are open. The zero value holds none.
type Stack struct {
	all  []Overlay
	keys *keymap.Map
}

// SetKeys sets the keys that the overlays which are opened from now on name.
func (s *Stack) SetKeys(keys *keymap.Map) { s.keys = keys }

// Top returns the overlay that has the focus, nil without any.
func (s *Stack) Top() Overlay {
	if n := len(s.all); n > 0 {
		return s.all[n-1]
	}
	return nil
}

// All returns the overlays, the uppermost last. They must not be changed.
func (s *Stack) All() []Overlay { return s.all }

// Open lays an overlay over the others.
func (s *Stack) Open(o Overlay) { s.all = append(s.all, o) }

// Close takes an overlay away, wherever it lies.
func (s *Stack) Close(o Overlay) {
	s.CloseIf(func(other Overlay) bool { return other == o })
}

// CloseIf takes all overlays away for which f holds.
func (s *Stack) CloseIf(f func(Overlay) bool) {
	var kept []Overlay
	for _, o := range s.all {
		if !f(o) {
			kept = append(kept, o)
		}
	}
	s.all = kept
}

// Abort takes the uppermost overlay away as Ctrl-C does.
func (s *Stack) Abort() tea.Cmd {
	o := s.Top()
	if o == nil {
		return nil
	}
	s.all = s.all[:len(s.all)-1]
	switch p := o.(type) {
	case *Picker:
		if p.OnClose != nil {
			return p.OnClose()
		}
	case *pager:
		return p.close()
	}
	return nil
}

// Page shows a text to be read: its lines are safe to show.
func (s *Stack) Page(title string, text []string) { s.PageOf(title, text, nil) }

// PageOf is [Stack.Page] for a text that was opened from something else, which back shows
// again when the text is closed; nil: nothing.
func (s *Stack) PageOf(title string, text []string, back func() tea.Cmd) {
	if n := len(text); n > maxPage {
		text = append(text[:maxPage:maxPage], plain.More(n-maxPage, "line"))
	}
	s.Open(&pager{stack: s, title: title, text: text, closes: s.keys.Hint(keymap.ListClose), back: back})
}

// Follow shows a text that grows, from its end. It is shown while [Stack.Has] reports so;
// back shows what it was opened from when it is closed.
func (s *Stack) Follow(title string, text []string, back func() tea.Cmd) *Pager {
	p := &pager{stack: s, title: title, closes: s.keys.Hint(keymap.ListClose), back: back}
	p.SetText(text)
	s.Open(p)
	return p
}

// Has reports whether an overlay is open.
func (s *Stack) Has(o Overlay) bool { return slices.Contains(s.all, o) }

// Pick opens a picker.
func (s *Stack) Pick(p *Picker) tea.Cmd {
	p.stack = s
	p.List.SetKeys(s.keys)
	s.Open(p)
	return p.Wants()
}

// Prompt asks for a line, with which it calls f.
func (s *Stack) Prompt(cfg PromptConfig, f func(text string) tea.Cmd) tea.Cmd {
	p := &prompt{stack: s, cfg: cfg, done: f}
	p.field.Insert(cfg.Text)
	s.Open(p)
	return nil
}

// Hint names the first key of an action.
func (s *Stack) Hint(a keymap.Action) string { return s.keys.Hint(a) }

// Keys are those that overlays name.
func (s *Stack) Keys() *keymap.Map { return s.keys }
