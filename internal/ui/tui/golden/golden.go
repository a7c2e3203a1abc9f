// Package golden compares what a component of the terminal UI draws with files, and
// holds it to what is promised of every line. It is for tests only.
//
// A file has what was drawn at widths of 40, 80 and 120 cells, first without styles,
// where | is at the width, and then as it is sent to a dark and to a light terminal,
// with ESC written as ␛. It is written again with -update.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
)

var update = flag.Bool("update", false, "write the golden files")

// Dark is a theme for tests, with another sequence for every style that matters.
func Dark() *theme.Theme { return styled("test-dark", true, 30) }

// Light is one for a light background.
func Light() *theme.Theme { return styled("test-light", false, 90) }

// Plain is one without colours, drawing and animation.
func Plain() *theme.Theme {
	return &theme.Theme{ID: "test-plain", Name: "plain", Plain: true, Box: theme.Box{
		Horizontal: "-", Vertical: "|", TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
		Bar: "|", Bullet: "-", Arrow: ">", Check: "v", Cross: "x", Dot: "*", Ellipsis: "...", Folded: "+", Unfolded: "-",
		BarFull: "#", BarEmpty: ".", Branch: "|- ", LastBranch: "`- ", Trunk: "|  ", Spinner: []string{"*"}}}
}

func styled(id string, dark bool, from int) *theme.Theme {
	color := func(n int) theme.Style { return theme.Style(fmt.Sprintf("\x1b[%dm", from+n)) }
	return &theme.Theme{ID: id, Name: id, Dark: dark,
		Dim: "\x1b[2m", Strong: "\x1b[1m", Accent: color(6),
		Info: color(4), Success: color(2), Warning: color(3), Error: color(1),
		Border: color(0), BorderFocus: color(6), Selected: "\x1b[7m", Match: "\x1b[4m", Cursor: "\x1b[7m",
		User: "\x1b[1m", Assistant: "", Thinking: "\x1b[3m", Heading: "\x1b[1;4m", Code: color(5),
		ToolName: color(4), ToolOutput: "\x1b[2m", StatusLine: "\x1b[2m", StatusKey: color(7),
		ModePlan: color(6), ModeEdits: color(5), ModeBypass: color(1),
		Box: theme.Box{
			Horizontal: "─", Vertical: "│", TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
			Bar: "▌", Bullet: "•", Arrow: "❯", Check: "✓", Cross: "✗", Dot: "●", Ellipsis: "…", Folded: "▸", Unfolded: "▾",
			BarFull: "█", BarEmpty: "░", Branch: "├─ ", LastBranch: "└─ ", Trunk: "│  ", Spinner: []string{"⠋", "⠙", "⠹", "⠸"}}}
}

// Check draws at all widths and compares with testdata/NAME.golden.
func Check(t *testing.T, name string, draw func(th *theme.Theme, width int) []string) {
	t.Helper()
	var b strings.Builder
	themes := []*theme.Theme{Dark(), Light()}
	for _, width := range []int{40, 80, 120} {
		fmt.Fprintf(&b, "== %d\n", width)
		for i, l := range draw(themes[0], width) {
			plain := ansi.Strip(l)
			fmt.Fprintf(&b, "%s|\n", cell.Pad(plain, width))
			if other := draw(themes[1], width); len(other) <= i || ansi.Strip(other[i]) != plain {
				t.Errorf("%s at %d: line %d has other text in the light theme", name, width, i+1)
			}
		}
	}
	for _, th := range themes {
		for _, width := range []int{40, 80, 120} {
			fmt.Fprintf(&b, "== %d %s\n", width, th.Name)
			lines := draw(th, width)
			Lines(t, lines, width)
			for _, l := range lines {
				b.WriteString(strings.ReplaceAll(l, "\x1b", "␛") + "\n")
			}
		}
	}
	Lines(t, draw(Plain(), 60), 60)
	File(t, name, b.String())
}

// File compares a text with testdata/NAME.golden.
func File(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed; run with -update and look at the difference. It is now:\n%s", file, got)
	}
}

// Lines holds what every line promises: at most width cells, no control characters but
// SGR sequences and links to the web, none that reorder or hide text, and the plain
// style and no link at its end.
func Lines(t testing.TB, lines []string, width int) {
	t.Helper()
	for i, l := range lines {
		if n := cell.Width(l); n > width {
			t.Errorf("line %d takes %d cells of %d: %q", i+1, n, width, l)
		}
		if problem := Foreign(l); problem != "" {
			t.Errorf("line %d %s: %.500q", i+1, problem, l)
		}
	}
}

// Foreign says what is wrong with a line, "" for nothing.
func Foreign(l string) string {
	on, link := false, false
	for rest := l; rest != ""; {
		if after, ok := strings.CutPrefix(rest, "\x1b["); ok {
			end := strings.IndexFunc(after, func(r rune) bool { return (r < '0' || r > '9') && r != ';' })
			if end < 0 || after[end] != 'm' {
				return "has a sequence that is not a style"
			}
			on = after[:end] != "" && after[:end] != "0"
			rest = after[end+1:]
			continue
		}
		if after, ok := strings.CutPrefix(rest, "\x1b]8;;"); ok {
			url, after, ended := strings.Cut(after, "\x1b\\")
			if !ended || url != "" && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") || strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
				return "has a link that is not of the web"
			}
			link, rest = url != "", after
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r < ' ', r >= 0x7f && r <= 0x9f, r == utf8.RuneError && n == 1:
			return "has a control character"
		case r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return "has a character that hides or reorders text"
		}
		rest = rest[n:]
	}
	switch {
	case on:
		return "ends in a style"
	case link:
		return "ends in a link"
	}
	return ""
}

// Text returns lines without styles and without blanks at their ends.
func Text(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
	}
	return b.String()
}
