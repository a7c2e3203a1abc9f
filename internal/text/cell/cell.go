package cell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"scorel/protocol/display"
)

// Reset ends every style.
const Reset = "\x1b[m"

// TabWidth is what a tab is shown as, in cells.
const TabWidth = 4

// Width returns how many cells a line takes.
func Width(line string) int {
	for i := range len(line) {
		if line[i] >= 0x80 || line[i] < ' ' {
			return ansi.StringWidth(line)
		}
	}
	return len(line)
}

// Clean makes outside text safe to be shown: control sequences, control characters
// and characters that reorder text are taken out or made visible, tabs become blanks.
// Line breaks stay.
func Clean(text string) string {
	return thin(strings.ReplaceAll(display.Text(text), "\t", strings.Repeat(" ", TabWidth)))
}

// maxMarks bounds what is in the cell of one character besides it, in bytes: marks
// upon it, and what is joined to it. Further ones are left out, so that no text makes a
// tower over other lines or a cell that is megabytes long.
const maxMarks = 48

// thin leaves out the marks that are too many.
func thin(text string) string {
	if !strings.ContainsFunc(text, joins) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	marks, joined := 0, false
	for i, r := range text {
		n := utf8.RuneLen(r)
		if n < 0 {
			n = 1
		}
		switch {
		case joins(r) || joined:
			if marks += n; marks > maxMarks {
				joined = r == joiner
				continue
			}
		default:
			marks = 0
		}
		joined = r == joiner
		b.WriteString(text[i : i+n])
	}
	return b.String()
}

const joiner = '\u200d'

// joins reports whether a character takes no cell of its own.
func joins(r rune) bool {
	return r >= 0x300 && (r == joiner || unicode.In(r, unicode.Mn, unicode.Me) || r >= 0x1f3fb && r <= 0x1f3ff)
}

// Cut returns the beginning of a line, at most width cells of it with tail at the end
// when something is left out.
func Cut(line string, width int, tail string) string {
	switch {
	case width <= 0:
		return ""
	case Width(line) <= width:
		return line
	}
	cut := ansi.Truncate(line, width, tail)
	if strings.Contains(cut, "\x1b") {
		cut += Reset
	}
	return cut
}

// Pad returns a line of at least width cells, with blanks at its end.
func Pad(line string, width int) string {
	if n := width - Width(line); n > 0 {
		return line + strings.Repeat(" ", n)
	}
	return line
}

// Wrap breaks text into lines of at most width cells, between words where that can be.
// A style that is on at a break goes on in the next line. It returns at least one line.
func Wrap(text string, width int) []string {
	if width < 1 {
		width = 1
	}
	if !strings.Contains(text, "\n") && Width(text) <= width {
		return []string{text}
	}
	lines := strings.Split(ansi.Wrap(text, width, ""), "\n")
	if !strings.Contains(text, "\x1b") {
		return lines
	}
	on := ""
	for i, l := range lines {
		l = on + l
		on = style(l)
		if on != "" {
			l += Reset
		}
		lines[i] = l
	}
	return lines
}
