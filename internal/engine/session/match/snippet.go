package match

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"scorel/protocol"
	"scorel/protocol/display"
)

// escapedJSON returns a text as the log writes it inside a string.
func escapedJSON(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s // a string always encodes
	}
	return strings.TrimSuffix(strings.TrimPrefix(buf.String(), `"`), "\"\n")
}

// How long a snippet is, in characters, and how much of that stands before the
// first match.
const (
	snippetChars = 120
	snippetLead  = 40
)

// Snippet returns the piece of the texts in which most of the words stand, around
// the first of them; false when not all stand in some text.
func (w Words) Snippet(texts []string) ([]protocol.SnippetPart, bool) {
	found := make([]bool, len(w))
	best, bestCount := "", 0
	var spans []span
	for _, t := range texts {
		s, count := w.spans(t)
		if count == 0 {
			continue
		}
		for i := range w {
			found[i] = found[i] || w[i].inText.in([]byte(t))
		}
		if count > bestCount {
			best, bestCount, spans = t, count, s
		}
	}
	for _, ok := range found {
		if !ok {
			return nil, false
		}
	}
	return cutSnippet(best, spans), true
}

// cutSnippet cuts the text around the first span and marks the spans.
func cutSnippet(text string, spans []span) []protocol.SnippetPart {
	from := spans[0].start
	for n := 0; n < snippetLead && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	to := from
	for n := 0; n < snippetChars && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	var out []protocol.SnippetPart
	add := func(s string, match bool) {
		if s = oneLine(s); s != "" {
			out = append(out, protocol.SnippetPart{Text: s, Match: match})
		}
	}
	lead, end := "", ""
	if from > 0 {
		lead = "…"
	}
	if to < len(text) {
		end = "…"
	}
	at := from
	for _, s := range spans {
		if s.start >= to {
			break
		}
		add(lead+text[at:s.start], false)
		lead = ""
		at = min(s.end, to)
		add(text[s.start:at], true)
	}
	add(text[at:to]+end, false)
	return out
}

// oneLine makes a piece of text safe to show and puts one space where white space
// stands, also at its ends.
func oneLine(s string) string {
	s = display.Text(s)
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}
