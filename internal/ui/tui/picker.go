package tui

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/list"
)

// cursor is a place in the lines of an overlay.
type cursor = field.Cursor

// picker is a list over the editor. The functions that are set say what it can do.
type picker struct {
	list    *list.List
	onPick  func(m *Model, ids []string) tea.Cmd // the picker is closed before
	onOther func(m *Model, p *picker, o list.Outcome) tea.Cmd
	onWants func(m *Model, p *picker, w list.Wants) tea.Cmd
	onClose func(m *Model) tea.Cmd
	onType  func(m *Model, text string) tea.Cmd // in place of the list, which takes no text
	onPaste func(m *Model, text string) tea.Cmd // likewise
}

// pick opens a picker.
func (m *Model) pick(p *picker) tea.Cmd {
	p.list.SetKeys(m.keys.Map)
	m.open(p)
	return p.wants(m)
}

func (p *picker) places() []keymap.Place { return p.list.Places() }

func (p *picker) do(m *Model, a keymap.Action) tea.Cmd { return p.outcome(m, p.list.Do(a)) }

func (p *picker) insert(m *Model, text string) tea.Cmd {
	if p.onType != nil {
		return p.onType(m, text)
	}
	return p.outcome(m, p.list.Insert(text))
}

func (p *picker) paste(m *Model, text string) tea.Cmd {
	if p.onPaste != nil {
		return p.onPaste(m, text)
	}
	p.list.Paste(text)
	return p.wants(m)
}

func (p *picker) outcome(m *Model, o list.Outcome) tea.Cmd {
	switch o.Kind {
	case list.Nothing:
		return p.wants(m)
	case list.Picked:
		m.closeOverlay(p)
		if p.onPick != nil {
			return p.onPick(m, o.IDs)
		}
	case list.Closed:
		m.closeOverlay(p)
		if p.onClose != nil {
			return p.onClose(m)
		}
	default:
		if p.onOther != nil {
			return tea.Batch(p.onOther(m, p, o), p.wants(m))
		}
	}
	return nil
}

// wants asks for what the list does not know.
func (p *picker) wants(m *Model) tea.Cmd {
	w := p.list.Wants()
	if p.onWants == nil || w == (list.Wants{}) {
		return nil
	}
	return p.onWants(m, p, w)
}

func (p *picker) render(m *Model, width, height int) ([]string, *cursor) {
	return p.list.Render(m.theme, width, height)
}

// closeOverlay takes an overlay away, wherever it lies.
func (m *Model) closeOverlay(o overlay) {
	for i, other := range m.overlays {
		if other == o {
			m.overlays = append(m.overlays[:i:i], m.overlays[i+1:]...)
			return
		}
	}
}
