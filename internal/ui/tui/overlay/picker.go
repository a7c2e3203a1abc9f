package overlay

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/theme"
)

// Picker is a list over the editor. The functions that are set say what it can do.
type Picker struct {
	List    *list.List
	OnPick  func(ids []string) tea.Cmd // the picker is closed before
	OnOther func(o list.Outcome) tea.Cmd
	OnWants func(w list.Wants) tea.Cmd
	OnClose func() tea.Cmd
	OnType  func(text string) tea.Cmd // in place of the list, which takes no text
	OnPaste func(text string) tea.Cmd // likewise

	stack *Stack
}

// Places are those of the list.
func (p *Picker) Places() []keymap.Place { return p.List.Places() }

// Do does an action of the list.
func (p *Picker) Do(a keymap.Action) tea.Cmd { return p.outcome(p.List.Do(a)) }

// Insert types into the list.
func (p *Picker) Insert(text string) tea.Cmd {
	if p.OnType != nil {
		return p.OnType(text)
	}
	return p.outcome(p.List.Insert(text))
}

// Paste takes what was pasted.
func (p *Picker) Paste(text string) tea.Cmd {
	if p.OnPaste != nil {
		return p.OnPaste(text)
	}
	p.List.Paste(text)
	return p.Wants()
}

// Close takes the picker away.
func (p *Picker) Close() { p.stack.Close(p) }

func (p *Picker) outcome(o list.Outcome) tea.Cmd {
	switch o.Kind {
	case list.Nothing:
		return p.Wants()
	case list.Picked:
		p.Close()
		if p.OnPick != nil {
			return p.OnPick(o.IDs)
		}
	case list.Closed:
		p.Close()
		if p.OnClose != nil {
			return p.OnClose()
		}
	default:
		if p.OnOther != nil {
			return tea.Batch(p.OnOther(o), p.Wants())
		}
	}
	return nil
}

// Wants asks for what the list does not know.
func (p *Picker) Wants() tea.Cmd {
	w := p.List.Wants()
	if p.OnWants == nil || w == (list.Wants{}) {
		return nil
	}
	return p.OnWants(w)
}

// Render draws the list.
func (p *Picker) Render(th *theme.Theme, width, height int) ([]string, *Cursor) {
	return p.List.Render(th, width, height)
}
