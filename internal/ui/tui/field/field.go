package field

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// DefaultMax bounds the text in bytes, unless Max says something else: what is longer
// than an answer to a dialog may be is of no use anywhere.
const DefaultMax = protocol.MaxAnswer

// maxUndo is how many changes can be taken back; the oldest is forgotten.
const maxUndo = 100

// Cursor is where the cursor of the terminal stands, counted from 0 at the upper left
// of what was drawn.
type Cursor struct{ X, Y int }

// Field is the text with its cursor. The zero value is empty.
type Field struct {
	// Max is how many bytes the text may have; 0 is DefaultMax. What is beyond is not
	// taken, and the field says so (see Full).
	Max int
	// Placeholder is in an empty field.
	Placeholder string

	text  string
	at    int // byte offset of the cursor, between two characters
	kill  string
	undo  []state
	typed bool // the last change was typing, which one step of undo takes back whole
	full  bool
	from  int // byte offset of the first character that is drawn
}

type state struct {
	text string
	at   int
}

// Text is what was typed.
func (f *Field) Text() string { return f.text }

// Full says that the last text to be inserted was too long and was cut.
func (f *Field) Full() bool { return f.full }

// Set replaces the text; the cursor stands after it. It cannot be undone.
func (f *Field) Set(text string) {
	*f = Field{Max: f.Max, Placeholder: f.Placeholder, kill: f.kill}
	f.Insert(text)
	f.undo, f.typed = nil, false
}

// Insert puts text at the cursor. Line breaks and tabs become blanks.
func (f *Field) Insert(text string) {
	text = oneLine(text)
	room := f.Max
	if room == 0 {
		room = DefaultMax
	}
	room -= len(f.text)
	f.full = len(text) > room
	if f.full {
		text = whole(text, max(room, 0))
	}
	if text == "" {
		return
	}
	if !f.typed {
		f.keep()
	}
	f.typed = true
	f.text = f.text[:f.at] + text + f.text[f.at:]
	f.at = f.boundary(f.at + len(text)) // a combining character joins what is before it
}

// oneLine makes text safe, on one line, with its blanks kept.
func oneLine(text string) string {
	text = cell.Clean(text)
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return ' '
		}
		return r
	}, text)
}

// whole returns the first n bytes of a text, less a torn character.
func whole(text string, n int) string {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Do edits the text; it is false for actions that are none of a line.
func (f *Field) Do(a keymap.Action) bool {
	f.full = false
	switch a {
	case keymap.Left:
		f.move(f.before(f.at))
	case keymap.Right:
		f.move(f.after(f.at))
	case keymap.WordLeft:
		f.move(f.wordBefore())
	case keymap.WordRight:
		f.move(f.wordAfter())
	case keymap.LineStart, keymap.TextStart:
		f.move(0)
	case keymap.LineEnd, keymap.TextEnd:
		f.move(len(f.text))
	case keymap.DeleteBack:
		f.remove(f.before(f.at), f.at, false)
	case keymap.DeleteForward:
		f.remove(f.at, f.after(f.at), false)
	case keymap.DeleteWordBack:
		f.remove(f.wordBefore(), f.at, true)
	case keymap.DeleteWord:
		f.remove(f.at, f.wordAfter(), true)
	case keymap.KillLine:
		f.remove(f.at, len(f.text), true)
	case keymap.KillLineBack:
		f.remove(0, f.at, true)
	case keymap.ClearInput:
		f.remove(0, len(f.text), true)
	case keymap.Yank:
		f.Insert(f.kill)
		f.typed = false
	case keymap.Undo:
		if n := len(f.undo); n > 0 {
			f.text, f.at = f.undo[n-1].text, f.undo[n-1].at
			f.undo, f.typed = f.undo[:n-1], false
		}
	default:
		return false
	}
	return true
}

func (f *Field) move(to int) { f.at, f.typed = to, false }

func (f *Field) remove(from, to int, keep bool) {
	if from == to {
		return
	}
	f.keep()
	f.typed = false
	if keep {
		f.kill = f.text[from:to]
	}
	f.text = f.text[:from] + f.text[to:]
	f.at = f.boundary(from)
}

// keep remembers the text for undo.
func (f *Field) keep() {
	if len(f.undo) == maxUndo {
		f.undo = append(f.undo[:0], f.undo[1:]...)
	}
	f.undo = append(f.undo, state{f.text, f.at})
}

// boundary returns the first boundary between characters at or after an offset.
func (f *Field) boundary(at int) int {
	i := 0
	for i < at {
		i = f.after(i)
	}
	return i
}

// after returns the boundary after that at i.
func (f *Field) after(i int) int {
	if i >= len(f.text) {
		return len(f.text)
	}
	n, _ := cell.First(f.text[i:])
	return i + n
}

// before returns the boundary in front of that at i.
func (f *Field) before(i int) int {
	last := 0
	for at := 0; at < i; at = f.after(at) {
		last = at
	}
	return last
}

func (f *Field) wordBefore() int {
	i := f.at
	for i > 0 && !wordy(f.text[f.before(i):i]) {
		i = f.before(i)
	}
	for i > 0 && wordy(f.text[f.before(i):i]) {
		i = f.before(i)
	}
	return i
}

func (f *Field) wordAfter() int {
	i := f.at
	for i < len(f.text) && !wordy(f.text[i:f.after(i)]) {
		i = f.after(i)
	}
	for i < len(f.text) && wordy(f.text[i:f.after(i)]) {
		i = f.after(i)
	}
	return i
}

// wordy reports whether a character belongs to a word.
func wordy(c string) bool {
	r, _ := utf8.DecodeRuneInString(c)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
}

// Render draws the field: one line of at most width cells, and in which of them the
// cursor stands. The part around the cursor is seen.
func (f *Field) Render(th *theme.Theme, width int) (line string, x int) {
	if width < 1 {
		return "", 0
	}
	if f.text == "" {
		f.from = 0
		return th.Dim.On(cell.Cut(display.Line(f.Placeholder), width, th.Box.Ellipsis)), 0
	}
	if f.from > f.at {
		f.from = f.at
	}
	f.from = f.boundary(min(f.from, len(f.text)))
	// One cell is for the cursor after the text.
	for f.from < f.at && cell.Width(f.text[f.from:f.at]) >= width {
		f.from = f.after(f.from)
	}
	x = cell.Width(f.text[f.from:f.at])
	return th.Text.On(cell.Cut(f.text[f.from:], width, "")), min(x, width-1)
}
