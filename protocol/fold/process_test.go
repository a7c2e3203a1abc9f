package fold

import (
	"encoding/json"
	"fmt"
	"scorel/protocol"
	"strings"
	"testing"
)

func TestLiveKeepsTheNewestEventOfEachOperationWithinItsBounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload int // bytes of each event
		keeps   int // of 40 operations
	}{{"by number", 0, maxProcesses}, {"by bytes", 20 << 10, 3}, {"at least one", 100 << 10, 1}} {
		t.Run(c.name, func(t *testing.T) {
			var live protocol.Live
			seq := protocol.Seq(0)
			apply := func(b protocol.Body) {
				seq++
				e := protocol.NewEvent(b)
				e.Seq = seq
				Apply(&live, e)
			}
			apply(&protocol.ToolExecutionStart{EventID: "evt_1", ToolCallID: "c1"})
			apply(&protocol.ToolExecutionStart{EventID: "evt_2", ToolCallID: "c2"})
			payload := json.RawMessage(`"` + strings.Repeat("x", c.payload) + `"`)
			for round := range 2 {
				for op := range 40 {
					apply(&protocol.ToolProcess{ToolCallID: "c1", Event: protocol.ProcessEvent{OperationID: fmt.Sprint(op), Message: fmt.Sprint(round), Payload: payload}})
				}
			}
			before := live.Clone()
			apply(&protocol.ToolProcess{ToolCallID: "c1", Event: protocol.ProcessEvent{OperationID: "39", Message: "newer"}})
			apply(&protocol.ToolProcess{Event: protocol.ProcessEvent{OperationID: "task_1", Message: "of no call"}})
			p := live.Tools[0].Process
			if n := len(p); n < c.keeps || n > c.keeps+1 || p[n-1].Event.Message != "newer" || len(live.Tools[1].Process) != 0 {
				t.Fatalf("%d operations are kept, the last says %q", n, p[n-1].Event.Message)
			}
			for i, o := range p[:len(p)-1] {
				if want := fmt.Sprint(40 - len(p) + i); o.Event.OperationID != want || o.Event.Message != "1" {
					t.Errorf("operation %d is %s in round %s", i, o.Event.OperationID, o.Event.Message)
				}
			}
			if b := before.Tools[0].Process; b[len(b)-1].Event.Message != "1" {
				t.Error("a copy changed with it")
			}
			apply(&protocol.RuntimeEnd{})
			if live.Tools != nil {
				t.Error("behind the end of the run a call is shown")
			}
		})
	}
}
