package display

import (
	"strings"

	"scorel/protocol"
)

// Kind says what an item is for a person.
type Kind string

// The kinds.
const (
	Bubble     Kind = "bubble"     // what the user or the assistant says; Parts in order
	Thinking   Kind = "thinking"   // a part of a bubble: what the model thought
	Tool       Kind = "tool"       // a call (a part of a bubble), its progress or its result
	Note       Kind = "note"       // said by the user while the assistant worked
	Notice     Kind = "notice"     // one line of the program
	Folded     Kind = "folded"     // a title that opens to a long text
	Marker     Kind = "marker"     // a place where the conversation jumps
	Badge      Kind = "badge"      // where the next message came from
	Label      Kind = "label"      // a name for the event Ref; no title: the name is removed
	Queue      Kind = "queue"      // the whole of one queue; Parts are what waits
	Audit      Kind = "audit"      // who allowed or denied a call
	Checkpoint Kind = "checkpoint" // a file was kept before it was written
	Detail     Kind = "detail"     // belongs to the details of the session
	Custom     Kind = "custom"     // an extension shows it; Title is its kind
	Shell      Kind = "shell"      // a command that a person ran: Title is the command, Text what it printed
	Stream     Kind = "stream"     // a piece of the message Ref that is being written
	State      Kind = "state"      // the run or turn began or ended
	Question   Kind = "question"   // somebody has to answer; or, with a Status, has answered
	Hidden     Kind = "hidden"     // not shown
)

// Status says how something stands. Items whose kind has no status leave it out.
type Status string

// The statuses.
const (
	Running   Status = "running"
	OK        Status = "ok"
	Failed    Status = "error"
	Partial   Status = "partial"
	Cancelled Status = "cancelled"
	Paused    Status = "paused"
	Allowed   Status = "allow"
	Denied    Status = "deny"
	Expired   Status = "expired"
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

// Of says how an event is shown. Every event gives an item; what is not for
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

func of(e protocol.Event) Item {
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		return message(b.Message)
	case *protocol.Compact:
		return compact(b)
	case *protocol.CustomMessage:
		return customMessage(b)
	case *protocol.HarnessItem:
		return harnessItem(b)
	case *protocol.BranchSummary:
		return branchSummary(b)
	case *protocol.Rewind:
		return rewind(b)
	case *protocol.Branch:
		return Item{Kind: Marker, Title: "Another branch", Ref: b.LeafEventID}
	case *protocol.ChannelInject:
		return Item{Kind: Badge, Title: Line(b.Channel)}
	case *protocol.SessionInfo:
		return sessionInfo(b)
	case *protocol.Custom:
		if strings.HasPrefix(b.Kind, protocol.OwnKind) {
			return Item{Kind: Hidden}
		}
		return Item{Kind: Custom, Title: Line(b.Kind)}
	case *protocol.Label:
		return label(b)
	case *protocol.InstructionSnapshot:
		return instructions(b)
	case *protocol.QueueUpdate:
		return queue(b)
	case *protocol.PermissionDecision:
		return permissionDecision(b)
	case *protocol.FileSnapshot:
		return fileSnapshot(b)
	case *protocol.Repair:
		return repair(b)
	case *protocol.SkillIndexSnapshot, *protocol.SkillIndexDelta, *protocol.ContextCut:
		return Item{Kind: Hidden}
	}
	return transient(e.Body)
}
