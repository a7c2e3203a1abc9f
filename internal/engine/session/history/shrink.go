package history

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// omitted is the body of a result that shrinking took away.
func omitted(callID string) string {
	return fmt.Sprintf("[tool result omitted] Read path %q to get it back.", resultPrefix+callID)
}

// shrink is pass 4 for one element.
func (l limits) shrink(e *Element) {
	if !e.isResult() || e.Event == "" {
		return
	}
	switch {
	case l.shrunk && e.pos <= l.omit:
		e.Message = omitResult(e.Message)
	case l.chars > 0 && e.pos < l.cut:
		e.Message = cutResult(e.Message, l.chars)
	}
}

// omitResult replaces the body, unless that is no longer than the replacement.
func omitResult(m *protocol.Message) *protocol.Message {
	text := omitted(m.ToolCallID)
	if model.EstimateTokens(*m) <= messageTokens+textTokens(len(text)) {
		return m
	}
	short := *m
	short.Content = []protocol.Block{protocol.Text(text)}
	return &short
}

// cutResult shortens the texts of a result to chars characters together. Cutting
// again to the same length changes nothing.
func cutResult(m *protocol.Message, chars int) *protocol.Message {
	total := 0
	for i := range m.Content {
		total += utf8.RuneCountInString(m.Content[i].Text)
	}
	if total <= chars {
		return m
	}
	short := *m
	short.Content = slices.Clone(m.Content)
	for i := range short.Content {
		b := &short.Content[i]
		if b.Type != protocol.BlockText {
			continue
		}
		b.Text = cutText(b.Text, chars, fmt.Sprintf("\n[… cut; Read path %q for all of it …]\n", resultPrefix+m.ToolCallID))
		chars -= utf8.RuneCountInString(b.Text)
	}
	return &short
}

// cutText keeps the beginning and the end of text around mark, together at most
// chars characters. Text that is no longer stays.
func cutText(text string, chars int, mark string) string {
	n := utf8.RuneCountInString(text)
	if n <= chars {
		return text
	}
	room := chars - utf8.RuneCountInString(mark)
	if room <= 0 {
		return runes(mark, max(0, chars))
	}
	head := room * 3 / 4
	return runes(text, head) + mark + text[runeIndex(text, n-(room-head)):]
}

func runes(s string, n int) string { return s[:runeIndex(s, n)] }

// runeIndex returns the byte at which character n begins.
func runeIndex(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// PlanShrink reports whether the bodies of old tool results are to go, and up to
// which event. It does so only above 60% of the threshold, only if that frees at
// least 20% of the room at once, and spares the newest tool output ([Window.Spare])
// and every result that the model has not answered yet. The plan holds when its
// event is in the log.
func PlanShrink(c Context, w Window) (protocol.ContextCut, bool) {
	if c.Tokens*10 <= w.Threshold()*6 {
		return protocol.ContextCut{}, false
	}
	answered := false
	spared, freed := 0, 0
	through := -1
	for i := len(c.elems) - 1; i >= 0; i-- {
		e := &c.elems[i]
		if e.Message.Role == protocol.RoleAssistant {
			answered = true
		}
		if !e.isResult() || e.Event == "" {
			continue
		}
		n := model.EstimateTokens(*e.Message)
		if through < 0 && (!answered || spared+n <= w.Spare()) {
			spared += n
			continue
		}
		short := omitResult(e.Message)
		gain := n - model.EstimateTokens(*short)
		if gain > 0 && through < 0 {
			through = i
		}
		if through >= 0 && e.pos <= c.elems[through].pos {
			freed += gain
		}
	}
	if through < 0 || c.scale(freed)*5 < w.Room() {
		return protocol.ContextCut{}, false
	}
	return protocol.ContextCut{Kind: "shrink", ThroughEventID: c.elems[through].Event}, true
}
