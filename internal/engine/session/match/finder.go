package match

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finder looks for a text in bytes, in one case or in any. Case is folded letter
// by letter as Unicode's simple folding does, except that an ASCII letter stands
// for ASCII letters alone. It may be used by several goroutines at once.
type finder struct {
	pattern []rune   // folded; nil: the text is looked for exactly as it is
	anchor  int      // the rune of pattern that is looked for first
	second  int      // the rune after anchor that is looked for with it, a byte each; 0: none
	starts  [][]byte // how the anchor, or without pattern the text, may stand
	grams   *grams   // of the ASCII characters from anchor on; nil: there are too few in a row
}

func newFinder(text string, anyCase bool) finder {
	if !anyCase {
		return finder{starts: [][]byte{[]byte(text)}}
	}
	f := finder{}
	for _, r := range text {
		f.pattern = append(f.pattern, fold(r))
	}
	if f.row(); f.grams != nil {
		return f
	}
	best := -1
	for i, r := range f.pattern {
		if rank := rarity(r); r < utf8.RuneSelf && rank > best {
			best, f.anchor = rank, i
		}
	}
	if best < rarity('w') {
		if f.pair(); f.second > 0 {
			return f
		}
	}
	for r := f.pattern[f.anchor]; ; {
		f.starts = append(f.starts, utf8.AppendRune(nil, r))
		if r = unicode.SimpleFold(r); r == f.pattern[f.anchor] {
			break
		}
	}
	if best >= 0 { // an ASCII letter folds to more than its other case
		f.starts = slices.DeleteFunc(f.starts, func(s []byte) bool { return len(s) > 1 })
	}
	return f
}

// row finds the longest row of ASCII characters and makes its grams, if it has some.
func (f *finder) row() {
	from, to := 0, 0
	for i, begin := 0, 0; i <= len(f.pattern); i++ {
		if i < len(f.pattern) && f.pattern[i] < utf8.RuneSelf {
			continue
		}
		if i-begin > to-from {
			from, to = begin, i
		}
		begin = i + 1
	}
	if to-from >= leastRow {
		f.anchor, f.grams = from, newGrams(f.pattern[from:to])
	}
}

// pair chooses the two ASCII characters that are the most seldom together, of
// those between which there are only ASCII characters.
func (f *finder) pair() {
	best := -1
	for i := range f.pattern {
		for k := i; k < len(f.pattern) && f.pattern[k] < utf8.RuneSelf; k++ {
			if sum := rarity(f.pattern[i]) + rarity(f.pattern[k]); k > i && sum > best {
				best, f.anchor, f.second = sum, i, k
			}
		}
	}
}

// fold returns one rune for all cases of a letter.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		if o >= utf8.RuneSelf {
			least = min(least, o)
		}
	}
	return least
}

// rarity says how seldom a character stands in a log, roughly: the ids, numbers
// and keys of every line, then English text.
func rarity(r rune) int {
	const common = `"e0t1ais2on3r4ld5c6m7p8u9,: hgvf{}kb_-./[]wyjq\xz`
	if i := strings.IndexRune(common, r); i >= 0 {
		return i
	}
	return len(common)
}

// each calls visit with every place where the text is in b, in order. visit
// gives the place to go on from, at least the end of the match.
func (f *finder) each(b []byte, visit func(start, end int) int) {
	switch {
	case f.grams != nil:
		f.eachGram(b, visit)
		return
	case f.second > 0:
		f.eachPair(b, visit)
		return
	}
	var next [4]int // where each start stands next; the orbits of folding have at most four
	for i := range next {
		next[i] = -1
	}
	for pos := 0; pos < len(b); {
		at, which := len(b), 0
		for i, s := range f.starts {
			if next[i] < pos {
				if next[i] = bytes.Index(b[pos:], s); next[i] < 0 {
					next[i] = len(b)
				} else {
					next[i] += pos
				}
			}
			if next[i] < at {
				at, which = next[i], i
			}
		}
		if at == len(b) {
			return
		}
		start, end, ok := f.around(b, at, at+len(f.starts[which]))
		if !ok {
			pos = at + 1
			continue
		}
		pos = max(visit(start, end), at+1)
	}
}

// eachPair is each for a text with two ASCII characters at a known distance: eight
// places are compared at once, in lower case, and where both stand the rest is.
// It takes the same time for any letters.
func (f *finder) eachPair(b []byte, visit func(start, end int) int) {
	const ones, tops, lower = 0x0101010101010101, 0x8080808080808080, 0x2020202020202020
	distance := f.second - f.anchor
	first := uint64(f.pattern[f.anchor]|0x20) * ones
	second := uint64(f.pattern[f.second]|0x20) * ones
	for pos := 0; pos+distance < len(b); {
		at := pos
		if pos+distance+8 <= len(b) {
			x := (binary.LittleEndian.Uint64(b[pos:pos+8]) | lower) ^ first
			y := (binary.LittleEndian.Uint64(b[pos+distance:pos+distance+8]) | lower) ^ second
			zero := (x - ones) &^ x & (y - ones) &^ y & tops // the lowest bit is right, higher ones may not be
			if zero == 0 {
				pos += 8
				continue
			}
			at += bits.TrailingZeros64(zero) / 8
		}
		if start, end, ok := f.around(b, at, at+1); ok && fold(rune(b[at])) == f.pattern[f.anchor] {
			pos = max(visit(start, end), at+1)
			continue
		}
		pos = at + 1
	}
}

// around reports whether the text stands around its anchor, and where.
func (f *finder) around(b []byte, start, end int) (int, int, bool) {
	if f.pattern == nil {
		return start, end, true
	}
	for i := f.anchor - 1; i >= 0; i-- {
		r, n := rune(0), 1
		if start > 0 && b[start-1] < utf8.RuneSelf {
			r = rune(b[start-1])
		} else {
			r, n = utf8.DecodeLastRune(b[:start])
		}
		if n == 0 || fold(r) != f.pattern[i] {
			return 0, 0, false
		}
		start -= n
	}
	for _, want := range f.pattern[f.anchor+1:] {
		r, n := rune(0), 1
		if end < len(b) && b[end] < utf8.RuneSelf {
			r = rune(b[end])
		} else {
			r, n = utf8.DecodeRune(b[end:])
		}
		if n == 0 || fold(r) != want {
			return 0, 0, false
		}
		end += n
	}
	return start, end, true
}

// in reports whether the text stands in b.
func (f *finder) in(b []byte) bool {
	found := false
	f.each(b, func(int, int) int { found = true; return len(b) })
	return found
}

// leastRow is how many ASCII characters in a row are looked for by their grams: with fewer,
// so many places are looked at that pairs of characters are faster.
const leastRow = 7

// grams are the pieces of four characters of a row of ASCII characters, in lower case. Where
// the row stands in a text, one of the first len-3 of them begins at any place that is
// len-4 bytes after a place before which the row does not begin: only every (len-3)rd place
// of the text has to be looked at, and almost all of these are no gram.
type grams struct {
	stride int
	may    [1 << gramBits]bool // by hash; true for some that are no gram, too
}

// gramBits makes a table of 4 KiB, which stays in the nearest cache.
const gramBits = 12

func newGrams(row []rune) *grams {
	g := &grams{stride: len(row) - 3}
	for i := range g.stride {
		g.may[hashGram(uint32(row[i])|uint32(row[i+1])<<8|uint32(row[i+2])<<16|uint32(row[i+3])<<24)] = true
	}
	return g
}

// hashGram is the place in the table of four characters, in any case: as with pairs, a few
// other characters count as letters here. It multiplies with 2^32 by the golden ratio.
func hashGram(gram uint32) uint32 {
	const lower = 0x20202020
	return (gram | lower) * 0x9e3779b1 >> (32 - gramBits)
}

// eachGram is each for a text with many ASCII characters in a row.
func (f *finder) eachGram(b []byte, visit func(start, end int) int) {
	stride, may := f.grams.stride, &f.grams.may
	for pos, at := 0, stride-1; ; {
		for at >= 0 && at+4 <= len(b) && !may[hashGram(binary.LittleEndian.Uint32(b[at:at+4]))] {
			at += stride
		}
		if at+4 > len(b) {
			return
		}
		next := at + 1 // the row does not begin before
		for i := max(pos, at-stride+1); i <= at; i++ {
			if fold(rune(b[i])) != f.pattern[f.anchor] {
				continue
			}
			if start, end, ok := f.around(b, i, i+1); ok && start >= pos {
				pos = max(visit(start, end), i+1)
				next = pos
				break
			}
		}
		pos = max(pos, next)
		at = next + stride - 1
	}
}
