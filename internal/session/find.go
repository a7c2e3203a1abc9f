package session

import (
	"bytes"
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"scorel/protocol"
)

// Find gives the conversation events from leaf to the first, newest first, whose
// line contains one of the texts. Lines are searched as bytes, on all cores, and
// only those that match are decoded, so a walk over a long path is cheap.
func (ix *Index) Find(ctx context.Context, leaf protocol.EventID, texts ...string) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		i, err := ix.conversation(leaf)
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		s, want := ix.snapshot(), newNeedles(texts)
		var buffers sync.Pool
		next := func() func(context.Context) batch {
			if i == none {
				return nil
			}
			var take []int32
			for ; i != none && len(take) < lastBatch; i = s.entries[i].parent {
				take = append(take, i)
			}
			return func(ctx context.Context) batch { return ix.findIn(ctx, s, take, want, &buffers) }
		}
		ordered(ctx, runtime.GOMAXPROCS(0), next, func(b batch) bool {
			for _, ev := range b.events {
				if !yield(ev, nil) {
					return false
				}
			}
			if b.err != nil {
				yield(protocol.Event{}, b.err)
			}
			return b.err == nil
		})
	}
}

// findIn is Find over events that stand in take newest first.
func (ix *Index) findIn(ctx context.Context, s snapshot, take []int32, want needles, buffers *sync.Pool) batch {
	var b batch
	buf, _ := buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer buffers.Put(buf)
	base := int64(-1)
	for n, i := range take {
		e := &s.entries[i]
		if base < 0 || e.off < base {
			if b.err = ctx.Err(); b.err == nil {
				*buf, base, b.err = s.readBack(ix.src, take[n:], *buf)
			}
			if b.err != nil {
				return b
			}
		}
		line := (*buf)[e.off-base:][:e.size:e.size]
		if !want.in(line) {
			continue
		}
		ev, err := ix.decodeLine(e, slices.Clone(line))
		if err != nil {
			b.err = err
			return b
		}
		b.events = append(b.events, ev)
	}
	return b
}

// needles are texts that are looked for together: first for how they all begin,
// so that a line is searched once.
type needles struct {
	start []byte
	rests [][]byte // behind start
}

func newNeedles(texts []string) needles {
	var n needles
	if len(texts) == 0 {
		return n
	}
	start := texts[0]
	for _, t := range texts {
		for !strings.HasPrefix(t, start) {
			start = start[:len(start)-1]
		}
	}
	n.start = []byte(start)
	for _, t := range texts {
		n.rests = append(n.rests, []byte(t[len(start):]))
	}
	return n
}

// in says whether one of the texts stands in line.
func (n needles) in(line []byte) bool {
	if len(n.start) == 0 {
		return slices.ContainsFunc(n.rests, func(t []byte) bool { return bytes.Contains(line, t) })
	}
	for {
		i := bytes.Index(line, n.start)
		if i < 0 {
			return false
		}
		line = line[i+len(n.start):]
		if slices.ContainsFunc(n.rests, func(t []byte) bool { return bytes.HasPrefix(line, t) }) {
			return true
		}
	}
}
