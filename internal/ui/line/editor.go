package line

import (
	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is typed.
const (
	maxInputLine   = 256 << 10 // characters of one line; what is beyond is not taken
	maxHistory     = 100       // lines, of up to maxHistoryLine bytes, that the arrow keys bring back
	maxHistoryLine = 64 << 10
)

// key is what an editor tells of a key that it does not handle itself.
type key int

// The keys.
const (
	keyNone key = iota
	keyEnter
	keyInterrupt // Ctrl-C
	keyEnd       // Ctrl-D on an empty line
	keyTab       // after what begins with a slash
	keyRefused   // for something that line mode does not have
)

// editor is a line of input that is being edited. It knows nothing of a screen. Keys are
// those of the key map of the terminal UI; pasted text is taken as it is, with its line
// breaks.
type editor struct {
	reader keymap.Reader
	keys   *keymap.Map // nil: the default

	line    []rune
	at      int // the cursor's place in line
	history []string
	past    int    // how far back in history; 0 is the line itself
	kept    string // that line, while an older one is shown
	pasting bool
	left    int    // characters that were not taken, because the line is full
	pending []byte // an escape sequence or a character that has not come whole
}

// keymap returns the keys that count.
func (e *editor) keymap() *keymap.Map {
	if e.keys == nil {
		e.keys = keymap.Default()
	}
	return e.keys
}

// feed takes bytes of the keyboard up to the next key that is not handled here. It returns
// that key, with the line for keyEnter and a sentence for keyRefused, and the bytes that
// follow.
func (e *editor) feed(b []byte) (k key, text string, rest []byte) {
	b = append(e.pending, b...)
	e.pending = nil
	for len(b) > 0 {
		n, k, text := e.take(b)
		if n == 0 { // not whole
			e.pending = append([]byte(nil), b...)
			return keyNone, "", nil
		}
		b = b[n:]
		if k != keyNone {
			return k, text, b
		}
	}
	return keyNone, "", nil
}

// take handles one key and returns how many bytes it had; 0 asks for more.
func (e *editor) take(b []byte) (n int, k key, text string) {
	name := ""
	switch {
	case b[0] == 0x1b:
		var paste int
		name, n, paste = sequence(b)
		if paste != 0 {
			e.pasting = paste > 0
		}
	case b[0] < 0x20 || b[0] == 0x7f:
		name, n = controlName(b[0]), 1
	}
	switch {
	case n == 0 && b[0] == 0x1b:
		return 0, keyNone, ""
	case n == 0 && e.reader.Pending() != "" && !e.pasting: // the rest of a sequence of keys
		r, size := utf8.DecodeRune(b)
		if name, n = string(r), size; !utf8.FullRune(b) {
			return 0, keyNone, ""
		}
	case n == 0 || e.pasting && b[0] != 0x1b:
		return e.character(b), keyNone, ""
	case name == "" || e.pasting:
		return n, keyNone, ""
	}
	k, text = e.act(name)
	return n, k, text
}

// character takes a character; control characters are left out.
func (e *editor) character(b []byte) int {
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == '\r':
		r = '\n'
	case r == '\t':
		r = ' '
	}
	if (unicode.IsControl(r) && r != '\n') || (r == utf8.RuneError && n == 1) {
		return n
	}
	e.insert(r)
	return n
}

// insert puts a character into the line, unless that is full.
func (e *editor) insert(r rune) {
	if len(e.line) >= maxInputLine {
		e.left++
		return
	}
	e.line = append(e.line, 0)
	copy(e.line[e.at+1:], e.line[e.at:])
	e.line[e.at] = r
	e.at++
}

func (e *editor) wordBefore() int {
	at := e.at
	for at > 0 && e.line[at-1] == ' ' {
		at--
	}
	for at > 0 && e.line[at-1] != ' ' {
		at--
	}
	return at
}

func (e *editor) wordAfter() int {
	at := e.at
	for at < len(e.line) && e.line[at] == ' ' {
		at++
	}
	for at < len(e.line) && e.line[at] != ' ' {
		at++
	}
	return at
}

func (e *editor) remove(from, to int) {
	if from < 0 || to > len(e.line) || from >= to {
		return
	}
	e.line = append(e.line[:from], e.line[to:]...)
	e.at = from
}

// enter ends the line and returns it.
func (e *editor) enter() string {
	text := string(e.line)
	if strings.TrimSpace(text) != "" && len(text) <= maxHistoryLine && (len(e.history) == 0 || e.history[len(e.history)-1] != text) {
		e.history = append(e.history, text)
		if len(e.history) > maxHistory {
			e.history = e.history[1:]
		}
	}
	e.set("")
	e.past = 0
	return text
}

// set replaces the line.
func (e *editor) set(text string) {
	e.line = []rune(text)
	e.at = len(e.line)
}

func (e *editor) older() {
	if e.past == len(e.history) {
		return
	}
	if e.past == 0 {
		e.kept = string(e.line)
	}
	e.past++
	e.set(e.history[len(e.history)-e.past])
}

func (e *editor) newer() {
	switch {
	case e.past == 0:
		return
	case e.past == 1:
		e.set(e.kept)
	default:
		e.set(e.history[len(e.history)-e.past+1])
	}
	e.past--
}

// view returns the part of the line that fits into so many columns, and the column of
// the cursor in it. Line breaks are shown as a sign.
func (e *editor) view(columns int) (string, int) {
	shown := make([]rune, len(e.line))
	for i, r := range e.line {
		if r == '\n' {
			r = '⏎'
		}
		shown[i] = r
	}
	from, before := e.at, 0
	for from > 0 && before+cell.OfRune(shown[from-1]) < columns { // a column is left for the cursor
		from--
		before += cell.OfRune(shown[from])
	}
	to, all := e.at, before
	for to < len(shown) && all+cell.OfRune(shown[to]) <= columns {
		all += cell.OfRune(shown[to])
		to++
	}
	return string(shown[from:to]), before
}
