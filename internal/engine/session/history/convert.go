package history

import (
	"strings"

	"scorel/protocol"
)

// Placeholders, because vendors refuse empty messages and empty text.
const (
	emptyResult  = "(no output)"
	emptyMessage = "(empty message)"
	opening      = "(The conversation begins with your message.)"
)

// convert is pass 6 for one message: only what a model is told is left, and
// nothing that a vendor refuses. It says false for an assistant message that
// neither says nor calls anything, which is not sent.
func convert(m *protocol.Message) (protocol.Message, bool) {
	content := sendable(m.Content)
	switch m.Role {
	case protocol.RoleUser:
		if len(content) == 0 {
			content = []protocol.Block{protocol.Text(emptyMessage)}
		}
		switch {
		case m.Meta == nil:
		case m.Meta.Channel != "":
			content = append(content[:len(content):len(content)], protocol.Text(channelLine(m.Meta, content)))
		case m.Meta.ScheduleID != "":
			content = append(content[:len(content):len(content)], protocol.Text(reminder("A schedule has sent this by itself. Perhaps nobody watches: do what it says as far as you may, and say at the end what you did and what is left for a person.")))
		}
		return protocol.Message{Role: m.Role, Content: content}, true
	case protocol.RoleAssistant:
		if text := brokenOff(m); text != "" && speaks(content) {
			content = append(content[:len(content):len(content)], protocol.Text(text))
		}
		return protocol.Message{Role: m.Role, Content: content, Provider: m.Provider, Model: m.Model,
			StopReason: m.StopReason, Partial: m.Partial}, speaks(content)
	case protocol.RoleToolResult:
		if len(content) == 0 {
			content = []protocol.Block{protocol.Text(emptyResult)}
		}
		return protocol.Message{Role: m.Role, Content: escapeTexts(content), ToolCallID: m.ToolCallID,
			ToolName: m.ToolName, IsError: m.IsError}, true
	}
	return protocol.Message{}, false
}

// brokenOff is what is told after an answer in the middle of which the host was killed, and
// after one that could not be stored when it came; "" for any other.
func brokenOff(m *protocol.Message) string {
	switch {
	case !m.Partial:
	case strings.HasPrefix(m.ErrorMessage, protocol.HostStopped):
		return "[The host stopped here, in the middle of this answer. No call of it was run.]"
	case strings.HasPrefix(m.ErrorMessage, protocol.NotStored):
		return "[This answer could not be stored when it came. No call of it was run.]"
	}
	return ""
}

// speaks reports whether an assistant message holds more than thinking.
func speaks(content []protocol.Block) bool {
	for i := range content {
		if content[i].Type != protocol.BlockThinking && keep(&content[i]) {
			return true
		}
	}
	return false
}

// keep reports whether a block can be sent.
func keep(b *protocol.Block) bool {
	if b.Type == protocol.BlockText {
		return strings.TrimSpace(b.Text) != ""
	}
	return b.Known()
}

// sendable returns the blocks that can be sent; content itself when these are all.
func sendable(content []protocol.Block) []protocol.Block {
	for i := range content {
		if keep(&content[i]) {
			continue
		}
		kept := append([]protocol.Block{}, content[:i]...)
		for j := i + 1; j < len(content); j++ {
			if keep(&content[j]) {
				kept = append(kept, content[j])
			}
		}
		return kept
	}
	return content
}

// escapeTexts escapes reminders in the texts of a result.
func escapeTexts(content []protocol.Block) []protocol.Block {
	copied := false
	for i := range content {
		if content[i].Type != protocol.BlockText || tagPlace(content[i].Text) < 0 {
			continue
		}
		if !copied {
			content, copied = append([]protocol.Block{}, content...), true
		}
		content[i].Text = EscapeReminder(content[i].Text)
	}
	return content
}
