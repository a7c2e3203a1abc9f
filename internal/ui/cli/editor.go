package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
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
	keyTab       // behind what begins with a slash
)

// editor is a line of input that is being edited. It knows nothing of a screen. Keys
// are those of readline; pasted text is taken as it is, with its line breaks.
type editor struct {
	line    []rune
	at      int // the cursor's place in line
	history []string
	past    int    // how far back in history; 0 is the line itself
	kept    string // that line, while an older one is shown
	pasting bool
	left    int    // characters that were not taken, because the line is full
	pending []byte // an escape sequence or a character that has not come whole
}

// feed takes bytes of the keyboard up to the next key that is not handled here. It
// gives the key, the line for keyEnter, and the bytes that follow.
func (e *editor) feed(b []byte) (k key, text string, rest []byte) {
	b = append(e.pending, b...)
	e.pending = nil
	for len(b) > 0 {
		n, k := e.take(b)
		if n == 0 { // not whole
			e.pending = append([]byte(nil), b...)
			return keyNone, "", nil
		}
		b = b[n:]
		if k == keyEnter {
			return k, e.enter(), b
		}
		if k != keyNone {
			return k, "", b
		}
	}
	return keyNone, "", nil
}

// take handles one key and says how many bytes it had; 0 asks for more.
func (e *editor) take(b []byte) (int, key) {
	if b[0] == 0x1b {
		return e.escape(b), keyNone
	}
	if e.pasting {
		return e.character(b), keyNone
	}
	switch b[0] {
	case '\r', '\n':
		return 1, keyEnter
	case '\t':
		if e.at == len(e.line) && e.at > 0 && e.line[0] == '/' {
			return 1, keyTab
		}
		return e.character(b), keyNone // a blank
	case 0x03:
		return 1, keyInterrupt
	case 0x04:
		if len(e.line) == 0 {
			return 1, keyEnd
		}
		e.remove(e.at, e.at+1)
	case 0x7f, 0x08:
		e.remove(e.at-1, e.at)
	case 0x01:
		e.at = 0
	case 0x05:
		e.at = len(e.line)
	case 0x02:
		e.at = max(0, e.at-1)
	case 0x06:
		e.at = min(len(e.line), e.at+1)
	case 0x0b:
		e.remove(e.at, len(e.line))
	case 0x15:
		e.remove(0, e.at)
	case 0x17:
		e.remove(e.wordBefore(), e.at)
	case 0x10:
		e.older()
	case 0x0e:
		e.newer()
	default:
		return e.character(b), keyNone
	}
	return 1, keyNone
}

// character puts a character into the line; control characters are left out.
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
	if len(e.line) >= maxInputLine {
		e.left++
		return n
	}
	e.line = append(e.line, 0)
	copy(e.line[e.at+1:], e.line[e.at:])
	e.line[e.at] = r
	e.at++
	return n
}

// escape handles a sequence of ECMA-48: CSI or SS3, as terminals send them for keys.
func (e *editor) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] == 0x7f || b[1] == 0x08 { // Alt-Backspace
		e.remove(e.wordBefore(), e.at)
		return 2
	}
	if b[1] != '[' && b[1] != 'O' {
		return 2 // Alt with a key means nothing here
	}
	n := 2
	for n < len(b) && (b[n] < 0x40 || b[n] > 0x7e) {
		if n++; n > 32 {
			return n // no key sends that
		}
	}
	if n == len(b) {
		return 0
	}
	switch string(b[2 : n+1]) {
	case "A":
		e.older()
	case "B":
		e.newer()
	case "C":
		e.at = min(len(e.line), e.at+1)
	case "D":
		e.at = max(0, e.at-1)
	case "H", "1~", "7~":
		e.at = 0
	case "F", "4~", "8~":
		e.at = len(e.line)
	case "3~":
		e.remove(e.at, e.at+1)
	case "1;5D", "1;3D":
		e.at = e.wordBefore()
	case "1;5C", "1;3C":
		for e.at < len(e.line) && e.line[e.at] == ' ' {
			e.at++
		}
		for e.at < len(e.line) && e.line[e.at] != ' ' {
			e.at++
		}
	case "200~":
		e.pasting = true
	case "201~":
		e.pasting = false
	}
	return n + 1
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

func (e *editor) remove(from, to int) {
	if from < 0 || to > len(e.line) || from >= to {
		return
	}
	e.line = append(e.line[:from], e.line[to:]...)
	e.at = from
}

// enter ends the line and gives it.
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

// view gives the part of the line that fits into so many columns, and the column of
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
	for from > 0 && before+columnsOf(shown[from-1]) < columns { // a column is left for the cursor
		from--
		before += columnsOf(shown[from])
	}
	to, all := e.at, before
	for to < len(shown) && all+columnsOf(shown[to]) <= columns {
		all += columnsOf(shown[to])
		to++
	}
	return string(shown[from:to]), before
}

// columnsOf is how many columns of a terminal a character takes: two for wide ones
// (UAX #11), none for those that join the one before.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
