package editor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
)

// model is an editor that is easily seen to be right: it takes the whole text apart
// after every change. A chip is one character of a private area.
type model struct {
	g     []string // clusters
	at    int      // the cursor, in clusters
	goal  int
	kills []string
	chain bool
	pop   struct {
		on       bool
		from, at int // in bytes of the text; in kills
	}
}

const modelChip = '\U0010fffd'

func clusters(text string) (out []string) {
	it := graphemes.FromString(text)
	for it.Next() {
		for i, part := range strings.Split(it.Value(), string(modelChip)) { // a chip joins with nothing
			if i > 0 {
				out = append(out, string(modelChip))
			}
			if part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

func (m *model) text() string { return strings.Join(m.g, "") }

func (m *model) bytes(at int) int { return len(strings.Join(m.g[:at], "")) }

func (m *model) replace(from, to int, with string) {
	start := m.bytes(from)
	m.replaceBytes(start, start+len(strings.Join(m.g[from:to], "")), with)
}

func (m *model) replaceBytes(from, to int, with string) {
	text := m.text()
	m.g = clusters(text[:from] + with + text[to:])
	m.at = 0
	for n := 0; m.at < len(m.g) && n < from+len(with); m.at++ {
		n += len(m.g[m.at])
	}
	m.goal = -1
}

func (m *model) class(i int) string {
	switch c := m.g[i]; []rune(c)[0] {
	case ' ', '\t', '\n':
		return "blank"
	case 'a', 'b', 'e', '_', '\u0301', '7':
		return "word"
	case '世', '界':
		return "han"
	case 'の':
		return "hiragana"
	case 'カ':
		return "katakana"
	case modelChip:
		return fmt.Sprint("chip", i)
	}
	return "sign"
}

func (m *model) isWord(i int) bool { return m.class(i) != "blank" && m.class(i) != "sign" }

func (m *model) wordRight() int {
	i := m.at
	for i < len(m.g) && !m.isWord(i) {
		i++
	}
	for j := i; i < len(m.g) && m.class(i) == m.class(j); i++ {
		if strings.HasPrefix(m.class(j), "chip") {
			return i + 1
		}
	}
	return i
}

func (m *model) wordLeft() int {
	i := m.at
	for i > 0 && !m.isWord(i-1) {
		i--
	}
	for j := i - 1; i > 0 && m.class(i-1) == m.class(j); i-- {
		if strings.HasPrefix(m.class(j), "chip") {
			return i - 1
		}
	}
	return i
}

func (m *model) lineStart() int {
	i := m.at
	for i > 0 && m.g[i-1] != "\n" {
		i--
	}
	return i
}

func (m *model) lineEnd() int {
	i := m.at
	for i < len(m.g) && m.g[i] != "\n" {
		i++
	}
	return i
}

func (m *model) kill(from, to int, chain bool) {
	if from == to {
		m.chain = chain
		return
	}
	raw, back := strings.Join(m.g[from:to], ""), to == m.at
	m.replace(from, to, "")
	if n := len(m.kills) - 1; chain && n >= 0 {
		if back {
			m.kills[n] = raw + m.kills[n]
		} else {
			m.kills[n] += raw
		}
	} else {
		m.kills = append(m.kills, raw)
		m.kills = m.kills[max(0, len(m.kills)-maxKills):]
	}
	m.chain = true
}

// widths and rows say how the text is wrapped: each row is the longest one that fits
// and ends where a row may end, else the longest one that fits.
func (m *model) width(i, avail int, chip string) int {
	switch c := m.g[i]; {
	case c == string(modelChip):
		return min(cell.Width(chip), avail)
	case c == "\n":
		return 0
	case c == "\t":
		return min(4, avail)
	case c == "\x1b":
		return 1
	case strings.ContainsRune(c, '\u202e'):
		return min(len("[U+202E]"), avail)
	case cell.Width(c) == 0:
		return min(len("[U+0301]")*len([]rune(c)), avail)
	default:
		if w := cell.Width(c); w <= avail {
			return w
		}
		return 1
	}
}

func (m *model) rows(avail int, chip string) []int {
	rows := []int{0}
	for {
		i := rows[len(rows)-1]
		end, last := m.row(i, avail, chip)
		if last {
			return rows
		}
		rows = append(rows, end)
	}
}

func (m *model) row(i, avail int, chip string) (end int, last bool) {
	wide := func(j int) bool {
		return m.width(j, avail, chip) > 1
	}
	fits := i
	sum := 0
	for j := i; j < len(m.g); j++ {
		if m.g[j] == "\n" {
			if sum <= avail {
				return j + 1, false
			}
			break
		}
		before := sum
		sum += m.width(j, avail, chip)
		if sum <= avail || m.g[j] == " " && before <= avail {
			fits = j + 1
		}
		if sum > avail {
			break
		}
	}
	if fits == len(m.g) && sum <= avail {
		return fits, true
	}
	for j := fits; j > i; j-- {
		if prev := m.g[j-1]; prev == " " || wide(j-1) || j < len(m.g) && wide(j) {
			return j, false
		}
	}
	return fits, false
}

func (m *model) vertical(by, avail int, chip string) bool {
	rows := m.rows(avail, chip)
	row := 0
	for row+1 < len(rows) && rows[row+1] <= m.at {
		row++
	}
	if row+by < 0 || row+by >= len(rows) {
		return false
	}
	if m.goal < 0 {
		m.goal = 0
		for i := rows[row]; i < m.at; i++ {
			m.goal += m.width(i, avail, chip)
		}
	}
	row += by
	end := len(m.g)
	if row+1 < len(rows) {
		end = rows[row+1] - 1
	}
	m.at = rows[row]
	for x := 0; m.at < end; m.at++ {
		if x += m.width(m.at, avail, chip); x > m.goal {
			break
		}
	}
	return true
}

// TestAnEditorDoesWhatAnEditorThatIsEasilySeenToBeRightDoes plays random actions on
// both.
func TestAnEditorDoesWhatAnEditorThatIsEasilySeenToBeRightDoes(t *testing.T) {
	pieces := []string{"a", "b", "ab a", " ", "  ", "\n", ".", "_7", "e\u0301", "\u0301", "世界", "の", "カ", "👨‍👩‍👧", "🇩", "🇪", "\u200d", "\t", "\u202e", "\x1b", "a.b", "aaaaaaaaaaaaaaaaaaaaaaa"}
	rapid.Check(t, func(t *rapid.T) {
		e, m := New(Config{}), &model{goal: -1}
		width := rapid.IntRange(1, 30).Draw(t, "width")
		avail := max(width-markWidth-behind, 1)
		e.Height(width)
		long := strings.Repeat("x\n", chipLines+1)
		label := "[pasted 11 lines]"
		others := 0
		act := func(a keymap.Action, do func() bool) func(*rapid.T) {
			return func(t *rapid.T) {
				m.chain = false
				if a != keymap.Yank && a != keymap.YankPop {
					m.pop.on = false
				}
				want := do()
				if got := e.Do(a); got != want {
					t.Fatalf("%s: handled %v, want %v", a, got, want)
				}
			}
		}
		killing := func(a keymap.Action, span func() (int, int)) func(*rapid.T) {
			return func(t *rapid.T) {
				chain := m.chain
				m.pop.on, m.chain = false, false
				from, to := span()
				m.kill(from, to, chain)
				e.Do(a)
			}
		}
		moved := func(to func() int) func() bool {
			return func() bool { m.at, m.goal = to(), -1; return true }
		}
		deleted := func(from, to func() int) func() bool {
			return func() bool {
				i, j := from(), to()
				if i == j {
					return false
				}
				m.replace(i, j, "")
				return true
			}
		}
		here := func() int { return m.at }
		left := func() int { return max(m.at-1, 0) }
		right := func() int { return min(m.at+1, len(m.g)) }
		actions := map[string]func(*rapid.T){
			"type": func(t *rapid.T) {
				s := rapid.SampledFrom(pieces).Draw(t, "text")
				if err := e.Insert(s); err != nil {
					t.Fatal(err)
				}
				m.replace(m.at, m.at, s)
			},
			"paste": func(t *rapid.T) {
				s := rapid.SampledFrom(pieces).Draw(t, "text")
				if err := e.Paste(s + "\r\n"); err != nil {
					t.Fatal(err)
				}
				m.replace(m.at, m.at, s+"\n")
			},
			"chip": func(t *rapid.T) {
				if others > 0 { // its label is another one
					return
				}
				others++
				if err := e.Paste(long); err != nil {
					t.Fatal(err)
				}
				m.replace(m.at, m.at, string(modelChip))
			},
			"newLine":   act(keymap.NewLine, func() bool { m.replace(m.at, m.at, "\n"); return true }),
			"left":      act(keymap.Left, moved(left)),
			"right":     act(keymap.Right, moved(right)),
			"wordLeft":  act(keymap.WordLeft, moved(m.wordLeft)),
			"wordRight": act(keymap.WordRight, moved(m.wordRight)),
			"lineStart": act(keymap.LineStart, moved(m.lineStart)),
			"lineEnd":   act(keymap.LineEnd, moved(m.lineEnd)),
			"textStart": act(keymap.TextStart, moved(func() int { return 0 })),
			"textEnd":   act(keymap.TextEnd, moved(func() int { return len(m.g) })),
			"up":        act(keymap.Up, func() bool { return m.vertical(-1, avail, label) }),
			"down":      act(keymap.Down, func() bool { return m.vertical(1, avail, label) }),
			"back":      act(keymap.DeleteBack, deleted(left, here)),
			"forward":   act(keymap.DeleteForward, deleted(here, right)),
			"wordBack":  killing(keymap.DeleteWordBack, func() (int, int) { return m.wordLeft(), m.at }),
			"word":      killing(keymap.DeleteWord, func() (int, int) { return m.at, m.wordRight() }),
			"line": killing(keymap.KillLine, func() (int, int) {
				if end := m.lineEnd(); end > m.at || end == len(m.g) {
					return m.at, end
				}
				return m.at, m.at + 1
			}),
			"lineBack": killing(keymap.KillLineBack, func() (int, int) {
				if start := m.lineStart(); start < m.at || start == 0 {
					return start, m.at
				}
				return m.at - 1, m.at
			}),
			"yank": act(keymap.Yank, func() bool {
				n := len(m.kills)
				if n == 0 {
					return false
				}
				m.pop.on, m.pop.from, m.pop.at = true, m.bytes(m.at), n-1
				m.replace(m.at, m.at, m.kills[n-1])
				return true
			}),
			"yankPop": act(keymap.YankPop, func() bool {
				if !m.pop.on {
					return false
				}
				old := m.kills[m.pop.at]
				m.pop.at = (m.pop.at + len(m.kills) - 1) % len(m.kills)
				m.replaceBytes(m.pop.from, m.pop.from+len(old), m.kills[m.pop.at])
				return true
			}),
			"transpose": act(keymap.Transpose, func() bool {
				at := m.at
				if at == m.lineEnd() {
					at--
				}
				if at-1 < m.lineStart() || at < 1 || at+1 > m.lineEnd() {
					return false
				}
				m.replace(at-1, at+1, m.g[at]+m.g[at-1])
				return true
			}),
			"clear": act(keymap.ClearInput, func() bool {
				had := len(m.g) > 0
				if had {
					m.g, m.at, m.goal = nil, 0, -1
				}
				return had
			}),
			"undo and redo all": func(t *rapid.T) {
				m.chain, m.pop.on = false, false
				text, pos := string(e.text), e.pos
				steps := 0
				for e.Do(keymap.Undo) {
					steps++
				}
				if !e.Empty() || e.size != 0 {
					t.Fatalf("all undone: %q, size %d", e.text, e.size)
				}
				for range steps {
					if !e.Do(keymap.Redo) {
						t.Fatal("fewer steps to do again than were undone")
					}
				}
				if e.Do(keymap.Redo) || string(e.text) != text {
					t.Fatalf("all done again: %q, want %q", e.text, text)
				}
				e.pos, e.goal, m.goal = pos, -1, -1
			},
			"resize": func(t *rapid.T) {
				width = rapid.IntRange(1, 30).Draw(t, "width")
				avail = max(width-markWidth-behind, 1)
				e.Height(width)
			},
			"": func(t *rapid.T) {
				marked := strings.ReplaceAll(m.text(), string(modelChip), label)
				if got := e.Marked(); got != marked {
					t.Fatalf("the text is %q, want %q", got, marked)
				}
				if got, want := e.Text(), strings.ReplaceAll(m.text(), string(modelChip), long); got != want || e.Size() != len(want) {
					t.Fatalf("in full it is %q with %d bytes, want %q", got, e.Size(), want)
				}
				before := strings.ReplaceAll(strings.Join(m.g[:m.at], ""), string(modelChip), label)
				if got := e.plain(e.text[:e.pos], false); got != before {
					t.Fatalf("before the cursor is %q, want %q", got, before)
				}
				var rows []int
				for _, r := range m.rows(avail, label) {
					rows = append(rows, len(strings.ReplaceAll(strings.Join(m.g[:r], ""), string(modelChip), chipMark(0))))
				}
				if !slices.Equal(e.rows, rows) {
					t.Fatalf("the rows of %q in %d cells begin at %v, want %v", e.text, avail, e.rows, rows)
				}
				checkFrame(t, e, width, rapid.IntRange(1, 6).Draw(t, "height"))
			},
		}
		t.Repeat(actions)
	})
}

func TestUsualLettersAreAsWideAsTheTerminalTakesThem(t *testing.T) {
	e := New(Config{})
	for r := rune(' '); r < 0x20000; r++ {
		b := []byte(string(r))
		if w := usual(b); w > 0 {
			if text, shown := e.shown(b, 10); text != string(r) || shown != w || cell.Width(text) != w {
				t.Fatalf("%U is shown as %q in %d cells, taken for %d", r, text, cell.Width(text), w)
			}
		}
	}
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// checkFrame holds a frame to what every one must be.
func checkFrame(t failer, e *Editor, width, height int) {
	t.Helper()
	lines, cursor := e.Render(&theme.Theme{Box: theme.Box{Arrow: ">", Ellipsis: "~"}}, width, height)
	if len(lines) == 0 || len(lines) > height {
		t.Fatalf("%d lines of at most %d", len(lines), height)
	}
	for i, l := range lines {
		if w := cell.Width(l); w > width {
			t.Fatalf("line %d has %d cells of at most %d: %q", i, w, width, l)
		}
		if strings.ContainsFunc(strings.ReplaceAll(strings.ReplaceAll(l, cell.Reset, ""), "\x1b[", ""), func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' || r == '\u200b' }) {
			t.Fatalf("line %d has a control character: %q", i, l)
		}
	}
	if cursor.Y < 0 || cursor.Y >= len(lines) || cursor.X < 0 || cursor.X >= width {
		t.Fatalf("the cursor is at %+v, outside of %d × %d", cursor, width, len(lines))
	}
	// What is before the cursor in its line is as wide as it says.
	if e.search == nil && width > markWidth+behind {
		row := e.rows[e.rowOf(e.pos)]
		x := 0
		for at := row; at < e.pos; {
			n := next(e.text[at:])
			s, _ := e.shown(e.text[at:at+n], e.avail)
			x += cell.Width(s)
			at += n
		}
		if cursor.X != markWidth+x {
			t.Fatalf("the cursor is in cell %d, what stands before it has %d", cursor.X, markWidth+x)
		}
	}
}

// FuzzAnyBytesMayBeTyped: whatever comes from a terminal, nothing of it is lost and
// nothing gets out as a control sequence.
func FuzzAnyBytesMayBeTyped(f *testing.F) {
	f.Add("plain", "\x1b[31mred\x1b[m", 20)
	f.Add("\xfe\x80\x80\x80\x81", "\xff\xfe", 3)
	f.Add(strings.Repeat("\u0301", 300), strings.Repeat("\u200d👩", 200), 1)
	f.Add("a\r\nb\rc\n", "\u202e\u2066\u0085\u2028\x00\x7f", 80)
	f.Fuzz(fuzzBody)
}

func fuzzBody(t *testing.T, typed, pasted string, width int) {
	if len(typed)+len(pasted) > 1<<13 {
		return
	}
	width = 1 + (width&0xff+0xff)&0xff
	e := New(Config{})
	for i, do := range []func() error{func() error { return e.Insert(typed) }, func() error { return e.Paste(pasted) }, func() error { return e.Insert(typed) }} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		e.Do([]keymap.Action{keymap.Left, keymap.WordLeft, keymap.Up}[i])
		checkFrame(t, e, width, 1+i*3)
	}
	for range 3 {
		e.Do(keymap.DeleteBack)
		e.Do(keymap.Transpose)
		e.Do(keymap.DeleteWord)
	}
	checkFrame(t, e, width, 5)
	for e.Do(keymap.Undo) {
	}
	if !e.Empty() {
		t.Fatalf("all undone: %q", e.text)
	}
	if err := e.Set(typed + pasted); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(strings.ReplaceAll(strings.ReplaceAll(typed+pasted, "\r\n", "\n"), "\r", "\n"), "\ufffd")
	if got := e.Text(); got != want {
		t.Fatalf("%q became %q", want, got)
	}
	rows := slices.Clone(e.rows)
	e.wrap(e.avail)
	if !slices.Equal(rows, e.rows) {
		t.Fatalf("the rows begin at %v, wrapped anew at %v", rows, e.rows)
	}
}
