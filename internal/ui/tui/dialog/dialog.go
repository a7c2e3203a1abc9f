package dialog

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"scorel/internal/text/cell"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what a dialog shows.
const (
	// maxBody bounds what is asked about, in bytes; the rest is counted.
	maxBody = 512 << 10
	// hintsFrom and spaceFrom are the heights from which there is room for hints, and for
	// a blank line above the answers.
	hintsFrom = 12
	spaceFrom = 20
	// folded is how many lines of it are shown at most until it is expanded.
	folded = 16
	// minBody is how many lines of it are shown at least, when it has them.
	minBody = 2
	// ruleCells is what the line with the title has beside that and the count, in cells.
	ruleCells = 8
	// smallBody is how many lines of it are so few that the first one is that of a change.
	smallBody = 6
	// maxCell is more than the bytes of any cell (see cell.Clean).
	maxCell = 64
)

// Outcome is what came of a key.
type Outcome struct {
	// Request is the answer for the host, nil when there is none.
	Request protocol.Request
	// Done says that the dialog is over: it was answered, or closed.
	Done bool
	// Yes says of a [Confirm] that it was confirmed.
	Yes bool
	// Take says that a [Component] is to be brought to this screen.
	Take bool
	// Draft says that the text that was typed is no answer: whoever types it means the
	// draft, and what follows is no answer either until they pause.
	Draft bool
}

// Dialog is a question that is open.
type Dialog interface {
	// ID is that of the permission or dialog at the host, or a name of the caller.
	ID() string
	// Places says where keys count: in a dialog, and while text is typed first of all in
	// the editor.
	Places() []keymap.Place
	// Do does an action of these places.
	Do(a keymap.Action) Outcome
	// Insert takes text that was typed.
	Insert(text string) Outcome
	// Paste takes text that was pasted. It never answers.
	Paste(text string)
	// Place says that the dialog is the n-th, from 1, of so many that wait.
	Place(n, of int)
	// SetKeys returns the keys that are named in the last line, where there is room.
	SetKeys(keys *keymap.Map)
	// Arm reports whether the dialog takes keys (see Guard); a new one does not.
	Arm(on bool)
	// Render draws the dialog: at most height lines of at most width cells, and where
	// the cursor stands, nil when nothing is typed.
	Render(th *theme.Theme, width, height int) ([]string, *field.Cursor)
}

// Lines draws something that is asked about, such as a diff: styled lines of at most
// width cells.
type Lines func(th *theme.Theme, width int) []string

// frame is what all dialogs have: their place among others, and the text that is asked
// about, which scrolls and opens to the whole height.
type frame struct {
	id    string
	n, of int
	armed bool
	keys  *keymap.Map
	open  bool // the text takes the whole height
	from  int  // the first of its lines that is seen
	seen  int  // how many are seen
	first int  // the line that a small window begins with until somebody scrolls
	rows  int  // how many there are, with those of a title that is too long for its own line
	brief bool // something below it was shortened, and is whole in the open text

	cached      []string // the lines of the text
	cachedID    string   // of the theme they were drawn with
	cachedWidth int
}

func (f *frame) ID() string      { return f.id }
func (f *frame) Place(n, of int) { f.n, f.of = n, of }
func (f *frame) Arm(on bool)     { f.armed = on }

func (f *frame) SetKeys(keys *keymap.Map) { f.keys = keys }

// named is the key of an action, as a text writes it.
func (f *frame) named(a keymap.Action) string {
	if f.keys == nil {
		return keymap.Default().Name(a)
	}
	return f.keys.Name(a)
}

// places returns the places of a dialog, while text is typed or not.
func places(typing bool) []keymap.Place {
	if typing {
		return []keymap.Place{keymap.Editor, keymap.Dialog}
	}
	return []keymap.Place{keymap.Dialog, keymap.Editor}
}

// Places are those of a dialog in which nothing is typed.
func (f *frame) Places() []keymap.Place { return places(false) }

// do scrolls and opens the text; it is false for other actions.
func (f *frame) do(a keymap.Action) bool {
	switch a {
	case keymap.DialogExpand:
		f.open, f.first = !f.open, 0
	case keymap.DialogUp:
		f.from -= max(1, f.seen/2)
	case keymap.DialogDown:
		f.from += max(1, f.seen/2)
	case keymap.ScrollUp:
		f.from--
	case keymap.ScrollDown:
		f.from++
	case keymap.ListPageUp, keymap.PageUp:
		f.from -= max(1, f.seen-1)
	case keymap.ListPageDown, keymap.PageDown:
		f.from += max(1, f.seen-1)
	default:
		return false
	}
	f.from, f.first = max(0, min(f.from, f.rows-f.seen)), 0
	return true
}

// lines returns the lines of the text, drawn once for a theme and width.
func (f *frame) lines(th *theme.Theme, width int, draw Lines) []string {
	if draw == nil {
		return nil
	}
	if f.cachedID != th.ID || f.cachedWidth != width || f.cached == nil {
		f.cached, f.cachedID, f.cachedWidth = draw(th, width), th.ID, width
	}
	return f.cached
}

// compose puts a dialog together: the title, what is asked about, and what is below it,
// which is seen whole when it fits, and else the part with the line on. The cursor is one
// of below. Doing are the actions that are named in the last line.
func (f *frame) compose(th *theme.Theme, width, height int, title string, body, below []string, on int, cursor *field.Cursor, doing ...row.Doing) ([]string, *field.Cursor) {
	if width < 1 || height < 1 {
		return nil, nil
	}
	right := ""
	if f.of > 1 {
		right = fmt.Sprintf("%d of %d", f.n, f.of)
	}
	lines := []string{row.Rule(th, width, title, right)}
	if cell.Width(title) > width-ruleCells-cell.Width(right) { // what is asked is seen whole
		body = append(exact(title, width, th.Strong), body...)
	}
	f.rows = len(body)
	if !f.armed {
		cursor = nil // what is typed goes to the draft
	}
	last := f.hints(th, width, height, len(body), len(below), doing)
	height -= len(last)
	if height >= spaceFrom && len(body) > 0 {
		below = append([]string{""}, below...)
		on++
		cursor = lower(cursor, 1)
	}
	lines = append(lines, f.window(th, width, height, body, len(below))...)
	y, fits := len(lines), height-len(lines)
	first := 0
	if len(below) > fits {
		first = row.Window(max(0, on-1), on, fits, len(below))
	}
	lines = append(lines, below[first:min(len(below), first+fits)]...)
	cursor = lower(cursor, y-first)
	if cursor != nil && (cursor.Y < y || cursor.Y >= len(lines)) {
		cursor = nil
	}
	return append(lines, last...), cursor
}

// lower returns a cursor some lines further down; nil stays so.
func lower(cursor *field.Cursor, lines int) *field.Cursor {
	if cursor == nil {
		return nil
	}
	return &field.Cursor{X: cursor.X, Y: cursor.Y + lines}
}

// hints returns the last line of a dialog, which names what keys do; none where there is no
// room for it.
func (f *frame) hints(th *theme.Theme, width, height, body, below int, doing []row.Doing) []string {
	if height < hintsFrom || f.keys == nil {
		return nil
	}
	if f.open || f.brief || body > folded || body > height-2-below {
		expands := "all of it"
		if f.open {
			expands = "less of it"
		}
		doing = append([]row.Doing{{Action: keymap.DialogExpand, Text: expands}, {Action: keymap.DialogDown, Text: "scroll"}}, doing...)
	}
	line := row.Hints(th, width, row.HintsOf(f.keys, doing...))
	switch {
	case line == "":
		return nil
	case !f.armed:
		return []string{""} // its line is kept, so that nothing moves when keys count
	}
	return []string{line}
}

// window returns what is seen of the text beside so many lines below it. Where that is not
// all of it a line says what is not seen.
func (f *frame) window(th *theme.Theme, width, height int, body []string, below int) []string {
	room := height - 1 - below
	if f.open || room < minBody {
		// The text gets what it needs; of the rest its end is left out.
		room = max(room, minBody)
	} else {
		room = min(room, folded)
	}
	room = max(0, min(room, height-1))
	if len(body) <= room {
		f.from, f.seen = 0, len(body)
		return body
	}
	n := max(0, room-1)
	if f.first > 0 && n <= smallBody {
		f.from = f.first
	}
	f.from = max(0, min(f.from, len(body)-n))
	f.seen = n
	shown := append([]string(nil), body[f.from:f.from+n]...)
	if room > 0 {
		shown = append(shown, f.hidden(th, width, f.from, len(body)-f.from-n))
	}
	return shown
}

// hidden says how much of the text is not seen.
func (f *frame) hidden(th *theme.Theme, width, above, below int) string {
	var parts []string
	if above > 0 {
		parts = append(parts, plain.Count(above, "earlier line"))
	}
	if below > 0 {
		parts = append(parts, plain.Count(below, "more line"))
	}
	return th.Warning.On(cell.Cut(th.Box.Ellipsis+" "+strings.Join(parts, ", "), width, th.Box.Ellipsis))
}

// exact returns text with every character of it: a line that is too long is broken after
// a blank near the width, else at the width.
func exact(text string, width int, style theme.Style) []string {
	more := 0
	if len(text) > maxBody {
		more = len(text) - maxBody
		text = strings.ToValidUTF8(text[:maxBody], "")
	}
	var lines []string
	for l := range strings.SplitSeq(cell.Clean(display.Exact(text)), "\n") {
		for {
			n := min(len(l), (width+1)*maxCell)
			for n < len(l) && !utf8.RuneStart(l[n]) {
				n--
			}
			fits, _ := cell.Fit(l[:n], max(1, width))
			part := l[:fits]
			if part == "" { // all of it, or a character that is wider than a line
				part = l
			}
			if i := strings.LastIndexByte(part, ' ') + 1; len(part) < len(l) && i > len(part)*2/3 {
				part = part[:i]
			}
			lines = append(lines, style.On(part))
			if l = l[len(part):]; l == "" {
				break
			}
		}
	}
	if more > 0 {
		lines = append(lines, cell.Cut(plain.More(more, "byte"), width, ""))
	}
	return lines
}

// prose returns text broken between words.
func prose(text string, width int, style theme.Style) []string {
	var lines []string
	for _, l := range cell.Wrap(cell.Clean(text), width) {
		lines = append(lines, style.On(l))
	}
	return lines
}

// reason returns why the host asks, with a command between backticks as code. Other backticks are
// part of a command, and stay.
func reason(text string, th *theme.Theme, width int) []string {
	before, rest, _ := strings.Cut(cell.Clean(text), "`")
	code, after, ok := strings.Cut(rest, "`")
	if !ok || strings.Contains(after, "`") || th.Code == "" { // without colours the backticks say it
		return prose(text, width, th.Dim)
	}
	var styled string
	for _, p := range []row.Piece{{Text: before, Style: th.Dim}, {Text: code, Style: th.Code}, {Text: after, Style: th.Dim}} {
		if p.Text != "" {
			styled += p.Style.On(p.Text)
		}
	}
	return cell.Wrap(styled, width)
}

// subagent says which sub-agent asks, with a mark in its color where it has one.
func subagent(th *theme.Theme, width int, s *protocol.Subagent) string {
	name := display.Line(s.Agent)
	text := th.Info.On("The sub-agent " + name + " asks")
	if style := th.Agent(s.Color); style != "" {
		text = style.On(strings.TrimSpace(th.Box.Dot+" "+name)) + th.Info.On(" asks")
	}
	if d := display.Line(s.Description); d != "" {
		text += th.Info.On(": " + d)
	}
	return cell.Cut(text, width, th.Box.Ellipsis)
}
