package search

import "strings"

// maxQuery is how much of a query counts, in bytes.
const maxQuery = 1000

// maxSelected is how many names a query may select.
const maxSelected = 25

// Query is what is looked for.
type Query struct {
	Select   []string // exact names, without regard to case; nothing else counts then
	Discover bool     // it is only asked about, and nothing is to be run yet
	Must     []string // words that must be met
	Words    []string // with those of Must
}

// Parse reads a query:
//
//	select:A,B       the tools of these names
//	discover:words   what there is for these words
//	+word words      what meets word, best by all of them
//	words            best by all of them
func Parse(s string) Query {
	if len(s) > maxQuery {
		s = strings.ToValidUTF8(s[:maxQuery], "")
	}
	s = strings.TrimSpace(s)
	if names, ok := cutFold(s, "select:"); ok {
		q := Query{Select: []string{}}
		for name := range strings.SplitSeq(names, ",") {
			if name = strings.TrimSpace(name); name != "" && len(q.Select) < maxSelected {
				q.Select = append(q.Select, name)
			}
		}
		return q
	}
	var q Query
	if rest, ok := cutFold(s, "discover:"); ok {
		q.Discover, s = true, rest
	}
	for word := range strings.FieldsSeq(s) {
		if must, ok := strings.CutPrefix(word, "+"); ok {
			q.Must = append(q.Must, Words(must)...)
		}
	}
	q.Words = Words(s)
	return q
}

// cutFold is strings.CutPrefix without regard to case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
