package screen

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"

	"scorel/internal/text/cell"
)

// glass is a terminal with a painter before it.
type glass struct {
	p     *painter
	term  *vt.Emulator
	bytes int
	out   strings.Builder // since the last call of wrote
	shown bool            // the cursor
}

func newGlass(width, height int, o Options) *glass {
	o.Width, o.Height = width, height
	g := &glass{term: vt.NewEmulator(width, height), shown: true}
	g.term.SetScrollbackSize(1 << 20)
	g.term.SetCallbacks(vt.Callbacks{CursorVisibility: func(v bool) { g.shown = v }})
	g.p = newPainter(&Screen{out: g, options: o})
	return g
}

func (g *glass) Write(b []byte) (int, error) {
	g.bytes += len(b)
	g.out.Write(b)
	return g.term.Write(b)
}

// wrote returns what was written since it was last asked.
func (g *glass) wrote() string {
	defer g.out.Reset()
	return g.out.String()
}

func (g *glass) show(f Frame) { g.showAs(f, false) }

func (g *glass) showAs(f Frame, full bool) {
	commit := f.Commit
	f.Commit = nil
	g.p.work(work{frame: f, commit: commit, has: true, full: full, width: g.term.Width(), height: g.term.Height()})
}

// cells returns a line as its cells are, styles included, without what is empty at its
// end.
func cells(width int, at func(x int) string) string {
	var all []string
	for x := range width {
		all = append(all, at(x))
	}
	for len(all) > 0 && all[len(all)-1] == " |" {
		all = all[:len(all)-1]
	}
	return strings.Join(all, "")
}

// all returns the lines of the scrollback and the screen, without empty ones at the end.
func (g *glass) all() []string {
	var lines []string
	for y := range g.term.ScrollbackLen() {
		lines = append(lines, cells(g.term.Width(), func(x int) string { return picture(g.term.ScrollbackCellAt(x, y)) }))
	}
	lines = append(lines, g.screen()...)
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func (g *glass) screen() []string {
	var lines []string
	for y := range g.term.Height() {
		lines = append(lines, cells(g.term.Width(), func(x int) string { return picture(g.term.CellAt(x, y)) }))
	}
	return lines
}

// plain returns what can be read on the screen.
func (g *glass) plain() string {
	var lines []string
	for l := range strings.SplitSeq(g.term.String(), "\n") {
		lines = append(lines, strings.TrimRight(l, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// expected returns lines as a terminal shows them that is high enough.
func expected(width int, lines []string) []string {
	t := vt.NewEmulator(width, len(lines)+1)
	_, _ = io.WriteString(t, wrapOff)
	for i, l := range lines {
		_, _ = fmt.Fprintf(t, "\x1b[%dH%s\x1b[m", i+1, l)
	}
	var all []string
	for y := range lines {
		all = append(all, cells(width, func(x int) string { return picture(t.CellAt(x, y)) }))
	}
	return all
}

// The emulator knows no characters of several code points; those are tried in tmux.
var words = []string{"a", "bc", "─", "│", "déf", "世界", "🙂", "\x1b[1mbold\x1b[m", "\x1b[31mred \x1b[44mon blue\x1b[m", "  ", "x y z", "\x1b]8;;https://a.b\x1b\\link\x1b]8;;\x1b\\", "❯", "✅", "0123456789"}

func lineGen(width int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(t, "words"), "")
		return cell.Cut(text, width, "")
	})
}

// TestWhatIsAskedForIsWhatStandsOnTheTerminal plays random frames and compares the
// scrollback, the screen with its styles, and the cursor.
func TestWhatIsAskedForIsWhatStandsOnTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(12, 30).Draw(t, "width"), rapid.IntRange(3, 12).Draw(t, "height")
		g := newGlass(width, height, Options{})
		gen := lineGen(width)
		// The emulator puts what is deleted at the top of the screen into the
		// scrollback, which terminals do not: the region keeps off the top.
		committed := []string{"top"}
		g.show(Frame{Commit: committed})
		var waiting, region []string
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			// What a client does most is to change a line, to let lines grow, and to let
			// the first ones go.
			next := slices.Clone(region)
			var commit []string
			full := rapid.IntRange(0, 5).Draw(t, "full") == 0
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				at := rapid.IntRange(0, len(next)).Draw(t, "at")
				switch rapid.SampledFrom([]string{"insert", "remove", "change", "append", "release", "commit", "flood"}).Draw(t, "change") {
				case "insert":
					next = slices.Insert(next, at, gen.Draw(t, "line"))
				case "remove":
					if at < len(next) {
						next = slices.Delete(next, at, at+1)
					}
				case "change":
					if at < len(next) {
						next[at] = gen.Draw(t, "line")
					}
				case "append":
					if at < len(next) {
						next[at] = cell.Cut(next[at]+gen.Draw(t, "more"), width, "")
					}
				case "release":
					commit = append(commit, next[:at]...)
					next = slices.Clone(next[at:])
				case "commit":
					commit = append(commit, gen.Draw(t, "line"))
				case "flood":
					commit = append(commit, rapid.SliceOfN(gen, height, 3*height).Draw(t, "lines")...)
				}
			}
			if !full && len(next) > height-1 {
				next = next[len(next)-height+1:]
			}
			region = next
			waiting = append(waiting, commit...)
			f := Frame{Commit: commit, Lines: region}
			if n := min(len(region), height); n > 0 && rapid.Bool().Draw(t, "cursor") {
				f.Cursor = &Cursor{Row: rapid.IntRange(0, n-1).Draw(t, "row"), Column: rapid.IntRange(0, width-1).Draw(t, "column")}
			}
			g.showAs(f, full)
			if g.term.IsAltScreen() != full {
				t.Fatalf("alternate screen %t, want %t", g.term.IsAltScreen(), full)
			}
			lines := region[max(0, len(region)-height):]
			var got, want []string
			top := 0
			if full {
				got, want = g.screen(), expected(width, append(slices.Clone(lines), make([]string, height-len(lines))...))
			} else {
				committed = append(committed, waiting...)
				waiting = nil
				top = len(committed)
				got, want = g.all(), expected(width, append(slices.Clone(committed), lines...))
				for len(want) > 0 && want[len(want)-1] == "" {
					want = want[:len(want)-1]
				}
				top -= g.term.ScrollbackLen()
			}
			if !slices.Equal(got, want) {
				t.Fatalf("full %t; on the terminal:\n%s\nwant:\n%s\nwritten: %q", full, strings.Join(got, "\n"), strings.Join(want, "\n"), g.wrote())
			}
			if g.shown != (f.Cursor != nil) {
				t.Fatalf("the cursor is shown: %t", g.shown)
			}
			if f.Cursor != nil {
				if pos := g.term.CursorPosition(); pos.X != f.Cursor.Column || pos.Y != top+f.Cursor.Row {
					t.Fatalf("the cursor is at %v, want %d,%d", pos, f.Cursor.Column, top+f.Cursor.Row)
				}
			}
			g.wrote()
		}
	})
}

func TestAFrameThatIsTheSameCostsNothing(t *testing.T) {
	g := newGlass(40, 10, Options{})
	f := Frame{Lines: []string{"one", "\x1b[1mtwo\x1b[m", "three"}, Cursor: &Cursor{Row: 1, Column: 2}}
	g.show(f)
	g.wrote()
	g.show(f)
	if w := g.wrote(); w != "" {
		t.Errorf("%q was written", w)
	}
}

func TestAStreamedTokenWritesOnlyItselfAndTheWayThere(t *testing.T) {
	g := newGlass(80, 24, Options{})
	lines := []string{"an answer that is not", "", "─────", "❯ text in the editor", "─────", "mock · 12%"}
	cursor := &Cursor{Row: 3, Column: 20}
	g.show(Frame{Lines: lines, Cursor: cursor})
	g.wrote()
	lines = slices.Clone(lines)
	lines[0] += " yet"
	g.show(Frame{Lines: lines, Cursor: cursor})
	if w := g.wrote(); w != "\x1b[3A\x1b[22G yet\n\n\n\x1b[21G" {
		t.Errorf("%q was written", w)
	}
}

func TestATypedKeyWritesOnlyItself(t *testing.T) {
	g := newGlass(80, 24, Options{})
	g.show(Frame{Lines: []string{"─────", "\x1b[1m❯\x1b[m hell", "─────"}, Cursor: &Cursor{Row: 1, Column: 6}})
	g.wrote()
	g.show(Frame{Lines: []string{"─────", "\x1b[1m❯\x1b[m hello", "─────"}, Cursor: &Cursor{Row: 1, Column: 7}})
	if w := g.wrote(); w != "o" {
		t.Errorf("%q was written", w)
	}
}

func TestLinesThatStandThereAreCommittedForNothing(t *testing.T) {
	g := newGlass(80, 24, Options{})
	g.show(Frame{Lines: []string{"first", "second", "third", "❯"}, Cursor: &Cursor{Row: 3, Column: 1}})
	g.p.now = func() time.Time { return time.Now().Add(late) } // they have stood for long
	g.wrote()
	g.show(Frame{Commit: []string{"first", "second"}, Lines: []string{"third", "❯"}, Cursor: &Cursor{Row: 1, Column: 1}})
	if w := g.wrote(); w != "" {
		t.Errorf("%q was written", w)
	}
	g.show(Frame{Commit: []string{"third"}, Lines: []string{"fourth", "❯"}, Cursor: &Cursor{Row: 1, Column: 1}})
	if got := g.plain(); got != "first\nsecond\nthird\nfourth\n❯" {
		t.Error(got)
	}
}

func TestARegionThatMovesIsNotWrittenAgain(t *testing.T) {
	const unchanged = "status of the day"
	for name, c := range map[string]struct{ before, after Frame }{
		"a line grows":   {Frame{Lines: []string{"top", "❯ ab", unchanged}}, Frame{Lines: []string{"top", "❯ ab", "  cd", unchanged}}},
		"a line goes":    {Frame{Lines: []string{"top", "❯ ab", "  cd", unchanged}}, Frame{Lines: []string{"top", "❯ ab", unchanged}}},
		"a line is done": {Frame{Lines: []string{"top", unchanged}}, Frame{Commit: []string{"done", "and done"}, Lines: []string{"top", unchanged}}},
		"around it others change": {Frame{Lines: []string{"tail", "spinner 1", unchanged, "tokens 1"}},
			Frame{Lines: []string{"tail", "tail 2", "spinner 2", unchanged, "tokens 2"}}},
	} {
		g := newGlass(40, 10, Options{})
		g.show(c.before)
		g.wrote()
		g.show(c.after)
		if w := g.wrote(); strings.Contains(w, unchanged) {
			t.Errorf("%s: %q was written", name, w)
		}
		if got, want := g.plain(), strings.Join(append(slices.Clone(c.after.Commit), c.after.Lines...), "\n"); got != want {
			t.Errorf("%s: on the terminal:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

func TestAFullScreenThatScrollsWritesOnlyTheNewLine(t *testing.T) {
	g := newGlass(40, 12, Options{})
	lines := func(from int) []string {
		all := []string{"header"}
		for i := range 8 {
			all = append(all, fmt.Sprintf("line number %d of the text", from+i))
		}
		return append(all, "❯", "status")
	}
	g.showAs(Frame{Lines: lines(1)}, true)
	g.wrote()
	g.showAs(Frame{Lines: lines(2)}, true)
	if w := g.wrote(); strings.Count(w, "line number") != 1 || strings.Contains(w, "status") {
		t.Errorf("%q was written", w)
	}
}

func TestSequencesThatAreNoStylesDoNotReachTheTerminal(t *testing.T) {
	const hostile = "a\x1b[2Jb\x1b]0;title\ac\x1b]52;c;aGk=\x07d\re\x08f\x1b[5;5Hg\u009b2Jh\x1bPq\x1b\\i\nj\tk\x1b[31ml\x1b[?1049hm\x1b]8;;http://x\x1b\\n\x1b]8;;\x1b\\o\x1b[m\x7f\x1b"
	const clean = "abcdefg2Jhijk\x1b[31mlm\x1b]8;;http://x\x1b\\n\x1b]8;;\x1b\\o\x1b[m"
	if got := safe(hostile); got != clean {
		t.Errorf("%q, want %q", got, clean)
	}
	g := newGlass(40, 10, Options{})
	g.show(Frame{Commit: []string{hostile}, Lines: []string{hostile}, Title: "t\x1b[2J\a\x1b]0;u"})
	for _, bad := range []string{"\x1b[2J", "\x1b]52", "\x1b]0;", "?1049h", "\x1b[5;5H"} {
		if w := g.out.String(); strings.Contains(w, bad) {
			t.Errorf("%q was written: %q", bad, w)
		}
	}
}

func TestStylesAndLinksEndWithTheirLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                       "plain",
		"\x1b[1mbold":                 "\x1b[1mbold\x1b[m",
		"\x1b[1mbold\x1b[m":           "\x1b[1mbold\x1b[m",
		"\x1b]8;;http://x\x1b\\text":  "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\",
		"blanks at the end   ":        "blanks at the end",
		"\x1b[1mb\x1b[m   ":           "\x1b[1mb\x1b[m",
		"\x1b[44mb  ":                 "\x1b[44mb  \x1b[m",
		"0123456789012345678901234":   "01234567890123456789",
		"\x1b[7m0123456789012345678世": "\x1b[7m0123456789012345678\x1b[m",
	} {
		if got := newLine(in, 20); got.shown != want || got.width != ansi.StringWidth(want) {
			t.Errorf("%q becomes %q of %d, want %q", in, got.shown, got.width, want)
		}
	}
}

func TestFinishedLinesThatAreTooWideAreBrokenNotCut(t *testing.T) {
	g := newGlass(20, 10, Options{})
	g.show(Frame{Commit: []string{"a finished line that was made for a wider terminal"}, Lines: []string{"❯"}})
	if got := strings.Join(strings.Fields(g.plain()), " "); got != "a finished line that was made for a wider terminal ❯" {
		t.Error(g.plain())
	}
}

func TestAPictureTakesItsRowsAndTheCursorDoesNotMatter(t *testing.T) {
	for name, many := range map[string]int{"between": 1, "in a flood": 30} {
		g := newGlass(40, 10, Options{})
		picture := "\x1b_Gpicture\x1b\\\x1b[4B\x1b[9C" // leaves the cursor elsewhere
		var commit []string
		for i := range many {
			commit = append(commit, fmt.Sprint("before ", i))
		}
		commit = append(commit, "  "+Image(picture, 4, "[picture]")+"  ", "after")
		g.show(Frame{Commit: commit, Lines: []string{"  " + Image(picture, 4, "[\x1b[1mpicture\x1b[m]") + " ", "❯"}})
		if got := g.plain(); !strings.HasSuffix(got, fmt.Sprintf("before %d\n\n\n\n\nafter\n  [picture]\n❯", many-1)) {
			t.Errorf("%s:\n%s", name, got)
		}
		if w := cell.Width("ab" + Image(picture, 4, "instead")); w != 2 {
			t.Errorf("%s: the image takes %d cells", name, w-2)
		}
		if w := g.wrote(); strings.Count(w, "picture\x1b\\") != 1 {
			t.Errorf("%s: %q", name, w)
		}
		g.show(Frame{Commit: []string{Image(picture, 10, "[too high]")}, Lines: []string{"❯"}})
		if got := g.plain(); !strings.Contains(got, "[too high]") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestAfterTheEndAllModesAreAsBefore(t *testing.T) {
	for _, full := range []bool{false, true} {
		g := newGlass(40, 10, Options{Focus: true})
		g.show(Frame{Commit: []string{"said"}, Lines: []string{"❯", "status"}, Cursor: &Cursor{}})
		if full {
			g.showAs(Frame{Commit: []string{"more"}, Lines: []string{"all", "of it"}, Mouse: true, Title: "title"}, true)
		}
		g.p.work(work{last: true})
		all := g.wrote()
		for on, off := range map[string]string{
			pasteOn: pasteOff, focusOn: focusOff, wrapOff: wrapOn, keysOn: keysOff, otherOn: otherOff, altOn: altOff,
			mouseOn: mouseOff, hideCursor: showCursor, syncBegin: syncEnd, saveTitle: backTitle,
		} {
			if strings.Count(all, on) != strings.Count(all, off) && (on != hideCursor || strings.LastIndex(all, on) > strings.LastIndex(all, off)) {
				t.Errorf("full %t: %q is written as often as %q in %q", full, on, off, all)
			}
		}
		want := "said\n❯\nstatus"
		if full {
			want = "said\nmore\n❯\nstatus"
		}
		if got := g.plain(); got != want {
			t.Errorf("full %t: on the terminal:\n%s\nwant:\n%s", full, got, want)
		}
		if pos := g.term.CursorPosition(); pos.X != 0 || pos.Y != strings.Count(want, "\n")+1 {
			t.Errorf("full %t: the cursor is at %v", full, pos)
		}
	}
}

func TestANarrowerTerminalIsDrawnAnew(t *testing.T) {
	g := newGlass(40, 10, Options{NoReflow: true})
	lines := []string{strings.Repeat("─", 40), "❯ text", strings.Repeat("─", 40)}
	g.show(Frame{Commit: []string{"said"}, Lines: lines, Cursor: &Cursor{Row: 1, Column: 6}})
	g.term.Resize(20, 10)
	narrow := []string{strings.Repeat("─", 20), "❯ text", strings.Repeat("─", 20)}
	g.show(Frame{Lines: narrow, Cursor: &Cursor{Row: 1, Column: 6}})
	if got, want := g.plain(), "said\n"+strings.Join(narrow, "\n"); got != want {
		t.Errorf("on the terminal:\n%s\nwant:\n%s", got, want)
	}
}
