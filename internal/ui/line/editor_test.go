package line

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// keys feeds an editor byte by byte and returns the lines that were entered.
func keys(e *editor, text string) (lines []string, last key) {
	for i := range len(text) {
		b := []byte{text[i]}
		for len(b) > 0 {
			var k key
			var line string
			k, line, b = e.feed(b)
			if k == keyEnter {
				lines = append(lines, line)
			}
			if k != keyNone {
				last = k
			}
		}
	}
	return lines, last
}

func TestEditorKeysChangeTheLine(t *testing.T) {
	for typed, want := range map[string]string{
		"abc":                             "abc",
		"ab\x7fc":                         "ac",
		"\x7f\x7fa":                       "a",
		"bc\x01a":                         "abc",
		"ac\x1b[Db":                       "abc",
		"ac\x1b[D\x1b[D\x1b[Cb":           "abc",
		"x\x15abc":                        "abc",
		"one two\x17three":                "one three",
		"abc\x01\x0bx":                    "x",
		"abXc\x1b[D\x1b[D\x1b[3~":         "abc",
		"bc\x1b[Ha\x1b[Fd":                "abcd",
		"one two\x1b[1;5Dx":               "one xtwo",
		"ä€😀":                             "ä€😀",
		"a\x1b[200~b\rc\n\x03d\x1b[201~e": "ab\nc\nde",
		"a\x00\x1b[99~\x1bqb":             "ab",
		"a\tb":                            "a b",
		"/a\x1b[D\tb":                     "/ ba",
		"/a\tb":                           "/ab", // Tab completes there
		"first\r\x1b[A":                   "first",
		"first\rsecond\r\x1b[A\x1b[A":     "first",
		"first\rhalf\x1b[A\x1b[B":         "half",
		"x\x04\x01\x04":                   "",
	} {
		e := &editor{}
		keys(e, typed)
		if got := string(e.line); got != want {
			t.Errorf("%q gives %q, want %q", typed, got, want)
		}
	}
	e := &editor{}
	if lines, _ := keys(e, "one\rtwo\x1b[200~ a\nb\x1b[201~\r"); strings.Join(lines, "|") != "one|two a\nb" {
		t.Errorf("lines: %q", lines)
	}
	if _, k := keys(&editor{}, "\x04"); k != keyEnd {
		t.Error("Ctrl-D on an empty line is not the end")
	}
	if _, k := keys(&editor{}, "a\x03"); k != keyInterrupt {
		t.Error("Ctrl-C is no interrupt")
	}
}

func TestEditorKeepsItsBoundsForAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &editor{}
		for _, b := range rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 20).Draw(t, "chunks") {
			for len(b) > 0 {
				_, _, b = e.feed(b)
				if e.at < 0 || e.at > len(e.line) || !utf8.ValidString(string(e.line)) {
					t.Fatalf("the cursor is at %d of %q", e.at, string(e.line))
				}
			}
			columns := rapid.IntRange(1, 40).Draw(t, "columns")
			text, cursor := e.view(columns)
			if w := widthOf([]rune(text)); w > columns || cursor > w || cursor >= columns+1 || strings.Contains(text, "\n") {
				t.Fatalf("%d columns show %q with the cursor at %d", columns, text, cursor)
			}
		}
	})
	e := &editor{}
	keys(e, strings.Repeat("世", maxInputLine+100))
	if len(e.line) != maxInputLine || e.left != 100 {
		t.Errorf("a line has %d characters, and %d were not taken", len(e.line), e.left)
	}
	for range maxHistory + 10 {
		keys(e, "a\rb\r")
	}
	if len(e.history) != maxHistory {
		t.Errorf("the history has %d lines", len(e.history))
	}
}
