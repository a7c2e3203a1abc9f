package rendering

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
)

// maxAreas bounds the headers and footers that are shown at once.
const maxAreas = 4

// area is a header or footer of an extension. What it looked like stays until it is drawn
// again.
type area struct {
	of    version
	lines []string
	asked bool
}

// version is what the lines of an area are of: they are asked for again when it is another.
type version struct {
	rev   string
	width int
	event protocol.EventID // the newest one, while no turn runs
}

// Area returns what extensions show at a place, as far as it is known, and asks for what has
// changed.
func (x *Loader) Area(place string, width int) (lines []string) {
	live := x.session.Live()
	var event protocol.EventID
	if !live.Running {
		event = live.PersistentLastID
	}
	shown := 0
	for _, s := range live.UIStates {
		if s.Place != place || len(s.Lines) == 0 || shown == maxAreas {
			continue
		}
		shown++
		key := s.Source + " " + place
		a := x.areas[key]
		if a == nil {
			a = &area{}
			x.areas[key] = a
		}
		now := version{s.Lines[0], width, event}
		if live.Running {
			now.event = a.of.event
		}
		if a.of != now && !a.asked {
			x.askArea(a, s.Source, place, now)
		}
		lines = append(lines, a.lines...)
	}
	for key := range x.areas { // of what is shown no more
		if !slices.ContainsFunc(live.UIStates, func(s protocol.UIState) bool { return len(s.Lines) > 0 && s.Source+" "+s.Place == key }) {
			delete(x.areas, key)
		}
	}
	return lines
}

func (x *Loader) askArea(a *area, source, place string, of version) {
	a.asked = true
	request := link.Ask(x.link, x.session.ID(), &protocol.RenderEntry{Source: source, Place: place, Width: of.width}, func(r *protocol.RenderedEntry, err error) tea.Cmd {
		x.areaDrawn(a, of, r, err)
		return nil
	})
	go func() { // ends with the answer, or the program
		defer loop.Rescue(x.send)
		if msg := request(); msg != nil && x.ctx.Err() == nil {
			x.send(msg)
		}
	}()
}

// areaDrawn takes what came of a request for an area; after a failure it stays as it was.
func (x *Loader) areaDrawn(a *area, of version, r *protocol.RenderedEntry, err error) {
	a.asked, a.of = false, of
	if err == nil {
		a.lines = linesOf(r.Body)
		a.lines = a.lines[:min(len(a.lines), protocol.MaxAreaLines)]
	}
}
