package tui

import (
	"time"

	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/screen"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// Shares of the screen.
const (
	minTranscript = 3  // lines of the transcript beside an open question or picker
	maxEditor     = 12 // lines of the editor, when there is room
	roomy         = 20 // lines of the screen from which there is room for a blank one above the editor
)

// frame composes what is to be seen.
func (m *Model) frame() screen.Frame {
	th, width, room := m.window.theme, m.window.width, m.window.height
	full := m.window.Full()
	f := screen.Frame{Title: m.status.title(), Mouse: full && m.prefs.settings.Mouse}
	if !full {
		if m.reading.transcript.Again(th, width, room) {
			m.window.screen.Erase()
		}
		f.Commit = m.reading.transcript.Commit(th, width)
		m.reading.images.Settle()
	}
	if h := m.status.header; h != nil {
		h.Model, h.Hint = m.host.ModelName(), m.host.ModelHint()
	}
	head := m.status.head()
	if head != nil && len(f.Commit) > 0 { // it is above all, and changes no more
		f.Commit, head, m.status.header = append(head, f.Commit...), nil, nil
	}
	f.Commit, m.start.last = append(m.start.last, f.Commit...), nil
	below, cursor := m.below(room)
	if m.status.header == nil && room >= roomy && m.focus.overlays.Top() == nil && m.focus.questions.Front() == nil {
		below = append([]string{""}, below...)
		if cursor != nil {
			cursor.Y++
		}
		m.agents.row++
	}
	above := m.above(head, room-len(below))
	if full { // the editor is at the bottom
		for len(above)+len(below) < room {
			above = append(above, "")
		}
	}
	m.agents.row += room - len(below) // in the whole screen, where the mouse is
	f.Lines = append(above, below...)
	if cursor != nil {
		f.Cursor = &screen.Cursor{Row: cursor.Y + len(above), Column: cursor.X}
	}
	return f
}

// above returns the transcript under the header, at most room lines.
func (m *Model) above(head []string, room int) []string {
	if room <= 0 {
		return nil
	}
	draw := m.reading.transcript.Region
	if m.window.Full() {
		draw = m.reading.transcript.View
	}
	lines := draw(m.window.theme, m.window.width, room)
	m.reading.above, m.reading.rows = min(len(head), room-len(lines)), len(lines)
	return append(head[:m.reading.above:m.reading.above], lines...)
}

// below returns what is below the transcript, at most room lines, with the cursor in it.
func (m *Model) below(room int) (lines []string, at *overlay.Cursor) {
	th, width := m.window.theme, m.window.width
	rest := minTranscript * min(1, room/roomy) // of the transcript
	m.agents.rows = 0
	if o := m.focus.overlays.Top(); o != nil {
		said := m.toasts.Render(th, width, time.Now())
		said = said[:min(len(said), room/4)]
		part, at := o.Render(th, width, max(1, room-len(said)-rest))
		if at != nil {
			at.Y += len(said)
		}
		return append(said, part...), at
	}
	free := func() int { return max(0, room-len(lines)-1) } // above the status line
	add := func(part []string) { lines = append(lines, part[:min(len(part), free())]...) }
	if questions := m.focus.questions; questions.Front() != nil {
		part, c := questions.Render(th, width, max(1, free()-rest))
		add(part)
		if m.input.Empty() {
			return append(lines, m.status.line()), c
		}
		at = c
	} else {
		questions.Hidden()
		add(m.area(protocol.PlaceHeader, min(free()-rest, room/3)))
		add(m.status.above(room / 3))
	}
	top := len(lines)
	typed, c := m.drawn.render(min(maxEditor, max(1, free()-2)))
	if at == nil && c.Y < free() {
		at = &overlay.Cursor{X: c.X, Y: top + c.Y}
	}
	add(typed)
	add(m.input.Popup(th, width, min(8, free())))
	add(m.status.below(min(3, free())))
	m.agents.row = len(lines)
	strip := m.agents.render(min(free(), max(2, room/3)))
	add(strip)
	m.agents.rows = len(strip)
	add(m.area(protocol.PlaceFooter, min(free()-rest, room/3)))
	return append(lines, m.status.line()), at
}

// area returns what extensions draw at a place, at most height lines.
func (m *Model) area(place string, height int) []string {
	lines := transcript.Foreign(m.reading.drawn.Area(place, m.window.width), m.window.width, m.window.theme)
	return lines[:max(0, min(len(lines), height))]
}

// plainEditor draws the editor between two rules, with the cursor in it.
func (m *Model) plainEditor(height int) ([]string, overlay.Cursor) {
	text, at := m.input.Render(m.window.theme, m.window.width, height, m.status.placeholder(m.reading.on))
	rule := m.status.rule(m.status.frameStyle(m.focus.onEditor()))
	if rule == "" {
		return text, at
	}
	lines := append([]string{rule}, text...)
	at.Y++
	return append(lines, rule), at
}
