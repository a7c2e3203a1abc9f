package tui

import (
	"time"

	"scorel/internal/ui/tui/screen"
	"scorel/internal/ui/tui/status"
)

// Shares of the screen.
const (
	minTranscript = 3  // lines of the transcript beside an open question or picker
	maxEditor     = 12 // lines of the editor, when there is room
	roomy         = 20 // lines of the screen from which there is room for a blank one above the editor
)

// draw shows the newest state, when the screen has time for a frame.
func (m *Model) draw() {
	if m.width == 0 || !m.scr.Free() { // it says when it has
		return
	}
	m.scr.Show(m.frame())
}

// frame composes what is to be seen.
func (m *Model) frame() screen.Frame {
	f := screen.Frame{Title: m.title(), Mouse: m.scr.Full() && m.settings.Mouse}
	full := m.scr.Full()
	room := m.height
	if !full {
		f.Commit = m.transcript.Commit(m.theme, m.width)
		m.images.settle()
	}
	var head []string
	if m.header != nil {
		m.header.Model, m.header.Hint = m.modelName(), m.modelHint()
		head = append(status.Header(m.theme, m.width, *m.header), "")
		if len(f.Commit) > 0 { // it stands above all, and changes no more
			f.Commit, head, m.header = append(head, f.Commit...), nil, nil
		}
	}
	f.Commit, m.parting = append(m.parting, f.Commit...), nil
	below, cursor := m.below(room)
	if m.header == nil && room >= roomy && m.overlay() == nil && m.questions.open() == nil {
		below = append([]string{""}, below...)
		if cursor != nil {
			cursor.Y++
		}
	}
	var above []string
	if left := room - len(below); left > 0 {
		if full {
			above = m.transcript.View(m.theme, m.width, left)
		} else {
			above = m.transcript.Region(m.theme, m.width, left)
		}
		m.above, m.transcriptRows = min(len(head), left-len(above)), len(above)
		above = append(head[:m.above:m.above], above...)
	}
	if full { // the editor stands at the bottom
		for len(above)+len(below) < room {
			above = append(above, "")
		}
	}
	f.Lines = append(above, below...)
	if cursor != nil {
		f.Cursor = &screen.Cursor{Row: cursor.Y + len(above), Column: cursor.X}
	}
	return f
}

// below gives what stands below the transcript, at most room lines, with the cursor in
// it.
func (m *Model) below(room int) (lines []string, at *cursor) {
	if o := m.overlay(); o != nil {
		said := m.toasts.Render(m.theme, m.width, time.Now())
		said = said[:min(len(said), room/4)]
		part, at := o.render(m, m.width, max(1, room-len(said)-minTranscript*min(1, room/roomy)))
		if at != nil {
			at.Y += len(said)
		}
		return append(said, part...), at
	}
	bottom := m.statusLines()
	free := func() int { return max(0, room-len(lines)-len(bottom)) }
	add := func(part []string) { lines = append(lines, part[:min(len(part), free())]...) }
	if q := m.questions.open(); q != nil {
		m.questions.arm()
		part, c := q.Render(m.theme, m.width, max(1, free()-minTranscript*min(1, room/roomy)))
		m.questions.drawn(q.ID())
		add(part)
		if m.editor.Empty() {
			return append(lines, bottom...), c
		}
		at = c
	} else {
		m.questions.drawn("")
		add(m.aboveEditor(room / 3))
	}
	top := len(lines)
	input, c := m.editorLines(min(maxEditor, max(1, free()-2)))
	if at == nil && c.Y < free() {
		at = &cursor{X: c.X, Y: top + c.Y}
	}
	add(input)
	add(m.popup.Render(m.theme, m.width, min(8, free())))
	add(m.belowEditor(min(3, free())))
	return append(lines, bottom...), at
}
