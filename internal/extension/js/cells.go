package js

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"scorel/internal/text/cell"
	"scorel/internal/text/markdown/terminal"
	"scorel/internal/text/sgr"
	"scorel/internal/text/style"
	"scorel/protocol/display"
)

// maxDrawn bounds a text that is measured or made lines of, in bytes: nothing interrupts
// a native function, and what is drawn is a few screens.
const maxDrawn = 1 << 20

// cursorMarker is what a component writes where its cursor is. A terminal would take it
// for a string that has not ended; inside it is written with the end that all know.
const (
	cursorMarker = "\x1b_pi:c\x07"
	endedMarker  = "\x1b_pi:c\x1b\\"
)

// cells are the terminal's own functions for text, given to components: they know wide
// characters, joined ones and SGR sequences as the terminal does that shows the lines.
func (h *host) cells() goja.Value {
	vm := h.e.VM
	o := vm.NewObject()
	text := func(v goja.Value) string {
		s := v.String()
		if len(s) > maxDrawn {
			h.e.Throw(fmt.Errorf("a text of %d bytes is too long to be drawn; at most %d", len(s), maxDrawn))
		}
		return s
	}
	set := func(name string, f func(c goja.FunctionCall) any) {
		_ = o.Set(name, func(c goja.FunctionCall) goja.Value {
			v := f(c)
			switch v := v.(type) {
			case []string:
				return array(vm, v)
			case []int:
				return array(vm, v)
			}
			return vm.ToValue(v)
		})
	}
	number := func(v goja.Value) int { return int(min(max(v.ToInteger(), 0), maxDrawn)) }
	set("clean", func(c goja.FunctionCall) any { return shown(tidy(text(c.Argument(0)))) })
	set("width", func(c goja.FunctionCall) any { return cell.Width(tidy(text(c.Argument(0)))) })
	// column is how wide a part of a frame's line is where it is shown: there a line break is
	// a blank, and a tab is one.
	set("column", func(c goja.FunctionCall) any { return cell.Width(sgr.Line(text(c.Argument(0)))) })
	set("cut", func(c goja.FunctionCall) any {
		line, width := strings.ReplaceAll(tidy(text(c.Argument(0))), "\n", " "), number(c.Argument(1))
		tail := tidy(text(c.Argument(2)))
		if cell.Width(tail) > width {
			tail = cell.Cut(tail, width, "")
		}
		line = cell.Cut(line, width, tail)
		if c.Argument(3).ToBoolean() {
			line = cell.Pad(line, width)
		}
		return shown(line)
	})
	set("wrap", func(c goja.FunctionCall) any { return wrap(tidy(text(c.Argument(0))), number(c.Argument(1))) })
	set("slice", func(c goja.FunctionCall) any {
		return shown(cell.Slice(tidy(text(c.Argument(0))), number(c.Argument(1)), number(c.Argument(2))))
	})
	set("characters", func(c goja.FunctionCall) any { return characters(text(c.Argument(0))) })
	set("steps", func(c goja.FunctionCall) any { return steps(text(c.Argument(0))) })
	set("markdown", func(c goja.FunctionCall) any {
		looks := map[string]string{}
		if err := vm.ExportTo(c.Argument(2), &looks); err != nil {
			h.e.Throw(err)
		}
		return drawMarkdown(text(c.Argument(0)), max(1, number(c.Argument(1))), looks)
	})
	return o
}

// array makes an array of the interpreter's own.
func array[T any](vm *goja.Runtime, list []T) goja.Value {
	items := make([]any, len(list))
	for i, v := range list {
		items[i] = v
	}
	return vm.NewArray(items...)
}

// tidy takes out of a text what no frame keeps, so that it is as wide as it will be
// shown: of control sequences SGR and the marker of the cursor stay, tabs become blanks.
func tidy(s string) string {
	if !strings.Contains(s, "\x1b") {
		return cell.Clean(s)
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\x1b")
		b.WriteString(cell.Clean(before))
		if !found {
			return b.String()
		}
		if after, ok := strings.CutPrefix(rest, cursorMarker[1:]); ok {
			b.WriteString(endedMarker)
			s = after
			continue
		}
		if n := sgrLength(rest); n > 0 {
			b.WriteString("\x1b" + rest[:n])
			s = rest[n:]
			continue
		}
		// Another sequence: it goes with what belongs to it.
		next := strings.Index(rest, "\x1b")
		if strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "P") || strings.HasPrefix(rest, "_") || strings.HasPrefix(rest, "^") || strings.HasPrefix(rest, "X") {
			if end := strings.Index(rest, "\x1b\\"); end >= 0 && end == next {
				next = end + len("\x1b\\")
			}
		}
		if next < 0 {
			next = len(rest)
		}
		b.WriteString(cell.Clean(sgr.Strip("\x1b" + rest[:next])))
		s = rest[next:]
	}
}

// maxSequence is the longest SGR sequence that is kept, in bytes.
const maxSequence = 64

// sgrLength returns how many bytes after the escape character are an SGR sequence, 0 when
// it is another one.
func sgrLength(s string) int {
	if !strings.HasPrefix(s, "[") {
		return 0
	}
	for i := 1; i < min(len(s), maxSequence); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// shown returns a tidy text as components write it.
func shown(s string) string { return strings.ReplaceAll(s, endedMarker, cursorMarker) }

// wrap breaks a tidy text into lines of at most width cells.
func wrap(text string, width int) []string {
	lines := cell.Wrap(text, width)
	for i, l := range lines {
		if cell.Width(l) > width { // a single character that is wider
			l = cell.Cut(l, width, "")
		}
		lines[i] = shown(l)
	}
	return lines
}

// characters parts a text into what a person takes for characters.
func characters(s string) []string {
	out := make([]string, 0, len(s))
	for len(s) > 0 {
		n, _ := cell.First(s)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// steps returns for each of these characters how long it is, as JavaScript counts, and how
// many cells it takes, one after the other.
func steps(s string) []int {
	out := make([]int, 0, 2*len(s))
	for len(s) > 0 {
		n, width := cell.First(s)
		units := 0
		for _, r := range s[:n] {
			units += utf16.RuneLen(r)
		}
		out = append(out, units, width)
		s = s[n:]
	}
	return out
}

// drawMarkdown returns the lines of a Markdown text. The looks are SGR sequences by the
// names of pi's MarkdownTheme, and text for what has none.
func drawMarkdown(text string, width int, looks map[string]string) []string {
	look := func(name string) style.Style {
		s := style.Style("")
		for seq := looks[name]; strings.HasPrefix(seq, "\x1b"); {
			n := sgrLength(seq[1:])
			if n == 0 {
				return ""
			}
			s += style.Style(seq[:n+1])
			seq = seq[n+1:]
		}
		return s
	}
	th := &style.Theme{
		Assistant: look("text"), Heading: look("heading"), Link: look("link"), Dim: look("linkUrl"),
		Code: look("code"), CodeBlock: look("codeBlock"), Quote: look("quote"), ListMark: look("listBullet"), Rule: look("hr"), Border: look("codeBlockBorder"),
		Strong: look("bold"), Emphasis: look("italic"), Struck: look("strikethrough"),
		Keyword: look("keyword"), String: look("string"), Number: look("number"), Comment: look("comment"),
		Function: look("function"), Type: look("type"), Operator: look("operator"),
		Box: style.Box{Bullet: "•", Bar: "│", Horizontal: "─", Vertical: "│"},
	}
	lines := terminal.Lines(th, width, display.Text(text))
	for i, l := range lines {
		if l = tidy(l); cell.Width(l) > width {
			l = cell.Cut(l, width, "")
		}
		lines[i] = l
	}
	return lines
}
