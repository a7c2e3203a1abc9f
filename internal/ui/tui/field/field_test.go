package field

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/keymap"
)

// characters splits a text into what a cursor passes at once.
func characters(s string) []string {
	var out []string
	for s != "" {
		c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		out = append(out, c)
		s = s[len(c):]
	}
	return out
}

// TestEditingDoesWhatAListOfCharactersWouldDo plays random keys against the text as a
// list of characters. The letters join nothing, so that a list is an oracle.
func TestEditingDoesWhatAListOfCharactersWouldDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f Field
		var want []string
		at := 0
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				s := rapid.StringMatching(`[ab _é日😀]{1,4}`).Draw(t, "text")
				f.Insert(s)
				cs := characters(s)
				want = slices.Insert(want, at, cs...)
				at += len(cs)
			},
			"left":  func(*rapid.T) { f.Do(keymap.Left); at = max(0, at-1) },
			"right": func(*rapid.T) { f.Do(keymap.Right); at = min(len(want), at+1) },
			"start": func(*rapid.T) { f.Do(keymap.LineStart); at = 0 },
			"end":   func(*rapid.T) { f.Do(keymap.LineEnd); at = len(want) },
			"back": func(*rapid.T) {
				f.Do(keymap.DeleteBack)
				if at > 0 {
					want = slices.Delete(want, at-1, at)
					at--
				}
			},
			"forward": func(*rapid.T) {
				f.Do(keymap.DeleteForward)
				if at < len(want) {
					want = slices.Delete(want, at, at+1)
				}
			},
			"kill and yank": func(*rapid.T) {
				tail := slices.Clone(want[at:])
				f.Do(keymap.KillLine)
				want = want[:at]
				if len(tail) > 0 {
					f.Do(keymap.Yank)
					want = append(want, tail...)
					at = len(want)
				}
			},
			"": func(t *rapid.T) {
				if f.Text() != strings.Join(want, "") {
					t.Fatalf("%q, not %q", f.Text(), strings.Join(want, ""))
				}
				width := rapid.IntRange(1, 12).Draw(t, "width")
				line, x := f.Render(golden.Plain(), width)
				if cell.Width(line) > width || x < 0 || x >= width {
					t.Fatalf("%q takes %d of %d cells, cursor %d", line, cell.Width(line), width, x)
				}
			},
		})
	})
}

func TestUndoTakesTypingBackAtOnceAndEveryDeletionByItself(t *testing.T) {
	var f Field
	for _, c := range "one two" {
		f.Insert(string(c))
	}
	f.Do(keymap.DeleteWordBack)
	f.Do(keymap.DeleteBack)
	for _, want := range []string{"one ", "one two", "", ""} {
		f.Do(keymap.Undo)
		if f.Text() != want {
			t.Errorf("%q, not %q", f.Text(), want)
		}
	}
}

func TestWordsAreMovedOverAndDeletedWhole(t *testing.T) {
	var f Field
	f.Insert("größe über, alles")
	f.Do(keymap.WordLeft)
	f.Do(keymap.WordLeft)
	f.Do(keymap.DeleteWord)
	if f.Text() != "größe , alles" {
		t.Errorf("%q", f.Text())
	}
	f.Do(keymap.DeleteWordBack)
	if f.Text() != ", alles" {
		t.Errorf("%q", f.Text())
	}
}

func TestACombiningCharacterIsOneWithWhatStandsBeforeIt(t *testing.T) {
	var f Field
	f.Insert("e")
	f.Insert("\u0301x")
	f.Do(keymap.Left)
	f.Do(keymap.DeleteBack)
	if f.Text() != "x" {
		t.Errorf("%q", f.Text())
	}
}

func TestTextThatIsTooLongIsCutAndSaidToBe(t *testing.T) {
	f := Field{Max: 5}
	f.Insert("ab日日")
	if f.Text() != "ab日" || !f.Full() {
		t.Errorf("%q, full %v", f.Text(), f.Full())
	}
	f.Do(keymap.DeleteBack)
	if f.Full() {
		t.Error("still full")
	}
}

func FuzzInsertTakesAnyBytes(f *testing.F) {
	f.Add("a\r\nb\tc\x1b[2J", 3)
	f.Add("\xff\u202e\u0301", 1)
	f.Fuzz(func(t *testing.T, text string, width int) {
		var field Field
		field.Insert(text)
		field.Do(keymap.Left)
		field.Insert(text)
		if len(field.Text()) > DefaultMax || !utf8.ValidString(field.Text()) && utf8.ValidString(text) {
			t.Errorf("%q", field.Text())
		}
		width = 1 + max(0, width)%200
		line, x := field.Render(golden.Dark(), width)
		golden.Lines(t, []string{line}, width)
		if x >= width {
			t.Errorf("the cursor is at %d of %d", x, width)
		}
	})
}
