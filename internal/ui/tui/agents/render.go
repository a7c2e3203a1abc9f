package agents

import (
	"fmt"
	"strings"
	"time"

	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Main is what the first row shows of the main conversation.
type Main struct {
	Running bool
	Asking  bool // it waits for an answer while an agent is shown
}

// Keys names the keys of the strip.
type Keys struct{ Up, Down, View, Leave, End, Focus, Manage string }

// Render draws the strip: at most height lines, none when nobody is listed.
func (s *Strip) Render(th *theme.Theme, width, height int, main Main, keys Keys, now time.Time) []string {
	rows := s.settle(now)
	if len(rows) == 0 || height <= 0 {
		return nil
	}
	on := max(0, index(rows, s.highlighted()))
	total := len(rows) + 1
	seen := min(total, MaxRows, height)
	more := ""
	if total > seen {
		if seen == height && height > 2 {
			seen--
		}
		more = fmt.Sprintf("+%d more", total-seen)
	}
	s.first = row.Window(s.first, on, seen, total)
	var lines []string
	for i := s.first; i < s.first+seen; i++ {
		left, right := s.main(th, main), []row.Piece(nil)
		if i > 0 {
			left, right = s.agent(th, rows[i-1], i == on, now)
		} else {
			left = append([]row.Piece{marker(th, i == on, main.Running)}, left...)
		}
		if i == s.first {
			if hint := s.hint(keys, now); width >= hintWidth {
				right = append(right, row.Piece{Text: "  " + hint, Style: th.Dim})
			}
		}
		lines = append(lines, row.Line(th, width, "", left, right))
	}
	if more != "" && len(lines) < height {
		lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: "  " + more, Style: th.Dim}}, nil))
	}
	return lines
}

// hintWidth is the width from which there is room for keys beside a row.
const hintWidth = 60

// marker is full on the row that is highlighted, and green on those that work.
func marker(th *theme.Theme, on, running bool) row.Piece {
	full, empty := "●", "○"
	if th.Plain {
		full, empty = ">", "-"
	}
	p := row.Piece{Text: empty + " ", Style: th.Dim}
	if on {
		p = row.Piece{Text: full + " ", Style: th.Text}
	}
	if running {
		p.Style = th.Success
	}
	return p
}

func (s *Strip) main(th *theme.Theme, m Main) []row.Piece {
	pieces := []row.Piece{{Text: "main", Style: name(th, s.highlighted() == "")}}
	if m.Asking {
		pieces = append(pieces, row.Piece{Text: "  waits for your answer", Style: th.Warning})
	}
	return pieces
}

func name(th *theme.Theme, on bool) theme.Style {
	if on {
		return th.Strong
	}
	return th.Text
}

func (s *Strip) agent(th *theme.Theme, t protocol.TaskInfo, on bool, now time.Time) (left, right []row.Piece) {
	running := t.State == protocol.TaskRunning
	left = []row.Piece{marker(th, on, running), {Text: display.Line(t.Agent), Style: name(th, on)}, {Text: "  " + Description(t), Style: th.Dim}}
	took := time.Duration(t.EndedAt-t.StartedAt) * time.Millisecond
	if running {
		took = now.Sub(time.UnixMilli(t.StartedAt))
	}
	var words []string
	if !running {
		words = append(words, display.TaskEnd(t.State, t.Agent, t.ExitCode, t.Signal))
	}
	if t.StartedAt > 0 && (running || t.EndedAt > 0) {
		words = append(words, status.Elapsed(max(0, took)))
	}
	if t.Tokens > 0 {
		arrow := "↓ "
		if th.Plain {
			arrow = ""
		}
		words = append(words, arrow+status.Tokens(t.Tokens)+" tokens")
	}
	return left, []row.Piece{{Text: strings.Join(words, " · "), Style: th.Dim}}
}

// Description is what an agent is to do, on one line.
func Description(t protocol.TaskInfo) string {
	return display.Line(strings.TrimPrefix(t.Command, t.Agent+": "))
}

// hint names the keys that count now.
func (s *Strip) hint(k Keys, now time.Time) string {
	ends := k.End + " clear"
	if s.viewed.State == protocol.TaskRunning {
		ends = k.End + " stop"
	}
	switch {
	case s.Armed(now):
		return k.End + " again to stop"
	case s.focused:
		return k.Up + "/" + k.Down + " to select · " + k.View + " to view · " + k.Leave + " back"
	case s.viewed.SessionID != "":
		return k.Focus + " to select · " + k.Manage + " manage · " + ends
	}
	return k.Focus + " to select · " + k.Manage + " manage"
}
