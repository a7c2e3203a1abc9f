package status

import (
	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol/display"
)

// maxTips and maxProblems bound what the header shows.
const (
	maxTips     = 3
	maxProblems = 5
)

// Welcome is what the header of a new screen says.
type Welcome struct {
	Name, Version string
	Folder        string
	Model         string // "" when none is chosen
	Hint          string // instead of the model: what to do to have one, "" while that is not known
	Session       string // the title of one that goes on, "" for a new one
	Tips          []string
	Problems      []string // sentences about the configuration
}

// Header draws the header.
func Header(th *theme.Theme, width int, w Welcome) []string {
	line := func(pieces ...row.Piece) string { return row.Line(th, width, "", pieces, nil) }
	lines := []string{line(row.Piece{Text: display.Line(w.Name), Style: th.Accent.With(th.Strong)},
		row.Piece{Text: " " + display.Line(w.Version), Style: th.Dim},
		row.Piece{Text: "  " + display.Line(w.Folder), Style: th.Text})}
	switch {
	case w.Model == "":
		lines = append(lines, line(row.Piece{Text: display.Line(w.Hint), Style: th.Warning}))
	case w.Session != "":
		lines = append(lines, line(row.Piece{Text: display.Line(w.Model), Style: th.Dim}, row.Piece{Text: "  " + display.Line(w.Session), Style: th.Text}))
	default:
		lines = append(lines, line(row.Piece{Text: display.Line(w.Model), Style: th.Dim}))
	}
	for i, p := range w.Problems {
		if i == maxProblems {
			break
		}
		for _, l := range cell.Wrap(display.Line(p), width) {
			lines = append(lines, th.Warning.On(l))
		}
	}
	for i, t := range w.Tips {
		if i == maxTips {
			break
		}
		lines = append(lines, line(row.Piece{Text: th.Box.Bullet + " " + display.Line(t), Style: th.Dim}))
	}
	return lines
}
