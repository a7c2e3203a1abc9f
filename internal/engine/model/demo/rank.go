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
	most := 2*len(r.failed) > len(r.failed)+len(r.passed)
	for _, f := range files {
		lines := strings.Split(f.base, "\n")
		vars := variables(lines)
		near := relevance(lines, r)
		for i, line := range lines {
			found := append(mutations(i, line, vars), wording(i, line, r)...)
			for _, m := range found {
				c := candidate{mutation: m, path: f.path, score: m.weight * near[i]}
				if most && m.edge() {
					c.score *= 0.5 // a slip at an edge makes few checks fail
				}
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return all
}

// relevance says, between 0 and 1, how near each line is to what fails: by the
// words that it shares with the failing checks and not with those that pass,
// where a word counts for more the fewer lines have it. It reaches lines that
// set a variable which such a line uses, and half of it the lines beside. The
// more of the checks fail, the more every line is suspected.
func relevance(lines []string, r report) []float64 {
	about := subject(r)
	count := map[string]int{}
	of := make([][]string, len(lines))
	for i, line := range lines {
		if isComment(line) {
			continue
		}
		of[i] = wordsOf(line)
		slices.Sort(of[i])
		of[i] = slices.Compact(of[i])
		for _, w := range of[i] {
			count[w]++
		}
	}
	near := make([]float64, len(lines))
	for i := range lines {
		for _, w := range of[i] {
			near[i] += about[w] / float64(count[w])
		}
	}
	near = scaled(near)
	beside := slices.Clone(near)
	for i := range lines {
		if i > 0 {
			beside[i] = max(beside[i], near[i-1]/2)
		}
		if i+1 < len(lines) {
			beside[i] = max(beside[i], near[i+1]/2)
		}
	}
	near = slice(lines, of, beside)
	all := len(r.failed) + len(r.passed)
	floor := 0.5
	if all > 0 {
		floor = 0.05 + 0.5*float64(len(r.failed))/float64(all)
	}
	others, shuffled := foreign(r), isShuffled(r.first())
	for i := range near {
		near[i] = floor + (1-floor)*near[i]
		if slices.ContainsFunc(of[i], func(w string) bool { return others[w] }) {
			near[i] *= 0.8
		}
		if shuffled && slices.Contains(of[i], "sort") {
			near[i] = 2
		}
	}
	return near
}

// isShuffled says whether a check got what it expected in another order.
func isShuffled(c check) bool {
	words := func(s string) []string { return slices.Sorted(slices.Values(wordsOf(s))) }
	return c.got != c.expected && slices.Equal(words(c.got), words(c.expected))
}

// foreign gives the options that the simplest failing check does without, so
// that what they do is not likely to be at fault.
func foreign(r report) map[string]bool {
	first := r.first()
	others := map[string]bool{}
	add := func(text string) {
		for _, w := range options(text) {
			others[w] = true
		}
	}
	for _, c := range r.failed {
		add(c.text)
	}
	for _, name := range r.passed {
		add(name)
	}
	for _, w := range wordsOf(first.text) {
		delete(others, w)
	}
	return others
}

// subject weighs the words of the checks: those of failing ones count, those of
// passing ones against it. The words behind a command's dashes count double.
func subject(r report) map[string]float64 {
	about := map[string]float64{}
	first := r.first()
	failed := r.failed
	if len(failed) == 0 {
		failed = []check{first}
	}
	for _, c := range failed {
		share := 1 / float64(len(failed))
		if c == first {
			share += 0.5
		}
		for _, w := range slices.Compact(slices.Sorted(slices.Values(wordsOf(c.text)))) {
			if len(w) > 2 {
				about[w] += share
			}
		}
		for _, w := range options(c.text) {
			about[w] += share
		}
	}
	for _, name := range r.passed {
		for _, w := range wordsOf(name) {
			if about[w] > 0 {
				about[w] = max(0, about[w]-1/float64(len(r.passed)))
			}
		}
	}
	return about
}

// options gives the names behind dashes in a text, in lower case.
func options(text string) []string {
	var names []string
	for _, w := range strings.Fields(text) {
		if name := strings.TrimLeft(w, "-"); name != w && len(wordsOf(name)) == 1 && len(name) > 1 && !isDigit(name[0]) {
			names = append(names, wordsOf(name)[0])
		}
	}
	return names
}

// slice lets nearness reach back from a line to those that set what it uses.
func slice(lines []string, used [][]string, near []float64) []float64 {
	sets := map[string][]int{} // by variable in lower case
	for i, line := range lines {
		for _, v := range variables(lines[i : i+1]) {
			if !isComment(line) {
				w := strings.ToLower(v.name)
				sets[w] = append(sets[w], i)
			}
		}
	}
	out := slices.Clone(near)
	for range 2 {
		for i := range lines {
			for _, w := range used[i] {
				for _, k := range sets[w] {
					out[k] = max(out[k], out[i]*0.7)
				}
			}
		}
	}
	return out
}

// scaled divides by the largest.
func scaled(v []float64) []float64 {
	if most := slices.Max(v); most > 0 {
		for i := range v {
			v[i] /= most
		}
	}
	return v
}

func isComment(line string) bool {
	t := strings.TrimSpace(line)
	return strings.HasPrefix(t, "#") || strings.HasPrefix(t, "//")
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
