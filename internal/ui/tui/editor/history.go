package editor

import (
	"strings"

	"scorel/internal/ui/tui/keymap"
)

// Bounds of looking back.
const (
	maxEdited = 32 // older inputs that were changed and not sent, while one looks back; then they are as they were
	maxSent   = 16 // inputs of this run whose chips history still has in full
)

// history is looking back. While nobody does, entries are nil.
type history struct {
	get     func() []string
	entries []string
	at      int // len(entries) is the draft
	draft   snapshot
	edited  map[int]string // raw texts of entries that were changed
	loaded  string         // what the one that is shown was
}

// snapshot is an editor's text as it was left.
type snapshot struct {
	raw  string
	pos  int
	undo undo
}

// sentText is a sent input with its chips.
type sentText struct{ marked, raw string }

func (h *history) each(f func(raw string)) {
	f(h.draft.raw)
	h.draft.undo.each(f)
	for _, raw := range h.edited {
		f(raw)
	}
}

// leave ends looking back.
func (h *history) exit() { *h = history{get: h.get} }

// exitHistory makes what is shown the draft. The one that was left for it can still be
// yanked.
func (e *Editor) exitHistory() {
	if h := &e.history; h.entries != nil {
		if h.at < len(h.entries) && h.draft.raw != "" {
			e.kills.add(h.draft.raw)
		}
		h.exit()
	}
}

func (e *Editor) keepSent() {
	if strings.IndexByte(string(e.text), chipLead) < 0 {
		return
	}
	e.sent = append(e.sent, sentText{e.Marked(), string(e.text)})
	if len(e.sent) > maxSent {
		e.sent = e.sent[1:]
	}
}

// rawOf returns an entry with the chips that it was sent with, if these are still
// there.
func (e *Editor) rawOf(entry string) string {
	for i := len(e.sent) - 1; i >= 0; i-- {
		if e.sent[i].marked == entry {
			return e.sent[i].raw
		}
	}
	return tidy(entry)
}

func (e *Editor) older() bool {
	h := &e.history
	if h.entries == nil {
		if h.get == nil {
			return false
		}
		entries := h.get()
		if len(entries) == 0 {
			return false
		}
		h.entries, h.at = entries, len(entries)
		h.draft, h.loaded = snapshot{string(e.text), e.pos, e.undo}, string(e.text)
	}
	if h.at == 0 {
		return false
	}
	e.visit(h.at - 1)
	return true
}

func (e *Editor) newer() bool {
	if e.history.entries == nil {
		return false
	}
	e.visit(e.history.at + 1)
	return true
}

// visit shows an entry, or the draft. What was changed in the one that is left is
// found there again.
func (e *Editor) visit(at int) {
	h := &e.history
	if raw := string(e.text); h.at == len(h.entries) {
		h.draft = snapshot{raw, e.pos, e.undo}
	} else if raw != h.loaded && (len(h.edited) < maxEdited || h.edited[h.at] != "") {
		if h.edited == nil {
			h.edited = map[int]string{}
		}
		h.edited[h.at] = raw
	}
	h.at = at
	if at == len(h.entries) {
		draft := h.draft
		h.exit()
		e.restore(draft)
		return
	}
	raw, changed := h.edited[at]
	if !changed {
		raw = e.rawOf(h.entries[at])
	}
	h.loaded = raw
	e.load(raw, len(raw))
}

func (e *Editor) restore(s snapshot) {
	e.load(s.raw, s.pos)
	e.undo = s.undo
}

// search looks for an older input by what is in it.
type search struct {
	entries, small []string // as they are, and in lower case
	query          string
	at             int // the entry that is shown; len(entries) for none
	from, to       int // the match in it
	failed         bool
	draft          snapshot
}

// Searching reports whether a search is open.
func (e *Editor) Searching() bool { return e.search != nil }

func (e *Editor) beginSearch() bool {
	if e.history.get == nil {
		return false
	}
	entries := e.history.get()
	s := &search{entries: entries, at: len(entries), draft: snapshot{string(e.text), e.pos, e.undo}}
	s.small = make([]string, len(entries))
	for i, t := range entries {
		s.small[i] = strings.ToLower(t)
	}
	e.search = s
	return true
}

// searchFor looks for another text, from the entry that is shown on.
func (e *Editor) searchFor(query string) {
	s := e.search
	longer := strings.HasPrefix(query, s.query) && s.query != ""
	s.query = query
	if query == "" {
		s.at, s.from, s.to, s.failed = len(s.entries), 0, 0, false
		e.load(s.draft.raw, s.draft.pos)
		return
	}
	from := len(s.entries) - 1
	if longer {
		from = min(s.at, from)
	}
	e.find(from, -1, "")
}

// find shows the next entry from from on, other than besides, that has what is looked
// for.
func (e *Editor) find(from, by int, besides string) {
	s := e.search
	for i := from; i >= 0 && i < len(s.entries); i += by {
		if s.entries[i] == besides {
			continue
		}
		if at, n := s.match(i); at >= 0 {
			s.at, s.failed = i, false
			raw := e.rawOf(s.entries[i])
			s.from, s.to = 0, 0
			if at := strings.Index(raw, s.entries[i][at:at+n]); at >= 0 { // chips may stand where their names were
				s.from, s.to = at, at+n
			}
			e.load(raw, 0)
			e.pos = e.snap(min(s.from, len(e.text)))
			return
		}
	}
	s.failed = true
}

// match finds the query in an entry: capitals count when there are some in it.
func (s *search) match(i int) (at, n int) {
	small := strings.ToLower(s.query)
	if small != s.query || len(s.small[i]) != len(s.entries[i]) {
		return strings.Index(s.entries[i], s.query), len(s.query)
	}
	return strings.Index(s.small[i], small), len(small)
}

// take ends a search with what is shown.
func (e *Editor) take() {
	s := e.search
	e.search = nil
	if s.at == len(s.entries) {
		e.restore(s.draft)
		return
	}
	raw, draft := string(e.text), s.draft
	if e.history.entries != nil {
		draft = e.history.draft
	}
	e.history.exit()
	e.restore(draft)
	e.try(e.replace(0, len(e.text), raw, kindOther)) // so that undo gives the draft back
}

// doSearch does what actions mean in a search; done says that it was all.
func (e *Editor) doSearch(a keymap.Action) (handled, done bool) {
	s := e.search
	switch a {
	case keymap.HistorySearch, keymap.HistoryOlder, keymap.Up:
		if s.query != "" {
			e.find(s.at-1, -1, string(e.text))
		}
	case keymap.HistoryNewer, keymap.Down:
		if s.query != "" && s.at < len(s.entries) {
			e.find(s.at+1, 1, string(e.text))
		}
	case keymap.DeleteBack:
		if s.query != "" {
			r := []rune(s.query)
			e.searchFor(string(r[:len(r)-1]))
		}
	case keymap.DeleteWordBack, keymap.KillLineBack, keymap.ClearInput:
		e.searchFor("")
	case keymap.Cancel, keymap.Interrupt:
		e.search = nil
		e.restore(s.draft)
	case keymap.Submit, keymap.Complete:
		e.take()
	default:
		if a.Place() != keymap.Editor {
			return false, true
		}
		e.take()
		return false, false
	}
	return true, true
}
