package fuzzy

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/platform/fault"
)

// maxTerms is how many words of a query count.
const maxTerms = 8

// Find returns the paths in which all letters of each word of query are in their
// order, in any case, best first, at most limit of them; more says that there are
// further ones. A match in the name of the file is better than one in its folders,
// letters side by side better than letters apart, a match at the beginning of a
// word better than one inside; of paths that match equally well the shorter comes
// first. An empty query gives the paths nearest to the root.
func (l *List) Find(query string, limit int) (paths []string, more bool) {
	if limit <= 0 {
		return nil, l.Len() > 0
	}
	terms := strings.Fields(strings.ToLower(query))
	terms = terms[:min(len(terms), maxTerms)]
	var need uint64
	for _, t := range terms {
		need |= maskOf(t)
	}
	wide := need&maskWide != 0
	// Each processor looks at a part of the list.
	parts := make([]top, min(maxParts, runtime.GOMAXPROCS(0), 1+l.Len()/minPart))
	var wg fault.Group
	most, begins := bestOf(terms)
	for i := range parts {
		parts[i] = top{list: l, limit: limit, most: most, begins: begins}
		wg.Go(func() { // ends with its part
			from, to := l.Len()*i/len(parts), l.Len()*(i+1)/len(parts)
			for k, mask := range l.masks[from:to] {
				if mask&need == need {
					parts[i].consider(from+k, terms, wide)
				}
			}
		})
	}
	wg.Wait()
	best, found := &parts[0], 0
	for i := range parts {
		found += parts[i].found
		if i > 0 {
			for _, h := range parts[i].hits {
				best.add(h)
			}
		}
	}
	slices.SortFunc(best.hits, best.compare)
	for _, h := range best.hits {
		path, _ := l.path(h.index)
		paths = append(paths, strings.Clone(path)) // the list may go
	}
	return paths, found > len(paths)
}

// Bounds of the parts that a list is searched in.
const (
	maxParts = 4
	minPart  = 20_000 // paths; below that a goroutine costs more than it saves
)

// consider adds a path when all words are in it.
func (t *top) consider(index int, terms []string, wide bool) {
	path, small := t.list.path(index)
	if wide { // offsets may differ, so that capitals begin no word
		small = strings.ToLower(path)
		path = small
	}
	if t.found > t.limit && t.hopeless(small) { // it would only be counted, and there is more already
		return
	}
	for _, term := range terms { // most paths fail here
		if !fits(small, term) {
			return
		}
	}
	score := 0
	if len(terms) == 0 {
		score = -depth(path)
	}
	for _, term := range terms {
		score += scoreOf(path, small, term)
	}
	t.found++
	t.add(hit{index, score})
}

// fits reports whether the letters of a word are in a text in their order.
func fits(small, term string) bool {
	for k := range len(term) {
		i := strings.IndexByte(small, term[k])
		if i < 0 {
			return false
		}
		small = small[i+1:]
	}
	return true
}

// hit is a path that fits.
type hit struct{ index, score int }

// top keeps the best hits: a heap with the worst of them in front.
type top struct {
	list  *List
	limit int
	found int // paths that fit, kept or not; it may be fewer when that is more than limit
	hits  []hit

	most   int    // see bestOf
	begins string // see bestOf
}

// bestOf returns the best score that a path can have whose name begins with none of the
// letters in begins, and these: with each of them it may be wholeName more.
func bestOf(terms []string) (most int, begins string) {
	for _, term := range terms {
		most += len(term)*perLetter + (len(term)-1)*sideBySide + wordStart
		if strings.IndexByte(term, '/') < 0 {
			most += inName
			begins += term[:1]
		}
	}
	return most, begins
}

// hopeless says of a path, when there are as many hits as are wanted, that it is
// worse than all of them, whatever it has in common with the words. Most paths are,
// and to see that costs far less than to match them.
func (t *top) hopeless(small string) bool {
	most := t.most
	if at := strings.LastIndexByte(small, '/') + 1; at < len(small) {
		for i := range len(t.begins) {
			if small[at] == t.begins[i] {
				most += wholeName
			}
		}
	}
	return most < t.hits[0].score
}

// compare orders hits, the best first.
func (t *top) compare(a, b hit) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	p, _ := t.list.path(a.index)
	q, _ := t.list.path(b.index)
	if c := cmp.Compare(len(p), len(q)); c != 0 {
		return c
	}
	return strings.Compare(p, q)
}

func (t *top) add(h hit) {
	if len(t.hits) < t.limit {
		t.hits = append(t.hits, h)
		for i := len(t.hits) - 1; i > 0; {
			up := (i - 1) / 2
			if t.compare(t.hits[i], t.hits[up]) <= 0 {
				break
			}
			t.hits[i], t.hits[up] = t.hits[up], t.hits[i]
			i = up
		}
		return
	}
	if t.compare(h, t.hits[0]) >= 0 {
		return
	}
	t.hits[0] = h
	for i := 0; ; {
		worst := i
		for _, k := range [2]int{2*i + 1, 2*i + 2} {
			if k < len(t.hits) && t.compare(t.hits[k], t.hits[worst]) > 0 {
				worst = k
			}
		}
		if worst == i {
			return
		}
		t.hits[i], t.hits[worst] = t.hits[worst], t.hits[i]
		i = worst
	}
}

// What a match is worth. Only their order matters: letters side by side beat
// letters at word starts, and a match in the name beats one in the folders unless
// its letters lie far apart.
const (
	perLetter   = 16
	sideBySide  = 10
	wordStart   = 8
	inName      = 24
	wholeName   = 40 // and without its ending, a little less
	wholeStem   = 32
	nameStart   = 12
	perGap      = 1
	maxGapsCost = 24
)

// scoreOf returns how well a word fits a path; 0 is not at all. Word and small, the
// path's text, are in lower case.
func scoreOf(path, small, term string) int {
	if strings.IndexByte(term, '/') < 0 {
		at := strings.LastIndexByte(small, '/') + 1
		name := small[at:]
		if s, first := match(path[at:], name, term); s > 0 {
			s += inName
			switch {
			case first > 0:
			case len(name) == len(term):
				s += wholeName
			case strings.IndexByte(name, '.') == len(term):
				s += wholeStem
			default:
				s += nameStart
			}
			return s
		}
	}
	s, _ := match(path, small, term)
	return s
}

// match returns how well a word fits a text, and where the match begins; 0 is not at
// all. A place where the word is as it is is better than any other.
func match(text, small, term string) (score, at int) {
	if i := strings.Index(small, term); i >= 0 {
		whole := len(term)*perLetter + (len(term)-1)*sideBySide
		for from := i; ; { // the first place where a word begins, else the first
			if startOf(text, from) > 0 {
				return whole + wordStart, from
			}
			next := strings.Index(small[from+1:], term)
			if next < 0 {
				return whole, i
			}
			from += 1 + next
		}
	}
	// Forward to the first end of the letters in their order, and back from there to
	// the nearest beginning.
	end := 0
	for k := range len(term) {
		i := strings.IndexByte(small[end:], term[k])
		if i < 0 {
			return 0, 0
		}
		end += i + 1
	}
	at = end
	for k := len(term) - 1; k >= 0; k-- {
		at = strings.LastIndexByte(small[:at], term[k])
	}
	letters, last := 0, -1
	for i := at; i < end; i++ {
		if letters == len(term) || small[i] != term[letters] {
			continue
		}
		letters++
		score += perLetter
		if last == i-1 && last >= 0 {
			score += sideBySide
		} else {
			score += startOf(text, i)
		}
		last = i
	}
	return max(score-min((end-at-len(term))*perGap, maxGapsCost), 1), at
}

// startOf is worth something when a word begins at i.
func startOf(text string, i int) int {
	if i == 0 {
		return wordStart
	}
	before, c := text[i-1], text[i]
	switch {
	case before == '/':
		return wordStart
	case before < utf8.RuneSelf && !letter(before) && letter(c):
		return wordStart
	case before >= 'a' && before <= 'z' && c >= 'A' && c <= 'Z':
		return wordStart
	}
	return 0
}

func letter(c byte) bool {
	l := lower(c)
	return l >= 'a' && l <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}
