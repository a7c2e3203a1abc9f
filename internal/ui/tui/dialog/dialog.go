package dialog

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"

	"github.com/charmbracelet/x/ansi"
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
	// Do carries out an action of these places.
	Do(a keymap.Action) Outcome
	// Insert takes text that was typed.
	Insert(text string) Outcome
	// Paste takes text that was pasted. It never answers.
	Paste(text string)
	// Place says that the dialog is the n-th, from 1, of so many that wait.
	Place(n, of int)
	// SetKeys gives the keys that are named in the last line, where there is room.
	SetKeys(keys *keymap.Map)
	// Arm says whether the dialog takes keys (see Guard); a new one does not.
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

	cached      []string // the lines of the text
	cachedID    string   // of the theme they were drawn with
	cachedWidth int
}

func (f *frame) ID() string      { return f.id }
func (f *frame) Place(n, of int) { f.n, f.of = n, of }
func (f *frame) Arm(on bool)     { f.armed = on }

func (f *frame) SetKeys(keys *keymap.Map) { f.keys = keys }

// places gives the places of a dialog, while text is typed or not.
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
		f.open = !f.open
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
	f.from = max(0, min(f.from, len(f.cached)-f.seen))
	return true
}

// lines gives the lines of the text, drawn once for a theme and width.
func (f *frame) lines(th *theme.Theme, width int, draw Lines) []string {
	if draw == nil {
		return nil
	}
	if f.cachedID != th.ID || f.cachedWidth != width || f.cached == nil {
		f.cached, f.cachedID, f.cachedWidth = draw(th, width), th.ID, width
	}
	return f.cached
}

// compose puts a dialog together: the title, what is asked about, and what stands below
// it, which is seen whole when it fits, and else the part with the line on. The cursor
// is one of below. Doing are the actions that are named in the last line.
func (f *frame) compose(th *theme.Theme, width, height int, title string, body, below []string, on int, cursor *field.Cursor, doing ...row.Doing) ([]string, *field.Cursor) {
	if width < 1 || height < 1 {
		return nil, nil
	}
	right := ""
	if f.of > 1 {
		right = fmt.Sprintf("%d of %d", f.n, f.of)
	}
	lines := []string{row.Rule(th, width, title, right)}
	if !f.armed {
		cursor = nil // what is typed goes to the draft
	}
	end, hints := "", false
	if height >= hintsFrom && f.keys != nil {
		if f.open || len(body) > folded || len(body) > height-2-len(below) {
			doing = append([]row.Doing{{Action: keymap.DialogExpand, Text: "all of it"}, {Action: keymap.DialogDown, Text: "scroll"}}, doing...)
		}
		if end = row.Hints(th, width, row.HintsOf(f.keys, doing...)); end != "" {
			hints = true
			height--
		}
		if !f.armed {
			end = "" // its line is kept, so that nothing moves when keys count
		}
	}
	if height >= spaceFrom && len(body) > 0 {
		below = append([]string{""}, below...)
		on++
		if cursor != nil {
			cursor = &field.Cursor{X: cursor.X, Y: cursor.Y + 1}
		}
	}
	room := height - 1 - len(below)
	if f.open || room < minBody {
		// The text gets what it needs; of the rest its end is left out.
		room = max(room, minBody)
	} else {
		room = min(room, folded)
	}
	room = max(0, min(room, height-1))
	if len(body) < room {
		room = len(body)
	}
	shown := body
	if len(body) > room {
		// One line says what is not seen.
		n := max(0, room-1)
		f.from = max(0, min(f.from, len(body)-n))
		f.seen = n
		shown = append([]string(nil), body[f.from:f.from+n]...)
		if room > 0 {
			shown = append(shown, f.hidden(th, width, f.from, len(body)-f.from-n))
		}
	} else {
		f.from, f.seen = 0, len(body)
	}
	lines = append(lines, shown...)
	y, fits := len(lines), height-len(lines)
	first := 0
	if len(below) > fits {
		first = row.Window(max(0, on-1), on, fits, len(below))
	}
	lines = append(lines, below[first:min(len(below), first+fits)]...)
	if cursor != nil {
		cursor = &field.Cursor{X: cursor.X, Y: cursor.Y + y - first}
		if cursor.Y < y || cursor.Y >= len(lines) {
			cursor = nil
		}
	}
	if hints {
		lines = append(lines, end)
	}
	return lines, cursor
}

// hidden says how much of the text is not seen.
func (f *frame) hidden(th *theme.Theme, width, above, below int) string {
	var parts []string
	if above > 0 {
		parts = append(parts, fmt.Sprintf("%d lines above", above))
	}
	if below > 0 {
		parts = append(parts, fmt.Sprintf("%d more lines below", below))
	}
	return th.Warning.On(cell.Cut(th.Box.Ellipsis+" "+strings.Join(parts, ", "), width, th.Box.Ellipsis))
}

// exact gives text with every character of it: a line that is too long is broken behind
// a blank near the width, else at the width.
func exact(text string, width int, style theme.Style) []string {
	more := 0
	if len(text) > maxBody {
		more = len(text) - maxBody
		text = strings.ToValidUTF8(text[:maxBody], "")
	}
	var lines []string
	for l := range strings.SplitSeq(cell.Clean(text), "\n") {
		for {
			n := min(len(l), (width+1)*maxCell)
			for n < len(l) && !utf8.RuneStart(l[n]) {
				n--
			}
			part := ansi.Truncate(l[:n], max(1, width), "")
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
		lines = append(lines, cell.Cut(fmt.Sprintf("(%d more bytes are not shown)", more), width, ""))
	}
	return lines
}

// prose gives text broken between words.
func prose(text string, width int, style theme.Style) []string {
	var lines []string
	for _, l := range cell.Wrap(cell.Clean(text), width) {
		lines = append(lines, style.On(l))
	}
	return lines
}
