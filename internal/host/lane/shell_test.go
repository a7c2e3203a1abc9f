package lane

import (
	"context"
	"testing"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// ready is a command that is ready to run and prints nothing.
type ready struct{}

func (ready) Action() permission.Action {
	return permission.Action{Tool: "Bash", Kind: permission.Exec}
}
func (ready) Snapshots(context.Context) ([]tool.Snapshot, error) {
	return nil, nil
}
func (ready) Run(context.Context, func(string)) (tool.Result, error) {
	return tool.Result{Content: []protocol.Block{protocol.Text("done")}}, nil
}
func (ready) Close() {}

// Whoever hears that a command has ended may ask at once for it to be stopped, or start
// the next one.
func TestACommandOfAPersonIsOffTheListBeforeItsEndIsTold(t *testing.T) {
	tr := newTrial(t, again).open()
	defer tr.close()
	ids, ended := make(chan protocol.EventID, 1), make(chan struct{})
	release := func() { // called once nothing of the command runs, and before its message enters
		defer close(ended)
		if id := <-ids; tr.lane.StopShell(id) {
			t.Error("what has ended was stopped")
		}
		tr.lane.mu.Lock()
		defer tr.lane.mu.Unlock()
		if n := len(tr.lane.shells.running); n != 0 {
			t.Errorf("%d commands still have a place", n)
		}
	}
	started, err := tr.lane.RunShell(t.Context(), tr.caller(), protocol.Shell{Command: "true"}, ready{}, release)
	if err != nil {
		t.Fatal(err)
	}
	ids <- started.EventID
	<-ended
}
