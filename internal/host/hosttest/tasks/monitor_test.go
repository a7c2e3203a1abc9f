package tasks_test

import (
	"strings"
	"testing"
	"time"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestTheModelIsToldOfEachLineOfAMonitorOfAPerson(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"seen"}]}`)
	e := w.Begin(true)
	started := hosttest.Call[*protocol.ShellStarted](t, e.C, e.ID, &protocol.RunShell{Command: "echo the first line; until [ -e go ]; do sleep 0.05; done; echo the second line; sleep 600", Monitor: true})
	r, output := e.ShellOf(started.EventID)
	if r.Failed != "" || !r.InContext || !strings.Contains(output, "runs in the background as task_") {
		t.Fatalf("%+v %q", r, output)
	}
	tasks := hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks
	if len(tasks) != 1 || tasks[0].State != protocol.TaskRunning {
		t.Fatalf("%+v", tasks)
	}
	until := func(text string) {
		t.Helper()
		for !strings.Contains(hosttest.Call[*protocol.TaskOutput](t, e.C, e.ID, &protocol.GetTaskOutput{TaskID: tasks[0].TaskID}).Text, text) {
			<-time.After(2 * time.Millisecond)
		}
	}
	until("the first line")
	e.Say("what is new?")
	if last := w.LastRequest(); !strings.Contains(last, "| the first line") || !strings.Contains(last, "a monitor that the user started") || strings.Contains(last, "| the second line") {
		t.Errorf("the model is told %s", last)
	}
	w.File("go", "")
	until("the second line")
	e.Say("and now?")
	if last := w.LastRequest(); strings.Count(last, "| the second line") != 1 || strings.Count(last, "| the first line") != 1 {
		t.Errorf("the model is told %s", last)
	}
	if info := hosttest.Call[*protocol.TaskInfo](t, e.C, e.ID, &protocol.StopTask{TaskID: tasks[0].TaskID}); info.State != protocol.TaskStopped {
		t.Errorf("%+v", info)
	}
	w.Judged()
}
