package overlay

import (
	"fmt"
	"math"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
)

// maxPage bounds the lines of a text that is read in the pager.
const maxPage = 20_000

// Pager shows a text over the editor, to be read and closed.
type Pager = pager

// pager is a [Pager].
type pager struct {
	stack  *Stack
	title  string
	text   []string       // safe to show, of any width
	closes string         // the key that does
	back   func() tea.Cmd // after it was closed; nil: nothing
	top    int

	width   int // that lines were made for
	lines   []string
	visible int
}

// SetText shows another text: lines that are safe to show. Who reads its end sees the new
// end; who reads elsewhere stays there.
func (p *pager) SetText(text []string) {
	atEnd := p.width == 0 || p.top >= len(p.lines)-p.visible
	p.text, p.width = text[max(0, len(text)-maxPage):], 0
	if atEnd {
		p.top = math.MaxInt
	}
}

func (p *pager) Places() []keymap.Place { return []keymap.Place{keymap.List, keymap.Transcript} }

func (p *pager) Do(a keymap.Action) tea.Cmd {
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
		return p.close()
	}
	return nil
}

// close takes the text away, and shows what it was opened from.
func (p *pager) close() tea.Cmd {
	p.stack.Close(p)
	if p.back != nil {
		return p.back()
	}
	return nil
}

func (p *pager) Paste(string) tea.Cmd { return nil }

func (p *pager) Insert(text string) tea.Cmd {
	switch text {
	case "q":
		return p.close()
	case " ":
		return p.Do(keymap.PageDown)
	case "g":
		return p.Do(keymap.ScrollTop)
	case "G":
		return p.Do(keymap.ScrollBottom)
	case "j":
		return p.Do(keymap.ScrollDown)
	case "k":
		return p.Do(keymap.ScrollUp)
	}
	return nil
}

func (p *pager) Render(th *theme.Theme, width, height int) ([]string, *Cursor) {
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
	out := []string{row.Rule(th, width, p.title, place)}
	for _, l := range p.lines[p.top:min(len(p.lines), p.top+p.visible)] {
		out = append(out, "  "+l)
	}
	return append(out, th.Dim.On(cell.Cut("  "+p.closes+" closes", width, ""))), nil
}
