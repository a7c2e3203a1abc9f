package session

import (
	"context"
	"iter"
	"slices"

	"scorel/protocol"
)

// OfType returns all events of the types, of the whole log and in the order of
// seq. Nothing else is decoded.
func (ix *Index) OfType(ctx context.Context, types ...protocol.EventType) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		s := ix.snapshot()
		set, others := s.typeSet(types)
		for n := range s.entries {
			e := &s.entries[s.at(n)]
			if set[e.typ] && !ix.emit(ctx, e, types, others, yield) {
				return
			}
		}
	}
}

// emit decodes and yields one event, unless its type has no code and is not one
// of types.
func (ix *Index) emit(ctx context.Context, e *entry, types []protocol.EventType, others bool, yield func(protocol.Event, error) bool) bool {
	if err := ctx.Err(); err != nil {
		yield(protocol.Event{}, err)
		return false
	}
	ev, err := ix.decode(e)
	if err != nil {
		yield(protocol.Event{}, err)
		return false
	}
	if others && !slices.Contains(types, ev.Type) {
		return true
	}
	return yield(ev, nil)
}

// Controls returns the control events of the types that belong to the path of
// leaf, in the order of seq. One that hangs on an event of the path belongs to it
// if its seq is below that of the next event of the path; on the leaf all do.
// The empty leaf is the empty conversation.
func (ix *Index) Controls(ctx context.Context, leaf protocol.EventID, types ...protocol.EventType) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		i, err := ix.conversation(leaf)
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		s := ix.snapshot()
		set, others := s.typeSet(types)
		path := s.path(i)
		for n := range s.entries {
			e := &s.entries[s.at(n)]
			if e.flags&flagControl == 0 || !set[e.typ] || !s.belongs(e, path) {
				continue
			}
			if !ix.emit(ctx, e, types, others, yield) {
				return
			}
		}
	}
}

// belongs reports whether a control event belongs to a path.
func (s snapshot) belongs(e *entry, path []int32) bool {
	next := 0 // where the path goes on after the event that e hangs on
	if e.parent != none {
		at, ok := slices.BinarySearch(path, e.parent) // parents stand before their children in the file
		if !ok {
			return false
		}
		next = at + 1
	}
	return next == len(path) || e.seq < s.entries[path[next]].seq
}

// Meta is the header's meta, changed by all session_info events in the order of
// seq.
func (ix *Index) Meta() protocol.Meta {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.meta
}

// foldMeta folds the meta again, for a log whose order is not that of seq.
func (ix *Index) foldMeta(ctx context.Context) error {
	meta := ix.Header().Meta
	for ev, err := range ix.OfType(ctx, protocol.TypeSessionInfo) {
		if err != nil {
			return err
		}
		if info, ok := ev.Body.(*protocol.SessionInfo); ok {
			info.Changes.Apply(&meta)
		}
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.meta = meta
	return nil
}

// Labels returns the names that people gave to events.
func (ix *Index) Labels(ctx context.Context) (map[protocol.EventID]string, error) {
	labels := map[protocol.EventID]string{}
	for ev, err := range ix.OfType(ctx, protocol.TypeLabel) {
		if err != nil {
			return nil, err
		}
		l, ok := ev.Body.(*protocol.Label)
		switch {
		case !ok:
		case l.Label == nil:
			delete(labels, l.TargetEventID)
		default:
			labels[l.TargetEventID] = *l.Label
		}
	}
	return labels, nil
}
