package history

import (
	"math"
	"sort"

	"scorel/protocol"
)

// placed is a note with the index of the element it stands after, -1 in front.
type placed struct {
	behind int
	item   *protocol.Item
}

// place is the first half of pass 5: a note stands after the last element whose
// event is before it on the path, but never between a call and its results. A
// later note never comes before an earlier one.
func place(list []Element, notes []note) []placed {
	if len(notes) == 0 {
		return nil
	}
	// lowest[i] is the smallest place of list[i:]. It only grows, so the last
	// element before a note is where it stops being below.
	lowest := make([]int, len(list))
	low := math.MaxInt
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Event != "" {
			low = min(low, list[i].pos)
		}
		lowest[i] = low
	}
	out := make([]placed, len(notes))
	for i := range notes {
		behind := sort.Search(len(list), func(k int) bool { return lowest[k] >= notes[i].pos }) - 1
		for behind >= 0 && behind+1 < len(list) && list[behind+1].isResult() {
			behind++
		}
		out[i] = placed{behind, &notes[i].item}
	}
	return out
}

// merge appends a note to a tool result after a blank line. The blocks of the
// result are shared and therefore copied.
func merge(result *protocol.Message, text string, more []protocol.Block) {
	content := make([]protocol.Block, len(result.Content), len(result.Content)+1+len(more))
	copy(content, result.Content)
	if last := len(content) - 1; last >= 0 && content[last].Type == protocol.BlockText {
		content[last].Text += "\n\n" + text
	} else {
		content = append(content, protocol.Text(text))
	}
	result.Content = append(content, more...)
}
