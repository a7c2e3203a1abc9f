package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
)

// promptConfig is what a [prompt] asks.
type promptConfig struct {
	title, message, text string
	secret               bool // what is typed is not shown
}

// prompt asks for a line over the editor.
type prompt struct {
	cfg   promptConfig
	field field.Field
	done  func(m *Model, text string) tea.Cmd
}

func (p *prompt) places() []keymap.Place { return []keymap.Place{keymap.Editor, keymap.List} }

func (p *prompt) do(m *Model, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.ListPick, keymap.Submit:
		m.closeOverlay(p)
		return p.done(m, p.field.Text())
	case keymap.ListClose, keymap.Cancel:
		m.closeOverlay(p)
	default:
		p.field.Do(a)
	}
	return nil
}

func (p *prompt) insert(_ *Model, text string) tea.Cmd {
	p.field.Insert(text)
	return nil
}

func (p *prompt) paste(m *Model, text string) tea.Cmd { return p.insert(m, text) }

func (p *prompt) render(m *Model, width, height int) ([]string, *cursor) {
	lines := []string{row.Rule(m.theme, width, p.cfg.title, "")}
	for _, l := range cell.Wrap(p.cfg.message, max(1, width-2)) {
		lines = append(lines, "  "+m.theme.Dim.On(l))
	}
	if n := max(0, height-2); len(lines) > n {
		lines = lines[:n]
	}
	mark := m.theme.UserMark.On("> ")
	if p.cfg.secret {
		dots := strings.Repeat("*", min(len([]rune(p.field.Text())), max(0, width-3)))
		return append(lines, mark+dots), &cursor{X: 2 + len(dots), Y: len(lines)}
	}
	text, x := p.field.Render(m.theme, max(1, width-2))
	return append(lines, mark+text), &cursor{X: 2 + x, Y: len(lines)}
}
