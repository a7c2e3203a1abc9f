package session

import (
	"context"
	"iter"
	"runtime"
	"slices"

	"scorel/internal/engine/session/ordered"
	"scorel/protocol"
)

// Parent returns the event that id hangs on; empty when it is the first of its
// path. Behind a gap this is not the parent that is in the line.
func (ix *Index) Parent(id protocol.EventID) (protocol.EventID, error) {
	i, err := ix.mustLookup(id)
	if err != nil {
		return "", err
	}
	s := ix.snapshot()
	return s.idAt(s.entries[i].parent), nil
}

func (s snapshot) idAt(i int32) protocol.EventID {
	if i == none {
		return ""
	}
	return s.entries[i].id.id()
}

// Children returns the conversation events that hang on id, oldest first; those of
// the empty id begin the conversation.
func (ix *Index) Children(id protocol.EventID) ([]protocol.EventID, error) {
	i, err := ix.conversation(id)
	if err != nil {
		return nil, err
	}
	var out []protocol.EventID
	for _, c := range ix.children(i) {
		out = append(out, ix.snapshot().entries[c].id.id())
	}
	return out, nil
}

func (ix *Index) children(i int32) []int32 {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	c := ix.root.child
	if i != none {
		c = ix.links[i].child
	}
	var out []int32
	for ; c != none; c = ix.links[c].next {
		out = append(out, c)
	}
	slices.Reverse(out)
	return out
}

// Path returns the conversation events from the first to leaf; nothing for the
// empty id.
func (ix *Index) Path(leaf protocol.EventID) ([]protocol.EventID, error) {
	i, err := ix.conversation(leaf)
	if err != nil {
		return nil, err
	}
	s := ix.snapshot()
	path := s.path(i)
	out := make([]protocol.EventID, len(path))
	for n, p := range path {
		out[n] = s.entries[p].id.id()
	}
	return out, nil
}

// MovesSinceConversation returns the rewinds and branches after the newest conversation
// event that is no branch summary, newest first: those after which nothing was said.
func (ix *Index) MovesSinceConversation(ctx context.Context) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		s := ix.snapshot()
		for n := len(s.entries) - 1; n >= 0; n-- {
			e := &s.entries[s.at(n)]
			switch {
			case e.flags&flagControl == 0 && !s.is(e, protocol.TypeBranchSummary):
				return
			case e.flags&flagControl == 0 || !s.is(e, protocol.TypeRewind, protocol.TypeBranch):
				continue
			}
			ev, err := ix.decode(e)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// pathBits are the events of one path, a bit for each event of the log. They are not
// changed: events never are.
type pathBits struct {
	leaf int32
	bits []uint64
}

func (p *pathBits) has(i int32) bool {
	return int(i/64) < len(p.bits) && p.bits[i/64]&(1<<(i%64)) != 0
}

// OnPath returns a function that reports whether an event is on the path to leaf. The last path
// that was asked for is remembered.
func (ix *Index) OnPath(leaf protocol.EventID) (func(protocol.EventID) bool, error) {
	i, err := ix.conversation(leaf)
	if err != nil {
		return nil, err
	}
	p := ix.lastPath.Load()
	if p == nil || p.leaf != i {
		s := ix.snapshot()
		p = &pathBits{leaf: i, bits: make([]uint64, len(s.entries)/64+1)}
		for at := i; at != none; at = s.entries[at].parent {
			p.bits[at/64] |= 1 << (at % 64)
		}
		ix.lastPath.Store(p)
	}
	return func(id protocol.EventID) bool {
		at, err := ix.mustLookup(id)
		return err == nil && p.has(at)
	}, nil
}

// Depth returns how many conversation events there are from the first to id.
func (ix *Index) Depth(id protocol.EventID) (n int, err error) {
	i, err := ix.conversation(id)
	if err != nil {
		return 0, err
	}
	for s := ix.snapshot(); i != none; i = s.entries[i].parent {
		n++
	}
	return n, nil
}

// path returns the indices from the first event to i.
func (s snapshot) path(i int32) []int32 {
	var out []int32
	for ; i != none; i = s.entries[i].parent {
		out = append(out, i)
	}
	slices.Reverse(out)
	return out
}

// Back returns the conversation events from leaf to the first, newest first. They
// are decoded ahead on all cores, but never beyond a compact event before the
// consumer has asked for what is behind it. An event that is damaged inside has
// an Unknown body. An error ends the iteration.
func (ix *Index) Back(ctx context.Context, leaf protocol.EventID) iter.Seq2[protocol.Event, error] {
	return ix.back(ctx, leaf, false)
}

// Texts is an index whose Back gives messages without their lines ([protocol.Reader]): who
// keeps those of a long path holds about half of the memory.
type Texts struct{ *Index }

// Back is [Index.Back] without the lines of messages.
func (t Texts) Back(ctx context.Context, leaf protocol.EventID) iter.Seq2[protocol.Event, error] {
	return t.back(ctx, leaf, true)
}

func (ix *Index) back(ctx context.Context, leaf protocol.EventID, bare bool) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		i, err := ix.conversation(leaf)
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		w := &backWalk{ix: ix, s: ix.snapshot(), at: i, size: firstBatch}
		w.compact = int16(slices.Index(w.s.types, protocol.TypeCompact))
		if bare {
			w.readers = make(chan *lineReader, runtime.GOMAXPROCS(0)) // as many as batches are decoded at once
		}
		for w.at != none {
			if !w.stretch(ctx, yield) {
				return
			}
		}
	}
}

// How many events are decoded at once. A walk begins small, because most are
// over after a compact event and its tail, and doubles.
const (
	firstBatch = 16
	lastBatch  = 256
)

type backWalk struct {
	ix      *Index
	s       snapshot
	at      int32 // next event of the walk
	size    int
	compact int16            // type code, -1
	readers chan *lineReader // those not in use; nil: lines are kept
}

// lineReader decodes lines without keeping them.
type lineReader struct {
	buf []byte
	protocol.Reader
}

// reader gets one to itself, until it is put back.
func (w *backWalk) reader() *lineReader {
	if w.readers == nil {
		return nil
	}
	select {
	case r := <-w.readers:
		return r
	default:
		return &lineReader{}
	}
}

func (w *backWalk) putBack(r *lineReader) {
	if r == nil {
		return
	}
	select {
	case w.readers <- r:
	default:
	}
}

type batch struct {
	events []protocol.Event
	err    error
}

// stretch walks to the next compact event, or to the first event, and says
// whether the consumer wants more.
func (w *backWalk) stretch(ctx context.Context, yield func(protocol.Event, error) bool) bool {
	barrier, want := false, true
	next := func() func(context.Context) batch {
		if barrier || w.at == none {
			return nil
		}
		var take []int32
		for len(take) < w.size && w.at != none && !barrier {
			take = append(take, w.at)
			barrier = int16(w.s.entries[w.at].typ) == w.compact
			w.at = w.s.entries[w.at].parent
		}
		w.size = min(2*w.size, lastBatch)
		return func(ctx context.Context) batch {
			r := w.reader()
			defer w.putBack(r)
			return w.ix.decodeBatch(ctx, w.s, take, r)
		}
	}
	width := runtime.GOMAXPROCS(0)
	ordered.Run(ctx, width, next, func(b batch) bool {
		for _, ev := range b.events {
			if !yield(ev, nil) {
				want = false
				return false
			}
		}
		if b.err != nil {
			want = false
			yield(protocol.Event{}, b.err)
		}
		return want
	})
	return want
}

// decodeBatch decodes events that are in take newest first, with as few reads
// as their places allow. With a reader nothing of the lines is kept.
func (ix *Index) decodeBatch(ctx context.Context, s snapshot, take []int32, r *lineReader) batch {
	b := batch{events: make([]protocol.Event, 0, len(take))}
	var buf []byte
	if r != nil {
		buf = r.buf
		defer func() { r.buf = buf }()
	}
	base := int64(-1)
	for n, i := range take {
		if b.err = ctx.Err(); b.err != nil {
			return b
		}
		e := &s.entries[i]
		if base < 0 || e.off < base || e.off+int64(e.size) > base+int64(len(buf)) { // behind only where entries are mixed
			if r == nil {
				buf = nil // events keep what was read
			}
			if buf, base, b.err = s.readBack(ix.src, take[n:], buf); b.err != nil {
				return b
			}
		}
		ev, err := ix.decodeLine(e, buf[e.off-base:][:e.size:e.size], r)
		if err != nil {
			b.err = err
			return b
		}
		b.events = append(b.events, ev)
	}
	return b
}

// readBack reads a stretch of the file that ends with the first event of take
// and begins with a later one of take, with little between them that is not
// wanted: what is read stays in memory as long as one of its events. It reads
// into buf where that is large enough.
func (s snapshot) readBack(src *source, take []int32, buf []byte) ([]byte, int64, error) {
	end := s.entries[take[0]].off + int64(s.entries[take[0]].size)
	start := s.entries[take[0]].off
	for _, i := range take[1:] {
		e := &s.entries[i]
		if gap := start - e.off - int64(e.size); gap < 0 || gap > 1024 || end-e.off > runSize {
			break
		}
		start = e.off
	}
	if n := int(end - start); n <= cap(buf) {
		buf = buf[:n]
	} else {
		buf = make([]byte, n)
	}
	return buf, start, src.readInto(buf, start)
}
