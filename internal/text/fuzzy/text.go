package fuzzy

import (
	"slices"
	"strings"
)

// Query is what a person typed to find one of some short texts that are not paths:
// titles, names of models, commands.
type Query struct{ terms []string }

// NewQuery makes a query of what was typed; of its words the first 8 count.
func NewQuery(typed string) Query {
	terms := strings.Fields(strings.ToLower(typed))
	return Query{terms[:min(len(terms), maxTerms)]}
}

// Empty reports that every text matches.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// Score returns how well a text matches: 0 is not at all. Every word of the query must
// are in it as it is, or with all its letters in their order within one word of the
// text: in longer texts letters that lie anywhere match everything. Small is the text in
// lower case.
func (q Query) Score(text, small string) int {
	if len(text) != len(small) { // offsets differ, so that capitals begin no word
		text = small
	}
	score := 1
	for _, t := range q.terms {
		s, _, _ := place(text, small, t)
		if s == 0 {
			return 0
		}
		score += s
	}
	return score
}

// Letters returns the offsets in bytes of what matches in a text, in order; none in a
// text that changes its length in lower case.
func (q Query) Letters(text string) []int {
	small := strings.ToLower(text)
	if len(small) != len(text) {
		return nil
	}
	var at []int
	for _, t := range q.terms {
		s, from, to := place(text, small, t)
		if s == 0 {
			continue
		}
		if to-from == len(t) {
			for i := from; i < to; i++ {
				at = append(at, i)
			}
			continue
		}
		k := 0
		for i := from; i < to && k < len(t); i++ {
			if small[i] == t[k] {
				at = append(at, i)
				k++
			}
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// place finds where a word is best in a text, as its score and the bytes from and
// to; a score of 0 is nowhere.
func place(text, small, term string) (score, from, to int) {
	if strings.Contains(small, term) {
		s, at := match(text, small, term)
		return s, at, at + len(term)
	}
	if maskOf(term)&maskWide != 0 { // its bytes are not letters
		return 0, 0, 0
	}
	for start := 0; start < len(small); {
		end := len(small)
		if i := strings.IndexAny(small[start:], " \n\t"); i >= 0 {
			end = start + i
		}
		if word := small[start:end]; fits(word, term) {
			if s, at := match(text[start:end], word, term); s > score {
				score, from, to = s, start+at, end
			}
		}
		start = end + 1
	}
	return score, from, to
}
