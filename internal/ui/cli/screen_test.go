package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// glass is a terminal: what the screen writes, as a person sees it. It knows the
// sequences that the screen uses (ECMA-48) and fails for others.
type glass struct {
	t        interface{ Fatalf(string, ...any) }
	columns  int
	rows     [][]rune
	row, col int
}

func (g *glass) Write(p []byte) (int, error) {
	text := string(p)
	for len(text) > 0 {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			n := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			if n < 0 {
				g.t.Fatalf("a torn sequence %q", rest)
			}
			g.control(rest[:n], rest[n])
			text = rest[n+1:]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\r':
			g.col = 0
		case '\n':
			g.row++
		default:
			g.put(r)
		}
	}
	return len(p), nil
}

func (g *glass) control(args string, kind byte) {
	n := 1
	if args != "" {
		_, _ = fmt.Sscanf(args, "%d", &n)
	}
	switch {
	case kind == 'm' || strings.HasPrefix(args, "?2004"):
	case kind == 'A':
		g.row = max(0, g.row-n)
	case kind == 'C':
		g.col = min(g.columns-1, g.col+n)
	case kind == 'K':
		if g.row < len(g.rows) {
			g.rows[g.row] = g.rows[g.row][:min(g.col, len(g.rows[g.row]))]
		}
	default:
		g.t.Fatalf("an unknown sequence %q%c", args, kind)
	}
}

func (g *glass) put(r rune) {
	w := columnsOf(r)
	if g.col+w > g.columns {
		g.t.Fatalf("a row is longer than the terminal: %q", string(r))
	}
	for len(g.rows) <= g.row {
		g.rows = append(g.rows, nil)
	}
	row := g.rows[g.row]
	for len(row) < g.col+w {
		row = append(row, ' ')
	}
	row[g.col] = r
	for i := 1; i < w; i++ {
		row[g.col+i] = 0
	}
	g.rows[g.row] = row
	g.col += w
}

// shown gives the rows down to the cursor, without what fills them up.
func (g *glass) shown() []string {
	var out []string
	for g.row < len(g.rows)-1 && len(g.rows[len(g.rows)-1]) == 0 {
		g.rows = g.rows[:len(g.rows)-1]
	}
	for _, row := range g.rows {
		out = append(out, strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
	}
	return out
}

func TestOutputAndInputDoNotTearEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(minColumns, 60).Draw(t, "columns")
		g := &glass{t: t, columns: columns}
		s := newTermScreen(g, columns)
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcdefgh 世é\n")), 0, 30, -1)
		written := ""
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				text := word.Draw(t, "line")
				s.line(dimStyle, text)
				written += text
			case 1, 2:
				text := word.Draw(t, "piece")
				s.stream(plainStyle, text)
				written += text
			case 3:
				for _, r := range word.Draw(t, "typed") {
					if r != '\n' {
						_, _, _ = s.edit.feed([]byte(string(r)))
					}
				}
			case 4:
				s.endStream()
			}
			if err := s.flush(); err != nil {
				t.Fatal(err)
			}
			rows := g.shown()
			text, cursor := s.edit.view(columns - 3)
			if last := rows[len(rows)-1]; last != strings.TrimRight("> "+text, " ") || g.row != len(g.rows)-1 || g.col != min(columns-1, 2+cursor) {
				t.Fatalf("the input row is %q with the cursor in %d, want %q and %d", last, g.col, text, cursor)
			}
			squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
			if got := squeeze(strings.Join(rows[:len(rows)-1], "")); got != squeeze(written) {
				t.Fatalf("shown above the input: %q\nwant %q", got, squeeze(written))
			}
		}
	})
}

func TestWordsAreNotBrokenWhereThereIsASpace(t *testing.T) {
	g := &glass{t: t, columns: 20}
	s := newTermScreen(g, 20)
	for _, piece := range []string{"these are wor", "ds that do not ", "fit into one row"} {
		s.stream(plainStyle, piece)
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"these are words", "that do not fit", "into one row", ">"}
	if got := g.shown(); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("shown: %q", got)
	}
}

func TestNoSequenceOfTheOutsideReachesTheTerminal(t *testing.T) {
	var b bytes.Buffer
	s := newTermScreen(&b, 80)
	evil := "a\x1b]0;title\x07b\x1b[2Jc\u202ed\x9b31me"
	s.line(plainStyle, evil)
	s.stream(plainStyle, evil)
	p := &pipeScreen{out: &b}
	p.line(plainStyle, evil)
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"\x1b]", "\x07", "\x1b[2J", "\u202e", "\u009b"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("%q was written: %q", bad, b.String())
		}
	}
}

func TestWhoWantsNoColoursSeesNone(t *testing.T) {
	var out bytes.Buffer
	s := newTermScreen(&out, 40)
	s.plain = true
	s.line(alertStyle, "a question")
	s.stream(dimStyle, "thinking")
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, string(alertStyle)) || strings.Contains(got, string(dimStyle)) || strings.Contains(got, "\x1b[m") || !strings.Contains(got, "a question") {
		t.Errorf("drawn: %q", got)
	}
}
