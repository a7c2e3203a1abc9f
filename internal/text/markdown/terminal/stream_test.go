package terminal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scorel/internal/text/cell"
	"scorel/internal/text/style"
)

func testTheme() *style.Theme {
	return &style.Theme{ID: "test", Heading: "\x1b[1;36m", Strong: "\x1b[1m", Emphasis: "\x1b[3m", Struck: "\x1b[9m", Link: "\x1b[4m", Code: "\x1b[33m", Dim: "\x1b[2m",
		Keyword: "\x1b[35m", String: "\x1b[32m", Comment: "\x1b[90m", Number: "\x1b[34m", Quote: "\x1b[37m", ListMark: "\x1b[36m",
		Box: style.Box{Bullet: "•", Bar: "▎", Horizontal: "─", Vertical: "│"}}
}

// answer is a text of about n bytes as models write them.
func answer(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Part %d\n\nThe function `parse%d` reads **all** of the *input* and gives a [link](https://example.com/%d) when it can. It goes on in a second sentence that makes the paragraph longer than a line, so that it is wrapped.\n\n", i, i, i)
		b.WriteString("- first item with some words\n- second item, with `code`\n  - nested item\n\n1. one\n2. two\n\n")
		fmt.Fprintf(&b, "```go\nfunc main() {\n\tfmt.Println(\"hello\", %d) // says so\n\treturn\n}\n```\n\n", i)
		b.WriteString("| name | size |\n|---|--:|\n| a | 1 |\n| b | 22 |\n\n> quoted text that\n> goes on\n\n")
	}
	return b.String()[:n]
}

func stream(th *style.Theme, width int, text string, cuts func() int, each func(s *Stream)) []string {
	s := New(th, width)
	var out []string
	for len(text) > 0 {
		n := min(max(1, cuts()), len(text))
		s.Write([]byte(text[:n]))
		text = text[n:]
		if each != nil {
			each(s)
		}
		out = append(out, s.Take()...)
	}
	s.End()
	return append(out, s.Take()...)
}

func BenchmarkAnswerOf200KBIn10000Pieces(b *testing.B) {
	benchmark(b, answer(200<<10))
}

func BenchmarkCodeBlockOf200KBIn10000Pieces(b *testing.B) {
	benchmark(b, "```go\n"+strings.Repeat("\tif err := run(ctx, \"name\", 12); err != nil { // why\n", 4000)[:200<<10])
}

func BenchmarkParagraphOf200KBIn10000Pieces(b *testing.B) {
	benchmark(b, strings.Repeat("some words **that are bold** and `code` ", 6000)[:200<<10])
}

func BenchmarkTableOf200KBIn10000Pieces(b *testing.B) {
	benchmark(b, "| a | b |\n|--|--|\n"+strings.Repeat("| some words | and others here |\n", 8000)[:200<<10])
}

func BenchmarkListOf200KBIn10000Pieces(b *testing.B) {
	benchmark(b, strings.Repeat("- an item of a list with **some** words\n", 8000)[:200<<10])
}

func benchmark(b *testing.B, text string) {
	th := testTheme()
	b.ReportAllocs()
	for b.Loop() {
		stream(th, 100, text, func() int { return len(text)/10000 + 1 }, func(s *Stream) { s.Tail() })
	}
}

func TestHowATextIsCutMakesNoDifferenceAndWhatIsGivenStands(t *testing.T) {
	th := testTheme()
	texts := []string{answer(6000), strings.Repeat("word ", 3000), "```\n" + strings.Repeat("x", 20000) + "\n```\nafter", "a\x1b[31mb\r\nc\rd\u2028e\n\n- x\n\n  y\n- z\n"}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := texts[int(seed)%len(texts)]
		if seed >= 20 {
			text = scraps(r)
		}
		width := 20 + r.IntN(100)
		want := Lines(th, width, text)
		most := 1 + r.IntN(400)
		got := stream(th, width, text, func() int { return r.IntN(most) }, func(s *Stream) {
			if r.IntN(3) == 0 {
				s.Tail()
			}
		})
		if !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("seed %d, width %d, line %d:\n in pieces %q\n whole     %q\ntext %q", seed, width, i, got[i], want[i], text)
				}
			}
			t.Fatalf("seed %d: %d lines in pieces, %d of the whole", seed, len(got), len(want))
		}
		for _, l := range want {
			if cell.Width(l) > width {
				t.Fatalf("seed %d: a line of %d cells at width %d: %q", seed, cell.Width(l), width, l)
			}
		}
	}
}

// scraps is a text made of pieces of marks.
func scraps(r *rand.Rand) string {
	parts := []string{"# ", "- ", "* ", "1. ", "2) ", "> ", "```\n", "~~~go\n", "\n", "\n\n", "    ", "  ", "**", "*", "_", "~~", "`", "``", "[", "](", ")", "![", "word ", "two words", "|", "|---|", "a | b\n---|---\n", "---\n", "===\n", "<div>\n", "</div>", "<br>", "&amp;", "&#27;", "\\", "世界", "é", "\x1b[31m", "\u202e", "http://x.y/z ", "[x] ", "[ ] ", "\t", strings.Repeat("long", 30)}
	var b strings.Builder
	for range 5 + r.IntN(120) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func TestLongTableEndsAfterAnotherSize(t *testing.T) {
	th := testTheme()
	for _, more := range []string{"", "| last | row |\n"} {
		s := New(th, 80)
		s.Write([]byte("| a | b |\n|---|---|\n" + strings.Repeat("| one | two |\n", 2*maxRows)))
		s.Take()
		s.Resize(th, 40)
		s.Write([]byte(more + "\nthe end\n"))
		s.End()
		for _, l := range s.Take() {
			if cell.Width(l) > 40 {
				t.Errorf("%q is wider than 40 cells", l)
			}
		}
	}
}
