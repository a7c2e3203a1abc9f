package protocol

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// outputTail bounds the output of a running tool that [Live] keeps, in bytes.
const outputTail = 16 << 10

// Bounds of the operations of a running call that [Live] keeps: how many, and the bytes
// of their texts. Those that changed last stay, at least one.
const (
	maxProcesses    = 16
	maxProcessBytes = 64 << 10
)

// MaxLabel bounds the name of an event, in bytes. A longer one is refused; one that a
// log has nevertheless is no label.
const MaxLabel = 200

// maxLiveTasks bounds the background commands that [Live] holds; the oldest that has
// ended goes first.
const maxLiveTasks = 32

// maxLabels bounds the labels that [Live] holds; further ones are not shown.
const maxLabels = 1000

// Bounds of what extensions show: how many states of theirs [Live] holds (further ones
// are not shown), and how many lines of how many bytes one has.
const (
	maxUIStates    = 64
	MaxUILines     = 32
	MaxUILineBytes = 1000
)

// Live is the state of a session at one moment, as far as it is not in the log's
// events alone, with a field for each thing that a client shows. Host and client fold the same events into it with [Live.Apply],
// so both see the same.
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
	Labels      []LiveLabel         `json:"labels,omitempty"` // the names of events
	Todos       []Todo              `json:"todos,omitempty"`  // the todo list of the active path; none when all is done
	Tasks       []TaskInfo          `json:"tasks,omitempty"`  // background commands of this host, oldest first; at most 32
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

// Apply folds one event, persistent or transient, into the state. An event that
// is not newer than ThroughSeq changes nothing.
func (l *Live) Apply(e Event) {
	if e.Seq <= l.ThroughSeq {
		return
	}
	l.ThroughSeq = e.Seq
	switch e.Class() {
	case Transient:
		l.applyTransient(e)
		return
	case Conversation:
		l.LeafID = e.ID
	}
	if leaf, moves := e.Leaf(); moves {
		l.LeafID = leaf
	}
	if u := e.Usage(); u != nil {
		l.Usage.Add(*u)
	}
	l.PersistentLastSeq, l.PersistentLastID = e.Seq, e.ID
	l.Messages = slices.DeleteFunc(l.Messages, func(m LiveMessage) bool { return m.EventID == e.ID })
	l.Tools = slices.DeleteFunc(l.Tools, func(t LiveTool) bool { return t.EventID == e.ID })
	switch b := e.Body.(type) {
	case *MessageBody:
		if b.Message.Meta != nil && b.Message.Meta.QueueItemID != "" {
			l.takeItem(b.Message.Meta.QueueItemID)
		}
		if todos, ok := TodosOf(b.Message); ok {
			l.Todos = todos
		}
	case *SessionInfo:
		b.Changes.Apply(&l.Meta)
		if b.Mode != "" {
			l.Mode = b.Mode
		}
	case *QueueUpdate:
		l.Queues = slices.DeleteFunc(l.Queues, func(q LiveQueue) bool { return q.Queue == b.Queue })
		if len(b.Items) > 0 || b.Paused {
			l.Queues = append(l.Queues, LiveQueue{Queue: b.Queue, Items: b.Items, Paused: b.Paused, UpdateID: e.ID})
		}
	case *Label:
		l.Label(b)
	}
}

// Label folds in a label; labels come in the order of seq. [Live.Apply] does that too.
func (l *Live) Label(b *Label) {
	l.Labels = slices.DeleteFunc(l.Labels, func(o LiveLabel) bool { return o.TargetEventID == b.TargetEventID })
	if b.Label != nil && len(*b.Label) <= MaxLabel && len(l.Labels) < maxLabels {
		l.Labels = append(l.Labels, LiveLabel{b.TargetEventID, *b.Label})
	}
}

// takeItem removes an item that a message has taken. Queues are replaced, never
// changed in place: their events share them.
func (l *Live) takeItem(id ItemID) {
	for i, q := range l.Queues {
		if k := slices.IndexFunc(q.Items, func(it QueueItem) bool { return it.ID == id }); k >= 0 {
			q.Items = slices.Delete(slices.Clone(q.Items), k, k+1)
			l.Queues[i] = q
		}
	}
	l.Queues = slices.DeleteFunc(l.Queues, func(q LiveQueue) bool { return len(q.Items) == 0 && !q.Paused })
}

func (l *Live) applyTransient(e Event) {
	switch b := e.Body.(type) {
	case *RuntimeStart:
		l.Running, l.TurnID, l.Ended = true, e.TurnID, nil
	case *TurnStart:
		l.TurnID, l.TurnIndex = e.TurnID, b.TurnIndex
	case *RuntimeEnd:
		l.Running, l.TurnID, l.TurnIndex, l.Ended = false, "", 0, &LiveEnd{e.TurnID, *b}
		l.Messages, l.Permissions, l.UI, l.Retry = nil, nil, nil, nil
		l.Tools = l.shells()
	case *MessageStart:
		l.Retry = nil
		l.Messages = append(l.Messages, LiveMessage{EventID: b.EventID, ParentID: b.ParentID, Role: b.Role, Model: b.Model})
	case *TextDelta:
		if blk := l.block(b.EventID, b.BlockIndex, BlockText); blk != nil {
			blk.Text = append(blk.Text, b.Delta...)
		}
	case *ThinkingDelta:
		if blk := l.block(b.EventID, b.BlockIndex, BlockThinking); blk != nil {
			blk.Text = append(blk.Text, b.Delta...)
		}
	case *ToolCallDelta:
		if blk := l.block(b.EventID, b.BlockIndex, BlockToolUse); blk != nil {
			if b.ToolName != "" {
				blk.ID, blk.Name = b.ToolCallID, b.ToolName
			}
			blk.Text = append(blk.Text, b.Delta...)
		}
	case *MessageCancelled:
		l.Messages = slices.DeleteFunc(l.Messages, func(m LiveMessage) bool { return m.EventID == b.EventID })
		l.Tools = slices.DeleteFunc(l.Tools, func(t LiveTool) bool { return t.Shell != nil && t.EventID == b.EventID })
	case *ToolExecutionStart:
		l.Tools = append(l.Tools, LiveTool{EventID: b.EventID, ToolCallID: b.ToolCallID, ToolName: b.ToolName, Args: b.Args, Shell: b.Shell, AgentColor: b.AgentColor})
	case *ToolExecutionUpdate:
		for i := range l.Tools {
			if t := &l.Tools[i]; t.EventID == b.EventID {
				t.OutputTail += b.Partial
				t.OutputTail = tailOf(t.OutputTail)
			}
		}
	case *ToolProcess:
		for i := range l.Tools {
			if t := &l.Tools[i]; b.ToolCallID != "" && t.ToolCallID == b.ToolCallID {
				t.process(b)
			}
		}
	case *PermissionRequest:
		l.Permissions = append(l.Permissions, *b)
	case *PermissionResolved:
		l.Permissions = slices.DeleteFunc(l.Permissions, func(p PermissionRequest) bool { return p.PermissionID == b.PermissionID })
	case *UIRequest:
		if i := slices.IndexFunc(l.UI, func(u UIRequest) bool { return u.UIID == b.UIID }); i >= 0 {
			l.UI = slices.Clone(l.UI) // copies share it
			l.UI[i] = *b              // another client has its component
		} else {
			l.UI = append(l.UI, *b)
		}
	case *UIResolved:
		l.UI = slices.DeleteFunc(l.UI, func(u UIRequest) bool { return u.UIID == b.UIID })
	case *UIState:
		l.showUI(b)
	case *Retry:
		l.Retry = b
	case *Todos:
		l.Todos = OpenTodos(b.Todos)
	case *TaskUpdate:
		l.task(b.Task)
	}
}

// shells returns the commands of people that run, nil without any: they belong to no run.
func (l *Live) shells() (shells []LiveTool) {
	for _, t := range l.Tools {
		if t.Shell != nil {
			shells = append(shells, t)
		}
	}
	return shells
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

// task folds in the state of a background command. The list is replaced, never changed in
// place: copies share it.
func (l *Live) task(t TaskInfo) {
	tasks := slices.Clone(l.Tasks)
	if i := slices.IndexFunc(tasks, func(o TaskInfo) bool { return o.TaskID == t.TaskID }); i >= 0 {
		tasks[i] = t
	} else {
		tasks = append(tasks, t)
	}
	if len(tasks) > maxLiveTasks {
		ended := max(0, slices.IndexFunc(tasks, func(o TaskInfo) bool { return o.State != TaskRunning }))
		tasks = slices.Delete(tasks, ended, ended+1)
	}
	l.Tasks = tasks
}

// showUI folds in what an extension shows. States are replaced where they are.
func (l *Live) showUI(b *UIState) {
	i := slices.IndexFunc(l.UIStates, func(s UIState) bool { return s.Source == b.Source && s.Key == b.Key })
	switch {
	case len(b.Lines) == 0:
		if i >= 0 {
			l.UIStates = slices.Delete(slices.Clone(l.UIStates), i, i+1)
		}
	case i >= 0:
		l.UIStates = slices.Clone(l.UIStates)
		l.UIStates[i] = *b
	case len(l.UIStates) < maxUIStates:
		l.UIStates = append(l.UIStates, *b)
	}
}

// process takes in a process event of the call. The list is replaced, never changed in
// place: copies share it.
func (t *LiveTool) process(b *ToolProcess) {
	list := make([]ToolProcess, 0, len(t.Process)+1)
	for _, p := range t.Process {
		if p.Event.OperationID != b.Event.OperationID {
			list = append(list, p)
		}
	}
	list = append(list, *b)
	from, bytes := len(list)-1, processSize(b)
	for from > 0 && len(list)-from < maxProcesses {
		if bytes += processSize(&list[from-1]); bytes > maxProcessBytes {
			break
		}
		from--
	}
	t.Process = list[from:]
}

func processSize(b *ToolProcess) int {
	return len(b.Event.Message) + len(b.Event.Detail) + len(b.Event.Payload)
}

// tailOf returns the end of output from a whole character on: a torn one would be
// another text after a client's JSON than at the host.
func tailOf(s string) string {
	if len(s) <= outputTail {
		return s
	}
	s = s[len(s)-outputTail:]
	for n := 0; n < utf8.UTFMax-1 && len(s) > 0 && !utf8.RuneStart(s[0]); n++ {
		s = s[1:]
	}
	return s
}

// block returns the block of a running message, nil when the message is not known.
func (l *Live) block(id EventID, index int, t BlockType) *LiveBlock {
	for i := range l.Messages {
		m := &l.Messages[i]
		if m.EventID != id {
			continue
		}
		if index < 0 {
			return nil
		}
		for len(m.Blocks) <= index && index < 1000 {
			m.Blocks = append(m.Blocks, LiveBlock{Type: t})
		}
		if index < len(m.Blocks) {
			return &m.Blocks[index]
		}
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
