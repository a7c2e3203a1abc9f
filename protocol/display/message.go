package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/protocol"
	"scorel/protocol/framed"
)

func message(m protocol.Message) Item {
	switch m.Role {
	case protocol.RoleUser:
		return userMessage(m)
	case protocol.RoleAssistant:
		return assistantMessage(m)
	case protocol.RoleToolResult:
		return toolResult(m)
	}
	return Item{Kind: Notice, Role: m.Role, Text: blocksText(m.Content)}
}

// unframed returns a content with its texts as people read them.
func unframed(blocks []protocol.Block) []protocol.Block {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		if blocks[i].Type == protocol.BlockText {
			blocks[i].Text = framed.Unframed(blocks[i].Text)
		}
	}
	return blocks
}

func userMessage(m protocol.Message) Item {
	item := Item{Kind: Bubble, Role: m.Role, Text: blocksText(unframed(m.Content))}
	if m.Meta == nil {
		return item
	}
	switch m.Meta.Source {
	case protocol.SourceSteer:
		item.Kind = Note
	case "":
	case protocol.SourceFollowUp:
		item.Title = "queued"
	default:
		item.Title = Line(string(m.Meta.Source))
	}
	if m.Meta.Channel != "" {
		item.Title = Line(m.Meta.Channel)
	}
	return item
}

func assistantMessage(m protocol.Message) Item {
	item := Item{Kind: Bubble, Role: m.Role, Title: Line(m.Model), Status: OK}
	switch {
	case m.StopReason == protocol.StopCancelled:
		item.Status = Cancelled
	case m.StopReason == protocol.StopError || m.StopReason == protocol.StopRefusal:
		item.Status = Failed
	case m.Partial: // what the output limit has cut is no failure: the next message continues it, or says why not
		item.Status = Partial
	}
	for _, b := range m.Content {
		item.Parts = append(item.Parts, block(b))
	}
	if end := Ending(&m); end != "" {
		item.Parts = append(item.Parts, Item{Kind: Notice, Text: end, Status: item.Status})
	}
	return item
}

func block(b protocol.Block) Item {
	switch b.Type {
	case protocol.BlockThinking:
		item := Item{Kind: Thinking, Text: Text(b.Thinking)}
		if b.Redacted {
			item.Text = "[redacted by the provider]"
		}
		return item
	case protocol.BlockToolUse:
		b = b.WithTarget()
		return toolCall(b.ID, b.Name, b.Input)
	}
	return Item{Kind: Bubble, Role: protocol.RoleAssistant, Text: blocksText([]protocol.Block{b})}
}

func toolCall(id, name string, input json.RawMessage) Item {
	return Item{Kind: Tool, ToolCallID: Line(id), ToolName: Line(name), Title: Summary(name, input), Input: indent(input)}
}

func toolResult(m protocol.Message) Item {
	item := Item{Kind: Tool, Role: m.Role, ToolCallID: Line(m.ToolCallID), ToolName: Line(m.ToolName), Text: blocksText(m.Content), Status: OK, Steps: steps(m.Process)}
	if m.IsError {
		item.Status = Failed
	}
	var details struct {
		Diff      string `json:"diff"`
		Cancelled bool   `json:"cancelled"`
	}
	if len(m.Details) > 0 && json.Unmarshal(m.Details, &details) == nil {
		item.Diff = Text(details.Diff)
		if details.Cancelled {
			item.Status = Cancelled
		}
	}
	return item
}

// blocksText joins the blocks that people read; payloads are named.
func blocksText(blocks []protocol.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case protocol.BlockText:
			parts = append(parts, Text(b.Text))
		case protocol.BlockThinking, protocol.BlockToolUse:
		case protocol.BlockImage:
			parts = append(parts, "[image "+Line(b.MediaType)+"]")
		case protocol.BlockFile:
			parts = append(parts, "[file "+Line(b.Name)+"]")
		default:
			parts = append(parts, "["+Line(string(b.Type))+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// Summary returns the one line that says most about the input of a call of a tool: the
// member that the tool names for it, else the command, path, pattern and so on, how far a
// todo list is, the first of several questions, else the input itself. It is at most 120
// characters long, and hides nothing of what is run or opened.
func Summary(tool string, input json.RawMessage) string {
	const most = 120
	shown := func(text string) string { return Line(Exact(text)) }
	if protocol.FindTool(tool).Rule != "" { // it is run, opened or searched for
		shown = func(text string) string { return Line(Literal(text)) }
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return shorten(shown(string(input)), most)
	}
	for _, key := range [...]string{protocol.FindTool(tool).TitleField, "command", "path", "file_path", "pattern", "url", "query", "task_id", "name", "description", "prompt"} {
		var s string
		if raw, ok := fields[key]; ok && json.Unmarshal(raw, &s) == nil && s != "" {
			if key == "command" && string(fields["run_in_background"]) == "true" {
				const suffix = " (in the background)"
				return shorten(Line(Input(tool, key, s)), most-len(suffix)) + suffix
			}
			return shorten(shown(Input(tool, key, s)), most)
		}
	}
	if line, ok := questionLine(fields["questions"]); ok {
		return shorten(line, most)
	}
	if line, ok := todoLine(fields["todos"]); ok {
		return shorten(line, most)
	}
	if len(fields) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return ""
	}
	return shorten(shown(b.String()), most)
}

// todoLine returns how far a todo list is, and what is being done.
func todoLine(input json.RawMessage) (string, bool) {
	var todos []struct{ Content, Status string }
	if len(input) == 0 || json.Unmarshal(input, &todos) != nil {
		return "", false
	}
	done, now := 0, ""
	for _, t := range todos {
		switch t.Status {
		case "completed":
			done++
		case "in_progress":
			now = ": " + Line(t.Content)
		}
	}
	return fmt.Sprintf("%d of %d done%s", done, len(todos), now), true
}

// questionLine returns the first question, and says how many follow.
func questionLine(input json.RawMessage) (string, bool) {
	var questions []struct{ Question string }
	if len(input) == 0 || json.Unmarshal(input, &questions) != nil || len(questions) == 0 {
		return "", false
	}
	line := Line(questions[0].Question)
	if n := len(questions) - 1; n > 0 {
		line = fmt.Sprintf("%s (and %d more)", shorten(line, 100), n)
	}
	return line, true
}

func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

func indent(input json.RawMessage) string {
	if len(input) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return Text(string(input))
	}
	return Text(b.String())
}
