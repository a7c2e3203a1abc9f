package status

import (
	"time"

	"scorel/internal/text/cell"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what extensions show.
const (
	maxWords     = 8  // in the status line
	maxWordCells = 32 // of one of them
)

// The places of what extensions show.
const (
	Above = "above"
	Below = "below"
)

// Widgets draws what extensions show above or below the editor: at most height lines.
// Of more the last line counts what is left out.
func Widgets(th *theme.Theme, width, height int, states []protocol.UIState, place string) []string {
	var lines []string
	left := 0
	for _, s := range states {
		if s.Place != place {
			continue
		}
		for _, l := range s.Lines {
			if len(lines) >= height {
				left++
				continue
			}
			lines = append(lines, th.Text.On(cell.Cut(display.Line(l), width, th.Box.Ellipsis)))
		}
	}
	if left > 0 && height > 0 {
		lines[height-1] = th.Dim.On(cell.Cut(plain.More(left+1, "line")+" of extensions", width, th.Box.Ellipsis))
	}
	return lines
}

// Words returns what extensions show in the status line.
func Words(th *theme.Theme, states []protocol.UIState) []string {
	var words []string
	for _, s := range states {
		if s.Place != "status" || len(words) == maxWords {
			continue
		}
		if len(s.Lines) > 0 {
			if w := cell.Cut(display.Line(s.Lines[0]), maxWordCells, th.Box.Ellipsis); w != "" {
				words = append(words, w)
			}
		}
	}
	return words
}

// maxPictureCells is how wide a picture of an indicator may be.
const maxPictureCells = 16

// Indicator returns the pictures of the indicator that an extension sets and for how long
// each is shown; nil when none does.
func Indicator(states []protocol.UIState) (pictures []string, each time.Duration) {
	for _, s := range states {
		if s.Place != protocol.PlaceIndicator || len(s.Lines) == 0 {
			continue
		}
		for _, l := range s.Lines {
			pictures = append(pictures, cell.Cut(display.Line(l), maxPictureCells, ""))
		}
		if each = time.Duration(s.IntervalMS) * time.Millisecond; each == 0 {
			each = Spin
		}
		return pictures, max(each, protocol.MinIndicatorMS*time.Millisecond)
	}
	return nil, 0
}

// Word returns what an extension sets in a place that has one line, "" when none does.
func Word(states []protocol.UIState, place string) string {
	for _, s := range states {
		if s.Place == place && len(s.Lines) > 0 {
			return display.Line(s.Lines[0])
		}
	}
	return ""
}

// Title returns the title of the window that an extension sets, "" when none does.
func Title(states []protocol.UIState) string {
	for _, s := range states {
		if s.Place == "title" && len(s.Lines) > 0 {
			return display.Line(s.Lines[0])
		}
	}
	return ""
}
