package display

import "scorel/protocol"

// transient returns the item of an event that is not stored and whose display is a view.
func transient(body protocol.Body) (Item, bool) {
	switch b := body.(type) {
	case *protocol.MessageStart:
		return Item{Kind: Stream, Role: b.Role, Ref: b.EventID, Title: Line(b.Model), Status: Running}, true
	case *protocol.TextDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockText, Text: Text(b.Delta)}, true
	case *protocol.ThinkingDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockThinking, Text: Text(b.Delta)}, true
	case *protocol.ToolCallDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockToolUse, ToolCallID: Line(b.ToolCallID), ToolName: Line(b.ToolName), Text: Text(b.Delta)}, true
	case *protocol.ToolExecutionStart:
		item := toolCall(b.ToolCallID, b.ToolName, b.Args)
		item.Status, item.Ref = Running, b.EventID
		return item, true
	case *protocol.ToolExecutionUpdate:
		return Item{Kind: Tool, ToolCallID: Line(b.ToolCallID), Ref: b.EventID, Status: Running, Text: Text(b.Partial)}, true
	case *protocol.ToolProcess:
		return toolProcess(b), true
	case *protocol.PermissionRequest:
		item := toolCall(b.ToolCallID, b.ToolName, b.Args)
		item.Kind, item.ID, item.Text = Question, Line(string(b.PermissionID)), Text(b.Reason)
		for _, s := range b.Suggestions {
			item.Suggestions = append(item.Suggestions, protocol.Suggestion{Label: Line(s.Label), Scope: Line(s.Scope), Rule: Line(s.Rule)})
		}
		return item, true
	case *protocol.UIRequest:
		return dialog(b), true
	}
	return Item{}, false
}
