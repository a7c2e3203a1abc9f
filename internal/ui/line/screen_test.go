package line

import (
	"bytes"
	"scorel/internal/ui/line/linetest"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOutputAndInputDoNotTearEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(minColumns, 60).Draw(t, "columns")
		g := linetest.NewGlass(t, columns)
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
			rows := g.Shown()
			text, cursor := s.edit.view(columns - 3)
			if last := rows[len(rows)-1]; last != strings.TrimRight("> "+text, " ") || !g.AtEnd() || g.Column() != min(columns-1, 2+cursor) {
				t.Fatalf("the input row is %q with the cursor in %d, want %q and %d", last, g.Column(), text, cursor)
			}
			squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
			if got := squeeze(strings.Join(rows[:len(rows)-1], "")); got != squeeze(written) {
				t.Fatalf("shown above the input: %q\nwant %q", got, squeeze(written))
			}
		}
	})
}

func TestWordsAreNotBrokenWhereThereIsASpace(t *testing.T) {
	g := linetest.NewGlass(t, 20)
	s := newTermScreen(g, 20)
	for _, piece := range []string{"these are wor", "ds that do not ", "fit into one row"} {
		s.stream(plainStyle, piece)
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"these are words", "that do not fit", "into one row", ">"}
	if got := g.Shown(); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("shown: %q", got)
	}
}

func TestControlSequencesFromOutsideDoNotReachTheTerminal(t *testing.T) {
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

func TestNoColorLeavesOutColours(t *testing.T) {
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

func TestACommandThatIsAskedAboutHidesNothing(t *testing.T) {
	if got, want := wholeInput("Bash", []byte("{\"command\":\"cat a\\nrm b\u200dc\",\"description\":\"\u2764\ufe0f\"}")), "cat a\nrm b[U+200D]c\ndescription: \u2764\ufe0f"; got != want {
		t.Errorf("%q", got)
	}
	if got, want := wholeInput("Bash", []byte(`{"command":"cat a \u001b[1;1m\n-rf b\b"}`)), "cat a [U+001B][1;1m\n-rf b[U+0008]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
