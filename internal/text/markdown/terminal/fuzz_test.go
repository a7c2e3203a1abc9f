package terminal

import (
	"slices"
	"strings"
	"testing"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
)

func FuzzStream(f *testing.F) {
	for _, s := range []string{answer(2000), "&#27;[31m&#x202e;", "[a](http://x/\x1b]8;;y\x07)", "<http://a\u202e>", "| a |\n|--|\n|`|`|\n", "- - - - a\n      b\n\n\n    c", strings.Repeat(">", 50) + "x", strings.Repeat("*a _b ", 200), strings.Repeat("[", 300) + strings.Repeat("](x)", 300), "\xff\xfe\x00\x9b31m", "```\x1b\n\x1b[2J\n```"} {
		f.Add(s, 40, 7)
	}
	th := testTheme()
	f.Fuzz(func(t *testing.T, text string, width, piece int) {
		if len(text) > 4_000 {
			return
		}
		width = 1 + max(width, -width)%200
		whole := Lines(th, width, text)
		for _, l := range whole {
			if problem := golden.Foreign(l); problem != "" {
				t.Fatalf("a line %s: %q", problem, l)
			}
			if width >= minRoom && cell.Width(l) > width {
				t.Fatalf("a line of %d cells, at most %d: %q", cell.Width(l), width, l)
			}
		}
		pieces := stream(th, width, text, func() int { return 1 + max(piece, -piece)%100 }, func(s *Stream) {
			for _, l := range s.Tail() {
				if problem := golden.Foreign(l); problem != "" {
					t.Fatalf("an open line %s: %q", problem, l)
				}
			}
		})
		if !slices.Equal(whole, pieces) {
			t.Fatalf("whole %q\nin pieces %q", whole, pieces)
		}
	})
}

func TestLinksAreOfTheWebOnlyAndShowWhereTheyGo(t *testing.T) {
	th := testTheme()
	for _, c := range []struct{ text, link, shown string }{
		{"[docs](https://go.dev/doc)", "https://go.dev/doc", "docs (https://go.dev/doc)"},
		{"https://go.dev/doc.", "https://go.dev/doc", "https://go.dev/doc."},
		{"[https://good.example](https://evil.example)", "https://evil.example", "https://good.example (https://evil.example)"},
		{"[x](javascript:alert(1))", "", "x (javascript:alert(1))"},
		{"[x](file:///etc/passwd)", "", "x (file:///etc/passwd)"},
		{"[x](http://a/\u202eb)", "", "x (http://a/[U+202E]b)"},
	} {
		line := strings.Join(Lines(th, 100, c.text), "\n")
		if got := stripped([]string{line}); got != c.shown {
			t.Errorf("%s is shown as %q", c.text, got)
		}
		if has := strings.Contains(line, "\x1b]8;;"+c.link+"\x1b\\"); c.link != "" && !has || c.link == "" && strings.Contains(line, "\x1b]8") {
			t.Errorf("%s: %q", c.text, line)
		}
	}
}
