package history

import (
	"fmt"
	"strings"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// SummaryRequest is the call that makes the summary of a cut. The conversation is
// written out as text in one user message, so that the model neither goes on with
// it nor needs its tools. The request fits the window itself: tool results and
// call inputs are cut to 2,000 characters, and where that is not enough long
// messages too, and then the oldest messages go. instructions are the user's own
// wishes for the summary and may be empty. A cut with Reuse needs no request.
func SummaryRequest(cut Cut, instructions string) model.Request {
	task := summaryFormat
	if cut.PreviousSummary != "" {
		task = summaryUpdate + summaryFormat
	}
	if s := strings.TrimSpace(instructions); s != "" {
		task += "\nThe user asks for this in particular:\n" + s + "\n"
	}
	task += fmt.Sprintf("\nUse at most %d words.\n", max(100, cut.MaxSummaryTokens/2))
	return summaryRequest(cut.Summarise, cut.context.older.messages, cut.PreviousSummary, task, cut.MaxSummaryTokens, cut.room())
}

// room is how many estimated tokens the request may have: the threshold, less the
// answer, less a tenth because it is an estimate, in the terms of the estimate.
func (cut Cut) room() int {
	room := (cut.window.Threshold() - cut.MaxSummaryTokens) * 9 / 10
	if real := cut.context.scale(1000); real > 1000 {
		room = room * 1000 / real
	}
	return room
}

// summaryRequest asks for a summary of messages, before which older ones are left out.
func summaryRequest(messages []protocol.Message, older int, previous, task string, maxTokens, room int) model.Request {
	var text strings.Builder
	room -= textTokens(len(summarySystem)+len(task)) + 2*messageTokens + 40 // 40: the tags
	if previous != "" {
		if n := max(0, room/2); textTokens(len(previous)) > n {
			previous = cutText(previous, n, "\n[…]\n")
		}
		room -= textTokens(len(previous))
		text.WriteString("<previous-summary>\n" + previous + "\n</previous-summary>\n\n")
	}
	text.WriteString("<conversation>\n")
	for _, e := range fitEntries(messages, older, max(0, room)) {
		text.WriteString(strings.ReplaceAll(e, "</conversation", `<\/conversation`))
		text.WriteByte('\n')
	}
	text.WriteString("</conversation>\n\n" + task)
	return model.Request{
		Kind: model.KindCompact, System: summarySystem, MaxTokens: maxTokens,
		Messages: []protocol.Message{protocol.UserText(text.String())},
	}
}

// fitEntries writes messages out, oldest first, in at most room estimated tokens. It says
// how many are left out, those before them included.
func fitEntries(messages []protocol.Message, older, room int) []string {
	entries := make([]string, 0, len(messages)+1)
	total := 0
	for i := range messages {
		if e := entry(&messages[i]); e != "" {
			entries = append(entries, e)
			total += textTokens(len(e) + 1)
		}
	}
	left := 0
	if total > room {
		room -= 16 // the line that says what was left out
		total = 0
		for i, e := range entries {
			entries[i] = shorten(e)
			total += textTokens(len(entries[i]) + 1)
		}
		for left < len(entries)-1 && total > room {
			total -= textTokens(len(entries[left]) + 1)
			left++
		}
		entries = entries[left:]
		if left > 0 && total > room {
			entries[0] = cutText(entries[0], max(0, room), " […] ") // at most four bytes a character
		}
	}
	if left+older == 0 {
		return entries
	}
	return append([]string{fmt.Sprintf("[%d older messages left out]", left+older)}, entries...)
}

// entry writes a message out. Thinking is left out.
func entry(m *protocol.Message) string {
	var s strings.Builder
	line := func(who, text string) {
		if s.Len() > 0 {
			s.WriteByte('\n')
		}
		s.WriteString("[" + who + "] " + text)
	}
	who := "User"
	switch {
	case m.Role == protocol.RoleAssistant:
		who = "Assistant"
	case m.Role == protocol.RoleToolResult && m.IsError:
		who = "Error of " + m.ToolName
	case m.Role == protocol.RoleToolResult:
		who = "Result of " + m.ToolName
	}
	for i := range m.Content {
		b := &m.Content[i]
		switch b.Type {
		case protocol.BlockText:
			text := b.Text
			if m.Role == protocol.RoleToolResult {
				text = shorten(text)
			}
			line(who, text)
		case protocol.BlockImage:
			line(who, "(image)")
		case protocol.BlockFile:
			line(who, "(file "+b.Name+")")
		case protocol.BlockToolUse:
			line("Assistant calls "+b.Name, shorten(string(b.Input)))
		}
	}
	return s.String()
}

func shorten(text string) string { return cutText(text, resultChars, " […] ") }
