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

// candidates gives what may repair the failing check, the most promising first:
// how likely the change is by itself, times how near its line is to what the
// check is about.
func candidates(files []*source, r report) []candidate {
	var all []candidate
	for _, f := range files {
		lines := strings.Split(f.base, "\n")
		vars := variables(lines)
		near := relevance(lines, r)
		for i, line := range lines {
			found := append(mutations(i, line, vars), wording(i, line, r)...)
			for _, m := range found {
				all = append(all, candidate{mutation: m, path: f.path, score: m.weight * near[i]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return all
}

// relevance says, between 0.1 and 1, how near each line is to the failing check:
// by the words that it shares with it, where a word counts for more the fewer
// lines have it. Half of it reaches the lines beside.
func relevance(lines []string, r report) []float64 {
	about := map[string]float64{}
	c := r.first()
	for _, w := range wordsOf(c.name + " " + c.text) {
		if len(w) > 2 {
			about[w] = 1
		}
	}
	count := map[string]int{}
	of := make([][]string, len(lines))
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		of[i] = wordsOf(line)
		slices.Sort(of[i])
		of[i] = slices.Compact(of[i])
		for _, w := range of[i] {
			count[w]++
		}
	}
	own := make([]float64, len(lines))
	for i := range lines {
		for _, w := range of[i] {
			own[i] += about[w] / float64(count[w])
		}
	}
	near := make([]float64, len(lines))
	most := 0.0
	for i := range lines {
		near[i] = own[i]
		if i > 0 {
			near[i] = max(near[i], own[i-1]/2)
		}
		if i+1 < len(lines) {
			near[i] = max(near[i], own[i+1]/2)
		}
		most = max(most, near[i])
	}
	for i := range near {
		if most > 0 {
			near[i] /= most
		}
		near[i] = 0.1 + 0.9*near[i]
	}
	return near
}

// wording gives changes of a text that the check got into what it expected.
func wording(n int, line string, r report) []mutation {
	c := r.first()
	got, expected := differ(c.got, c.expected)
	if got == "" || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.Count(line, got) != 1 {
		return nil
	}
	return []mutation{{line: n, from: got, to: expected, text: strings.Replace(line, got, expected, 1), weight: 1.5}}
}

// differ gives the parts in which two texts differ, widened to whole words.
func differ(a, b string) (string, string) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for head > 0 && a[head-1] != ' ' {
		head--
	}
	a, b = a[head:], b[head:]
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && a[len(a)-tail] != ' ' {
		tail--
	}
	return strings.TrimSpace(a[:len(a)-tail]), strings.TrimSpace(b[:len(b)-tail])
}
