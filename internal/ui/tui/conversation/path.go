package conversation

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/protocol"
)

// path is what the view holds of the path of the session, and what it is fetching.
type path struct {
	shown    shownPath // what of it the transcript has
	fetching bool      // older events are on their way
	filling  bool      // missing events of it are on their way
}

// shownPath is the part of the path that the transcript has, by ids. It grows and shrinks
// at its ends, as the path of a projection does.
type shownPath struct {
	ids    []protocol.EventID // oldest first
	looked int                // how many ids were compared, ever
}

// step is what brings a transcript from one path to the next.
type step struct {
	cut          bool             // what is after leaf goes; all of it where leaf is ""
	leaf         protocol.EventID //
	first        protocol.EventID // of what stays
	older, newer []protocol.Event // before and after that, oldest first
}

// follow takes the path as it is now. Where the path has only grown, it looks at what is
// new and at one id more.
func (s *shownPath) follow(path []protocol.Event) step {
	at, kept := s.common(path)
	st := step{cut: kept < len(s.ids), newer: path[at:]}
	if at > 0 {
		st.leaf = path[at-1].ID
	}
	s.ids = s.ids[:kept]
	switch { // both are chains that end at the same event: as long as both are, they are the same
	case kept > at:
		s.ids = s.ids[kept-at:]
	case kept < at && kept > 0:
		st.first, st.older = s.ids[0], path[:at-kept]
		s.ids = append(ids(st.older), s.ids...)
	}
	s.ids = append(s.ids, ids(st.newer)...)
	return st
}

// before returns what of the older events is before the oldest that the transcript has:
// it keeps more than a path does.
func (s step) before(oldest protocol.EventID) []protocol.Event {
	if oldest == s.first {
		return s.older
	}
	return s.older[:max(0, slices.IndexFunc(s.older, func(e protocol.Event) bool { return e.ID == oldest }))]
}

// common returns how much of a path, and how much of what is shown, ends with the newest
// event that both have; 0 and 0 when there is none.
func (s *shownPath) common(path []protocol.Event) (at, kept int) {
	n := len(s.ids)
	if n == 0 {
		return 0, 0
	}
	for i := len(path); i > 0; i-- {
		s.looked++
		if path[i-1].ID == s.ids[n-1] { // nothing has moved
			return i, n
		}
	}
	have := make(map[protocol.EventID]int, n)
	for i, id := range s.ids {
		have[id] = i + 1
	}
	s.looked += n
	for i := len(path); i > 0; i-- {
		if kept := have[path[i-1].ID]; kept > 0 {
			return i, kept
		}
	}
	return 0, 0
}

func ids(events []protocol.Event) []protocol.EventID {
	list := make([]protocol.EventID, len(events))
	for i, e := range events {
		list[i] = e.ID
	}
	return list
}

// sync brings the transcript to where the projection is: mostly by what was appended to it.
func (v *View) sync() {
	path := v.projection.Path()
	st := v.path.shown.follow(path)
	if st.cut {
		v.transcript.Cut(st.leaf)
	}
	if older := st.before(v.transcript.Oldest()); len(older) > 0 {
		v.transcript.Prepend(older)
	}
	for _, e := range st.newer {
		v.transcript.Append(e)
	}
	if len(path) > 0 && v.transcript.Oldest() == path[0].ID { // else whoever fetched older ones knows
		v.transcript.More(path[0].ParentID != "")
	}
	v.transcript.Live(v.Live())
	if v.whole && !v.Live().Running {
		v.transcript.Settle()
	}
}

// fill asks for events of the path that belong on the screen and are not there.
func (v *View) fill() tea.Cmd {
	asked := v.projection.Missing()
	if asked == nil || v.path.filling {
		return nil
	}
	v.path.filling = true
	gen := v.opened.Gen
	return link.Ask(v.link, v.ID(), asked, func(page *protocol.Events, err error) tea.Cmd {
		return v.inGen(gen, func() tea.Cmd {
			v.path.filling = false
			if err != nil { // its beginning is what is there, then
				v.toasts.Fail(err)
				page = &protocol.Events{}
			}
			v.projection.Fill(asked, page)
			v.sync()
			return v.fill()
		})
	})
}

// Older fetches events before those that the transcript has, as far as it wants them.
func (v *View) Older() tea.Cmd {
	n, before := v.transcript.WantOlder(), v.transcript.Oldest()
	if n <= 0 || v.path.fetching || before == "" {
		return nil
	}
	v.path.fetching = true
	gen := v.opened.Gen
	return link.Ask(v.link, v.ID(), &protocol.GetPath{BeforeID: before, Limit: n}, func(page *protocol.Events, err error) tea.Cmd {
		return v.inGen(gen, func() tea.Cmd {
			v.path.fetching = false
			if err != nil {
				v.toasts.Fail(err)
				return nil
			}
			if v.transcript.Oldest() == before { // else the path leads elsewhere
				slices.Reverse(page.Events) // it came newest first
				v.transcript.Prepend(page.Events)
				v.transcript.More(page.More)
				v.transcript.Earlier(page.Older)
			}
			return v.Older()
		})
	})
}
