package overlay

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
)

// PromptConfig is what [Stack.Prompt] asks.
type PromptConfig struct {
	Title, Message, Text string
	Secret               bool           // what is typed is not shown
	Back                 func() tea.Cmd // Escape goes one step back; nil closes
}

// prompt asks for a line over the editor.
type prompt struct {
	stack *Stack
	cfg   PromptConfig
	field field.Field
	done  func(text string) tea.Cmd
}

func (p *prompt) Places() []keymap.Place { return []keymap.Place{keymap.Editor, keymap.List} }

func (p *prompt) Do(a keymap.Action) tea.Cmd {
	switch a {
	case keymap.ListPick, keymap.Submit:
		p.stack.Close(p)
		return p.done(p.field.Text())
	case keymap.ListClose, keymap.Cancel:
		p.stack.Close(p)
		if p.cfg.Back != nil {
			return p.cfg.Back()
		}
	default:
		p.field.Do(a)
	}
	return nil
}

func (p *prompt) Insert(text string) tea.Cmd {
	p.field.Insert(text)
	return nil
}

func (p *prompt) Paste(text string) tea.Cmd { return p.Insert(text) }

func (p *prompt) Render(th *theme.Theme, width, height int) ([]string, *Cursor) {
	lines := []string{row.Rule(th, width, p.cfg.Title, "")}
	for _, l := range cell.Wrap(p.cfg.Message, max(1, width-2)) {
		lines = append(lines, "  "+th.Dim.On(l))
	}
	if n := max(0, height-2); len(lines) > n {
		lines = lines[:n]
	}
	mark := th.UserMark.On("> ")
	if p.cfg.Secret {
		dots := strings.Repeat("*", min(utf8.RuneCountInString(p.field.Text()), max(0, width-3)))
		return append(lines, mark+dots), &Cursor{X: 2 + len(dots), Y: len(lines)}
	}
	text, x := p.field.Render(th, max(1, width-2))
	return append(lines, mark+text), &Cursor{X: 2 + x, Y: len(lines)}
}
