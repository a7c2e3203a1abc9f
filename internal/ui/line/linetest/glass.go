package linetest

import (
	"fmt"
	"scorel/internal/text/cell"
	"strings"
)

// Glass is a terminal: what the screen writes, as a person sees it. It knows the
// sequences that the screen uses (ECMA-48) and fails for others.
type Glass struct {
	t        interface{ Fatalf(string, ...any) }
	columns  int
	rows     [][]rune
	row, col int
}

// NewGlass makes a terminal of so many columns.
func NewGlass(t interface{ Fatalf(string, ...any) }, columns int) *Glass {
	return &Glass{t: t, columns: columns}
}

func (g *Glass) Write(p []byte) (int, error) {
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

func (g *Glass) control(args string, kind byte) {
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

func (g *Glass) put(r rune) {
	w := cell.OfRune(r)
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

// Shown returns the rows down to the cursor, without what fills them up.
func (g *Glass) Shown() []string {
	var out []string
	for g.row < len(g.rows)-1 && len(g.rows[len(g.rows)-1]) == 0 {
		g.rows = g.rows[:len(g.rows)-1]
	}
	for _, row := range g.rows {
		out = append(out, strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
	}
	return out
}

// AtEnd reports whether the cursor is in the last row that is shown.
func (g *Glass) AtEnd() bool { return g.row == len(g.rows)-1 }

// Column returns the column of the cursor.
func (g *Glass) Column() int { return g.col }

// Whole returns how many bytes end neither in a character nor in a sequence.
func Whole(b []byte) int {
	if at := strings.LastIndexByte(string(b), 0x1b); at >= 0 && !strings.ContainsFunc(string(b[at+1:]), func(r rune) bool { return r >= '@' && r <= '~' && r != '[' }) {
		b = b[:at]
	}
	for n := len(b); n > 0 && n > len(b)-4; n-- {
		if b[n-1] < 0x80 {
			return n
		}
		if b[n-1] >= 0xc0 { // a character begins here: is it whole?
			if strings.HasSuffix(strings.ToValidUTF8(string(b), "\x00"), "\x00") {
				return n - 1
			}
			return len(b)
		}
	}
	return len(b)
}
