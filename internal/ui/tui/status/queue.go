package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxStrip is how many waiting messages are shown; the rest is counted.
const maxStrip = 3

// hintWidth is the width from which there is room for a hint beside what is told.
const hintWidth = 60

// QueueStrip draws what waits: a line for each message, and one for a queue that is
// paused. Key is the one that takes it back into the editor, and goesOn the one that goes on when it is
// paused.
func QueueStrip(th *theme.Theme, width int, queues []protocol.LiveQueue, key, goesOn string) []string {
	var lines []string
	total, paused := 0, false
	for _, q := range inOrder(queues) {
		total += len(q.Items)
		paused = paused || q.Paused
		for _, it := range q.Items {
			if len(lines) < maxStrip {
				var right []row.Piece
				if len(lines) == 0 && width >= hintWidth {
					right = []row.Piece{{Text: key + " to edit", Style: th.Dim}}
				}
				lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: th.Box.Arrow + " ", Style: th.Info}, {Text: queueWord(q.Queue) + ": ", Style: th.Dim}, {Text: itemText(it), Style: th.Dim}}, right))
			}
		}
	}
	switch {
	case paused && total > 0:
		lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: fmt.Sprintf("%d queued. Press %s to continue.", total, goesOn), Style: th.Warning}}, nil))
	case total > maxStrip:
		lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: fmt.Sprintf("  and %d more", total-maxStrip), Style: th.Dim}}, nil))
	}
	return lines
}

// inOrder returns queues as they are taken from: what goes into the turn comes before what
// begins the next one.
func inOrder(queues []protocol.LiveQueue) []protocol.LiveQueue {
	return slices.SortedStableFunc(slices.Values(queues), func(a, b protocol.LiveQueue) int {
		return cmp.Compare(place(a.Queue), place(b.Queue))
	})
}

func place(q protocol.QueueName) int {
	if q == protocol.QueueSteer {
		return 0
	}
	return 1
}

func queueWord(q protocol.QueueName) string {
	if q == protocol.QueueSteer {
		return "at the next step"
	}
	return "after this turn"
}

// itemText returns a waiting message on one line.
func itemText(it protocol.QueueItem) string {
	var parts []string
	for _, b := range it.Content {
		switch b.Type {
		case protocol.BlockText:
			parts = append(parts, display.Line(b.Text))
		case protocol.BlockImage:
			parts = append(parts, "[image]")
		case protocol.BlockFile:
			parts = append(parts, "["+display.Line(b.Name)+"]")
		}
	}
	return strings.Join(parts, " ")
}
