package session

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"scorel/protocol"
)

// talkWithEscapes commits messages of many lengths, with and without escapes, and returns the
// leaf.
func talkWithEscapes(t *testing.T, w *world, log *Log, n int) protocol.EventID {
	t.Helper()
	leaf := protocol.EventID("")
	var events []protocol.Event
	for i := range n {
		ev := w.user(leaf, fmt.Sprintf("message %d\n%s", i, strings.Repeat("\ta \"line\"\n", i%200)))
		if i%3 == 1 {
			ev.Body = &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: "Bash",
				Content: []protocol.Block{protocol.Text(strings.Repeat("x", i*37%12000))}, Details: json.RawMessage(fmt.Sprintf(`{"exitCode":%d}`, i))}}
		}
		leaf = ev.ID
		events = append(events, ev)
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	return leaf
}

func TestTextsGiveTheMessagesOfBackWithoutTheirLines(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	leaf := talkWithEscapes(t, w, log, 900)
	var texts []protocol.Event
	for ev, err := range (Texts{log.Index()}).Back(t.Context(), leaf) {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, ev)
	}
	n := 0
	for want, err := range log.Index().Back(t.Context(), leaf) {
		if err != nil {
			t.Fatal(err)
		}
		got := texts[n]
		if !reflect.DeepEqual(got.Envelope, want.Envelope) || !reflect.DeepEqual(got.Body, want.Body) || got.Sum() != want.Sum() {
			t.Fatalf("event %d from the end is\n%+v\nwant\n%+v", n, got, want)
		}
		if got.Raw() != nil || want.Raw() == nil {
			t.Fatalf("event %d: %d bytes of its line, Back gives %d", n, len(got.Raw()), len(want.Raw()))
		}
		n++
	}
	if n != len(texts) {
		t.Fatalf("%d events, want %d", len(texts), n)
	}
}

// What a walk holds is the text of its messages and what points to it, however long their
// lines are: here most of each line is a member that is not read.
func TestTextsHoldNothingOfTheLines(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	leaf := protocol.EventID("")
	var events []protocol.Event
	const n, line = 2000, 8 << 10
	for range n {
		ev := w.user(leaf, "a few words")
		raw, err := ev.AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw[:len(raw)-1], fmt.Sprintf(`,"later":%q}`, strings.Repeat("x", line))...)
		if ev, err = protocol.ParseEvent(raw); err != nil {
			t.Fatal(err)
		}
		leaf = ev.ID
		events = append(events, ev)
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	clear(events)
	var kept []protocol.Event
	held := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	for ev, err := range (Texts{log.Index()}).Back(t.Context(), leaf) {
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, ev)
	}
	if grown := held() - before; grown > n*line/4 {
		t.Errorf("%d messages of a few words hold %d KB; their lines have %d KB", len(kept), grown>>10, n*line>>10)
	}
	runtime.KeepAlive(kept)
}
