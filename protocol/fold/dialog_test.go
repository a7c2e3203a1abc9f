package fold

import (
	"testing"

	"scorel/protocol"
)

func TestAnOpenDialogIsInTheState(t *testing.T) {
	l := protocol.Live{}
	seq := protocol.Seq(0)
	apply := func(b protocol.Body) {
		seq++
		e := protocol.NewEvent(b)
		e.Seq = seq
		Apply(&l, e)
	}
	apply(&protocol.UIRequest{UIID: "ui_1", Data: protocol.Dialog{Kind: protocol.DialogQuestion}})
	apply(&protocol.UIRequest{UIID: "ui_2"})
	clone := l.Clone()
	apply(&protocol.UIResolved{UIID: "ui_1"})
	if len(l.UI) != 1 || l.UI[0].UIID != "ui_2" || len(clone.UI) != 2 || clone.UI[0].UIID != "ui_1" {
		t.Errorf("%+v, the copy %+v", l.UI, clone.UI)
	}
	apply(&protocol.RuntimeEnd{})
	if len(l.UI) != 0 {
		t.Errorf("after the end of the run: %+v", l.UI)
	}
}
