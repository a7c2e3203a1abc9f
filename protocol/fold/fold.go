package fold

import (
	"slices"
	"unicode/utf8"

	"scorel/protocol"
)

// outputTail bounds the output of a running tool that a state keeps, in bytes.
const outputTail = 16 << 10

// Bounds of the operations of a running call that a state keeps: how many, and the bytes
// of their texts. Those that changed last stay, at least one.
const (
	maxProcesses    = 16
	maxProcessBytes = 64 << 10
)

// maxLiveTasks bounds the background commands that a state holds; the oldest that has
// ended goes first.
const maxLiveTasks = 32

// maxLabels bounds the labels that a state holds; further ones are not shown.
const maxLabels = 1000

// maxUIStates bounds how many states of extensions a state holds; further ones are not shown.
const maxUIStates = 64

// Apply folds one event, persistent or transient, into the state. An event that
// is not newer than ThroughSeq changes nothing.
func Apply(l *protocol.Live, e protocol.Event) {
	if e.Seq <= l.ThroughSeq {
		return
	}
	l.ThroughSeq = e.Seq
	switch e.Class() {
	case protocol.Transient:
		applyTransient(l, e)
		return
	case protocol.Conversation:
		l.LeafID = e.ID
	}
	if leaf, moves := e.Leaf(); moves {
		l.LeafID = leaf
	}
	if u := e.Usage(); u != nil {
		l.Usage.Add(*u)
	}
	l.PersistentLastSeq, l.PersistentLastID = e.Seq, e.ID
	l.Messages = slices.DeleteFunc(l.Messages, func(m protocol.LiveMessage) bool { return m.EventID == e.ID })
	l.Tools = slices.DeleteFunc(l.Tools, func(t protocol.LiveTool) bool { return t.EventID == e.ID })
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		if b.Message.Meta != nil && b.Message.Meta.QueueItemID != "" {
			takeItem(l, b.Message.Meta.QueueItemID)
		}
		if todos, ok := protocol.TodosOf(b.Message); ok {
			l.Todos = todos
		}
	case *protocol.SessionInfo:
		b.Changes.Apply(&l.Meta)
		if b.Mode != "" {
			l.Mode = b.Mode
		}
	case *protocol.QueueUpdate:
		l.Queues = slices.DeleteFunc(l.Queues, func(q protocol.LiveQueue) bool { return q.Queue == b.Queue })
		if len(b.Items) > 0 || b.Paused {
			l.Queues = append(l.Queues, protocol.LiveQueue{Queue: b.Queue, Items: b.Items, Paused: b.Paused, UpdateID: e.ID})
		}
	case *protocol.Label:
		Label(l, b)
	}
}

// Label folds in a label; labels come in the order of seq. [Apply] does that too.
func Label(l *protocol.Live, b *protocol.Label) {
	l.Labels = slices.DeleteFunc(l.Labels, func(o protocol.LiveLabel) bool { return o.TargetEventID == b.TargetEventID })
	if b.Label != nil && len(*b.Label) <= protocol.MaxLabel && len(l.Labels) < maxLabels {
		l.Labels = append(l.Labels, protocol.LiveLabel{TargetEventID: b.TargetEventID, Label: *b.Label})
	}
}

// takeItem removes an item that a message has taken. Queues are replaced, never
// changed in place: their events share them.
func takeItem(l *protocol.Live, id protocol.ItemID) {
	for i, q := range l.Queues {
		if k := slices.IndexFunc(q.Items, func(it protocol.QueueItem) bool { return it.ID == id }); k >= 0 {
			q.Items = slices.Delete(slices.Clone(q.Items), k, k+1)
			l.Queues[i] = q
		}
	}
	l.Queues = slices.DeleteFunc(l.Queues, func(q protocol.LiveQueue) bool { return len(q.Items) == 0 && !q.Paused })
}

func applyTransient(l *protocol.Live, e protocol.Event) {
	switch b := e.Body.(type) {
	case *protocol.RuntimeStart:
		l.Running, l.TurnID, l.Ended = true, e.TurnID, nil
		l.RunningSince, l.Command = e.TS, b.Command
	case *protocol.TurnStart:
		l.TurnID, l.TurnIndex = e.TurnID, b.TurnIndex
	case *protocol.RuntimeEnd:
		l.Running, l.TurnID, l.TurnIndex = false, "", 0
		if e.TurnID != "" { // without, something was lost while no turn ran: the newest one has ended as it has
			l.Ended = &protocol.LiveEnd{TurnID: e.TurnID, RuntimeEnd: *b}
		}
		l.RunningSince, l.Command = 0, ""
		l.Messages, l.Permissions, l.UI, l.Retry = nil, nil, nil, nil
		l.Tools = shells(l)
	case *protocol.MessageStart:
		l.Retry = nil
		l.Messages = append(l.Messages, protocol.LiveMessage{EventID: b.EventID, ParentID: b.ParentID, Role: b.Role, Model: b.Model})
	case *protocol.TextDelta:
		if blk := block(l, b.EventID, b.BlockIndex, protocol.BlockText); blk != nil {
			blk.Text = append(blk.Text, b.Delta...)
		}
	case *protocol.ThinkingDelta:
		if blk := block(l, b.EventID, b.BlockIndex, protocol.BlockThinking); blk != nil {
			blk.Text = append(blk.Text, b.Delta...)
		}
	case *protocol.ToolCallDelta:
		if blk := block(l, b.EventID, b.BlockIndex, protocol.BlockToolUse); blk != nil {
			if b.ToolName != "" {
				blk.ID, blk.Name = b.ToolCallID, b.ToolName
			}
			blk.Text = append(blk.Text, b.Delta...)
		}
	case *protocol.MessageCancelled:
		l.Messages = slices.DeleteFunc(l.Messages, func(m protocol.LiveMessage) bool { return m.EventID == b.EventID })
		l.Tools = slices.DeleteFunc(l.Tools, func(t protocol.LiveTool) bool { return t.Shell != nil && t.EventID == b.EventID })
	case *protocol.ToolExecutionStart:
		l.Tools = append(l.Tools, protocol.LiveTool{EventID: b.EventID, ToolCallID: b.ToolCallID, ToolName: b.ToolName, Args: b.Args, Shell: b.Shell, AgentColor: b.AgentColor})
	case *protocol.ToolExecutionUpdate:
		for i := range l.Tools {
			if t := &l.Tools[i]; t.EventID == b.EventID {
				t.OutputTail += b.Partial
				t.OutputTail = tailOf(t.OutputTail)
			}
		}
	case *protocol.ToolProcess:
		for i := range l.Tools {
			if t := &l.Tools[i]; b.ToolCallID != "" && t.ToolCallID == b.ToolCallID {
				process(t, b)
			}
		}
	case *protocol.PermissionRequest:
		l.Permissions = append(l.Permissions, *b)
	case *protocol.PermissionResolved:
		l.Permissions = slices.DeleteFunc(l.Permissions, func(p protocol.PermissionRequest) bool { return p.PermissionID == b.PermissionID })
	case *protocol.UIRequest:
		if i := slices.IndexFunc(l.UI, func(u protocol.UIRequest) bool { return u.UIID == b.UIID }); i >= 0 {
			l.UI = slices.Clone(l.UI) // copies share it
			l.UI[i] = *b              // another client has its component
		} else {
			l.UI = append(l.UI, *b)
		}
	case *protocol.UIResolved:
		l.UI = slices.DeleteFunc(l.UI, func(u protocol.UIRequest) bool { return u.UIID == b.UIID })
	case *protocol.UIState:
		showUI(l, b)
	case *protocol.Retry:
		l.Retry = b
	case *protocol.Todos:
		l.Todos = protocol.OpenTodos(b.Todos)
	case *protocol.TaskUpdate:
		task(l, b.Task)
	case *protocol.AutomationUpdate:
		l.Automation = b.Automation
	}
}

// shells returns the commands of people that run, nil without any: they belong to no run.
func shells(l *protocol.Live) (shells []protocol.LiveTool) {
	for _, t := range l.Tools {
		if t.Shell != nil {
			shells = append(shells, t)
		}
	}
	return shells
}

// task folds in the state of a background command. The list is replaced, never changed in
// place: copies share it.
func task(l *protocol.Live, t protocol.TaskInfo) {
	tasks := slices.Clone(l.Tasks)
	if i := slices.IndexFunc(tasks, func(o protocol.TaskInfo) bool { return o.TaskID == t.TaskID }); i >= 0 {
		tasks[i] = t
	} else {
		tasks = append(tasks, t)
	}
	if len(tasks) > maxLiveTasks {
		ended := max(0, slices.IndexFunc(tasks, func(o protocol.TaskInfo) bool { return o.State != protocol.TaskRunning }))
		tasks = slices.Delete(tasks, ended, ended+1)
	}
	l.Tasks = tasks
}

// showUI folds in what an extension shows. States are replaced where they are.
func showUI(l *protocol.Live, b *protocol.UIState) {
	i := slices.IndexFunc(l.UIStates, func(s protocol.UIState) bool { return s.Source == b.Source && s.Key == b.Key })
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
func process(t *protocol.LiveTool, b *protocol.ToolProcess) {
	list := make([]protocol.ToolProcess, 0, len(t.Process)+1)
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

func processSize(b *protocol.ToolProcess) int {
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
func block(l *protocol.Live, id protocol.EventID, index int, t protocol.BlockType) *protocol.LiveBlock {
	for i := range l.Messages {
		m := &l.Messages[i]
		if m.EventID != id {
			continue
		}
		if index < 0 {
			return nil
		}
		for len(m.Blocks) <= index && index < 1000 {
			m.Blocks = append(m.Blocks, protocol.LiveBlock{Type: t})
		}
		if index < len(m.Blocks) {
			return &m.Blocks[index]
		}
	}
	return nil
}
