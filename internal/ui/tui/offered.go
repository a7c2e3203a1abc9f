package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/protocol"
	"scorel/protocol/display"
)

// takeText puts the newest text that an extension has offered for the next message into the
// editor, as a change that can be undone.
func (m *Model) takeText(events []protocol.Event) tea.Cmd {
	var offered *protocol.UIState
	for _, e := range events {
		if s, ok := e.Body.(*protocol.UIState); ok && s.Place == protocol.PlaceEditor && len(s.Lines) > 0 {
			offered = s
		}
	}
	if offered == nil {
		return nil
	}
	text := display.Text(strings.Join(offered.Lines, "\n"))
	if had := m.input.Text(); had != "" && had != text {
		m.toasts.Info(display.Line(offered.Source) + " has replaced what you had typed; undo brings it back")
	}
	return m.input.Set(text)
}
