package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"scorel/protocol"
)

// sync brings the transcript to where the projection is: mostly by what came behind it.
func (m *Model) sync() {
	path := m.projection.Path()
	from := 0
	if len(m.shown) > 0 {
		from = m.common(path)
	}
	for _, e := range path[from:] {
		m.transcript.Append(e)
	}
	m.shown = m.shown[:0]
	for _, e := range path {
		m.shown = append(m.shown, e.ID)
	}
	if len(path) > 0 && m.transcript.Oldest() == path[0].ID { // else whoever fetched older ones knows
		m.transcript.More(path[0].ParentID != "")
	}
	m.transcript.Live(m.live())
}

// common cuts the transcript to what it has in common with a path, adds what of the path
// is older than that, and gives the place of the first event that is new.
func (m *Model) common(path []protocol.Event) (next int) {
	newest := m.shown[len(m.shown)-1]
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].ID == newest { // nothing has moved
			m.prepend(path[:i])
			return i + 1
		}
	}
	have := map[protocol.EventID]bool{}
	for _, id := range m.shown {
		have[id] = true
	}
	for i := len(path) - 1; i >= 0; i-- {
		if have[path[i].ID] {
			m.transcript.Cut(path[i].ID)
			return i + 1
		}
	}
	m.transcript.Cut("")
	return 0
}

// prepend adds the events that stand before all that the transcript has.
func (m *Model) prepend(before []protocol.Event) {
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].ID == m.shown[0] {
			if i > 0 && m.shown[0] == m.transcript.Oldest() {
				m.transcript.Prepend(before[:i])
			}
			return
		}
	}
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
		}
		return m.older(m.transcript.WantOlder())
	})
}
