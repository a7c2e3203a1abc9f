package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
)

// maxPage bounds the lines of a text that is read in the pager.
const maxPage = 20_000

// pager shows a text over the editor, to be read and closed.
type pager struct {
	title string
	text  []string // safe to show, of any width
	top   int

	width   int // that lines were made for
	lines   []string
	visible int
}

// page shows a text: its lines are safe to show.
func (m *Model) page(title string, text []string) {
	if n := len(text); n > maxPage {
		text = append(text[:maxPage:maxPage], fmt.Sprintf("… %d lines more", n-maxPage))
	}
	m.open(&pager{title: title, text: text})
}

func (p *pager) places() []keymap.Place { return []keymap.Place{keymap.List, keymap.Transcript} }

func (p *pager) do(m *Model, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.ListUp, keymap.ScrollUp, keymap.ItemUp:
		p.top--
	case keymap.ListDown, keymap.ScrollDown, keymap.ItemDown:
		p.top++
	case keymap.ListPageUp, keymap.PageUp:
		p.top -= max(1, p.visible-1)
	case keymap.ListPageDown, keymap.PageDown:
		p.top += max(1, p.visible-1)
	case keymap.ListTop, keymap.ScrollTop:
		p.top = 0
	case keymap.ListBottom, keymap.ScrollBottom:
		p.top = len(p.lines)
	case keymap.ListClose, keymap.ListPick, keymap.Leave:
		m.closeOverlay(p)
	}
	return nil
}

func (p *pager) paste(*Model, string) tea.Cmd { return nil }

func (p *pager) insert(m *Model, text string) tea.Cmd {
	switch text {
	case "q":
		m.closeOverlay(p)
	case " ":
		return p.do(m, keymap.PageDown)
	case "g":
		return p.do(m, keymap.ScrollTop)
	case "G":
		return p.do(m, keymap.ScrollBottom)
	case "j":
		return p.do(m, keymap.ScrollDown)
	case "k":
		return p.do(m, keymap.ScrollUp)
	}
	return nil
}

func (p *pager) render(m *Model, width, height int) ([]string, *cursor) {
	if p.width != width {
		p.width, p.lines = width, nil
		for _, l := range p.text {
			p.lines = append(p.lines, cell.Wrap(l, max(1, width-2))...)
		}
	}
	p.visible = max(1, min(height-2, len(p.lines)))
	p.top = max(0, min(p.top, len(p.lines)-p.visible))
	place := ""
	if len(p.lines) > p.visible {
		place = fmt.Sprintf("%d–%d of %d", p.top+1, p.top+p.visible, len(p.lines))
	}
	out := []string{row.Rule(m.theme, width, p.title, place)}
	for _, l := range p.lines[p.top:min(len(p.lines), p.top+p.visible)] {
		out = append(out, "  "+l)
	}
	return append(out, m.theme.Dim.On(cell.Cut("  "+m.hint(keymap.ListClose)+" closes", width, ""))), nil
}

// hint names the key of an action.
func (m *Model) hint(a keymap.Action) string {
	if keys := m.keys.Map.Keys(a); len(keys) > 0 {
		return keys[0]
	}
	return "no key"
}
