package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"scorel/protocol"
	"scorel/protocol/display"
)

// escapedJSON gives a text as the log writes it inside a string.
func escapedJSON(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s // a string always encodes
	}
	return strings.TrimSuffix(strings.TrimPrefix(buf.String(), `"`), "\"\n")
}

// readable gives the texts of an event that people read: what is said, thought,
// called and answered, summaries, names and labels. Ids, keys, the system prompt
// and what is hidden are not among them.
func readable(ev protocol.Event) []string {
	switch b := ev.Body.(type) {
	case *protocol.MessageBody:
		return messageTexts(b.Message)
	case *protocol.CustomMessage:
		return messageTexts(b.Message)
	case *protocol.Compact:
		return []string{b.Summary}
	case *protocol.BranchSummary:
		return []string{b.Summary}
	case *protocol.HarnessItem:
		if b.Item.Visibility != protocol.VisibilityHidden {
			return []string{b.Item.Content}
		}
	case *protocol.SessionInfo:
		if b.Changes.Name != nil {
			return []string{*b.Changes.Name}
		}
	case *protocol.Label:
		if b.Label != nil {
			return []string{*b.Label}
		}
	case *protocol.PermissionDecision:
		return []string{b.Rule, b.Reason}
	}
	return nil
}

func messageTexts(m protocol.Message) []string {
	var out []string
	for _, b := range m.Content {
		switch b.Type {
		case protocol.BlockText:
			out = append(out, b.Text)
		case protocol.BlockThinking:
			out = append(out, b.Thinking)
		case protocol.BlockFile:
			out = append(out, b.Name)
		case protocol.BlockToolUse:
			out = append(out, stringsOf(b.Input)...)
		}
	}
	if m.ErrorMessage != "" {
		out = append(out, m.ErrorMessage)
	}
	return out
}

// stringsOf gives the strings of a JSON value that are not keys, in order.
func stringsOf(raw json.RawMessage) []string {
	var out []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	type level struct{ object, value bool } // value: what comes next is no key
	var stack []level
	for {
		tok, err := dec.Token()
		if err != nil {
			return out
		}
		top := len(stack) - 1
		key := top >= 0 && stack[top].object && !stack[top].value
		if top >= 0 && stack[top].object {
			stack[top].value = key // after a key comes a value, after that a key
		}
		switch v := tok.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				stack = append(stack, level{object: v == '{'})
			default:
				stack = stack[:top]
			}
		case string:
			if !key {
				out = append(out, v)
			}
		}
	}
}

// How long a snippet is, in characters, and how much of that stands before the
// first match.
const (
	snippetChars = 120
	snippetLead  = 40
)

// snippet gives the piece of the texts in which most of the words stand, around
// the first of them; false when not all stand in some text.
func (w words) snippet(texts []string) ([]protocol.SnippetPart, bool) {
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
