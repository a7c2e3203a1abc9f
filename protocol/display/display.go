package display

import (
	"strings"

	"scorel/protocol"
)

// Kind returns what an item is for a person.
type Kind = protocol.DisplayKind

// The kinds; package protocol describes them.
const (
	Bubble     = protocol.DisplayBubble
	Thinking   = protocol.DisplayThinking
	Tool       = protocol.DisplayTool
	Note       = protocol.DisplayNote
	Notice     = protocol.DisplayNotice
	Folded     = protocol.DisplayFolded
	Marker     = protocol.DisplayMarker
	Badge      = protocol.DisplayBadge
	Label      = protocol.DisplayLabel
	Queue      = protocol.DisplayQueue
	Audit      = protocol.DisplayAudit
	Checkpoint = protocol.DisplayCheckpoint
	Detail     = protocol.DisplayDetail
	Custom     = protocol.DisplayCustom
	Shell      = protocol.DisplayShell
	Stream     = protocol.DisplayStream
	State      = protocol.DisplayState
	Question   = protocol.DisplayQuestion
	Hidden     = protocol.DisplayHidden
)

// Status returns the state of something. Items whose kind has no status leave it out.
type Status = protocol.DisplayStatus

// The statuses.
const (
	Running   = protocol.StatusRunning
	OK        = protocol.StatusOK
	Failed    = protocol.StatusFailed
	Partial   = protocol.StatusPartial
	Cancelled = protocol.StatusCancelled
	Paused    = protocol.StatusPaused
	Allowed   = protocol.StatusAllowed
	Denied    = protocol.StatusDenied
	Expired   = protocol.StatusExpired
)

// Item is how one event is shown.
type Item struct {
	Kind   Kind          `json:"kind"`
	Role   protocol.Role `json:"role,omitempty"`
	Title  string        `json:"title,omitempty"` // one line
	Text   string        `json:"text,omitempty"`  // any number of lines
	Status Status        `json:"status,omitempty"`
	// Ref is the event that the item is about, where it is not its own.
	Ref        protocol.EventID `json:"ref,omitempty"`
	ToolCallID string           `json:"toolCallId,omitempty"`
	ToolName   string           `json:"toolName,omitempty"`
	// ID names a question, for the answer.
	ID string `json:"id,omitempty"`
	// Input is the input of a call as indented JSON.
	Input string `json:"input,omitempty"`
	// Diff is what a call changed, in unified form.
	Diff string `json:"diff,omitempty"`
	// Block is the index of the block that a Stream item adds to; Part says what
	// kind of block it is.
	Block int                `json:"block,omitempty"`
	Part  protocol.BlockType `json:"part,omitempty"`
	// Parts are the parts of a bubble or queue.
	Parts []Item `json:"parts,omitempty"`
	// Steps are steps of the work of a call: the newest of one that runs, the timeline
	// of one that has ended.
	Steps []Step `json:"steps,omitempty"`
	// Suggestions are the answers that a question offers.
	Suggestions []protocol.Suggestion `json:"suggestions,omitempty"`
}

// Changed says for people that an event of the log is not as it was written; it is empty
// for any other.
func Changed(e protocol.Event) string {
	if e.Sum() != protocol.SumWrong {
		return ""
	}
	return "The log is damaged here: this was changed after it was written, and may not say what was said."
}

// Of returns how an event is shown. Every event gives an item; what is not for
// people, and what this version does not know, is [Hidden]. One that was changed after it
// was written says so.
func Of(e protocol.Event) Item {
	item := of(e)
	switch text := Changed(e); {
	case text == "" || item.Kind == Hidden:
	case len(item.Parts) > 0:
		item.Parts = append(item.Parts, Item{Kind: Notice, Text: text, Status: Failed})
	case item.Text == "":
		item.Text = text
	default:
		item.Text = strings.TrimRight(item.Text, "\n") + "\n\n" + text
	}
	return item
}

// of is the one switch over types of events that shows them: those whose display is a view,
// which is code and not data. It is short, because most events come through it.
func of(e protocol.Event) Item {
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		return message(b.Message)
	case *protocol.CustomMessage:
		return customMessage(b)
	case *protocol.HarnessItem:
		return harnessItem(b)
	case *protocol.Custom:
		return extensionState(b)
	case *protocol.QueueUpdate:
		return queue(b)
	case *protocol.MessageStart:
		return Item{Kind: Stream, Role: b.Role, Ref: b.EventID, Title: Line(b.Model), Status: Running}
	case *protocol.TextDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockText, Text: Text(b.Delta)}
	case *protocol.ThinkingDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockThinking, Text: Text(b.Delta)}
	case *protocol.ToolCallDelta:
		return Item{Kind: Stream, Ref: b.EventID, Block: b.BlockIndex, Part: protocol.BlockToolUse, ToolCallID: Line(b.ToolCallID), ToolName: Line(b.ToolName), Text: Text(b.Delta)}
	case *protocol.ToolExecutionStart:
		return running(b)
	case *protocol.ToolExecutionUpdate:
		return Item{Kind: Tool, ToolCallID: Line(b.ToolCallID), Ref: b.EventID, Status: Running, Text: Text(b.Partial)}
	case *protocol.ToolProcess:
		return toolProcess(b)
	case *protocol.PermissionRequest:
		return permissionRequest(b)
	case *protocol.UIRequest:
		return dialog(b)
	case nil:
		return Item{Kind: Hidden}
	}
	return data(e.Body, &e.Body.EventSpec().Display)
}

// InConversation reports whether a client that has a conversation on the screen shows
// events of this type in it: not with a call, not with the details of the session, and not
// never.
func InConversation(b protocol.Body) bool {
	d := &b.EventSpec().Display
	return d.Place == protocol.PlaceConversation && d.Kind != Hidden
}

// WithCall reports whether it shows them with the call that they are about.
func WithCall(b protocol.Body) bool { return b.EventSpec().Display.Place == protocol.PlaceCall }
