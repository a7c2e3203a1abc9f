package demo

import (
	"cmp"
	"slices"
	"strings"
)

// candidate is a mutation of a file that may be the repair.
type candidate struct {
	mutation
	path  string
	score float64
}

// content is the file with the mutation.
func (c candidate) content(base string) string {
	lines := strings.Split(base, "\n")
	lines[c.line] = c.text
	return strings.Join(lines, "\n")
}

// candidates returns what may repair the failing check, the most promising first: how likely
// the change is by itself, times how near its line is to what the check is about.
func candidates(files []*source, r report) []candidate {
	var all []candidate
	for _, f := range files {
		lines := strings.Split(f.base, "\n")
		near := relevance(lines, r)
		for i, line := range lines {
			for _, m := range append(wording(i, line, r), mutations(i, line)...) {
				if m.text != line {
					all = append(all, candidate{mutation: m, path: f.path, score: m.weight * near[i]})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return all
}

// relevance returns how near each line is to what fails: by the words that it shares with
// the failing checks, where a word counts for more the fewer lines have it and the fewer
// checks pass with it. The lines beside it are half as near.
func relevance(lines []string, r report) []float64 {
	about := subject(r)
	words, count := make([][]string, len(lines)), map[string]int{}
	for i, line := range lines {
		if isComment(line) {
			continue
		}
		words[i] = slices.Compact(slices.Sorted(slices.Values(wordsOf(line))))
		for _, w := range words[i] {
			count[w]++
		}
	}
	own := make([]float64, len(lines))
	for i := range lines {
		for _, w := range words[i] {
			own[i] += about[w] / float64(count[w])
		}
	}
	near := slices.Clone(own)
	most := max(slices.Max(own), 0.001)
	for i := range near {
		if i > 0 {
			near[i] = max(near[i], own[i-1]/2)
		}
		if i+1 < len(own) {
			near[i] = max(near[i], own[i+1]/2)
		}
		near[i] = 0.3 + near[i]/most
	}
	return near
}

// subject weighs the words of the failing checks; those of passing ones count against them,
// and the names of options double.
func subject(r report) map[string]float64 {
	about := map[string]float64{}
	failed := r.failed
	if len(failed) == 0 {
		failed = []check{r.first()}
	}
	for _, c := range failed {
		for _, w := range slices.Concat(wordsOf(c.text), options(c.text)) {
			if len(w) > 2 {
				about[w] += 1 / float64(len(failed))
			}
		}
	}
	for _, name := range r.passed {
		for _, w := range wordsOf(name) {
			about[w] = max(0, about[w]-1/float64(len(r.passed)))
		}
	}
	return about
}

// options returns the names after dashes in a text, in lower case.
func options(text string) []string {
	var names []string
	for _, w := range strings.Fields(text) {
		if name := strings.TrimLeft(w, "-"); name != w && len(name) > 1 {
			names = append(names, wordsOf(name)...)
		}
	}
	return names
}

// wording returns the change of a text that the check got into what it expected.
func wording(n int, line string, r report) []mutation {
	c := r.first()
	got, expected := differ(strings.Fields(c.got), strings.Fields(c.expected))
	if got == "" || isComment(line) || strings.Count(line, got) != 1 {
		return nil
	}
	return []mutation{{line: n, from: got, to: expected, text: strings.Replace(line, got, expected, 1), weight: 2}}
}

// differ returns the words in which two texts differ.
func differ(a, b []string) (string, string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, " "), strings.Join(b, " ")
}
