package screen

import (
	"fmt"
	"strings"
)

// Frame is what the terminal is to show from now on.
type Frame struct {
	// Commit are finished lines. They are written above the region once and are the
	// terminal's from then on. An element may be an [Image].
	Commit []string
	// Lines are the region, at most as many as the terminal is high; of more, the last
	// ones are drawn. A full-screen region is filled up with empty lines.
	Lines []string
	// Cursor is where the terminal's cursor stands; nil hides it.
	Cursor *Cursor
	// Title is the title of the window; empty leaves it as it is.
	Title string
	// Mouse asks for clicks, drags and the wheel. In inline mode the terminal then
	// neither scrolls nor selects by itself.
	Mouse bool
}

// Cursor is a place in the region.
type Cursor struct {
	Row, Column int // from 0; Row counts Lines, Column cells
}

// An image among lines is a sequence that no terminal knows, so that it takes no cells
// for whoever measures the line, and the picture's own sequence after it. No text has
// one: cleaning takes it out.
const (
	imageMark = "\x1b_scorel:image;"
	imageEnd  = "\x1b\\"
)

// Image returns an element of [Frame.Commit], or the end of one, that draws a picture by
// a sequence of the terminal (see package terminal) over so many rows. Where it cannot
// be drawn, which is in the region and where the terminal is not high enough, it is
// the text instead. The sequence is written as it is: it is made by package terminal
// alone.
func Image(sequence string, rows int, instead string) string {
	return fmt.Sprintf("%s%d;%d;%x%s%s", imageMark, rows, len(sequence), instead, imageEnd, sequence)
}

// image takes a line with what [Image] made apart: what is before the picture, and
// what stands there instead of it.
func image(line string) (before, sequence string, rows int, instead string, ok bool) {
	before, rest, ok := strings.Cut(line, imageMark)
	if !ok {
		return "", "", 0, "", false
	}
	head, rest, _ := strings.Cut(rest, imageEnd)
	var length int
	var text []byte
	if n, err := fmt.Sscanf(head, "%d;%d;%x", &rows, &length, &text); err != nil && n < 2 || length < 0 || length > len(rest) {
		return before, "", 0, "", true
	}
	return before, rest[:length], rows, string(text), true
}
