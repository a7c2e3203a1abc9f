package question

import (
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/text/markdown/terminal"
	"scorel/internal/ui/tui/dialog"
	"scorel/internal/ui/tui/diff"
	"scorel/internal/ui/tui/editor"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// consequence draws what a call would do: the diff of an edit; nil is its input.
func consequence(p protocol.PermissionRequest) dialog.Lines {
	if c := p.Preview; c != nil && c.Diff != "" {
		return func(th *theme.Theme, width int) []string {
			return diff.Lines(th, c.Diff, diff.Options{Width: width, Path: c.Path})
		}
	}
	text, path, numbers := editDiff(p.ToolName, p.Args)
	if text == "" {
		return nil
	}
	return func(th *theme.Theme, width int) []string {
		lines := diff.Lines(th, text, diff.Options{Width: width, Path: path, Numberless: !numbers})
		if p.Preview != nil && p.Preview.Omitted && p.Preview.Exists {
			lines = append([]string{cell.Cut(th.Warning.On("The difference to the file is too long to show. This is what the model sent:"), width, th.Box.Ellipsis)}, lines...)
		}
		return lines
	}
}

// firstChange returns how many lines of a question about a call are before the first one
// that the call changes.
func firstChange(p protocol.PermissionRequest) int {
	if p.Preview == nil {
		return 0
	}
	_, hunk, _ := strings.Cut(p.Preview.Diff, "\n@@")
	n := -1 // the rest of the head of the hunk
	for l := range strings.Lines(hunk) {
		if n >= 0 && l[0] != ' ' {
			break
		}
		n++
	}
	return max(0, n)
}

// planLines draws the plan of a question.
func planLines(u protocol.UIRequest) dialog.Lines {
	return func(th *theme.Theme, width int) []string {
		s := terminal.New(th, width)
		s.Write([]byte(u.Data.Text))
		s.End()
		return s.Take()
	}
}

// area is the editor of a text that an extension asks for.
type area struct{ *editor.Editor }

func newArea(text string) dialog.Area {
	e := editor.New(editor.Config{})
	_ = e.Set(text) // the host bounds it below what an editor takes
	return area{e}
}

func (a area) Insert(text string) { _ = a.Editor.Insert(text) } // it tells itself
func (a area) Paste(text string)  { _ = a.Editor.Insert(text) }

func (a area) Render(th *theme.Theme, width, height int) (lines []string, x, y int) {
	lines, c := a.Editor.Render(th, width, height)
	return lines, c.X, c.Y
}
