package protocol

import (
	"encoding/json"
	"slices"
)

// MaxLabel bounds the name of an event, in bytes. A longer one is refused; one that a
// log has nevertheless is no label.
const MaxLabel = 200

// Bounds of what extensions show: how many lines of how many bytes a state has, and how many
// bytes the text of one for the editor.
const (
	MaxUILines       = 32
	MaxUILineBytes   = 1000
	MaxUIEditorBytes = 64 << 10
)

// Live is the state of a session at one moment, as far as it is not in the log's
// events alone, with a field for each thing that a client shows. Host and client fold the same events into it with package
// protocol/fold, so both see the same.
type Live struct {
	DeviceID          DeviceID `json:"deviceId"`
	StreamEpoch       Epoch    `json:"streamEpoch"`
	ThroughSeq        Seq      `json:"throughSeq"`
	PersistentLastSeq Seq      `json:"persistentLastSeq"`
	PersistentLastID  EventID  `json:"persistentLastId,omitempty"`
	LeafID            EventID  `json:"leafId,omitempty"`
	Meta              Meta     `json:"meta"`
	Mode              string   `json:"mode,omitempty"` // of permissions, that somebody set; "" is the configuration's
	Usage             Usage    `json:"usage"`
	Running           bool     `json:"running"`
	TurnID            TurnID   `json:"turnId,omitempty"`
	TurnIndex         int      `json:"turnIndex,omitempty"`
	// RunningSince is when the run that goes on has begun, in Unix milliseconds of the host, and
	// Command the slash command that it is; 0 and "" when none runs, and "" of a turn.
	RunningSince int64  `json:"runningSince,omitempty"`
	Command      string `json:"command,omitempty"`
	// Ended is how the newest turn of this host ended; none while one runs. A client that
	// did not see the end itself learns from it why there is no answer.
	Ended       *LiveEnd            `json:"ended,omitempty"`
	Messages    []LiveMessage       `json:"messages,omitempty"`
	Tools       []LiveTool          `json:"tools,omitempty"`
	Permissions []PermissionRequest `json:"permissions,omitempty"`
	UI          []UIRequest         `json:"ui,omitempty"`
	UIStates    []UIState           `json:"uiStates,omitempty"` // what extensions show
	Queues      []LiveQueue         `json:"queues,omitempty"`   // those that hold something or are paused
	Retry       *Retry              `json:"retry,omitempty"`
	Labels      []LiveLabel         `json:"labels,omitempty"`     // the names of events
	Todos       []Todo              `json:"todos,omitempty"`      // the todo list of the active path; none when all is done
	Tasks       []TaskInfo          `json:"tasks,omitempty"`      // background commands of this host, oldest first; at most 32
	Automation  *Automation         `json:"automation,omitempty"` // proactive mode; none while it is off
}

// LiveEnd is how a turn ended.
type LiveEnd struct {
	TurnID TurnID `json:"turnId"`
	RuntimeEnd
}

// Todo is one entry of the todo list. Status is pending, in_progress or completed.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// LiveMessage is a message that is coming in.
type LiveMessage struct {
	EventID  EventID     `json:"eventId"`
	ParentID EventID     `json:"parentId,omitempty"`
	Role     Role        `json:"role"`
	Model    string      `json:"model,omitempty"`
	Blocks   []LiveBlock `json:"blocks,omitempty"`
}

// LiveBlock is a block that is coming in. Text is the text, the thinking, or the
// JSON text of a call's input so far.
type LiveBlock struct {
	Type BlockType `json:"type"`
	ID   string    `json:"id,omitempty"`
	Name string    `json:"name,omitempty"`
	Text Growing   `json:"text"`
}

// Growing is text that is appended to often. It is written as a JSON string.
type Growing []byte

// MarshalText returns the text.
func (g Growing) MarshalText() ([]byte, error) { return g, nil }

// UnmarshalText sets the text.
func (g *Growing) UnmarshalText(b []byte) error {
	*g = append((*g)[:0], b...)
	return nil
}

// LiveQueue is what waits in a queue. UpdateID is the queue_update that it was
// last replaced by, for rewrite_queue.
type LiveQueue struct {
	Queue    QueueName   `json:"queue"`
	Items    []QueueItem `json:"items"`
	Paused   bool        `json:"paused,omitempty"`
	UpdateID EventID     `json:"updateId,omitempty"`
}

// LiveLabel is the name of an event.
type LiveLabel struct {
	TargetEventID EventID `json:"targetEventId"`
	Label         string  `json:"label"`
}

// LiveTool is a call that runs.
type LiveTool struct {
	EventID    EventID `json:"eventId"`
	ToolCallID string  `json:"toolCallId"`
	ToolName   string  `json:"toolName"`
	// Args is the input of the call, as in [ToolExecutionStart].
	Args       json.RawMessage `json:"args,omitempty"`
	OutputTail string          `json:"outputTail,omitempty"`
	Shell      *Shell          `json:"shell,omitempty"`      // a command of a person; nil for a call
	AgentColor string          `json:"agentColor,omitempty"` // as in [ToolExecutionStart]

	Process []ToolProcess `json:"process,omitempty"` // the newest of each operation, that which changed last at the end; at most 16
}

// TodosOf returns the todo list that a result tells; none when all of it is done. It is
// false for a message that tells none.
func TodosOf(m Message) ([]Todo, bool) {
	if m.Role != RoleToolResult || m.IsError || FindTool(m.ToolName).Tells != TellsTodos {
		return nil, false
	}
	var d struct {
		Todos []Todo `json:"todos"`
	}
	if json.Unmarshal(m.Details, &d) != nil {
		return nil, false
	}
	return OpenTodos(d.Todos), true
}

// OpenTodos returns a list in which something is left to do.
func OpenTodos(todos []Todo) []Todo {
	if slices.ContainsFunc(todos, func(t Todo) bool { return t.Status != "completed" }) {
		return todos
	}
	return nil
}

// Clone returns a copy that shares no lists with l.
func (l *Live) Clone() Live {
	c := *l
	c.Messages = slices.Clone(l.Messages)
	for i := range c.Messages {
		c.Messages[i].Blocks = slices.Clone(c.Messages[i].Blocks)
		for k, b := range c.Messages[i].Blocks {
			c.Messages[i].Blocks[k].Text = slices.Clone(b.Text)
		}
	}
	c.Tools = slices.Clone(l.Tools)
	c.Permissions = slices.Clone(l.Permissions)
	c.UI = slices.Clone(l.UI)
	c.UIStates = slices.Clone(l.UIStates)
	c.Queues = slices.Clone(l.Queues)
	c.Labels = slices.Clone(l.Labels)
	c.Todos = slices.Clone(l.Todos)
	c.Tasks = slices.Clone(l.Tasks)
	return c
}
