package line

import (
	"fmt"
	"strings"
	"testing"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/fold"
)

func TestTurnsWhileAwayAreCountedBeyondWhatIsShown(t *testing.T) {
	v, out := watched()
	var events []protocol.Event
	for i := range 40 {
		for _, m := range []protocol.Message{
			{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("look")}, Meta: &protocol.MessageMeta{Source: protocol.SourceSchedule}},
			{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text(fmt.Sprintf("answer %d.", i))}, StopReason: protocol.StopEndTurn},
		} {
			e := protocol.NewEvent(&protocol.MessageBody{Message: m})
			e.Seq = protocol.Seq(len(events) + 1)
			events = append(events, e)
		}
	}
	for _, u := range []*client.Update{{Resync: protocol.FullReload, Events: events[:50]}, {Events: events[50:]}, {Fresh: true, Live: &protocol.Live{PersistentLastSeq: 80, ThroughSeq: 80}}} {
		if err := v.Update(u); err != nil {
			t.Fatal(err)
		}
	}
	if want := fold.AwayOf(events, 0).Text(); !strings.Contains(out.String(), want) || !strings.Contains(want, "40 turns") {
		t.Errorf("it says %q, without %q", out, want)
	}
	if strings.Contains(out.String(), "answer 27.") || !strings.Contains(out.String(), "answer 28.") {
		t.Errorf("not the newest %d events are shown: %q", Tail, out)
	}
}
