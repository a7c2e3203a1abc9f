package publish

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/protocol"
)

func numbered(seq protocol.Seq) protocol.Event {
	e := protocol.NewEvent(&protocol.TurnStart{})
	e.Seq = seq
	return e
}

// everything returns what the ring holds after a seq, batch by batch.
func everything(r *ring, after protocol.Seq) (all []protocol.Event) {
	for {
		events := r.batch(after, maxSeq)
		if len(events) == 0 {
			return all
		}
		all, after = append(all, events...), events[len(events)-1].Seq
	}
}

const maxSeq = 1 << 53

func TestABatchIsBoundedByEventsBytesAndWhatMayBeShown(t *testing.T) {
	for name, c := range map[string]struct {
		size    int
		through protocol.Seq
		want    int
	}{
		"events":           {1, maxSeq, BatchEvents},
		"bytes":            {BatchBytes / 4, maxSeq, 4},
		"larger than that": {BatchBytes + 1, maxSeq, 1},
		"shown":            {1, 7, 7},
		"nothing shown":    {1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var r ring
			for seq := range protocol.Seq(1000) {
				r.add(numbered(seq+1), c.size)
			}
			if got := r.batch(r.passed, c.through+r.passed); len(got) != c.want {
				t.Errorf("%d events, want %d", len(got), c.want)
			}
		})
	}
}

func TestRingKeepsTheNewestEventsInOrderWithinItsBytes(t *testing.T) {
	const size = 1 << 10
	var r ring
	for seq := protocol.Seq(1); seq <= 20_000; seq++ {
		r.add(numbered(seq), size)
		if r.bytes > maxRing {
			t.Fatalf("%d bytes are kept, at most %d may be", r.bytes, maxRing)
		}
		if seq%997 != 0 {
			continue
		}
		got := everything(&r, r.passed)
		want := min(int(seq), maxRing/size)
		if len(got) != want {
			t.Fatalf("after %d events %d are kept instead of %d", seq, len(got), want)
		}
		for i, e := range got {
			if e.Seq != r.passed+protocol.Seq(i)+1 {
				t.Fatalf("event %d behind %d has seq %d", i, r.passed, e.Seq)
			}
		}
		if r.passed != seq-protocol.Seq(want) {
			t.Fatalf("%d have passed, want %d", r.passed, seq-protocol.Seq(want))
		}
		if r.batch(seq, seq) != nil {
			t.Fatal("something comes behind the newest event")
		}
	}
	if len(r.slots) > 2*maxRing/size+1 {
		t.Errorf("%d slots are held for %d events", len(r.slots), maxRing/size)
	}
}

func TestRingKeepsALargeEventAsItsPlaceInTheLog(t *testing.T) {
	large := protocol.NewEvent(&protocol.Label{})
	large.ID, large.Seq = "evt_0123456789abcdef", 2
	var r ring
	r.add(numbered(1), 10)
	r.add(large, maxInRing+1)
	r.add(numbered(3), 10)
	if got := r.batch(0, 3); len(got) != 1 {
		t.Errorf("%d events come with a large one", len(got))
	}
	got := everything(&r, 0)
	if len(got) != 3 || got[1].ID != large.ID || got[1].Seq != 2 || got[1].Body != nil {
		t.Errorf("kept: %+v", got)
	}
	if r.bytes > 20+placeSize {
		t.Errorf("a place counts as %d bytes", r.bytes)
	}
}

func BenchmarkRingThatIsFull(b *testing.B) {
	var r ring
	seq := protocol.Seq(0)
	b.ReportAllocs()
	for b.Loop() {
		seq++
		r.add(numbered(seq), transientSize)
	}
}

func TestATransientEventCountsWithAllThatItCarries(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, body := range map[string]protocol.Body{
		"text":            &protocol.TextDelta{Delta: long},
		"output":          &protocol.ToolExecutionUpdate{Partial: long},
		"end of a run":    &protocol.RuntimeEnd{Error: &protocol.Error{Message: long}},
		"retry":           &protocol.Retry{Error: long},
		"notice":          &protocol.Notice{Source: long},
		"todos":           &protocol.Todos{Todos: []protocol.Todo{{Content: long}}},
		"task":            &protocol.TaskUpdate{Task: protocol.TaskInfo{LastLine: long}},
		"permission":      &protocol.PermissionRequest{Args: json.RawMessage("{}"), Reason: long},
		"suggestion":      &protocol.PermissionRequest{Args: json.RawMessage("{}"), Suggestions: []protocol.Suggestion{{Rule: long}}},
		"preview":         &protocol.PermissionRequest{Args: json.RawMessage("{}"), Preview: &protocol.ChangePreview{Diff: long}},
		"command":         &protocol.ToolExecutionStart{Args: json.RawMessage("{}"), Shell: &protocol.Shell{Command: long}},
		"dialog, select":  &protocol.UIRequest{Data: protocol.Dialog{Options: []protocol.Option{{Description: long}}}},
		"dialog, confirm": &protocol.UIRequest{Data: protocol.Dialog{Message: long}},
		"dialog, editor":  &protocol.UIRequest{Data: protocol.Dialog{Text: long}},
		"dialog, form":    &protocol.UIRequest{Data: protocol.Dialog{Schema: json.RawMessage(`"` + long + `"`)}},
	} {
		e := numbered(1)
		e.Type, e.Body, e.ClientID, e.SessionID, e.TS = body.EventType(), body, protocol.HostClient, testSession, 1
		if n := Size(e); n < len(long) || n > len(long)+1000 {
			t.Errorf("%s of %d bytes counts as %d", name, len(long), n)
		}
	}
}
