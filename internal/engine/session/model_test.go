package session

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// oracle is the plainest thing that folds a log: a list of events.
type oracle struct{ events []protocol.Event }

func (o *oracle) leaf() protocol.EventID {
	leaf := protocol.EventID("")
	known := map[protocol.EventID]bool{}
	for _, ev := range o.events {
		switch b := ev.Body.(type) {
		case *protocol.Rewind:
			if b.TargetEventID == nil {
				leaf = ""
			} else if known[*b.TargetEventID] {
				leaf = *b.TargetEventID
			}
		case *protocol.Branch:
			if known[b.LeafEventID] {
				leaf = b.LeafEventID
			}
		}
		if !ev.Control {
			known[ev.ID] = true
			leaf = ev.ID
		}
	}
	return leaf
}

func (o *oracle) find(id protocol.EventID) protocol.Event {
	i := slices.IndexFunc(o.events, func(ev protocol.Event) bool { return ev.ID == id })
	return o.events[i]
}

func (o *oracle) path(leaf protocol.EventID) []protocol.EventID {
	var out []protocol.EventID
	for id := leaf; id != ""; id = o.find(id).ParentID {
		out = append(out, id)
	}
	slices.Reverse(out)
	return out
}

func (o *oracle) controls(leaf protocol.EventID) []protocol.EventID {
	path := o.path(leaf)
	next := map[protocol.EventID]protocol.Seq{} // after each event of the path
	before := protocol.EventID("")
	for _, id := range path {
		next[before] = o.find(id).Seq
		before = id
	}
	var out []protocol.EventID
	for _, ev := range o.events {
		on := ev.ParentID == "" || slices.Contains(path, ev.ParentID)
		limit, ok := next[ev.ParentID]
		if ev.Control && on && (!ok || ev.Seq < limit) {
			out = append(out, ev.ID)
		}
	}
	return out
}

func (o *oracle) conversation() []protocol.EventID {
	var out []protocol.EventID
	for _, ev := range o.events {
		if !ev.Control {
			out = append(out, ev.ID)
		}
	}
	return out
}

func controlTypes() []protocol.EventType {
	return []protocol.EventType{protocol.TypeRewind, protocol.TypeBranch, protocol.TypeLabel, protocol.TypeSessionInfo}
}

func TestIndexAgreesWithAPlainFold(t *testing.T) {
	harness.Computed(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		log, err := w.store.Create(t.Context(), w.header())
		if err != nil {
			rt.Fatal(err)
		}
		w.id = log.ID()
		defer func() { _ = log.Close() }()
		o := &oracle{}
		commit := func(events ...protocol.Event) {
			if err := log.Commit(t.Context(), events); err != nil {
				rt.Fatal(err)
			}
			o.events = append(o.events, events...)
		}
		some := func() protocol.EventID {
			all := append(o.conversation(), "")
			return rapid.SampledFrom(all).Draw(rt, "event")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				var events []protocol.Event
				leaf := o.leaf()
				for range rapid.IntRange(1, 5).Draw(rt, "events") {
					ev := w.user(leaf, "m")
					leaf = ev.ID
					events = append(events, ev)
				}
				w.seq += protocol.Seq(rapid.IntRange(0, 3).Draw(rt, "gap"))
				commit(events...)
			},
			"compact": func(rt *rapid.T) {
				leaf := o.leaf()
				if leaf == "" {
					rt.Skip()
				}
				commit(w.event(leaf, &protocol.Compact{Summary: "s", CompactedThrough: leaf}))
			},
			"rewind": func(rt *rapid.T) {
				to := some()
				if to == "" {
					commit(w.rewind(o.leaf(), nil))
					return
				}
				commit(w.rewind(o.leaf(), &to))
			},
			"branch": func(rt *rapid.T) { commit(w.event(o.leaf(), &protocol.Branch{LeafEventID: some()})) },
			"label on anything": func(rt *rapid.T) {
				commit(w.event(some(), &protocol.Label{TargetEventID: protocol.NewEventID(w.rand), Label: ptr("l")}))
			},
			"rename": func(rt *rapid.T) {
				commit(w.event(o.leaf(), &protocol.SessionInfo{Changes: protocol.MetaChanges{Name: ptr(fmt.Sprint(w.seq))}}))
			},
			"reopen": func(rt *rapid.T) {
				if err := log.Close(); err != nil {
					rt.Fatal(err)
				}
				var report health.Report
				if log, report, err = w.store.Open(t.Context(), w.id); err != nil || !report.Clean() {
					rt.Fatal(err, report.Sentences())
				}
			},
			"clone": func(rt *rapid.T) {
				at := some()
				if at == "" {
					rt.Skip()
				}
				checkClone(t, rt, w, o, at)
			},
			"": func(rt *rapid.T) { compare(t, rt, log.Index(), o, some()) },
		})
	})
}

// compare holds an index against the oracle, at the leaf and at another event.
func compare(t *testing.T, rt *rapid.T, ix *Index, o *oracle, other protocol.EventID) {
	if got, want := ix.Leaf(), o.leaf(); got != want {
		rt.Fatalf("leaf %s, want %s", got, want)
	}
	name := "first"
	for _, ev := range o.events {
		if b, ok := ev.Body.(*protocol.SessionInfo); ok {
			name = *b.Changes.Name
		}
	}
	if got := ix.Meta().Name; got != name {
		rt.Fatalf("name %q, want %q", got, name)
	}
	for _, leaf := range []protocol.EventID{o.leaf(), other} {
		want := o.path(leaf)
		if got, err := ix.Path(leaf); err != nil || !slices.Equal(got, want) {
			rt.Fatalf("path to %s: %v (%v), want %v", leaf, got, err, want)
		}
		var back, controls []protocol.EventID
		for ev, err := range ix.Back(t.Context(), leaf) {
			if err != nil {
				rt.Fatal(err)
			}
			back = append(back, ev.ID)
		}
		slices.Reverse(back)
		if !slices.Equal(back, want) {
			rt.Fatalf("back from %s: %v, want %v", leaf, back, want)
		}
		for ev, err := range ix.Controls(t.Context(), leaf, controlTypes()...) {
			if err != nil {
				rt.Fatal(err)
			}
			controls = append(controls, ev.ID)
		}
		if want := o.controls(leaf); !slices.Equal(controls, want) {
			rt.Fatalf("controls of %s: %v, want %v", leaf, controls, want)
		}
		var children []protocol.EventID
		for _, ev := range o.events {
			if !ev.Control && ev.ParentID == leaf {
				children = append(children, ev.ID)
			}
		}
		if got, err := ix.Children(leaf); err != nil || !slices.Equal(got, children) {
			rt.Fatalf("children of %s: %v (%v), want %v", leaf, got, err, children)
		}
	}
}

// checkClone clones at an event and holds the clone against the oracle.
func checkClone(t *testing.T, rt *rapid.T, w *world, o *oracle, at protocol.EventID) {
	h := w.header()
	h.ClonedFrom = &protocol.ClonedFrom{EventID: at}
	clone, _, err := w.store.Clone(t.Context(), w.id, h)
	if err != nil {
		rt.Fatal(err)
	}
	defer clone.Close()
	ix := clone.Index()
	if ix.Leaf() != at {
		rt.Fatalf("the clone's leaf is %s, want %s", ix.Leaf(), at)
	}
	want := append(o.path(at), o.controls(at)...)
	want = slices.DeleteFunc(want, func(id protocol.EventID) bool {
		ev := o.find(id)
		move := ev.Type == protocol.TypeRewind || ev.Type == protocol.TypeBranch
		return move && ev.Seq > o.find(at).Seq || ev.Type == protocol.TypeSessionInfo // the header says what that said
	})
	slices.SortFunc(want, func(a, b protocol.EventID) int { return int(o.find(a).Seq) - int(o.find(b).Seq) })
	if got := ids(t, ix); !slices.Equal(got, want) {
		rt.Fatalf("the clone has %v, want %v", got, want)
	}
	for l, err := range ix.After(t.Context(), 0) {
		if err != nil {
			rt.Fatal(err)
		}
		env, err := protocol.ScanEnvelope(l.Bytes)
		if err != nil || env.SessionID != clone.ID() || env.Seq != o.find(l.ID).Seq {
			rt.Fatalf("%s: %v", l.Bytes, err)
		}
	}
}
