package display

import "scorel/protocol"

func running(b *protocol.ToolExecutionStart) Item {
	item := toolCall(b.ToolCallID, b.ToolName, b.Args)
	item.Status, item.Ref = Running, b.EventID
	return item
}

func permissionRequest(b *protocol.PermissionRequest) Item {
	item := toolCall(b.ToolCallID, b.ToolName, b.Args)
	item.Kind, item.ID, item.Text = Question, Line(string(b.PermissionID)), Text(b.Reason)
	for _, s := range b.Suggestions {
		item.Suggestions = append(item.Suggestions, protocol.Suggestion{Label: Line(Literal(s.Label)), Scope: Line(s.Scope), Rule: Line(Literal(s.Rule))})
	}
	return item
}
