package lane

import (
	"context"
	"testing"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// ready is a command that is ready to run, prints nothing, and ends when wait is closed.
type ready struct{ wait chan struct{} }

func (ready) Action() permission.Action {
	return permission.Action{Tool: "Bash", Kind: permission.Exec}
}
func (ready) Snapshots(context.Context) ([]tool.Snapshot, error) {
	return nil, nil
}
func (r ready) Run(context.Context, func(string)) (tool.Result, error) {
	<-r.wait
	return tool.Result{Content: []protocol.Block{protocol.Text("done")}}, nil
}
func (ready) Close() {}

// Whoever hears that a command has ended may ask at once for it to be stopped, or start
// the next one.
func TestACommandOfAPersonIsOffTheListBeforeItsEndIsTold(t *testing.T) {
	tr := newTrial(t, again).open()
	defer tr.close()
	ids, ended, over := make(chan protocol.EventID, 1), make(chan struct{}), make(chan struct{})
	close(over)
	rest := make(chan struct{})
	defer close(rest)
	run := func(wait chan struct{}, release func()) (*protocol.ShellStarted, error) {
		return tr.lane.Shells().Run(t.Context(), tr.caller(), protocol.Shell{Command: "true"}, ready{wait}, release)
	}
	release := func() { // called once nothing of the command runs, and before its message enters
		defer close(ended)
		if id := <-ids; tr.lane.Shells().Cancel(id) {
			t.Error("what has ended was stopped")
		}
		for n := range 4 { // as many as may run at once
			if _, err := run(rest, func() {}); err != nil {
				t.Errorf("after %d others: %v", n, err)
			}
		}
	}
	started, err := run(over, release)
	if err != nil {
		t.Fatal(err)
	}
	ids <- started.EventID
	<-ended
}
