package display

import (
	"fmt"
	"time"

	"scorel/protocol"
)

// transient says how an event that is not stored is shown.
func transient(body protocol.Body) Item {
	switch b := body.(type) {
	case *protocol.MessageStart:
		return Item{Kind: Stream, Role: b.Role, Ref: b.EventID, Title: Line(b.Model), Status: Running}
	case *protocol.TextDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockText, Text: Text(b.Delta)}
	case *protocol.ThinkingDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockThinking, Text: Text(b.Delta)}
	case *protocol.ToolCallDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockToolUse, ToolCallID: Line(b.ToolCallID), ToolName: Line(b.ToolName), Text: Text(b.Delta)}
	case *protocol.MessageCancelled:
		return Item{Kind: Stream, Ref: b.EventID, Status: Cancelled, Title: Line(string(b.Reason))}
	case *protocol.ToolExecutionStart:
		item := toolCall(b.ToolCallID, b.ToolName, b.Args)
		item.Status, item.Ref = Running, b.EventID
		return item
	case *protocol.ToolExecutionUpdate:
		return Item{Kind: Tool, ToolCallID: Line(b.ToolCallID), Ref: b.EventID, Status: Running, Text: Text(b.Partial)}
	case *protocol.ToolExecutionEnd:
		item := Item{Kind: Tool, ToolCallID: Line(b.ToolCallID), ToolName: Line(b.ToolName), Ref: b.EventID, Status: OK, Title: duration(b.DurationMS)}
		if b.IsError {
			item.Status = Failed
		}
		return item
	case *protocol.ToolProcess:
		return toolProcess(b)
	case *protocol.Notice:
		item := Item{Kind: Notice, Title: Line(b.Text)}
		if b.Source != "" {
			item.Title = Line(b.Source) + ": " + item.Title
		}
		if b.Level == "error" {
			item.Status = Failed
		}
		return item
	case *protocol.TurnStart, *protocol.TurnEnd, *protocol.UIState, *protocol.Todos, *protocol.TaskUpdate:
		return Item{Kind: Hidden}
	case *protocol.RuntimeStart:
		return Item{Kind: State, Status: Running}
	case *protocol.RuntimeEnd:
		return runtimeEnd(b)
	case *protocol.Retry:
		return Item{Kind: Notice, Status: Running, Title: fmt.Sprintf("Trying again in %s (%d of %d)", duration(b.DelayMS), b.Attempt, b.MaxAttempts), Text: Text(b.Error)}
	case *protocol.PermissionRequest:
		item := toolCall(b.ToolCallID, b.ToolName, b.Args)
		item.Kind, item.ID, item.Text = Question, Line(string(b.PermissionID)), Text(b.Reason)
		for _, s := range b.Suggestions {
			item.Suggestions = append(item.Suggestions, protocol.Suggestion{Label: Line(s.Label), Scope: Line(s.Scope), Rule: Line(s.Rule)})
		}
		return item
	case *protocol.PermissionResolved:
		return Item{Kind: Question, ID: Line(string(b.PermissionID)), Status: resolved(b.Decision)}
	case *protocol.UIRequest:
		return dialog(b)
	case *protocol.UIResolved:
		item := Item{Kind: Question, ID: Line(b.UIID), Status: OK}
		if b.Decision != "" {
			item.Status = resolved(b.Decision)
		}
		return item
	}
	return Item{Kind: Hidden}
}

func resolved(d protocol.Decision) Status {
	switch d {
	case protocol.DecisionAllow:
		return Allowed
	case protocol.DecisionCancelled:
		return Cancelled
	case protocol.DecisionExpired:
		return Expired
	}
	return Denied
}

func runtimeEnd(b *protocol.RuntimeEnd) Item {
	item := Item{Kind: State, Title: Line(string(b.Terminal)), Status: Failed}
	switch b.Reason {
	case protocol.EndCompleted:
		item.Status = OK
	case protocol.EndCancelled:
		item.Status = Cancelled
	}
	if b.Error != nil {
		item.Text = Text(b.Error.Message)
	}
	return item
}

func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}
