package editor

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"scorel/internal/text/cell"
	"scorel/protocol/display"
)

// A chip is in the text as chipLead and four bytes of six bits each, which are
// no UTF-8, so that no text can be taken for one.
const (
	chipLead = 0xfe
	chipLen  = 5
)

// maxCluster bounds what counts as one character, in bytes: the longest emoji have
// 35, and what goes on longer is somebody's joke.
const maxCluster = 256

func chipMark(id int) string {
	return string([]byte{chipLead, 0x80 | byte(id>>18&63), 0x80 | byte(id>>12&63), 0x80 | byte(id>>6&63), 0x80 | byte(id&63)})
}

// chipAt returns the number of the chip that a text begins with.
func chipAt(b []byte) (id int, ok bool) {
	if len(b) < chipLen || b[0] != chipLead {
		return 0, false
	}
	return int(b[1]&63)<<18 | int(b[2]&63)<<12 | int(b[3]&63)<<6 | int(b[4]&63), true
}

// tidy makes a text one that may be in an editor.
func tidy(text string) string {
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// next returns the length of the cluster that a text begins with.
func next(b []byte) int {
	switch {
	case len(b) == 0:
		return 0
	case b[0] == chipLead:
		return min(chipLen, len(b))
	case b[0] < ' ' || b[0] == 0x7f:
		return 1
	case b[0] < utf8.RuneSelf && (len(b) == 1 || b[1] < utf8.RuneSelf || b[1] == chipLead):
		return 1
	}
	b = b[:min(len(b), maxCluster)]
	if i := bytes.IndexByte(b, chipLead); i > 0 {
		b = b[:i]
	}
	n, _, _ := graphemes.SplitFunc(b, true)
	if n == maxCluster {
		for n > 1 && !utf8.RuneStart(b[n-1]) {
			n--
		}
		if r, size := utf8.DecodeRune(b[n-1:]); r == utf8.RuneError && size <= 1 {
			return max(n-1, 1) // the last character is cut
		}
		return maxCluster
	}
	return max(n, 1)
}

// prev returns where the cluster before pos begins. It looks from the beginning of the
// row on, because clusters can be told only forwards.
func (e *Editor) prev(pos int) int {
	switch {
	case pos <= 0:
		return 0
	case pos >= chipLen && e.text[pos-chipLen] == chipLead:
		return pos - chipLen
	case e.text[pos-1] < utf8.RuneSelf && (pos == 1 || e.text[pos-2] < utf8.RuneSelf):
		return pos - 1
	}
	at := e.rows[e.rowOf(pos-1)]
	for {
		n := next(e.text[at:])
		if at+n >= pos {
			return at
		}
		at += n
	}
}

// snap returns the first place from pos on that lies between two clusters: a change may
// have joined what was apart.
func (e *Editor) snap(pos int) int {
	if pos <= 0 || pos >= len(e.text) {
		return min(max(pos, 0), len(e.text))
	}
	at := e.rows[e.rowOf(pos)]
	for at < pos {
		at += next(e.text[at:])
	}
	return at
}

// shown returns what a cluster is shown as, in at most most cells, and how many that
// are. A line break is shown as nothing.
func (e *Editor) shown(b []byte, most int) (text string, width int) {
	c := b[0]
	switch {
	case c == chipLead:
		text = e.label(b)
		width = cell.Width(text)
	case c == '\n':
		return "", 0
	case c == '\t':
		text, width = strings.Repeat(" ", cell.TabWidth), cell.TabWidth
	case c == 0x7f:
		text, width = "\u2421", 1
	case c < ' ':
		text, width = string(rune(0x2400+int(c))), 1
	case len(b) == 1:
		return string(rune(c)), 1
	default:
		text = display.Text(string(b))
		width = cell.Width(text)
		if width == 0 || strings.ContainsRune(text, '\n') {
			var s strings.Builder
			for _, r := range string(b) {
				fmt.Fprintf(&s, "[U+%04X]", r)
			}
			text = s.String()
			width = len(text)
		}
	}
	if width > most {
		text = cell.Cut(text, most, "…")
		width = cell.Width(text)
		if width == 0 { // a wide character where there is a single cell
			text, width = "…", 1
		}
	}
	return text, width
}

// cells is how many cells a cluster takes; see shown.
func (e *Editor) cells(b []byte, most int) int {
	if w := usual(b); w > 0 && w <= most {
		return w
	}
	_, w := e.shown(b, most)
	return w
}

// usual returns the cells of a cluster that is one of the letters that most text is
// made of, and 0 for others.
func usual(b []byte) int {
	r, n := utf8.DecodeRune(b)
	switch {
	case n != len(b):
		return 0
	case r >= ' ' && r < 0x7f, r >= 0xc0 && r < 0x300, r >= 0x391 && r < 0x3ca, r >= 0x410 && r < 0x482:
		return 1
	case r >= 0x3041 && r < 0x3097, r >= 0x30a1 && r < 0x30fb, r >= 0x4e00 && r < 0xa000, r >= 0xac00 && r < 0xd7a4:
		return 2
	}
	return 0
}

// class sorts clusters for motions over words.
type class int

const (
	blank class = iota
	sign        // punctuation and symbols
	word
	chinese
	hiragana
	katakana
	chipClass
)

func classOf(b []byte) class {
	if len(b) == 0 {
		return blank
	}
	if b[0] == chipLead {
		return chipClass
	}
	r, _ := utf8.DecodeRune(b)
	switch {
	case unicode.IsSpace(r):
		return blank
	case unicode.Is(unicode.Han, r):
		return chinese
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return katakana
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return word
	}
	return sign
}
