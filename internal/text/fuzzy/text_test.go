package fuzzy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLettersOfAWordAreFoundInOneWordOfTheText(t *testing.T) {
	for _, tt := range []struct {
		query, text string
		marked      string // the letters that match; "" when nothing does
	}{
		{"cs45", "anthropic claude-sonnet-4-5", "cs45"},
		{"son claude", "claude-sonnet", "claudeson"},
		{"gest", "the great escape of rest", ""},
		{"Über", "ein über uns", "über"},
		{"ÜR", "über", ""}, // letters beyond ASCII only as they stand
		{"", "all", ""},
	} {
		q := NewQuery(tt.query)
		got := ""
		for _, i := range q.Letters(tt.text) {
			got += tt.text[i : i+1]
		}
		if got != tt.marked {
			t.Errorf("%q in %q marks %q, not %q", tt.query, tt.text, got, tt.marked)
		}
		if found := q.Score(tt.text, strings.ToLower(tt.text)) > 0; found != (tt.marked != "" || tt.query == "") {
			t.Errorf("%q in %q: found %v", tt.query, tt.text, found)
		}
	}
}

func TestWhatIsMarkedCutsNoCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abÄé日İ. ]{0,16}`).Draw(t, "text")
		q := NewQuery(rapid.StringMatching(`[abäé日i ]{0,5}`).Draw(t, "query"))
		from := 0
		letters := q.Letters(text)
		for k := 0; k < len(letters); {
			end := letters[k] + 1
			start := letters[k]
			for k++; k < len(letters) && letters[k] == end; k++ {
				end++
			}
			if start < from || !utf8.ValidString(text[start:end]) || !utf8.ValidString(text[from:start]) {
				t.Fatalf("%q marks %q in %q", q.terms, text[start:end], text)
			}
			from = end
		}
		if len(letters) > 0 && !q.Empty() && q.Score(text, strings.ToLower(text)) == 0 && len(q.terms) == 1 {
			t.Fatalf("%q is marked in %q and not found", q.terms, text)
		}
	})
}
