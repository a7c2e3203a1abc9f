package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/tuitest"
)

// pane is a painter before a terminal of tmux.
type pane struct {
	*tuitest.Tmux
	p     *painter
	pipe  *os.File
	marks int
}

func newPane(t *testing.T, width, height int) *pane {
	t.Helper()
	name := filepath.Join(t.TempDir(), "frames")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	m := tuitest.NewTmux(t, tuitest.Options{Width: width, Height: height, Env: []string{"PATH=" + os.Getenv("PATH")}},
		"/bin/sh", "-c", "stty raw -echo; exec cat "+name)
	pipe, err := os.OpenFile(name, os.O_WRONLY, 0) // waits for its reader
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	return &pane{Tmux: m, pipe: pipe}
}

// fresh begins with an empty terminal.
func (n *pane) fresh(t *testing.T, width, height int) {
	t.Helper()
	n.Resize(width, height)
	if _, err := io.WriteString(n.pipe, "\x1bc\x1b[H\x1b[2J\x1b[3Jfresh"); err != nil {
		t.Fatal(err)
	}
	n.Wait("an empty terminal", func(string) bool { return n.All() == "fresh" })
	n.p = newPainter(&Screen{out: pieces{n}, options: Options{Width: width, Height: height}})
	n.show(width, height, Frame{Commit: []string{""}, Lines: []string{""}}, false)
}

func (n *pane) show(width, height int, f Frame, full bool) {
	commit := f.Commit
	f.Commit = nil
	n.p.work(work{frame: f, commit: commit, has: true, full: full, width: width, height: height})
}

// pieces gives a terminal what it reads at once, cut between lines: tmux 3.3 forgets a
// zero-width joiner that one of its reads ends with and draws two characters in place of
// one, and a terminal's driver hands over 2,048 bytes at a time.
type pieces struct{ n *pane }

func (w pieces) Write(b []byte) (int, error) {
	const atOnce = 2000
	for rest := b; ; {
		end := len(rest)
		if end > atOnce {
			end = bytes.LastIndexByte(rest[:atOnce], '\n') + 1
		}
		if end == 0 {
			return len(b) - len(rest), fmt.Errorf("a line of more than %d bytes", atOnce)
		}
		if _, err := w.n.pipe.Write(rest[:end]); err != nil {
			return len(b) - len(rest), err
		}
		if rest = rest[end:]; len(rest) == 0 {
			return len(b), nil
		}
		w.n.drawn()
	}
}

// drawn waits until the terminal has drawn all that it was given.
func (n *pane) drawn() {
	n.marks++
	mark := fmt.Sprint("mark ", n.marks)
	if _, err := fmt.Fprintf(n.pipe, "\x1b]2;%s\a", mark); err != nil {
		return
	}
	n.Wait(mark, func(string) bool { return n.Format("#{pane_title}") == mark })
}

// becomes reports whether the scrollback and the screen are a text when the terminal has
// drawn all that it was given.
func (n *pane) becomes(want string) bool {
	n.drawn()
	return n.All() == want
}

func plainLines(lines []string) string {
	var all []string
	for _, l := range lines {
		all = append(all, strings.TrimRight(ansi.Strip(l), " "))
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n")
}

// TestTmuxShowsWhatIsAskedFor plays random frames before a real terminal: regions as
// high as it, characters of several code points, and floods of finished lines.
func TestTmuxShowsWhatIsAskedFor(t *testing.T) {
	n := newPane(t, 30, 10)
	words := append(slices.Clone(words), "e\u0301", "o\u0308\u0304", "नि", "👩‍💻")
	line := func(width int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return cell.Cut(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, "words"), ""), width-6, "")
		})
	}
	rapid.Check(t, func(rt *rapid.T) {
		width, height := rapid.IntRange(20, 40).Draw(rt, "width"), rapid.IntRange(3, 12).Draw(rt, "height")
		n.fresh(t, width, height)
		gen := line(width)
		committed, region := []string{""}, []string{}
		for range rapid.IntRange(1, 4).Draw(rt, "frames") {
			next := slices.Clone(region)
			var commit []string
			for range rapid.IntRange(1, 4).Draw(rt, "changes") {
				at := rapid.IntRange(0, len(next)).Draw(rt, "at")
				switch rapid.SampledFrom([]string{"insert", "insert", "remove", "change", "release", "commit", "flood"}).Draw(rt, "change") {
				case "insert":
					next = slices.Insert(next, at, gen.Draw(rt, "line"))
				case "remove":
					if at < len(next) {
						next = slices.Delete(next, at, at+1)
					}
				case "change":
					if at < len(next) {
						next[at] = gen.Draw(rt, "line")
					}
				case "release":
					commit = append(commit, next[:at]...)
					next = slices.Clone(next[at:])
				case "commit":
					commit = append(commit, gen.Draw(rt, "line"))
				case "flood":
					commit = append(commit, rapid.SliceOfN(gen, height, 2*height).Draw(rt, "lines")...)
				}
			}
			region = next[max(0, len(next)-height):]
			committed = append(committed, commit...)
			f := Frame{Commit: commit, Lines: region}
			if len(region) > 0 {
				f.Cursor = &Cursor{Row: rapid.IntRange(0, len(region)-1).Draw(rt, "row"), Column: rapid.IntRange(0, 5).Draw(rt, "column")}
			}
			n.show(width, height, f, false)
			want := plainLines(append(slices.Clone(committed), region...))
			if !n.becomes(want) {
				rt.Fatalf("on the terminal:\n%s\nwant:\n%s", n.All(), want)
			}
			if f.Cursor != nil {
				column, row, shown := n.Cursor()
				if row -= rowOfRegion(n, len(committed)); column != f.Cursor.Column || row != f.Cursor.Row || !shown {
					rt.Fatalf("the cursor is at %d,%d (shown: %t), want %+v", column, row, shown, *f.Cursor)
				}
			}
		}
	})
}

// rowOfRegion returns the row of the screen that the region begins in.
func rowOfRegion(n *pane, committed int) int {
	gone, err := strconv.Atoi(n.Format("#{history_size}"))
	if err != nil {
		panic(err)
	}
	return committed - gone
}

// TestAResizedTerminalHasNoTornRests changes the size of a terminal that breaks lines
// again, again and again, with a region as wide as it. What is higher than the terminal
// then is out of reach, and so is what tmux puts into the scrollback of a terminal
// that is not full.
func TestAResizedTerminalHasNoTornRests(t *testing.T) {
	n := newPane(t, 40, 24)
	rapid.Check(t, func(rt *rapid.T) {
		width, height := 40, 24
		n.fresh(t, width, height)
		now := time.Now()
		n.p.now = func() time.Time { return now }
		region := func() []string {
			rule := strings.Repeat("─", width)
			return []string{cell.Cut("answer that comes", width, ""), rule, "❯ text", rule, "\x1b[7m" + cell.Pad("status", width) + "\x1b[m"}
		}
		committed := []string{""}
		for i := range rapid.IntRange(30, 60).Draw(rt, "lines") {
			committed = append(committed, fmt.Sprint("line ", i))
		}
		cursor := &Cursor{Row: 2, Column: 6}
		n.show(width, height, Frame{Commit: committed[1:], Lines: region(), Cursor: cursor}, false)
		for range rapid.IntRange(1, 4).Draw(rt, "sizes") {
			if want := plainLines(append(slices.Clone(committed), region()...)); !n.becomes(want) {
				rt.Fatalf("at %d by %d there is:\n%s\nwant:\n%s", width, height, n.All(), want)
			}
			width, height = rapid.IntRange(12, 60).Draw(rt, "width"), rapid.IntRange(20, 30).Draw(rt, "height")
			now = now.Add(late) // what stood before has stood for long
			n.Resize(width, height)
			n.p.width = width
			if _, row, _ := n.Cursor(); row < n.p.above() {
				return // the region's beginning is in the scrollback
			}
			commit := []string{fmt.Sprint("line ", len(committed))}
			committed = append(committed, commit...)
			n.show(width, height, Frame{Commit: commit, Lines: region(), Cursor: cursor}, false)
		}
		if want := plainLines(append(slices.Clone(committed), region()...)); !n.becomes(want) {
			rt.Fatalf("at %d by %d there is:\n%s\nwant:\n%s", width, height, n.All(), want)
		}
	})
}

// TestNoFinishedLineIsLostWhereTheSizeIsToldLate draws frames between the moment when
// the terminal has another size and the moment when the program is told: tmux tells it
// up to a quarter of a second later.
func TestNoFinishedLineIsLostWhereTheSizeIsToldLate(t *testing.T) {
	n := newPane(t, 40, 24)
	rapid.Check(t, func(rt *rapid.T) {
		width, height := 40, 24
		n.fresh(t, width, height)
		now := time.Now()
		n.p.now = func() time.Time { return now }
		said, answer := 0, ""
		line := func() string {
			said++
			fill := strings.Repeat("x", rapid.IntRange(1, 16).Draw(rt, "fill"))
			return fmt.Sprintf("line %d %s z%d.", said, fill, said)
		}
		frame := func(commits int) Frame {
			rule := strings.Repeat("─", width)
			f := Frame{Cursor: &Cursor{Row: 2, Column: 6}}
			if answer != "" && rapid.Bool().Draw(rt, "the answer is finished") {
				f.Commit, answer = append(f.Commit, answer), ""
			}
			if answer == "" {
				for range commits {
					f.Commit = append(f.Commit, line())
				}
				answer = line()
			}
			f.Lines = []string{answer, rule, "❯ text", rule, "\x1b[7m" + cell.Pad("status", width) + "\x1b[m"}
			return f
		}
		n.show(width, height, frame(rapid.IntRange(20, 50).Draw(rt, "lines")), false)
		for range rapid.IntRange(1, 3).Draw(rt, "sizes") {
			next, high := rapid.IntRange(12, 60).Draw(rt, "width"), rapid.IntRange(15, 30).Draw(rt, "height")
			n.becomes("") // all has been drawn
			n.Resize(next, high)
			for range rapid.IntRange(0, 3).Draw(rt, "late") {
				n.show(width, height, frame(rapid.IntRange(0, 2).Draw(rt, "commits")), false)
				n.becomes("")
			}
			width, height = next, high
			n.show(width, height, frame(rapid.IntRange(0, 1).Draw(rt, "commits")), false)
		}
		n.becomes("")
		flat := strings.NewReplacer("\n", "", " ", "").Replace(n.All())
		at := 0
		for i := range said {
			if i == said-1 && answer != "" {
				break // it is in the region, which is cut
			}
			for _, part := range []string{fmt.Sprintf("line%dx", i+1), fmt.Sprintf("z%d.", i+1)} {
				found := strings.Index(flat[at:], part)
				if found < 0 {
					rt.Fatalf("%q is not there:\n%s", part, n.All())
				}
				at += found + len(part)
			}
		}
	})
}
