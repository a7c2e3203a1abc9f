package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"scorel/protocol"
)

// shownPath is the part of the path that the transcript has, by ids. It grows and shrinks
// at its ends, as the path of a projection does.
type shownPath struct {
	ids    []protocol.EventID // oldest first
	looked int                // how many ids were compared, ever
}

// step is what brings a transcript from one path to the next.
type step struct {
	cut          bool             // what is behind leaf goes; all of it where leaf is ""
	leaf         protocol.EventID //
	first        protocol.EventID // of what stays
	older, newer []protocol.Event // before and behind that, oldest first
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

// before gives what of the older events stands before the oldest that the transcript has:
// it keeps more than a path does.
func (s step) before(oldest protocol.EventID) []protocol.Event {
	if oldest == s.first {
		return s.older
	}
	return s.older[:max(0, slices.IndexFunc(s.older, func(e protocol.Event) bool { return e.ID == oldest }))]
}

// common gives how much of a path, and how much of what is shown, ends with the newest
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

// sync brings the transcript to where the projection is: mostly by what came behind it.
func (m *Model) sync() {
	path := m.projection.Path()
	st := m.shown.follow(path)
	if st.cut {
		m.transcript.Cut(st.leaf)
	}
	if older := st.before(m.transcript.Oldest()); len(older) > 0 {
		m.transcript.Prepend(older)
	}
	for _, e := range st.newer {
		m.transcript.Append(e)
	}
	if len(path) > 0 && m.transcript.Oldest() == path[0].ID { // else whoever fetched older ones knows
		m.transcript.More(path[0].ParentID != "")
	}
	m.transcript.Live(m.live())
}

// fill asks for events of the path that belong on the screen and are not there.
func (m *Model) fill() tea.Cmd {
	asked := m.projection.Missing()
	if asked == nil || m.filling {
		return nil
	}
	m.filling = true
	gen := m.gen
	return ask(m, m.id, asked, func(m *Model, page *protocol.Events, err error) tea.Cmd {
		if m.gen != gen {
			return nil
		}
		m.filling = false
		if err != nil { // its beginning is what is there, then
			m.fail(err)
			page = &protocol.Events{}
		}
		m.projection.Fill(asked, page)
		m.sync()
		return m.fill()
	})
}

// older fetches events before those that the transcript has.
func (m *Model) older(n int) tea.Cmd {
	before := m.transcript.Oldest()
	if n <= 0 || m.fetching || before == "" {
		return nil
	}
	m.fetching = true
	gen := m.gen
	return ask(m, m.id, &protocol.GetPath{BeforeID: before, Limit: n}, func(m *Model, page *protocol.Events, err error) tea.Cmd {
		if m.gen != gen {
			return nil
		}
		m.fetching = false
		if err != nil {
			m.fail(err)
			return nil
		}
		if m.transcript.Oldest() == before { // else the path leads elsewhere
			slices.Reverse(page.Events) // it came newest first
			m.transcript.Prepend(page.Events)
			m.transcript.More(page.More)
			m.transcript.Earlier(page.Older)
		}
		return m.older(m.transcript.WantOlder())
	})
}
