package fold

import (
	"fmt"
	"scorel/protocol"
	"testing"
)

// fold folds bodies in, each with the next seq.
func fold(l *protocol.Live, bodies ...protocol.Body) {
	for _, b := range bodies {
		e := protocol.NewEvent(b)
		e.Seq = l.ThroughSeq + 1
		if e.Class() != protocol.Transient {
			e.ID = protocol.EventID(fmt.Sprintf("evt_%016d", e.Seq))
		}
		Apply(l, e)
	}
}

func TestACommandOfAPersonOutlivesTheEndOfARun(t *testing.T) {
	l := protocol.Live{}
	shell := func(id protocol.EventID) *protocol.ToolExecutionStart {
		return &protocol.ToolExecutionStart{EventID: id, ToolName: "Bash", Shell: &protocol.Shell{Command: "ls"}}
	}
	fold(&l, &protocol.RuntimeStart{}, shell("evt_a"), &protocol.ToolExecutionStart{EventID: "evt_b", ToolName: "Read"}, shell("evt_c"),
		&protocol.ToolExecutionUpdate{EventID: "evt_a", Partial: "x"}, &protocol.RuntimeEnd{}, &protocol.ToolExecutionUpdate{EventID: "evt_a", Partial: "y"})
	if len(l.Tools) != 2 || l.Tools[0].OutputTail != "xy" || l.Tools[1].EventID != "evt_c" {
		t.Errorf("behind the run: %+v", l.Tools)
	}
	fold(&l, &protocol.MessageCancelled{EventID: "evt_a", Reason: protocol.CancelStorage})
	if len(l.Tools) != 1 || l.Tools[0].EventID != "evt_c" {
		t.Errorf("when one is taken back: %+v", l.Tools)
	}
	e := protocol.NewEvent(&protocol.CustomMessage{Kind: protocol.ShellKind})
	e.ID, e.Seq = "evt_c", l.ThroughSeq+1
	Apply(&l, e)
	if len(l.Tools) != 0 || l.LeafID != "evt_c" {
		t.Errorf("when its message has come: %+v", l.Tools)
	}
}

func TestLiveKeepsTheNewestBackgroundCommandsAndThoseThatRun(t *testing.T) {
	l := protocol.Live{}
	for i := range maxLiveTasks + 10 {
		state := protocol.TaskExited
		if i == 0 {
			state = protocol.TaskRunning
		}
		fold(&l, &protocol.TaskUpdate{Task: protocol.TaskInfo{TaskID: fmt.Sprint(i), State: state}})
	}
	if n := len(l.Tasks); n != maxLiveTasks || l.Tasks[0].TaskID != "0" || l.Tasks[1].TaskID != "11" {
		t.Errorf("%d: %+v", n, l.Tasks[:2])
	}
	was := l.Clone()
	fold(&l, &protocol.TaskUpdate{Task: protocol.TaskInfo{TaskID: "0", State: protocol.TaskStopped}})
	if was.Tasks[0].State != protocol.TaskRunning || l.Tasks[0].State != protocol.TaskStopped || len(l.Tasks) != maxLiveTasks {
		t.Errorf("%+v, the copy %+v", l.Tasks[0], was.Tasks[0])
	}
}

func TestTheTodoListIsGoneWhenAllOfItIsDone(t *testing.T) {
	l := protocol.Live{}
	fold(&l, &protocol.Todos{Todos: []protocol.Todo{{Content: "a", Status: "completed"}, {Content: "b", Status: "pending"}}})
	if len(l.Todos) != 2 {
		t.Errorf("%+v", l.Todos)
	}
	fold(&l, &protocol.Todos{Todos: []protocol.Todo{{Content: "a", Status: "completed"}, {Content: "b", Status: "completed"}}})
	if l.Todos != nil {
		t.Errorf("%+v", l.Todos)
	}
	fold(&l, &protocol.Todos{Todos: []protocol.Todo{{Content: "b", Status: "pending"}}}, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolName: "TodoWrite", IsError: true}})
	if len(l.Todos) != 1 {
		t.Errorf("a call that failed changes %+v", l.Todos)
	}
}
