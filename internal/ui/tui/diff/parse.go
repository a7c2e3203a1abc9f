package diff

import (
	"strconv"
	"strings"

	"scorel/internal/text/cell"
)

// Bounds of a diff that is read: its lines, and bytes of one. What is beyond is left
// out, and counted.
const (
	maxLines = 5000
	maxLine  = 2 << 10
)

// op says what became of a line.
type op byte

const (
	same    op = ' '
	added   op = '+'
	removed op = '-'
	hunk    op = '@'  // "@@ … @@" and what stands after it
	note    op = '\\' // "\ No newline at end of file", and what is no diff
	file    op = 'f'
)

// line is one line of a diff. old and new are its numbers in the two files, counted
// from 1, 0 where it has none.
type line struct {
	op       op
	old, new int
	text     string
	pair     int // of a changed line: where its counterpart stands, -1 for none
}

// parsed is a diff that was read.
type parsed struct {
	lines       []line
	path        string // of the file that the diff begins with
	files       int
	plus, minus int
	rest        int // lines that were left out
}

// parse reads a unified diff.
func parse(text string) parsed {
	var p parsed
	old, now := 0, 0
	oldLeft, newLeft := 0, 0 // lines of the hunk that are to come
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\n")
		if len(p.lines) >= maxLines {
			p.rest++
			continue
		}
		raw = cut(raw)
		inside := oldLeft > 0 || newLeft > 0
		switch {
		case inside && strings.HasPrefix(raw, "+"):
			p.plus++
			p.add(line{op: added, new: now, text: raw[1:]})
			now++
			newLeft--
		case inside && strings.HasPrefix(raw, "-"):
			p.minus++
			p.add(line{op: removed, old: old, text: raw[1:]})
			old++
			oldLeft--
		case strings.HasPrefix(raw, `\`):
			p.add(line{op: note, text: raw})
		case inside && (raw == "" || raw[0] == ' '):
			p.add(line{op: same, old: old, new: now, text: strings.TrimPrefix(raw, " ")})
			old, now = old+1, now+1
			oldLeft, newLeft = oldLeft-1, newLeft-1
		case strings.HasPrefix(raw, "@@"):
			if o, on, n, nn, ok := header(raw); ok {
				old, oldLeft, now, newLeft = o, on, n, nn
			}
			p.add(line{op: hunk, text: raw})
		case strings.HasPrefix(raw, "--- "), strings.HasPrefix(raw, "diff "), strings.HasPrefix(raw, "index "):
		case strings.HasPrefix(raw, "+++ "):
			path := pathOf(raw[4:])
			if p.files == 0 {
				p.path = path
			}
			p.files++
			p.add(line{op: file, text: path})
		case strings.HasPrefix(raw, "+"): // a diff without its hunks
			p.plus++
			p.add(line{op: added, text: raw[1:]})
		case strings.HasPrefix(raw, "-"):
			p.minus++
			p.add(line{op: removed, text: raw[1:]})
		default:
			p.add(line{op: note, text: raw})
		}
	}
	p.pairs()
	return p
}

func (p *parsed) add(l line) {
	l.pair = -1
	p.lines = append(p.lines, l)
}

// cut returns the beginning of a line that is too long, cleaned. It is cut before it is
// measured.
func cut(raw string) string {
	if len(raw) > maxLine {
		raw = strings.ToValidUTF8(raw[:maxLine], "") + "…"
	}
	return strings.ReplaceAll(cell.Clean(raw), "\n", " ")
}

// header reads "@@ -1,2 +3,4 @@": where the lines of the hunk begin and how many there
// are.
func header(s string) (old, oldN, now, newN int, ok bool) {
	fields := strings.Fields(s)
	if len(fields) < 3 || fields[0] != "@@" || fields[1][0] != '-' || fields[2][0] != '+' {
		return 0, 0, 0, 0, false
	}
	old, oldN, ok = span(fields[1][1:])
	if !ok {
		return 0, 0, 0, 0, false
	}
	now, newN, ok = span(fields[2][1:])
	return old, oldN, now, newN, ok
}

func span(s string) (from, n int, ok bool) {
	a, b, both := strings.Cut(s, ",")
	from, err := strconv.Atoi(a)
	if err != nil || from < 0 {
		return 0, 0, false
	}
	n = 1
	if both {
		if n, err = strconv.Atoi(b); err != nil || n < 0 {
			return 0, 0, false
		}
	}
	return from, n, true
}

// pathOf returns the path of a "+++" line without its time and the b/ of Git.
func pathOf(s string) string {
	s, _, _ = strings.Cut(s, "    ") // a tab, cleaned
	return strings.TrimPrefix(s, "b/")
}

// lookAhead bounds the added lines in which the counterpart of a removed one is looked
// for.
const lookAhead = 50

// pairs finds for removed lines the added ones that stand for them, in a run of removed
// lines that added ones follow: where they are as many, the first for the first and so
// on, else the next one that is like it.
func (p *parsed) pairs() {
	for i := 0; i < len(p.lines); {
		if p.lines[i].op != removed {
			i++
			continue
		}
		mid := i
		for mid < len(p.lines) && p.lines[mid].op == removed {
			mid++
		}
		end := mid
		for end < len(p.lines) && p.lines[end].op == added {
			end++
		}
		k, asMany := mid, end-mid == mid-i
		for ; i < mid; i++ {
			to := k
			if !asMany {
				to = p.like(i, k, end)
			}
			if to < end {
				p.lines[i].pair, p.lines[to].pair = to, i
				k = to + 1
			}
		}
		i = end
	}
}

// like returns the first of the lines from k on that is like line i, end for none.
func (p *parsed) like(i, k, end int) int {
	a := strings.TrimSpace(p.lines[i].text)
	for last := min(end, k+lookAhead); k < last; k++ {
		b := strings.TrimSpace(p.lines[k].text)
		n := 0
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		m := 0
		for m < len(a)-n && m < len(b)-n && a[len(a)-1-m] == b[len(b)-1-m] {
			m++
		}
		if 2*(n+m) >= max(len(a), len(b)) && n+m > 0 {
			return k
		}
	}
	return end
}
