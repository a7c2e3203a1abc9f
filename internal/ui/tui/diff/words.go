package diff

import (
	"unicode"
	"unicode/utf8"
)

// Bounds of the comparison of two lines: words of each, and the share of a line that
// must be the same for its words to be marked, one part in sameShare. Lines that are
// longer or have less in common are another line, not a changed one.
const (
	maxWords  = 200
	sameShare = 3
)

// maxCompared bounds the bytes of the lines of a diff whose words are compared.
const maxCompared = 64 << 10

// mark is a part of a line that the other line does not have, in bytes.
type mark struct{ from, to int }

// wordMarks returns what of two lines is another, for each of them; nil, nil when they
// have too little in common.
func wordMarks(a, b string) (am, bm []mark) {
	aw, bw := wordsOf(a), wordsOf(b)
	if len(aw) > maxWords || len(bw) > maxWords {
		return nil, nil
	}
	// The longest common run of words, by dynamic programming from the end.
	n, m := len(aw), len(bw)
	best := make([]uint16, (n+1)*(m+1))
	at := func(i, k int) *uint16 { return &best[i*(m+1)+k] }
	for i := n - 1; i >= 0; i-- {
		for k := m - 1; k >= 0; k-- {
			if a[aw[i].from:aw[i].to] == b[bw[k].from:bw[k].to] {
				*at(i, k) = *at(i+1, k+1) + uint16(aw[i].to-aw[i].from)
			} else {
				*at(i, k) = max(*at(i+1, k), *at(i, k+1))
			}
		}
	}
	if int(*at(0, 0))*sameShare < max(len(a), len(b)) {
		return nil, nil
	}
	i, k := 0, 0
	for i < n || k < m {
		switch {
		case i < n && k < m && a[aw[i].from:aw[i].to] == b[bw[k].from:bw[k].to]:
			i, k = i+1, k+1
		case k == m || i < n && *at(i+1, k) >= *at(i, k+1):
			am = extend(am, aw[i])
			i++
		default:
			bm = extend(bm, bw[k])
			k++
		}
	}
	return am, bm
}

func extend(marks []mark, w mark) []mark {
	if n := len(marks); n > 0 && marks[n-1].to == w.from {
		marks[n-1].to = w.to
		return marks
	}
	return append(marks, w)
}

// wordsOf returns the words of a line: runs of letters and digits, runs of blanks, and
// every other character.
func wordsOf(s string) []mark {
	var words []mark
	for i := 0; i < len(s) && len(words) <= maxWords; {
		r, n := utf8.DecodeRuneInString(s[i:])
		end, kind := i+n, kindOf(r)
		for kind != 0 && end < len(s) {
			r, n = utf8.DecodeRuneInString(s[end:])
			if kindOf(r) != kind {
				break
			}
			end += n
		}
		words = append(words, mark{i, end})
		i = end
	}
	return words
}

func kindOf(r rune) int {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 1
	case r == ' ':
		return 2
	}
	return 0
}
