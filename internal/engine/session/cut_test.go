package session

import (
	"bytes"
	"encoding/json"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// CI runs it with the race detector, and on a longer log without.
func TestCutAtEveryByteLosesNoWholeEventAndJoinsNoLines(t *testing.T) {
	harness.Computed(t)
	const cutRounds = 7 // how often each type of event stands in the log
	w := newWorld(t)
	data := w.record(t, cutRounds)
	if len(data) < cutRounds*5<<10 {
		t.Fatalf("the recorded log has only %d bytes", len(data))
	}
	all := lines(data)
	ends := []int{} // after each line's last byte, before its newline
	for end, l := 0, 0; l < len(all); l++ {
		end += len(all[l])
		ends = append(ends, end)
		end++
	}
	for cut := 0; cut <= len(data); cut++ {
		whole := 0 // lines of which every byte is there
		for whole < len(ends) && ends[whole] <= cut {
			whole++
		}
		w.checkCut(t, data, all, cut, whole)
	}
}

func (w *world) checkCut(t *testing.T, data []byte, all [][]byte, cut, whole int) {
	t.Helper()
	c := w.with(t, data[:cut])
	log, report, err := c.store.Open(t.Context(), c.id)
	if err != nil {
		t.Fatalf("cut at %d: %v", cut, err)
	}
	defer log.Close()
	ix := log.Index()
	if want := max(0, whole-1); ix.Len() != want {
		t.Fatalf("cut at %d: %d events, want %d (%v)", cut, ix.Len(), want, report.Sentences())
	}
	if ro, why := log.ReadOnly(); ro {
		t.Fatalf("cut at %d: read-only: %s", cut, why)
	}
	kept := bytes.Join(all[:whole], []byte("\n"))
	if whole > 0 {
		kept = append(kept, '\n')
	}
	tail := []byte(nil)
	if len(kept) < cut {
		tail = data[len(kept):cut]
	}
	if got := c.damagedCopy(t, report); !bytes.Equal(got, tail) {
		t.Fatalf("cut at %d: set aside %q, want %q", cut, got, tail)
	}
	if atEnd := cut == len(kept); report.Clean() != (atEnd && whole > 0) {
		t.Fatalf("cut at %d: the report is %v", cut, report.Sentences())
	}
	c.seq = log.NextSeqFloor() - 1
	ev := c.user(ix.Leaf(), "I go on")
	if err := log.Commit(t.Context(), []protocol.Event{ev}); err != nil {
		t.Fatalf("cut at %d: %v", cut, err)
	}
	now := c.mem.Bytes(c.logName())
	if whole > 0 && !bytes.HasPrefix(now, kept) {
		t.Fatalf("cut at %d: what was whole has changed", cut)
	}
	last := lines(now)
	if len(last) != max(whole, 1)+1 || !json.Valid(last[len(last)-1]) || !bytes.Contains(last[len(last)-1], []byte(ev.ID)) {
		t.Fatalf("cut at %d: the new event is not in a line of its own: %q", cut, last[len(last)-1])
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if cut%16 != 0 {
		return // the bytes were compared; opening them again is the same for all
	}
	again, report, err := c.store.Open(t.Context(), c.id)
	if err != nil {
		t.Fatalf("cut at %d: %v", cut, err)
	}
	defer again.Close()
	if !report.Clean() || again.Index().Len() != max(0, whole-1)+1 || again.Index().Leaf() != ev.ID {
		t.Fatalf("cut at %d: reopened: %d events, %v", cut, again.Index().Len(), report.Sentences())
	}
}
