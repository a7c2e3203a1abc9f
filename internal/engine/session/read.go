package session

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// decode reads and decodes one event. A line that turns out to be damaged inside
// gives an event with an Unknown body and without bytes, so that it is skipped
// and never sent on; the index remembers a gap there.
func (ix *Index) decode(e *entry) (protocol.Event, error) {
	line, err := ix.src.read(e.off, int(e.size))
	if err != nil {
		return protocol.Event{}, err
	}
	return ix.decodeLine(e, line, nil)
}

// decodeLine decodes a line, which it keeps unless it is given a reader.
func (ix *Index) decodeLine(e *entry, line []byte, r *lineReader) (protocol.Event, error) {
	var ev protocol.Event
	var err error
	if r != nil {
		ev, err = r.Parse(line)
	} else {
		ev, err = protocol.ParseEvent(line)
	}
	if err == nil {
		return ev, nil
	}
	env, scanErr := protocol.ScanEnvelope(line)
	if scanErr != nil {
		return protocol.Event{}, fmt.Errorf("event %s of %s: %w", e.id.id(), ix.id, scanErr)
	}
	ix.noteDamage(e)
	return protocol.Event{Envelope: env, Body: &protocol.Unknown{Type: env.Type}}, nil
}

// noteDamage records that an event could not be decoded.
func (ix *Index) noteDamage(e *entry) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	gap := Gap{After: "", Before: e.id.id(), Control: e.flags&flagControl != 0}
	if e.parent != none {
		gap.After = ix.entries[e.parent].id.id()
	}
	if len(ix.gaps) < health.Max && !slices.Contains(ix.gaps, gap) {
		ix.gaps = append(ix.gaps, gap)
	}
}

// Event returns one event.
func (ix *Index) Event(ctx context.Context, id protocol.EventID) (protocol.Event, error) {
	if err := ctx.Err(); err != nil {
		return protocol.Event{}, err
	}
	i, err := ix.mustLookup(id)
	if err != nil {
		return protocol.Event{}, err
	}
	return ix.decode(&ix.snapshot().entries[i])
}

// Line is one event as it stands in the log.
type Line struct {
	ID      protocol.EventID
	Type    protocol.EventType // empty for rare unknown types; the bytes have it
	Seq     protocol.Seq
	Control bool
	Bytes   []byte // valid JSON and valid UTF-8, without a newline; the caller's to keep
}

// After returns the events with a seq above seq, in the order of seq, as they
// stand in the log when the iteration begins. Lines that are not valid JSON are
// left out (Gaps names them) and bytes that are not UTF-8 are replaced, so that
// what comes out can be sent on.
func (ix *Index) After(ctx context.Context, seq protocol.Seq) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for l, err := range ix.lines(ctx, seq) {
			if err != nil {
				yield(Line{}, err)
				return
			}
			if !json.Valid(l.line) {
				ix.noteDamage(l.entry)
				continue
			}
			e := l.entry
			out := Line{ID: e.id.id(), Seq: protocol.Seq(e.seq), Control: e.flags&flagControl != 0, Bytes: l.line}
			if e.typ != otherType {
				out.Type = l.s.types[e.typ]
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// EventsAfter is After with the events parsed. What does not fit its type is left out
// too.
func (ix *Index) EventsAfter(ctx context.Context, seq protocol.Seq) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for l, err := range ix.lines(ctx, seq) {
			if err != nil {
				yield(protocol.Event{}, err)
				return
			}
			e, err := protocol.ParseEvent(l.line)
			if err != nil {
				if !json.Valid(l.line) {
					ix.noteDamage(l.entry)
				}
				continue
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// rawLine is a line as the log has it.
type rawLine struct {
	s     *snapshot
	entry *entry
	line  []byte // valid UTF-8; the reader's to keep
}

// lines returns the lines of the events with a seq above seq, in the order of seq.
func (ix *Index) lines(ctx context.Context, seq protocol.Seq) iter.Seq2[rawLine, error] {
	return func(yield func(rawLine, error) bool) {
		s := ix.snapshot()
		from := s.firstAbove(seq)
		for n := from; n < len(s.entries); {
			if err := ctx.Err(); err != nil {
				yield(rawLine{}, err)
				return
			}
			count, buf, err := s.readRun(ix.src, n)
			if err != nil {
				yield(rawLine{}, err)
				return
			}
			base := s.entries[s.at(n)].off
			for ; count > 0; count, n = count-1, n+1 {
				e := &s.entries[s.at(n)]
				line := buf[e.off-base:][:e.size:e.size]
				if !utf8.Valid(line) {
					line = []byte(string([]rune(string(line)))) // each bad byte becomes U+FFFD
				}
				if !yield(rawLine{&s, e, line}, nil) {
					return
				}
			}
		}
	}
}

// Tail returns the seq after which the last n events stand, for After.
func (ix *Index) Tail(n int) protocol.Seq {
	s := ix.snapshot()
	if n >= len(s.entries) {
		return 0
	}
	if n <= 0 {
		n = 0
		if len(s.entries) == 0 {
			return 0
		}
	}
	return protocol.Seq(s.entries[s.at(len(s.entries)-n-1)].seq)
}

// firstAbove returns the place in the order of seq of the first event above seq.
func (s snapshot) firstAbove(seq protocol.Seq) int {
	lo, hi := 0, len(s.entries)
	for lo < hi {
		mid := (lo + hi) / 2
		if s.entries[s.at(mid)].seq > uint64(seq) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// runSize bounds what one read of readRun takes, beyond a single event.
const runSize = 256 << 10

// readRun reads the events from place n on, in the order of seq, that stand
// after each other in the file.
func (s snapshot) readRun(src *source, n int) (count int, buf []byte, err error) {
	first := &s.entries[s.at(n)]
	end := first.off + int64(first.size)
	for count = 1; n+count < len(s.entries); count++ {
		e := &s.entries[s.at(n+count)]
		next := e.off + int64(e.size)
		if e.off < end || e.off > end+4096 || next-first.off > runSize {
			break
		}
		end = next
	}
	buf, err = src.read(first.off, int(end-first.off))
	return count, buf, err
}
