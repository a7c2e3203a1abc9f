package host_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
	"scorel/protocol/fold"
)

func TestAClientGoesOnWhereItsAnchorsSay(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{}, `{"do":[{"text":"one"}]}`, `{"do":[{"text":"two"}]}`)
	first := w.Plug("first", false, protocol.GrantControl)
	id := first.NewSession()
	old := anchorsOf(first.Open(id, nil, 0).Live) // of the session as it was made
	first.Do(id, &protocol.SendMessage{Content: hosttest.Text("go")})
	first.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
	first.Do(id, &protocol.CloseSession{})
	mid := anchorsOf(first.Open(id, nil, 0).Live)
	first.Do(id, &protocol.SendMessage{Content: hosttest.Text("go on")})
	events := first.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
	first.Do(id, &protocol.CloseSession{})
	end := anchorsOf(first.Open(id, nil, 0).Live)
	var stored, logged []protocol.EventID
	for _, e := range events {
		if e.ID != "" {
			stored = append(stored, e.ID)
		}
	}
	for _, e := range w.Log(id) {
		logged = append(logged, e.ID)
	}
	with := func(a protocol.Anchors, change func(*protocol.Anchors)) *protocol.Anchors {
		change(&a)
		return &a
	}
	count := func(n int) func([]protocol.Event) bool { return func(e []protocol.Event) bool { return len(e) == n } }
	all := func(e []protocol.Event) bool { return slices.Equal(ids(e), logged) }
	isStored := func(e []protocol.Event) bool { return slices.Equal(ids(e), stored) }
	for name, c := range map[string]struct {
		anchors *protocol.Anchors
		tail    int
		mode    protocol.Resync
		right   func([]protocol.Event) bool
	}{
		"none": {nil, 0, protocol.FullReload, count(0)},
		"none, with a tail": {nil, 3, protocol.FullReload, func(e []protocol.Event) bool {
			return len(e) == 3 && slices.IsSortedFunc(e, bySeq) && e[2].ID == end.PersistentLastID
		}},
		"none, with a long tail":      {nil, protocol.MaxTail, protocol.FullReload, count(4)}, // the messages of the path
		"nothing was missed":          {&end, 3, protocol.StreamResume, count(0)},
		"a turn was missed":           {&mid, 3, protocol.StreamResume, func(e []protocol.Event) bool { return len(e) == len(events) && e[0].Seq == mid.StreamLastSeq+1 }},
		"all was missed":              {&old, 3, protocol.StreamResume, func(e []protocol.Event) bool { return slices.Equal(nonEmpty(ids(e)), logged) }},
		"another device":              {with(end, func(a *protocol.Anchors) { a.DeviceID = "dev_0000000000000000" }), 0, protocol.FullReload, count(0)},
		"another epoch":               {with(mid, func(a *protocol.Anchors) { a.StreamEpoch = "epo_0000000000000000" }), 3, protocol.PersistentFallback, isStored},
		"another epoch, at the end":   {with(end, func(a *protocol.Anchors) { a.StreamEpoch = "epo_0000000000000000" }), 3, protocol.PersistentFallback, count(0)},
		"a stream from the future":    {with(mid, func(a *protocol.Anchors) { a.StreamLastSeq += 1000 }), 3, protocol.PersistentFallback, isStored},
		"another event of that seq":   {with(mid, func(a *protocol.Anchors) { a.StreamEpoch, a.PersistentLastID = "", stored[0] }), 2, protocol.FullReload, count(2)},
		"an unknown event":            {with(mid, func(a *protocol.Anchors) { a.StreamEpoch, a.PersistentLastID = "", "evt_0000000000000000" }), 2, protocol.FullReload, count(2)},
		"no event yet":                {with(old, func(a *protocol.Anchors) { a.StreamEpoch = "epo_0000000000000000" }), 2, protocol.PersistentFallback, all},
		"no event, and no stream":     {with(mid, func(a *protocol.Anchors) { *a = protocol.Anchors{DeviceID: a.DeviceID} }), 2, protocol.PersistentFallback, all},
		"no event of another device":  {with(old, func(a *protocol.Anchors) { a.DeviceID = "dev_0000000000000000" }), 2, protocol.FullReload, count(2)},
		"a log from the future":       {with(end, func(a *protocol.Anchors) { a.StreamEpoch = ""; a.PersistentLastSeq += 1000 }), 2, protocol.FullReload, count(2)},
		"no id that could be one":     {with(end, func(a *protocol.Anchors) { a.StreamEpoch, a.PersistentLastID = "", "../../x" }), 2, protocol.FullReload, count(2)},
		"an id without its seq":       {with(end, func(a *protocol.Anchors) { a.StreamEpoch, a.PersistentLastSeq = "", 0 }), 2, protocol.FullReload, count(2)},
		"nothing but zeros and names": {&protocol.Anchors{}, 2, protocol.FullReload, count(2)},
	} {
		t.Run(name, func(t *testing.T) {
			another := w.Plug("another", false, protocol.GrantView)
			defer another.Conn.Close()
			got := another.Open(id, c.anchors, c.tail)
			if got.Mode != c.mode || !c.right(got.Events) {
				t.Errorf("%s with %d events: %v; want %s", got.Mode, len(got.Events), ids(got.Events), c.mode)
			}
			if got.Live.ThroughSeq != end.StreamLastSeq || got.Live.PersistentLastID != end.PersistentLastID || got.Live.Running {
				t.Errorf("the state: %+v, want that of %+v", got.Live, end)
			}
		})
	}
}

func ids(events []protocol.Event) (out []protocol.EventID) {
	for _, e := range events {
		out = append(out, e.ID)
	}
	return out
}

func nonEmpty(ids []protocol.EventID) []protocol.EventID {
	return slices.DeleteFunc(ids, func(id protocol.EventID) bool { return id == "" })
}

func bySeq(a, b protocol.Event) int { return int(a.Seq) - int(b.Seq) }

func TestAClientThatMissedTooMuchBeginsAnew(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	id, events := w.Written(hosttest.Sized(2100, 10)...)
	c := w.Plug("reader", false, protocol.GrantView)
	device := c.Open(id, nil, 0).Live.DeviceID
	c.Do(id, &protocol.CloseSession{})
	for _, k := range []struct {
		missed, got int
		mode        protocol.Resync
	}{{2000, 2000, protocol.PersistentFallback}, {2001, 7, protocol.FullReload}} {
		last := events[len(events)-k.missed-1]
		got := c.Open(id, &protocol.Anchors{DeviceID: device, PersistentLastSeq: last.Seq, PersistentLastID: last.ID}, 7)
		c.Do(id, &protocol.CloseSession{})
		if got.Mode != k.mode || len(got.Events) != k.got {
			t.Errorf("with %d missed: %s and %d events", k.missed, got.Mode, len(got.Events))
		}
	}
	if got := c.Open(id, nil, protocol.MaxTail); len(got.Events) != 2000 {
		t.Errorf("the longest tail has %d events", len(got.Events))
	}
	c.Do(id, &protocol.CloseSession{})
	reply, err := c.Conn.Call(t.Context(), protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: id, Request: &protocol.OpenSession{Tail: protocol.MaxTail + 1}})
	if err != nil || reply.Err == nil || protocol.AboutOf(reply.Err).Field != "tail" {
		t.Errorf("a longer tail is answered with %+v, %v", reply, err)
	}
}

func TestWhoJoinsInMidTurnSeesWhatWhoWasThereSees(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{Attended: true, Chunk: 3, Pieces: 9}, `{"do":[{"thinking":"I ponder it."},{"text":"It is so, and in this way it goes on for a while."}]}`)
	there := w.Plug("there", true, protocol.GrantControl)
	id := there.NewSession()
	live := there.Open(id, nil, 0).Live
	there.Do(id, &protocol.SendMessage{Content: hosttest.Text("go")})
	typed := 0
	for typed < 9 { // then the model says nothing more
		f, ok := there.Frame().(*protocol.EventsFrame)
		if !ok {
			continue
		}
		for _, e := range f.Events {
			fold.Apply(&live, e)
			if e.Type == protocol.TypeTextDelta || e.Type == protocol.TypeThinkingDelta {
				typed++
			}
		}
	}
	if len(live.Messages) != 1 || len(live.Messages[0].Blocks) != 2 {
		t.Fatalf("who was there sees %+v", live.Messages)
	}
	for _, a := range []*protocol.Anchors{nil, ptr(anchorsOf(live)), {DeviceID: live.DeviceID, StreamEpoch: live.StreamEpoch, StreamLastSeq: live.ThroughSeq - 4}} {
		c := w.Plug("joins", true, protocol.GrantControl)
		if got := c.Open(id, a, 100).Live; hosttest.AsText(t, got) != hosttest.AsText(t, live) {
			t.Errorf("who joins sees\n%s\nand who was there\n%s", hosttest.AsText(t, got), hosttest.AsText(t, live))
		}
		_ = c.Conn.Close()
	}
	there.Do(id, &protocol.Cancel{TurnID: live.TurnID})
	there.Until(hosttest.OfType(protocol.TypeRuntimeEnd))
}

func ptr[T any](v T) *T { return &v }

func TestDamagedLinesAreSentToNobodyAndUnknownOnesAsTheyAre(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	id, events := w.Written(10, 10)
	line := func(n int, typ, rest string) string {
		return fmt.Sprintf(`{"type":%q,"id":"evt_000000000000000%d","parentId":%q,"seq":%d,"sessionId":%q,"clientId":"host","ts":1%s}`+"\n", typ, n, events[1].ID, n, id, rest)
	}
	name := w.Home + "/.scorel/sessions/" + string(id) + ".jsonl"
	data := w.ReadAll(name)
	data += line(3, "later", `,"news":{"x":[1,2]}`)
	data += line(4, "message", `,"message":{"role":7}`)
	data += strings.Replace(line(5, "message", `,"message":{"role":"user","content":"caf?"}`), "?", "\xe9", 1)
	w.Write(name, data)
	want := []protocol.EventID{events[1].ID, "evt_0000000000000003", "evt_0000000000000005"}
	c := w.Plug("reader", false, protocol.GrantView)
	opened := c.Open(id, nil, 0).Live
	for how, got := range map[string][]protocol.Event{
		"the range": func() []protocol.Event {
			c.Do(id, &protocol.CloseSession{})
			return c.Open(id, &protocol.Anchors{DeviceID: opened.DeviceID, PersistentLastSeq: 1, PersistentLastID: events[0].ID}, 0).Events
		}(),
		"the tree": c.Do(id, &protocol.GetTree{AfterSeq: 1}).(*protocol.Events).Events,
	} {
		if !slices.Equal(ids(got), want) {
			t.Fatalf("%s gives %v, want %v", how, ids(got), want)
		}
		if !strings.Contains(hosttest.AsText(t, got[1]), `"news":{"x":[1,2]}`) || !strings.Contains(hosttest.AsText(t, got[2]), "caf\ufffd") {
			t.Errorf("%s gives %s", how, hosttest.AsText(t, got))
		}
	}
	// The path has only the last one of the three, with its parent.
	c.Do(id, &protocol.CloseSession{})
	tail := c.Open(id, nil, 10).Events
	path := c.Do(id, &protocol.GetPath{}).(*protocol.Events).Events
	slices.Reverse(path)
	for how, got := range map[string][]protocol.Event{"the tail": tail, "the path": path} {
		if !slices.Equal(ids(got), []protocol.EventID{events[0].ID, events[1].ID, "evt_0000000000000005"}) || !strings.Contains(hosttest.AsText(t, got), "caf\ufffd") {
			t.Errorf("%s gives %s", how, hosttest.AsText(t, got))
		}
	}
}

func TestASlowClientIsSentAllAndHoldsOneFrame(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	sizes := hosttest.Sized(1900, 26<<10) // about 50 MB
	sizes[1000] = 4<<20 - 1000
	id, events := w.Written(sizes...)
	c := w.Plug("slow", false, protocol.GrantView)
	device := c.Open(id, nil, 0).Live.DeviceID
	c.Do(id, &protocol.CloseSession{})
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	events = events[:1:1] // so that the test does not hold them
	base := heap()
	c.Do(id, &protocol.OpenSession{Anchors: &protocol.Anchors{DeviceID: device, PersistentLastSeq: 1, PersistentLastID: events[0].ID}})
	n, frames, most, seq := 0, 0, 0, protocol.Seq(1)
	for {
		f := c.Frame()
		if _, ok := f.(*protocol.LiveFrame); ok {
			break
		}
		e, ok := f.(*protocol.EventsFrame)
		if !ok {
			continue
		}
		for _, ev := range e.Events {
			if seq++; ev.Seq != seq {
				t.Fatalf("seq %d came, want %d", ev.Seq, seq)
			}
			n++
		}
		if len(e.Events) > 1 && len(hosttest.AsText(t, e.Events)) > 70<<10 {
			t.Fatalf("%d events of %d bytes came in one frame", len(e.Events), len(hosttest.AsText(t, e.Events)))
		}
		if frames++; frames%100 == 0 || len(e.Events[0].Raw()) > 1<<20 {
			most = max(most, heap()-base)
		}
	}
	if n != len(sizes)-1 {
		t.Errorf("%d events came of %d", n, len(sizes)-1)
	}
	if most > 24<<20 {
		t.Errorf("%d MiB were held for one slow client", most>>20)
	}
}

func TestASubscriptionThatTheHostEndsMayBeOpenedAgain(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	id, events := w.Written(10, 10, 10)
	c := w.Plug("reader", false, protocol.GrantView)
	live := c.Open(id, nil, 0).Live
	c.Do(id, &protocol.CloseSession{})
	name := w.Home + "/.scorel/sessions/" + string(id) + ".jsonl"
	data := w.ReadAll(name)
	w.Write(name, data[:len(data)/2]) // cut under the open log: a read fails
	c.Do(id, &protocol.OpenSession{Anchors: &protocol.Anchors{DeviceID: live.DeviceID, PersistentLastSeq: 1, PersistentLastID: events[0].ID}})
	closed := news(c, func(*protocol.SessionClosed) bool { return true })
	if closed.Err == nil || closed.SessionID != id {
		t.Fatalf("the session was closed with %+v", closed)
	}
	w.Write(name, data)
	if got := c.Open(id, &protocol.Anchors{DeviceID: live.DeviceID, PersistentLastSeq: 1, PersistentLastID: events[0].ID}, 0); len(got.Events) != 2 {
		t.Errorf("opened again it gives %d events", len(got.Events))
	}
}

func TestLiveUsageOfASessionThatIsOpenedAgainIsThatOfItsWholeLog(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{}, `{"do":[{"text":"one"}],"usage":{"inputTokens":100,"outputTokens":20}}`, `{"do":[{"text":"two"}],"usage":{"inputTokens":300,"outputTokens":4}}`)
	c := w.Plug("c", false, protocol.GrantControl)
	id := c.NewSession()
	live := c.Open(id, nil, 0).Live
	for _, say := range []string{"go", "go on"} {
		c.Do(id, &protocol.SendMessage{Content: hosttest.Text(say)})
		for _, e := range c.Until(hosttest.OfType(protocol.TypeRuntimeEnd)) {
			fold.Apply(&live, e)
		}
	}
	if live.Usage.InputTokens < 400 || live.Usage.OutputTokens < 24 {
		t.Fatalf("the turns used %+v", live.Usage)
	}
	w.Restart()
	again := w.Plug("c", false, protocol.GrantControl).Open(id, nil, 0).Live
	if again.Usage != live.Usage {
		t.Errorf("opened again it has used %+v, before %+v", again.Usage, live.Usage)
	}
	data, _ := json.Marshal(again.Meta)
	if want, _ := json.Marshal(live.Meta); string(data) != string(want) {
		t.Errorf("the meta is %s, before %s", data, want)
	}
}

func anchorsOf(l protocol.Live) protocol.Anchors { return l.Anchors() }
