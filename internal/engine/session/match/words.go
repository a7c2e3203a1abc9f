package match

import (
	"slices"
	"strings"
)

// word is one of the things that a search wants, as it stands in a text and as
// the log writes that.
type word struct{ inText, inLine finder }

// Words are what must all stand in an event. The one that is looked for first
// comes first.
type Words []word

// New makes words; those without capitals are found in any case, unless
// matchCase.
func New(texts []string, matchCase bool) Words {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b string) int { return len(b) - len(a) })
	var out Words
	for _, t := range texts {
		anyCase := !matchCase && strings.ToLower(t) == t
		out = append(out, word{newFinder(t, anyCase), newFinder(escapedJSON(t), anyCase)})
	}
	return out
}

// Candidates calls visit with every place of b where the first of the words is written as
// the log writes it, in order. visit returns the place to continue from, at least the end of
// the match.
func (w Words) Candidates(b []byte, visit func(start, end int) int) { w[0].inLine.each(b, visit) }

// MayBeIn reports whether all words stand somewhere in a line.
func (w Words) MayBeIn(line []byte) bool {
	for i := range w {
		if !w[i].inLine.in(line) {
			return false
		}
	}
	return true
}

// span is a range of bytes of a text.
type span struct{ start, end int }

// spans returns where the words stand in a text, in order and joined where they
// overlap, and how many of them do.
func (w Words) spans(text string) (all []span, count int) {
	b := []byte(text)
	for i := range w {
		before := len(all)
		w[i].inText.each(b, func(start, end int) int {
			all = append(all, span{start, end})
			if len(all)-before >= maxSpans {
				return len(b)
			}
			return end
		})
		if len(all) > before {
			count++
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	joined := all[:0]
	for _, s := range all {
		if n := len(joined); n > 0 && s.start <= joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, s.end)
			continue
		}
		joined = append(joined, s)
	}
	return joined, count
}

// maxSpans bounds the matches of one word that a snippet is chosen from.
const maxSpans = 64
