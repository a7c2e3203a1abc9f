package dialog

import (
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol/display"
)

// steps are what a dialog has that asks one thing at a time: the pages, and after the last
// of them all answers with what to do with them.
type steps struct {
	frame
	count int // of the pages
	at    int // the page; after the last one it is the answers
	send  choices
}

// turn goes to another page.
func (s *steps) turn(by int) {
	s.at = max(0, min(s.at+by, s.count))
	s.frame.from, s.send.on = 0, 0
}

// reviewed reports whether all answers are seen, and no page.
func (s *steps) reviewed() bool { return s.at >= s.count }

// do does an action that is the same on every page, and those of the answers, of which
// sent takes the one that was picked; false for what is the page's.
func (s *steps) do(a keymap.Action, sent func(choice int) Outcome) (Outcome, bool) {
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
		if s.at > 0 { // no key drops several answers
			s.turn(-1)
			return Outcome{}, true
		}
		return answerUI(s.id, nil), true
	case keymap.DialogTabBack:
		s.turn(-1)
		return Outcome{}, true
	}
	if !s.reviewed() {
		return Outcome{}, false
	}
	if i, ok := s.send.do(a); ok {
		return sent(i), true
	}
	s.frame.do(a)
	return Outcome{}, true
}

// insert is do for what was typed.
func (s *steps) insert(text string, sent func(choice int) Outcome) (Outcome, bool) {
	if !s.reviewed() {
		return Outcome{}, false
	}
	if i, ok := s.send.number(text); ok {
		return sent(i), true
	}
	return Outcome{}, true
}

// given is an answer as it is seen at the end.
type given struct{ name, text string }

// closing is what the key does that closes the dialog on its first page.
func (s *steps) closing(text string) row.Doing {
	if s.at > 0 {
		text = "back"
	}
	return row.Doing{Action: keymap.DialogClose, Text: text}
}

// review draws all answers.
func (s *steps) review(th *theme.Theme, width, height int, title string, about []string, answers []given) ([]string, *field.Cursor) {
	var below []string
	for _, g := range answers {
		below = append(below, row.Line(th, width, "", []row.Piece{{Text: g.name + ": ", Style: th.Dim}, {Text: display.Line(g.text), Style: th.Text}}, nil))
	}
	lines, at := s.send.render(th, width, s.armed)
	return s.compose(th, width, height, title, about, append(below, lines...), len(below)+at, nil,
		s.closing("back"))
}
