package transcript

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
)

// Bounds of a search: bytes of what is looked for, and places that are counted.
const (
	maxQuery   = 200
	maxMatches = 10_000
)

// search is what is looked for in the conversation.
type search struct {
	open  bool // it is being typed
	query string
	hits  []*item // the items of the matches, in order, once for each match
	at    int     // the match that is shown, an index of hits
	stale bool    // the items are others

	further bool // a match above all that is held is wanted
}

// Searching says that what is typed goes into the search.
func (t *Transcript) Searching() bool { return t.view.search.open }

// Insert adds typed text to the search.
func (t *Transcript) Insert(text string) {
	if !t.view.search.open {
		return
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, cell.Clean(text))
	if len(t.view.search.query)+len(text) > maxQuery {
		return
	}
	t.Search(t.view.search.query + text)
}

// Paste adds pasted text to the search.
func (t *Transcript) Paste(text string) { t.Insert(text) }

// Search looks for text, whatever its case, and shows the newest place of it; while none
// is held, older events are wanted. "" ends the search.
func (t *Transcript) Search(query string) {
	s := &t.view.search
	s.query, s.hits = cut(query, maxQuery), nil
	t.find()
	s.at = max(0, len(s.hits)-1)
	s.further = s.query != "" && len(s.hits) == 0 && t.more && !t.heavy()
	t.view.first = false
	t.showHit()
}

// searchedOlder looks through items that came before those held.
func (t *Transcript) searchedOlder(older []*item) {
	s := &t.view.search
	switch {
	case s.query == "":
		return
	case s.stale:
		t.find()
		return
	}
	hits := hitsIn(t, older, s.query)
	n := len(hits)
	s.hits = append(hits, s.hits[:min(len(s.hits), maxMatches-n)]...)
	switch {
	case !s.further:
		s.at = min(s.at+n, max(0, len(s.hits)-1))
	case n > 0:
		s.at, s.further = n-1, false
		t.showHit()
	case t.heavy():
		s.further = false
	}
}

// searchedAll ends the search for a match further above: there is none.
func (t *Transcript) searchedAll() {
	s := &t.view.search
	if !s.further {
		return
	}
	s.further = false
	s.at = max(0, len(s.hits)-1)
	t.showHit()
}

// Find returns how many places hold a text, whatever its case; it stops at 10,000.
func (t *Transcript) Find(query string) int { return len(hitsIn(t, t.items, query)) }

// hitsIn returns the items that hold a text, once for each place.
func hitsIn(t *Transcript, items []*item, query string) []*item {
	if query == "" {
		return nil
	}
	query = strings.ToLower(query)
	var hits []*item
	for _, it := range items {
		n := count(t.raw(it), query)
		for range min(n, maxMatches-len(hits)) {
			hits = append(hits, it)
		}
	}
	return hits
}

// count returns how often a text holds a query in lower case. One of ASCII, as most are, is
// looked for without a copy of the text.
func count(text, query string) int {
	for i := range len(query) {
		if query[i] >= utf8.RuneSelf {
			return strings.Count(strings.ToLower(text), query)
		}
	}
	n, first := 0, query[0]
	for i := 0; i+len(query) <= len(text); i++ {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c == first && strings.EqualFold(text[i:i+len(query)], query) {
			n++
			i += len(query) - 1
		}
	}
	return n
}

// find looks for the matches again. The one that is shown stays that.
func (t *Transcript) find() {
	s := &t.view.search
	var shown *item
	nth := 0
	if s.at < len(s.hits) {
		shown = s.hits[s.at]
		nth = s.at - slices.Index(s.hits, shown)
	}
	s.hits, s.stale = hitsIn(t, t.items, s.query), false
	if i := slices.Index(s.hits, shown); i >= 0 {
		s.at = i + nth
	}
	s.at = min(max(s.at, 0), max(0, len(s.hits)-1))
}

// searchMove goes to another match: 1 is the next one below, -1 above.
func (t *Transcript) searchMove(step int) {
	s := &t.view.search
	if s.query == "" {
		return
	}
	if s.stale {
		t.find()
	}
	if s.further = step < 0 && s.at == 0 && t.more && !t.heavy(); s.further {
		return // what is above is not held
	}
	if n := len(s.hits); n > 0 {
		s.at = (s.at + step + n) % n
	}
	t.showHit()
}

// showHit scrolls to the match. An item that hides it is unfolded.
func (t *Transcript) showHit() {
	s, v := &t.view.search, &t.view
	if len(s.hits) == 0 || v.th == nil {
		return
	}
	it := s.hits[s.at]
	i := slices.Index(t.items, it)
	if i < 0 {
		return
	}
	nth := 0
	for k := s.at - 1; k >= 0 && s.hits[k] == it; k-- {
		nth++
	}
	line, ok := t.lineOf(i, nth)
	if !ok && t.folds(it) {
		it.toggled = !it.toggled
		it.changed()
		line, _ = t.lineOf(i, nth)
	}
	v.sel = i + 1
	for _, r := range t.rowsFrom(v.top, v.height) {
		if r == (place{i, line}) && !v.bottom {
			return
		}
	}
	v.bottom = false
	v.top = place{i, line}
	t.scroll(-v.height / 3)
}

// lineOf returns the line of an item that holds the nth match, or the last one before.
func (t *Transcript) lineOf(i, nth int) (int, bool) {
	query, at, found := strings.ToLower(t.view.search.query), 0, false
	lines := t.block(i, t.view.th, t.view.width)
	for k := range lines.len() {
		if n := strings.Count(strings.ToLower(plain(lines.at(k))), query); n > 0 {
			at, found = k, true
			if nth -= n; nth < 0 {
				break
			}
		}
	}
	return at, found
}

// searchDo does an action while the search is typed.
func (t *Transcript) searchDo(a keymap.Action) (Outcome, bool) {
	s := &t.view.search
	switch a {
	case keymap.Submit:
		s.open = false
	case keymap.Cancel, keymap.Leave:
		*s = search{}
	case keymap.DeleteBack:
		_, n := utf8.DecodeLastRuneInString(s.query)
		t.Search(s.query[:len(s.query)-n])
	case keymap.DeleteWordBack, keymap.KillLineBack, keymap.ClearInput:
		t.Search("")
	case keymap.Up, keymap.SearchBack:
		t.searchMove(-1)
	case keymap.Down, keymap.SearchNext:
		t.searchMove(1)
	default:
		return Outcome{}, false
	}
	return Outcome{Handled: true}, true
}

// SearchCount says which match is shown, counted from 1, and how many there are.
func (t *Transcript) SearchCount() (at, of int) {
	s := &t.view.search
	if s.stale {
		t.find()
	}
	if len(s.hits) == 0 {
		return 0, 0
	}
	return s.at + 1, len(s.hits)
}

func (t *Transcript) searchLine(th *theme.Theme, width int) string {
	s := &t.view.search
	at, of := t.SearchCount()
	line := th.Accent.On("/") + s.query
	if s.open {
		line += th.Cursor.On(" ")
	}
	switch {
	case s.query == "":
	case s.further:
		line += th.Dim.On("  looking further back")
	case of == 0:
		line += th.Dim.On("  nothing found" + map[bool]string{true: " in what is shown"}[t.more])
	default:
		line += th.Dim.On(fmt.Sprintf("  %d of %d", at, of))
	}
	return cell.Cut(line, width, "")
}
