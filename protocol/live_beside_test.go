package protocol

import (
	"fmt"
	"testing"
)

// apply folds bodies in, each with the next seq.
func (l *Live) fold(bodies ...Body) {
	for _, b := range bodies {
		e := NewEvent(b)
		e.Seq = l.ThroughSeq + 1
		if e.Body.class() != Transient {
			e.ID = EventID(fmt.Sprintf("evt_%016d", e.Seq))
		}
		l.Apply(e)
	}
}

func TestACommandOfAPersonOutlivesTheEndOfARun(t *testing.T) {
	l := Live{}
	shell := func(id EventID) *ToolExecutionStart {
		return &ToolExecutionStart{EventID: id, ToolName: "Bash", Shell: &Shell{Command: "ls"}}
	}
	l.fold(&RuntimeStart{}, shell("evt_a"), &ToolExecutionStart{EventID: "evt_b", ToolName: "Read"}, shell("evt_c"),
		&ToolExecutionUpdate{EventID: "evt_a", Partial: "x"}, &RuntimeEnd{}, &ToolExecutionUpdate{EventID: "evt_a", Partial: "y"})
	if len(l.Tools) != 2 || l.Tools[0].OutputTail != "xy" || l.Tools[1].EventID != "evt_c" {
		t.Errorf("behind the run: %+v", l.Tools)
	}
	l.fold(&MessageCancelled{EventID: "evt_a", Reason: CancelStorage})
	if len(l.Tools) != 1 || l.Tools[0].EventID != "evt_c" {
		t.Errorf("when one is taken back: %+v", l.Tools)
	}
	e := NewEvent(&CustomMessage{Kind: ShellKind})
	e.ID, e.Seq = "evt_c", l.ThroughSeq+1
	l.Apply(e)
	if len(l.Tools) != 0 || l.LeafID != "evt_c" {
		t.Errorf("when its message has come: %+v", l.Tools)
	}
}

func TestLiveKeepsTheNewestBackgroundCommandsAndThoseThatRun(t *testing.T) {
	l := Live{}
	for i := range maxLiveTasks + 10 {
		state := TaskExited
		if i == 0 {
			state = TaskRunning
		}
		l.fold(&TaskUpdate{TaskInfo{TaskID: fmt.Sprint(i), State: state}})
	}
	if n := len(l.Tasks); n != maxLiveTasks || l.Tasks[0].TaskID != "0" || l.Tasks[1].TaskID != "11" {
		t.Errorf("%d: %+v", n, l.Tasks[:2])
	}
	was := l.Clone()
	l.fold(&TaskUpdate{TaskInfo{TaskID: "0", State: TaskStopped}})
	if was.Tasks[0].State != TaskRunning || l.Tasks[0].State != TaskStopped || len(l.Tasks) != maxLiveTasks {
		t.Errorf("%+v, the copy %+v", l.Tasks[0], was.Tasks[0])
	}
}

func TestTheTodoListIsGoneWhenAllOfItIsDone(t *testing.T) {
	l := Live{}
	l.fold(&Todos{[]Todo{{"a", "completed"}, {"b", "pending"}}})
	if len(l.Todos) != 2 {
		t.Errorf("%+v", l.Todos)
	}
	l.fold(&Todos{[]Todo{{"a", "completed"}, {"b", "completed"}}})
	if l.Todos != nil {
		t.Errorf("%+v", l.Todos)
	}
	l.fold(&Todos{[]Todo{{"b", "pending"}}}, &MessageBody{Message{Role: RoleToolResult, ToolName: "TodoWrite", IsError: true}})
	if len(l.Todos) != 1 {
		t.Errorf("a call that failed changes %+v", l.Todos)
	}
}
