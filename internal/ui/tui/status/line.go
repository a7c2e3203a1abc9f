package status

import (
	"fmt"
	"slices"
	"strings"

	"scorel/client"
	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// barCells is how wide the bar of the context is.
const barCells = 8

// Facts are what the status line tells. A zero value is left out.
type Facts struct {
	Model    string
	Thinking string
	Mode     string // of permissions; "default" is left out
	Vim      string // the mode of the keys of vi, "" without these
	// ContextTokens of ContextWindow are in use. A window of 0 is not known.
	ContextTokens, ContextWindow int
	Usage                        protocol.Usage
	Place                        string // the branch of Git, or the session's name
	Clients                      int    // attached to the session; 1 is left out
	Queued                       int
	Tasks                        int
	Proactive                    string   // how proactive mode stands, as in [display.Proactive]
	Words                        []string // of extensions
	State                        client.State
	Reconnect                    string // with a state that is not connected: in how long
	// Replaced is what a command of the user has printed (see Output): it is in place
	// of all but the mode and the connection.
	Replaced string
}

// part is a piece of the status line. Those with a low rank go first when it is narrow.
type part struct {
	rank   int
	right  bool
	pieces []row.Piece
}

// Line draws the status line.
func Line(th *theme.Theme, width int, f Facts) string {
	parts := f.parts(th)
	gap := row.Piece{Text: "  "}
	for {
		left, right := []row.Piece{{Text: " "}}, []row.Piece(nil)
		for _, p := range parts {
			side := &left
			if p.right {
				side = &right
			}
			if len(*side) > 0 && !(len(*side) == 1 && !p.right) {
				*side = append(*side, gap)
			}
			*side = append(*side, p.pieces...)
		}
		if len(right) > 0 {
			right = append(right, row.Piece{Text: " "})
		}
		if row.Width(left)+row.Width(right)+2 <= width || len(parts) <= 1 {
			return row.Line(th, width, th.StatusLine, left, right)
		}
		lowest := 0
		for i, p := range parts {
			if p.rank < parts[lowest].rank {
				lowest = i
			}
		}
		parts = slices.Delete(parts, lowest, lowest+1)
	}
}

func (f *Facts) parts(th *theme.Theme) []part {
	var parts []part
	add := func(rank int, right bool, style theme.Style, text string) {
		if text = display.Line(text); text != "" {
			parts = append(parts, part{rank, right, []row.Piece{{Text: text, Style: style}}})
		}
	}
	switch f.State {
	case client.StateDisconnected:
		add(100, false, th.Error, "disconnected")
	case client.StateConnecting:
		add(100, false, th.Warning, "connecting")
	case client.StateReconnecting:
		add(100, false, th.Warning, strings.TrimSpace("reconnecting "+f.Reconnect))
	}
	if f.Mode != "" && f.Mode != "default" {
		style := th.StatusKey
		switch f.Mode {
		case "plan":
			style = th.ModePlan
		case "acceptEdits":
			style = th.ModeEdits
		case "bypassPermissions":
			style = th.ModeBypass
		}
		add(95, false, style, modeWords(f.Mode))
	}
	add(92, false, th.StatusKey, f.Vim)
	if f.Replaced != "" {
		// The text has styles of its own, and goes back to that of the line.
		back := cell.Reset + string(th.StatusLine)
		return append(parts, part{90, false, []row.Piece{{Text: strings.ReplaceAll(f.Replaced, cell.Reset, back)}}})
	}
	model := display.Line(f.Model)
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		model = model[i+1:] // the provider is seen in /model
	}
	add(70, false, th.StatusKey, model)
	if f.Thinking != "" && f.Thinking != "off" {
		add(35, false, "", "think "+f.Thinking)
	}
	if f.ContextWindow > 0 {
		parts = append(parts, f.context(th)...)
	} else if f.ContextTokens > 0 { // such as with the demo model
		add(80, false, "", Tokens(f.ContextTokens)+" in context")
	}
	if f.Queued > 0 {
		add(60, false, th.Info, fmt.Sprintf("%d queued", f.Queued))
	}
	if f.Tasks > 0 {
		add(55, false, th.Info, fmt.Sprintf("%d in background", f.Tasks))
	}
	add(58, false, th.Info, f.Proactive)
	for _, w := range f.Words {
		add(20, true, "", w)
	}
	if n := f.Usage.ContextTokens(); n > 0 {
		add(10, true, "", fmt.Sprintf("%s tokens", Tokens(n)))
	}
	if f.Usage.CostUSD > 0 {
		add(40, true, "", Cost(f.Usage.CostUSD))
	}
	if f.Clients > 1 {
		add(30, true, "", fmt.Sprintf("%d clients", f.Clients))
	}
	add(50, true, "", cell.Cut(display.Line(f.Place), maxPlace, th.Box.Ellipsis))
	return parts
}

// maxPlace is the longest name of a session or branch, in cells: a longer one is cut, so that
// it does not give way as a whole.
const maxPlace = 40

// context draws how full the window is, with a warning where a compaction is near.
func (f *Facts) context(th *theme.Theme) []part {
	percent := min(999, f.ContextTokens*100/f.ContextWindow)
	style := th.Success
	switch {
	case percent >= 90:
		style = th.Error
	case percent >= 70:
		style = th.Warning
	}
	number := fmt.Sprintf("%d%% of context", percent)
	if th.Plain {
		return []part{{80, false, []row.Piece{{Text: number, Style: style}}}}
	}
	full := min(barCells, (percent*barCells+99)/100)
	return []part{{80, false, []row.Piece{{Text: number, Style: style}}},
		{38, false, []row.Piece{{Text: strings.Repeat(th.Box.BarFull, full), Style: style}, {Text: strings.Repeat(th.Box.BarEmpty, barCells-full), Style: th.Dim}}}}
}

// modeWords says a mode for people.
func modeWords(mode string) string {
	switch mode {
	case "acceptEdits":
		return "accepts edits"
	case "plan":
		return "plan"
	case "dontAsk":
		return "never asks"
	case "bypassPermissions":
		return "ALLOWS EVERYTHING"
	}
	return mode
}
