package search

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// The weights of the two parts of a rank.
const (
	byKeywords = 0.4
	byTFIDF    = 0.6
)

// Least is the rank below which nothing is shown.
const Least = 0.1

// The points of a word that a query has and a document meets, by where.
const (
	pointsWhole  = 20 // it is the whole name
	pointsPart   = 8  // a part of the name
	pointsPrefix = 4  // the beginning of a part
	pointsHint   = 3
	pointsText   = 1
)

// Document is what can be found.
type Document struct {
	Name        string
	Hint        string // words to find it by; of a skill, when to use it
	Description string
}

// Weights say how much the parts of a document count.
type Weights struct{ Name, Hint, Description float64 }

// ToolWeights and SkillWeights are those of tools and of skills.
func ToolWeights() Weights  { return Weights{3, 2.5, 1} }
func SkillWeights() Weights { return Weights{3, 2, 1} }

// Index is what is searched.
type Index struct {
	docs  []entry
	words map[string][]posting // by word, in the order of docs
}

type entry struct {
	name   string // as it is
	folded string // in lower case
	parts  []string
	length float64 // of its vector
}

// posting is a document that has a word.
type posting struct {
	doc    int32
	where  place
	weight float32 // of the word in it
}

// place says where a document has a word.
type place uint8

const (
	inName place = 1 << iota
	inHint
	inText
)

// New makes an index of documents. Of those with one name the first counts.
func New(docs []Document, w Weights) *Index {
	x := &Index{docs: make([]entry, 0, len(docs)), words: map[string][]posting{}}
	seen := make(map[string]bool, len(docs))
	type found struct {
		where  place
		weight float64
	}
	in := map[string]found{}
	for _, d := range docs {
		if seen[d.Name] {
			continue
		}
		seen[d.Name] = true
		clear(in)
		parts := Words(d.Name)
		for _, field := range []struct {
			words  []string
			weight float64
			where  place
		}{{parts, w.Name, inName}, {Words(d.Hint), w.Hint, inHint}, {Words(d.Description), w.Description, inText}} {
			for _, word := range field.words {
				f := in[word]
				in[word] = found{f.where | field.where, f.weight + field.weight/float64(len(field.words))}
			}
		}
		at := int32(len(x.docs))
		x.docs = append(x.docs, entry{name: d.Name, folded: strings.ToLower(d.Name), parts: parts})
		for word, f := range in {
			x.words[word] = append(x.words[word], posting{at, f.where, float32(f.weight)})
		}
	}
	for _, word := range slices.Sorted(maps.Keys(x.words)) { // sums depend on their order
		list := x.words[word]
		idf := x.idf(len(list))
		for i := range list {
			weight := float64(list[i].weight) * idf
			x.docs[list[i].doc].length += weight * weight
		}
		x.words[word] = slices.Clip(list)
	}
	for i := range x.docs {
		x.docs[i].length = math.Sqrt(x.docs[i].length)
	}
	return x
}

// idf says how much a word tells that so many documents have.
func (x *Index) idf(n int) float64 { return math.Log(1 + float64(len(x.docs))/float64(1+n)) }

// Len returns how many documents there are.
func (x *Index) Len() int { return len(x.docs) }

// Hit is a document that was found.
type Hit struct {
	Name string
	Rank float64 // 0 to 1
}

// Find returns the best documents for a query, at most so many, the best first and those
// of one rank by name. Those of a selection come in its order; unknown are the names of a
// selection that no document has.
func (x *Index) Find(q Query, most int) (hits []Hit, unknown []string) {
	if q.Select != nil {
		return x.selected(q.Select)
	}
	s := x.score(q)
	for doc, keywords := range s.keywords {
		rank := byKeywords * keywords / s.best
		if l := x.docs[doc].length; l > 0 && s.length > 0 {
			rank += byTFIDF * min(1, s.product[doc]/(l*s.length))
		}
		if rank >= Least {
			hits = append(hits, Hit{x.docs[doc].name, rank})
		}
	}
	sortHits(hits)
	return hits[:min(len(hits), max(most, 0))], nil
}

// LeastSuggested is the rank below which nothing is suggested that nobody has asked for.
const LeastSuggested = 0.3

// Suggest returns what fits a text that is no query, at most so many, the best first. Its
// rank does not depend on the other documents: one common word in a description is not
// enough, where Find returns the best that there is.
func (x *Index) Suggest(text string, most int) (hits []Hit) {
	q := Query{Words: Words(text)}
	s := x.score(q)
	for doc, keywords := range s.keywords {
		rank := byKeywords * min(1, keywords/pointsWhole)
		if l := x.docs[doc].length; l > 0 && s.length > 0 {
			rank += byTFIDF * min(1, s.product[doc]/(l*s.length))
		}
		if rank >= LeastSuggested {
			hits = append(hits, Hit{x.docs[doc].name, rank})
		}
	}
	sortHits(hits)
	return hits[:min(len(hits), max(most, 0))]
}

// Nearest returns names that share something with a query, where Find has nothing: those
// that contain one of its words, at most so many.
func (x *Index) Nearest(q Query, most int) []string {
	var hits []Hit
	for i := range x.docs {
		rank := 0.0
		for _, word := range q.Words {
			if len(word) > 2 && strings.Contains(x.docs[i].folded, word[:max(3, len(word)*2/3)]) {
				rank++
			}
		}
		if rank > 0 {
			hits = append(hits, Hit{x.docs[i].name, rank})
		}
	}
	sortHits(hits)
	var names []string
	for _, h := range hits[:min(len(hits), max(most, 0))] {
		names = append(names, h.Name)
	}
	return names
}

func sortHits(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		switch {
		case a.Rank > b.Rank:
			return -1
		case a.Rank < b.Rank:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func (x *Index) selected(names []string) (hits []Hit, unknown []string) {
	for _, name := range names {
		i := slices.IndexFunc(x.docs, func(d entry) bool { return strings.EqualFold(d.name, name) })
		switch {
		case i < 0:
			unknown = append(unknown, name)
		case !slices.ContainsFunc(hits, func(h Hit) bool { return h.Name == x.docs[i].name }):
			hits = append(hits, Hit{x.docs[i].name, 1})
		}
	}
	return hits, unknown
}

// score is how the documents meet a query.
type score struct {
	keywords map[int32]float64 // points of those that count
	product  map[int32]float64 // of the vectors
	best     float64           // of the points
	length   float64           // of the query's vector
}

func (x *Index) score(q Query) score {
	s := score{keywords: map[int32]float64{}, product: map[int32]float64{}}
	times := map[string]float64{}
	for _, word := range q.Words {
		times[word]++
	}
	whole := strings.Join(q.Words, " ")
	for _, word := range slices.Sorted(maps.Keys(times)) {
		n, list := times[word], x.words[word]
		idf := x.idf(len(list))
		weight := n / float64(len(q.Words)) * idf
		s.length += weight * weight
		for _, p := range list {
			s.product[p.doc] += weight * float64(p.weight) * idf
			s.keywords[p.doc] += points(p.where)
		}
	}
	s.length = math.Sqrt(s.length)
	for i := range x.docs {
		d, at := &x.docs[i], int32(i)
		for word := range times {
			if slices.ContainsFunc(d.parts, func(part string) bool { return len(word) > 1 && len(part) > len(word) && strings.HasPrefix(part, word) }) {
				s.keywords[at] += pointsPrefix
			}
		}
		if len(d.parts) > 0 && len(q.Words) > 0 && strings.Join(d.parts, " ") == whole {
			s.keywords[at] += pointsWhole
		}
	}
	for _, must := range q.Must {
		has := map[int32]bool{}
		for _, p := range x.words[must] {
			has[p.doc] = true
		}
		for doc := range s.keywords {
			if !has[doc] {
				delete(s.keywords, doc)
			}
		}
	}
	for _, n := range s.keywords {
		s.best = max(s.best, n)
	}
	return s
}

// points returns those of a word by where a document has it.
func points(where place) float64 {
	n := 0.0
	if where&inName != 0 {
		n += pointsPart
	}
	if where&inHint != 0 {
		n += pointsHint
	}
	if where&inText != 0 {
		n += pointsText
	}
	return n
}
