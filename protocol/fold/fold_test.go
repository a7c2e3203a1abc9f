package fold

import (
	"encoding/json"
	"fmt"
	"scorel/protocol"
	"strings"
	"testing"
)

// TestAClientSeesTheSameTailOfOutputAsTheHost folds output in which the bound falls
// into a character, at the host and at a client that joins in the middle.
func TestAClientSeesTheSameTailOfOutputAsTheHost(t *testing.T) {
	var host protocol.Live
	apply := func(l *protocol.Live, seq protocol.Seq, body protocol.Body) {
		e := protocol.NewEvent(body)
		e.Seq = seq
		Apply(l, e)
	}
	apply(&host, 1, &protocol.ToolExecutionStart{EventID: "evt_1", ToolCallID: "c", ToolName: "Bash"})
	apply(&host, 2, &protocol.ToolExecutionUpdate{EventID: "evt_1", Partial: strings.Repeat("€", outputTail/3) + "ab"})
	data, err := json.Marshal(host)
	if err != nil {
		t.Fatal(err)
	}
	var client protocol.Live
	if err := json.Unmarshal(data, &client); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*protocol.Live{&host, &client} {
		apply(l, 3, &protocol.ToolExecutionUpdate{EventID: "evt_1", Partial: strings.Repeat("ä", outputTail/2-1) + "c"})
	}
	a, b := host.Tools[0].OutputTail, client.Tools[0].OutputTail
	if a != b || strings.Contains(a, "\uFFFD") || len(a) > outputTail || len(a) < outputTail-4 || !strings.HasSuffix(a, "äc") {
		t.Errorf("%d and %d bytes, beginning %.8q and %.8q", len(a), len(b), a, b)
	}
	if strings.Contains(string(data), "\uFFFD") || strings.Contains(string(data), `\ufffd`) {
		t.Errorf("a torn character is sent: %.200s", data)
	}
}

func TestABlockOutOfRangeIsPassedOver(t *testing.T) {
	var l protocol.Live
	for i, body := range []protocol.Body{&protocol.MessageStart{EventID: "evt_1"}, &protocol.TextDelta{EventID: "evt_1", BlockIndex: -1, Delta: "x"}, &protocol.TextDelta{EventID: "evt_1", BlockIndex: 5000, Delta: "x"}} {
		e := protocol.NewEvent(body)
		e.Seq = protocol.Seq(i + 1)
		Apply(&l, e)
	}
	if len(l.Messages) != 1 || len(l.Messages[0].Blocks) > 1000 {
		t.Errorf("%d messages", len(l.Messages))
	}
}

func newLabel(seq protocol.Seq, target protocol.EventID, text *string) protocol.Event {
	e := protocol.NewEvent(&protocol.Label{TargetEventID: target, Label: text})
	e.Seq, e.ID = seq, protocol.EventID(fmt.Sprintf("evt_%016d", seq))
	return e
}

func TestLabelsAreKeptUpToABound(t *testing.T) {
	var l protocol.Live
	seq, name := protocol.Seq(0), "here"
	apply := func(target string, text *string) {
		seq++
		Apply(&l, newLabel(seq, protocol.EventID(target), text))
	}
	for i := range maxLabels + 10 {
		apply(fmt.Sprint(i), &name)
	}
	if len(l.Labels) != maxLabels {
		t.Errorf("%d labels are kept", len(l.Labels))
	}
	other := "there"
	apply("1", &other)
	if n := len(l.Labels); n != maxLabels || l.Labels[n-1] != (protocol.LiveLabel{TargetEventID: "1", Label: other}) {
		t.Errorf("a label is not replaced at the bound: %d, %v", n, l.Labels[n-1])
	}
	c := l.Clone()
	apply("1", nil)
	long := strings.Repeat("x", protocol.MaxLabel+1)
	apply("2", &long)
	if len(l.Labels) != maxLabels-2 || len(c.Labels) != maxLabels {
		t.Errorf("behind two that were removed there are %d, and %d in a copy of before", len(l.Labels), len(c.Labels))
	}
}

func TestAMessageThatIsTakenBackOrEndedIsNoLongerRunning(t *testing.T) {
	var l protocol.Live
	seq := protocol.Seq(0)
	apply := func(b protocol.Body) {
		seq++
		e := protocol.NewEvent(b)
		e.Seq, e.TurnID = seq, "trn_0000000000000001"
		Apply(&l, e)
	}
	apply(&protocol.RuntimeStart{})
	for _, id := range []protocol.EventID{"evt_a", "evt_b"} {
		apply(&protocol.MessageStart{EventID: id, Role: protocol.RoleAssistant})
		apply(&protocol.TextDelta{EventID: id, Delta: "text"})
	}
	apply(&protocol.MessageCancelled{EventID: "evt_a", Reason: protocol.CancelRetry})
	if len(l.Messages) != 1 || l.Messages[0].EventID != "evt_b" {
		t.Errorf("running are %+v", l.Messages)
	}
	apply(&protocol.Retry{})
	apply(&protocol.ToolExecutionStart{EventID: "evt_c"})
	apply(&protocol.PermissionRequest{PermissionID: "p"})
	apply(&protocol.UIRequest{UIID: "u"})
	apply(&protocol.RuntimeEnd{})
	if l.Running || l.TurnID != "" || len(l.Messages)+len(l.Tools)+len(l.Permissions)+len(l.UI) > 0 || l.Retry != nil {
		t.Errorf("behind the end there is %+v", l)
	}
}

// TestWhatExtensionsShowStandsInTheLiveStateUpToABound folds ten times as much as is
// kept, at the host and at a client that joins in the middle.
func TestWhatExtensionsShowStandsInTheLiveStateUpToABound(t *testing.T) {
	var host protocol.Live
	seq := protocol.Seq(0)
	show := func(l *protocol.Live, key, line string) {
		seq++
		s := &protocol.UIState{Source: "gate", Key: key, Place: "status"}
		if line != "" {
			s.Lines = []string{line}
		}
		e := protocol.NewEvent(s)
		e.Seq = seq
		Apply(l, e)
	}
	for i := range 10 * maxUIStates {
		show(&host, fmt.Sprint(i), "on")
	}
	if len(host.UIStates) != maxUIStates {
		t.Fatalf("%d states", len(host.UIStates))
	}
	kept := host.Clone()
	show(&host, "1", "changed")
	show(&host, "0", "")
	show(&host, "unknown", "")
	if len(host.UIStates) != maxUIStates-1 || host.UIStates[0].Lines[0] != "changed" {
		t.Errorf("%d states, the first %+v", len(host.UIStates), host.UIStates[0])
	}
	if kept.UIStates[0].Key != "0" || kept.UIStates[1].Lines[0] != "on" {
		t.Error("a copy has changed")
	}
	end := protocol.NewEvent(&protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted})
	end.Seq = seq + 1
	Apply(&host, end)
	data, err := json.Marshal(host)
	if err != nil {
		t.Fatal(err)
	}
	var client protocol.Live
	if err := json.Unmarshal(data, &client); err != nil || len(client.UIStates) != maxUIStates-1 {
		t.Errorf("behind a run a client sees %d states (%v)", len(client.UIStates), err)
	}
}
