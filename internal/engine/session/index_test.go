package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// counted is a file system that notes which bytes of logs are read.
type counted struct {
	disk.FS
	mu   sync.Mutex
	low  int64 // the lowest offset read since reset
	read int64
}

func (c *counted) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	f, err := c.FS.Open(name, flag)
	return countedFile{f, c}, err
}

type countedFile struct {
	disk.File
	c *counted
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	f.c.mu.Lock()
	f.c.low = min(f.c.low, off)
	f.c.read += int64(len(p))
	f.c.mu.Unlock()
	return f.File.ReadAt(p, off)
}

func TestWalkThatStopsAtACompactReadsNothingOlder(t *testing.T) {
	w := newWorld(t)
	c := &counted{FS: w.mem}
	w.fs = c
	w.restart(t)
	log := w.create(t)
	leaf := protocol.EventID("")
	chain := func(n int) {
		for range n {
			ev := w.user(leaf, "m")
			if err := log.Commit(t.Context(), []protocol.Event{ev}); err != nil {
				t.Fatal(err)
			}
			leaf = ev.ID
		}
	}
	chain(100)
	from := log.Index().Size()
	compact := w.event(leaf, &protocol.Compact{Summary: "s", CompactedThrough: leaf})
	leaf = compact.ID
	if err := log.Commit(t.Context(), []protocol.Event{compact}); err != nil {
		t.Fatal(err)
	}
	chain(100)
	c.low, c.read = log.Index().Size(), 0
	n := 0
	for ev, err := range log.Index().Back(t.Context(), leaf) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if ev.Type == protocol.TypeCompact {
			break
		}
	}
	if n != 101 || c.low < from {
		t.Fatalf("%d events, read from byte %d on; the compact event is at %d", n, c.low, from)
	}
	n = 0
	for range log.Index().Back(t.Context(), leaf) {
		n++
	}
	if n != 201 {
		t.Fatalf("the whole walk has %d events", n)
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	events, leaf := w.every("", 0)
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range log.Index().Back(ctx, leaf) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%v", err)
		}
	}
	if err := log.Commit(ctx, []protocol.Event{w.user(leaf, "x")}); !errors.Is(err, context.Canceled) {
		t.Fatalf("a commit gives %v", err)
	}
	if log.Index().Len() != len(events) {
		t.Fatal("a cancelled commit was stored")
	}
}

func TestRewindTargets(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	u := w.user("", "u")
	a := w.assistant(u.ID, "calls", "c1", "c2")
	r1 := w.result(a.ID, "c1")
	r2 := w.result(r1.ID, "c2")
	item := w.event(r2.ID, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemMemory}})
	b := w.assistant(item.ID, "plain")
	co := w.event(b.ID, &protocol.Compact{Summary: "s", CompactedThrough: u.ID})
	bs := w.event(co.ID, &protocol.BranchSummary{FromEventID: u.ID})
	item2 := w.event(bs.ID, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemMemory}})
	u2 := w.user(item2.ID, "u2")
	a2 := w.assistant(u2.ID, "calls", "c1", "c2")
	other := w.result(a2.ID, "c2")
	label := w.event(u.ID, &protocol.Label{TargetEventID: u.ID})
	if err := log.Commit(t.Context(), []protocol.Event{u, a, r1, r2, item, b, co, bs, item2, u2, a2, other, label}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		id   protocol.EventID
		want error
	}{
		{"the empty conversation", "", nil},
		{"a user message", u.ID, nil},
		{"an assistant message with calls", a.ID, ErrNotTarget},
		{"a result that is not the last", r1.ID, ErrNotTarget},
		{"the last result of a complete set", r2.ID, nil},
		{"a harness item", item.ID, ErrNotTarget},
		{"an assistant message without calls", b.ID, nil},
		{"a compact event", co.ID, nil},
		{"a branch summary", bs.ID, nil},
		{"the parent of a user message", item2.ID, nil},
		{"an only result of two", other.ID, ErrNotTarget},
		{"a control event", label.ID, ErrUnknownEvent},
		{"an unknown event", "evt_0000000000000000", ErrUnknownEvent},
		{"no id at all", "../../..", ErrUnknownEvent},
	} {
		if err := log.Index().CanRewind(tc.id); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

func TestCommitRefusesWhatDoesNotFit(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "a")
	label := w.event(a.ID, &protocol.Label{TargetEventID: a.ID})
	if err := log.Commit(t.Context(), []protocol.Event{a, label}); err != nil {
		t.Fatal(err)
	}
	size := log.Index().Size()
	for name, spoil := range map[string]func(*protocol.Event){
		"an old seq":             func(e *protocol.Event) { e.Seq = label.Seq },
		"a known id":             func(e *protocol.Event) { e.ID = a.ID },
		"an unknown parent":      func(e *protocol.Event) { e.ParentID = "evt_0000000000000000" },
		"a control parent":       func(e *protocol.Event) { e.ParentID = label.ID },
		"another session":        func(e *protocol.Event) { e.SessionID = protocol.NewSessionID(w.now(), w.rand) },
		"an impossible seq":      func(e *protocol.Event) { e.Seq = 1 << 60 },
		"a transient event":      func(e *protocol.Event) { *e = protocol.NewEvent(&protocol.RuntimeStart{}); e.Seq = 99 },
		"a wrong control mark":   func(e *protocol.Event) { e.Control = true },
		"a line that has breaks": func(e *protocol.Event) { *e = pretty(t, *e) },
	} {
		ev := w.user(a.ID, "b")
		spoil(&ev)
		if err := log.Commit(t.Context(), []protocol.Event{w.user(a.ID, "sound"), ev}); !errors.Is(err, ErrInvalidEvent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if log.Index().Size() != size || log.Index().Len() != 2 || int64(len(w.mem.Bytes(w.logName()))) != size {
		t.Fatal("a refused commit left something behind")
	}
}

// pretty returns an event that was parsed from several lines.
func pretty(t *testing.T, ev protocol.Event) protocol.Event {
	line, err := ev.AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	ev, err = protocol.ParseEvent(bytes.Replace(line, []byte(`,"seq"`), []byte(",\n\"seq\""), 1))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestCommitKeepsNothingOfTheCallers(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	ev := w.user("", "before")
	line, err := ev.AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := protocol.ParseEvent(line)
	if err != nil {
		t.Fatal(err)
	}
	events := []protocol.Event{parsed}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	for i := range line {
		line[i] = 'x'
	}
	events[0] = protocol.Event{}
	got, err := log.Index().Event(t.Context(), ev.ID)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := got.Message(); m.PlainText() != "before" {
		t.Fatalf("%q", m.PlainText())
	}
}

func TestReadersWorkWhileCommitsAppend(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	ix := log.Index()
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				leaf := ix.Leaf()
				n := 0
				for _, err := range ix.Back(t.Context(), leaf) {
					if err != nil {
						t.Error(err)
						return
					}
					n++
				}
				if n < last {
					t.Errorf("the path shrinks from %d to %d", last, n)
				}
				last = n
				seq := protocol.Seq(0)
				for l, err := range ix.After(t.Context(), 0) {
					if err != nil || l.Seq <= seq {
						t.Errorf("%d behind %d: %v", l.Seq, seq, err)
						return
					}
					seq = l.Seq
				}
				if _, err := ix.Children(""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	leaf := protocol.EventID("")
	for range 300 {
		ev := w.user(leaf, "m")
		if err := log.Commit(t.Context(), []protocol.Event{ev}); err != nil {
			t.Fatal(err)
		}
		leaf = ev.ID
	}
	close(done)
	readers.Wait()
}

func TestCausesAreFoundInEventsAndHeader(t *testing.T) {
	w := newWorld(t)
	h := w.header()
	made := protocol.Cause{ClientID: protocol.ClientIDOf([]byte("a")), RequestID: protocol.NewRequestID(w.rand)}
	h.Cause = &made
	log, err := w.store.Create(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w.id = log.ID()
	cause := protocol.Cause{ClientID: protocol.ClientIDOf([]byte("b")), RequestID: protocol.NewRequestID(w.rand)}
	// The request is named in texts before and after the event that completes it.
	a := w.user("", `"requestId":"`+string(cause.RequestID)+`" "`+string(cause.RequestID)+`"`)
	b := w.user(a.ID, strings.Repeat("x", 2<<20))
	c := w.user(b.ID, "the one")
	c.Cause = &cause
	d := w.event(c.ID, &protocol.Custom{Kind: "k", Data: []byte(`{"cause":{"clientId":"x","requestId":"` + string(cause.RequestID) + `"}}`)})
	if err := log.Commit(t.Context(), []protocol.Event{a, b, c, d}); err != nil {
		t.Fatal(err)
	}
	ix := log.Index()
	if id, ok, err := ix.FindCause(t.Context(), cause.ClientID, cause.RequestID); id != c.ID || !ok || err != nil {
		t.Errorf("%q %t %v", id, ok, err)
	}
	if id, ok, err := ix.FindCause(t.Context(), made.ClientID, made.RequestID); id != "" || !ok || err != nil {
		t.Errorf("the header's: %q %t %v", id, ok, err)
	}
	if _, ok, err := ix.FindCause(t.Context(), made.ClientID, cause.RequestID); ok || err != nil {
		t.Errorf("another client's request is found: %v", err)
	}
	if _, ok, err := ix.FindCause(t.Context(), cause.ClientID, protocol.NewRequestID(w.rand)); ok || err != nil {
		t.Errorf("a request that never came is found: %v", err)
	}
}

func TestUnknownTypesAreKeptHoweverManyThereAre(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	leaf := protocol.EventID("")
	for i := range 400 {
		w.seq++
		id := protocol.NewEventID(w.rand)
		parent := "null"
		if leaf != "" {
			parent = `"` + string(leaf) + `"`
		}
		line := fmt.Sprintf(`{"type":"future_%d","id":"%s","parentId":%s,"seq":%d,"sessionId":"%s","clientId":"host","ts":1}`, i, id, parent, w.seq, w.id)
		ev, err := protocol.ParseEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Commit(t.Context(), []protocol.Event{ev}); err != nil {
			t.Fatal(err)
		}
		leaf = id
	}
	for _, typ := range []protocol.EventType{"future_0", "future_399", "future_400"} {
		n := 0
		for ev, err := range log.Index().OfType(t.Context(), typ) {
			if err != nil || ev.Type != typ {
				t.Fatalf("%s: %s %v", typ, ev.Type, err)
			}
			n++
		}
		if want := map[protocol.EventType]int{"future_400": 0}; typ != "future_400" && n != 1 || typ == "future_400" && n != want[typ] {
			t.Errorf("%d events of type %s", n, typ)
		}
	}
	if got, err := log.Index().Path(leaf); err != nil || len(got) != 400 {
		t.Fatalf("%d events on the path (%v)", len(got), err)
	}
}

func TestLabelsMetaAndPagesFollowTheLog(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a, b := w.user("", "a"), w.user("", "b")
	events := []protocol.Event{a, b,
		w.event(a.ID, &protocol.Label{TargetEventID: a.ID, Label: ptr("one")}),
		w.event(b.ID, &protocol.Label{TargetEventID: b.ID, Label: ptr("two")}),
		w.event(b.ID, &protocol.Label{TargetEventID: a.ID}),
		w.event(b.ID, &protocol.SessionInfo{Changes: protocol.MetaChanges{Model: ptr("c/d")}}),
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	ix := log.Index()
	if got, err := ix.Labels(t.Context()); err != nil || len(got) != 1 || got[b.ID] != "two" {
		t.Errorf("labels %v (%v)", got, err)
	}
	if got := ix.Meta(); got.Model != "c/d" || got.Name != "first" {
		t.Errorf("meta %+v", got)
	}
	for n, want := range map[int]int{0: 0, 2: 2, 6: 6, 100: 6} {
		got := 0
		for range ix.After(t.Context(), ix.Tail(n)) {
			got++
		}
		if got != want {
			t.Errorf("the last %d events are %d", n, got)
		}
	}
	for l, err := range ix.After(t.Context(), 2) {
		want, werr := events[l.Seq-1].SealAfter(l.Seq - 1)
		if err != nil || werr != nil || !bytes.Equal(l.Bytes, want.Raw()) || l.Type != events[l.Seq-1].Type || !l.Control {
			t.Errorf("%+v (%v, %v)", l, err, werr)
		}
	}
	roots, err := ix.Children("")
	if err != nil || !slices.Equal(roots, []protocol.EventID{a.ID, b.ID}) {
		t.Errorf("the conversation begins with %v (%v)", roots, err)
	}
}

func TestLinesThatAreDamagedInsideAreSkippedAndNoted(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "a")
	b := w.user(a.ID, "SPOIL")
	c := w.user(b.ID, "TEXT")
	if err := log.Commit(t.Context(), []protocol.Event{a, b, c}); err != nil {
		t.Fatal(err)
	}
	data := bytes.Replace(w.mem.Bytes(w.logName()), []byte("SPOIL"), []byte("a\\qbc"), 1)
	data = bytes.Replace(data, []byte("TEXT"), []byte("a\xffbc"), 1)
	log, _ = w.with(t, data).open(t)
	ix := log.Index()
	var seen []protocol.EventID
	for l, err := range ix.After(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(l.Bytes, []byte("\xff")) {
			t.Errorf("bytes that are not UTF-8 are given out: %q", l.Bytes)
		}
		seen = append(seen, l.ID)
	}
	if !slices.Equal(seen, []protocol.EventID{a.ID, c.ID}) {
		t.Errorf("given out: %v", seen)
	}
	back := 0
	for ev, err := range ix.Back(t.Context(), c.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if _, unknown := ev.Body.(*protocol.Unknown); unknown != (ev.ID == b.ID) {
			t.Errorf("event %s has body %T", ev.ID, ev.Body)
		}
		back++
	}
	if back != 3 {
		t.Errorf("%d events on the path", back)
	}
	if got := ix.Gaps(); !slices.Equal(got, []Gap{{After: a.ID, Before: b.ID}}) {
		t.Errorf("gaps %v", got)
	}
}

func TestEventKeysAreTheIDs(t *testing.T) {
	w := newWorld(t)
	for _, id := range []protocol.EventID{"evt_0000000000000000", "evt_vvvvvvvvvvvvvvvv", "evt_0123456789abcdef", "evt_ghijklmnopqrstuv", protocol.NewEventID(w.rand)} {
		if got := parseKey(id).id(); got != id || !isKey([]byte(id)) {
			t.Errorf("%s becomes %s", id, got)
		}
	}
	for _, id := range []string{"", "evt_", "evt_000000000000000w", "evt_000000000000000A", "ses_0000000000000000", "evt_00000000000000000"} {
		if isKey([]byte(id)) {
			t.Errorf("%q passes", id)
		}
	}
}
