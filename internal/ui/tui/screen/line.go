package screen

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"scorel/internal/text/cell"
)

// line is one of the region.
type line struct {
	raw   string // as it was given
	shown string // as it is drawn: clean, cut, without blanks at its end
	width int    // of shown, in cells
	whole bool   // shown has all of raw
	since time.Time
}

// newLine makes a line ready to be drawn in so many columns.
func newLine(raw string, columns int) line {
	text, whole := raw, true
	if before, _, _, instead, ok := image(raw); ok {
		text, whole = before+instead, false
	}
	text = trim(safe(text))
	w := cell.Width(text)
	if w > columns {
		text, whole = cell.Cut(text, columns, ""), false
		w = cell.Width(text)
	}
	return line{raw: raw, shown: closed(text), width: w, whole: whole}
}

// safe takes out whatever could leave the line: all control characters, and all
// sequences but styles and links.
func safe(text string) string {
	i := 0
	for i < len(text) && allowed(text[i]) {
		i++
	}
	if i == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(text[:i])
	var state byte
	for rest := text[i:]; len(rest) > 0; {
		seq, _, n, next := ansi.DecodeSequence(rest, state, nil)
		state = next
		if n == 0 {
			break
		}
		rest = rest[n:]
		if keep(seq) {
			b.WriteString(seq)
		}
	}
	return b.String()
}

// allowed says that a byte can be neither a control character nor part of one.
func allowed(c byte) bool { return c >= ' ' && c < 0x7f }

// keep reports whether a sequence or a character may be drawn.
func keep(seq string) bool {
	switch {
	case seq == "":
		return false
	case seq[0] == '\x1b':
		return sgr(seq) || link(seq)
	case len(seq) == 1:
		return allowed(seq[0])
	}
	r, _ := utf8.DecodeRuneInString(seq)
	return r >= 0xa0 // C1 control characters are below
}

// sgr reports whether a sequence sets colours and weights.
func sgr(seq string) bool {
	args, begins := strings.CutPrefix(seq, "\x1b[")
	args, ends := strings.CutSuffix(args, "m")
	if !begins || !ends {
		return false
	}
	for i := range len(args) {
		if c := args[i]; (c < '0' || c > '9') && c != ';' && c != ':' {
			return false
		}
	}
	return true
}

// link reports whether a sequence begins or ends a link.
func link(seq string) bool {
	return strings.HasPrefix(seq, "\x1b]8;") && (strings.HasSuffix(seq, "\x1b\\") || strings.HasSuffix(seq, "\a")) &&
		strings.IndexFunc(seq[1:len(seq)-2], func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// trim takes blanks in the plain style from the end: they look like nothing, and a
// terminal that gets narrower would break the line for them.
func trim(text string) string {
	short := strings.TrimRight(text, " ")
	if len(short) == len(text) {
		return text
	}
	if at := strings.LastIndex(short, "\x1b["); at >= 0 {
		if end := short[at:]; !strings.HasPrefix(end, "\x1b[m") && !strings.HasPrefix(end, "\x1b[0m") {
			return text
		}
	}
	return short
}

// closed ends the style and the link that a line may leave on.
func closed(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	if at := strings.LastIndex(text, "\x1b]8;"); at >= 0 && !strings.HasPrefix(text[at:], "\x1b]8;;\x1b") && !strings.HasPrefix(text[at:], "\x1b]8;;\a") {
		text += "\x1b]8;;\x1b\\"
	}
	if at := strings.LastIndex(text, "\x1b["); at >= 0 && !strings.HasPrefix(text[at:], "\x1b[m") && !strings.HasPrefix(text[at:], "\x1b[0m") {
		text += reset
	}
	return text
}

// changed returns what to write over one text so that it becomes another: from which
// column, and what. Text that terminals may measure in other ways stays to the right
// of the column, so that it is written in one piece.
func changed(from, to string) (column int, text string) {
	same := alike(from, to)
	if same == len(from) && same == len(to) {
		return -1, ""
	}
	for same > 0 && same < len(to) && !utf8.RuneStart(to[same]) {
		same--
	}
	if same == 0 {
		return 0, to
	}
	style, at, columns := "", 0, 0    // the last place that all up to it is the same
	style0, at0, columns0 := "", 0, 0 // the one before that
	on, col := "", 0
	var state byte
	for i := 0; i < same; {
		seq, width, n, next := ansi.DecodeSequence(to[i:], state, nil)
		state = next
		if n == 0 || i+n > same {
			break
		}
		switch {
		case seq[0] == '\x1b':
			if !sgr(seq) {
				return 0, to // a link: whole
			}
			if seq == "\x1b[m" || seq == "\x1b[0m" {
				on = ""
			} else {
				on += seq
			}
		case len(seq) > 1 && utf8.RuneCountInString(seq) > 1:
			return columns, style + to[at:]
		case width == 2 && wide(seq):
			return columns, style + to[at:]
		case width == 0: // it is on the character before it
			return columns0, style0 + to[at0:]
		default:
			col += width
		}
		i += n
		if i < same || border(from, i) && border(to, i) {
			at0, columns0, style0 = at, columns, style
			at, columns, style = i, col, on
		}
	}
	return columns, style + to[at:]
}

// border says that what comes at i cannot belong to the character before it.
func border(text string, i int) bool { return i >= len(text) || text[i] < utf8.RuneSelf }

// alike returns how many bytes two texts begin with both.
func alike(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// doubtful says that terminals may not agree how many cells a text takes.
func doubtful(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x300 && (r < 0x2010 || r > 0x25ff) })
}

// wide says that terminals do not agree whether a character takes two cells.
func wide(seq string) bool {
	r, _ := utf8.DecodeRuneInString(seq)
	return r < 0x2e80 || r >= 0x1f000
}
