package status

import (
	"fmt"
	"strings"
	"time"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// TaskItems returns background commands and sub-agents as items of a list with two lines:
// those that run first, the newest of each first. A list that can delete stops one.
func TaskItems(th *theme.Theme, tasks []protocol.TaskInfo, now time.Time) []list.Item {
	var running, ended []list.Item
	for i := len(tasks) - 1; i >= 0; i-- {
		t := tasks[i]
		it := list.Item{ID: t.TaskID, Title: display.Line(t.Command), Detail: t.LastLine, Mark: th.Box.Dot, Group: "Running", Tone: list.Active}
		if t.State == protocol.TaskRunning {
			it.Right = Elapsed(now.Sub(time.UnixMilli(t.StartedAt)))
			running = append(running, it)
			continue
		}
		it.Group, it.Tone = "Ended", list.Quiet
		it.Mark = th.Box.Bullet
		end := display.TaskEnd(t.State, t.Agent, t.ExitCode, t.Signal)
		if t.ExitCode != nil {
			it.Mark, it.Tone = th.Box.Cross, list.Bad
			if *t.ExitCode == 0 {
				it.Mark, it.Tone = th.Box.Check, list.Good
			}
		}
		it.Right = end + ", " + Elapsed(time.Duration(t.EndedAt-t.StartedAt)*time.Millisecond)
		ended = append(ended, it)
	}
	return append(running, ended...)
}

// TaskStrip draws what runs in the background on one line, "" when nothing does. Of a
// single one it tells the newest line that it has printed. Panel is what shows more.
func TaskStrip(th *theme.Theme, width int, tasks []protocol.TaskInfo, panel string, now time.Time) string {
	var names []string
	title, took, newest := "", "", "" // of the last one
	for _, t := range tasks {
		if t.State == protocol.TaskRunning {
			title, took, newest = display.Line(t.Command), Elapsed(now.Sub(time.UnixMilli(t.StartedAt))), display.Line(t.LastLine)
			names = append(names, title+" "+took)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := strings.Join(names, ", ")
	if len(names) == 1 && newest != "" {
		text = cell.Cut(title, max(10, width/3), th.Box.Ellipsis) + " " + took + ": " + newest
	}
	left := []row.Piece{{Text: fmt.Sprintf("%d in background: ", len(names)), Style: th.Info}, {Text: text, Style: th.Dim}}
	var right []row.Piece
	if width >= hintWidth {
		right = []row.Piece{{Text: panel, Style: th.Dim}}
	}
	return row.Line(th, width, "", left, right)
}

// TodoStrip draws the todo list: at most height lines, of which the one in work is one.
// A list that does not fit shows how far it is and what is done now.
func TodoStrip(th *theme.Theme, width, height int, todos []protocol.Todo) []string {
	if len(todos) == 0 || height < 1 {
		return nil
	}
	done, on := 0, -1
	for i, t := range todos {
		switch t.Status {
		case "completed":
			done++
		case "in_progress":
			if on < 0 {
				on = i
			}
		}
	}
	if on < 0 {
		on = min(done, len(todos)-1)
	}
	count := []row.Piece{{Text: fmt.Sprintf("%d of %d done", done, len(todos)), Style: th.Dim}}
	if height == 1 {
		return []string{todo(th, width, todos[on], count)}
	}
	first := row.Window(0, min(on+height/2, len(todos)-1), height, len(todos))
	var lines []string
	for i := first; i < min(len(todos), first+height); i++ {
		right := []row.Piece(nil)
		if i == first {
			right = count
		}
		lines = append(lines, todo(th, width, todos[i], right))
	}
	return lines
}

func todo(th *theme.Theme, width int, t protocol.Todo, right []row.Piece) string {
	marks := []string{"☐ ", "☑ ", "▸ "}
	if th.Plain {
		marks = []string{"[ ] ", "[x] ", "[>] "}
	}
	mark, markStyle, style := marks[0], th.Dim, th.Text
	switch t.Status {
	case "completed":
		mark, markStyle, style = marks[1], th.Success, th.Dim
	case "in_progress":
		mark, markStyle, style = marks[2], th.Accent, th.Strong
	}
	return row.Line(th, width, "", []row.Piece{{Text: mark, Style: markStyle}, {Text: display.Line(t.Content), Style: style}}, right)
}
