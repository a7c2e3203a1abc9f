package protocol

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAClientSeesTheSameTailOfOutputAsTheHost folds output in which the bound falls
// into a character, at the host and at a client that joins in the middle.
func TestAClientSeesTheSameTailOfOutputAsTheHost(t *testing.T) {
	var host Live
	apply := func(l *Live, seq Seq, body Body) {
		e := NewEvent(body)
		e.Seq = seq
		l.Apply(e)
	}
	apply(&host, 1, &ToolExecutionStart{EventID: "evt_1", ToolCallID: "c", ToolName: "Bash"})
	apply(&host, 2, &ToolExecutionUpdate{EventID: "evt_1", Partial: strings.Repeat("€", outputTail/3) + "ab"})
	data, err := json.Marshal(host)
	if err != nil {
		t.Fatal(err)
	}
	var client Live
	if err := json.Unmarshal(data, &client); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Live{&host, &client} {
		apply(l, 3, &ToolExecutionUpdate{EventID: "evt_1", Partial: strings.Repeat("ä", outputTail/2-1) + "c"})
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
	var l Live
	for i, body := range []Body{&MessageStart{EventID: "evt_1"}, &TextDelta{EventID: "evt_1", BlockIndex: -1, Delta: "x"}, &TextDelta{EventID: "evt_1", BlockIndex: 5000, Delta: "x"}} {
		e := NewEvent(body)
		e.Seq = Seq(i + 1)
		l.Apply(e)
	}
	if len(l.Messages) != 1 || len(l.Messages[0].Blocks) > 1000 {
		t.Errorf("%d messages", len(l.Messages))
	}
}
