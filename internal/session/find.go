package session

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"scorel/protocol"
)

// Find gives the conversation events from leaf to the first, newest first, whose
// line contains one of the texts. Lines are searched as bytes and only those
// that match are decoded, so a walk over a long path is cheap.
func (ix *Index) Find(ctx context.Context, leaf protocol.EventID, texts ...string) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		i, err := ix.conversation(leaf)
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		s := ix.snapshot()
		var take []int32
		for i != none {
			take = take[:0]
			for ; i != none && len(take) < lastBatch; i = s.entries[i].parent {
				take = append(take, i)
			}
			if !ix.findIn(ctx, s, take, texts, yield) {
				return
			}
		}
	}
}

// findIn is Find over events that stand in take newest first.
func (ix *Index) findIn(ctx context.Context, s snapshot, take []int32, texts []string, yield func(protocol.Event, error) bool) bool {
	var buf []byte
	base := int64(-1)
	for n, i := range take {
		e := &s.entries[i]
		if base < 0 || e.off < base {
			err := ctx.Err()
			if err == nil {
				buf, base, err = s.readBack(ix.src, take[n:])
			}
			if err != nil {
				yield(protocol.Event{}, err)
				return false
			}
		}
		line := buf[e.off-base:][:e.size:e.size]
		if !slices.ContainsFunc(texts, func(t string) bool { return bytes.Contains(line, []byte(t)) }) {
			continue
		}
		ev, err := ix.decodeLine(e, slices.Clone(line))
		if !yield(ev, err) || err != nil {
			return false
		}
	}
	return true
}
