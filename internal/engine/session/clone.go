package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Clone makes a log of the path to h.ClonedFrom.EventID (empty: the leaf) in
// another log, with the control events that belong to that path, and is its
// writer. Ids and seqs stay, only the sessionId of each line changes. Moves of
// the leaf that come after the event are left out, so that the new leaf is the
// event. Where damage may have moved the leaf, the event must be named (ErrReadOnly). An empty Meta is that of the source as it is now. The rest of the header is
// filled in as by Create, with its errors; all of the log is made or nothing.
// The source may be in use. Payloads that the copied events name and that the store has not
// are given, too: the clone lacks them as the source does.
// Own are control events of the clone, which stand after those that are copied; all but their
// bodies and clients is filled in.
func (s *Store) Clone(ctx context.Context, from protocol.SessionID, h protocol.Header, own ...protocol.Event) (log *Log, lost Lost, err error) {
	v, report, err := s.View(ctx, from)
	if err != nil {
		return nil, Lost{}, fmt.Errorf("clone: %w", err)
	}
	defer v.Close()
	var at protocol.EventID
	if h.ClonedFrom != nil {
		at = h.ClonedFrom.EventID
	}
	if at == "" {
		if report.NeedsLeaf {
			return nil, Lost{}, fmt.Errorf("clone: session %s: %w: %s", from, ErrReadOnly, report.ReadOnly)
		}
		at = v.ix.Leaf()
	}
	leaf, err := v.ix.conversation(at)
	if err != nil {
		return nil, Lost{}, fmt.Errorf("clone: %w", err)
	}
	source := v.ix.Header()
	if source.Version > protocol.HeaderVersion {
		return nil, Lost{}, fmt.Errorf("clone: session %s: %w: it was written by a later version of Scorel; update Scorel to copy it", from, ErrReadOnly)
	}
	h.ImportedThrough, h.CopiedThrough = source.ImportedThrough, v.ix.copiedThrough(leaf)
	h.ClonedFrom = &protocol.ClonedFrom{SessionID: from, DeviceID: source.DeviceID, EventID: at}
	if h.Meta == (protocol.Meta{}) {
		h.Meta = v.ix.Meta()
	}
	log, err = s.make(ctx, h, func(id protocol.SessionID, put func([]byte) error) error {
		lost = Lost{}
		last, err := v.ix.copyPath(ctx, leaf, id, s.Blobs(), &lost, put)
		if err != nil {
			return err
		}
		for i, ev := range own {
			ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(s.cfg.Rand), at, max(h.CopiedThrough, h.ImportedThrough)+1+protocol.Seq(i)
			ev.SessionID, ev.TS = id, s.cfg.Now().UnixMilli()
			if ev, err = ev.SealAfter(last); err != nil {
				return err
			}
			last = ev.Seq
			if err := put(append(ev.Raw(), '\n')); err != nil {
				return err
			}
		}
		return nil
	})
	return log, lost, err
}

// copied returns the events of a clone.
func (s snapshot) copied(leaf int32) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		path := s.path(leaf)
		on := 0 // path[on] is the next event of the path
		for i := range s.entries {
			e := &s.entries[i]
			switch {
			case on < len(path) && path[on] == int32(i):
				on++
			case e.flags&flagControl == 0 || !s.belongs(e, path):
				continue
			case on == len(path) && s.is(e, protocol.TypeRewind, protocol.TypeBranch):
				continue
			case s.is(e, protocol.TypeQueueUpdate):
				continue // what waits is the source's to say, once
			case s.is(e, protocol.TypeSessionInfo):
				continue // the header of the clone says all of it
			}
			if !yield(e) {
				return
			}
		}
	}
}

// copiedThrough returns the highest seq of a clone, at least 1: without one it would be
// unknown.
func (ix *Index) copiedThrough(leaf int32) protocol.Seq {
	last := protocol.Seq(1)
	for e := range ix.snapshot().copied(leaf) {
		last = max(last, protocol.Seq(e.seq))
	}
	return last
}

// copyPath returns the lines of a clone, with newlines, and keeps the payloads that they
// name: the source may be deleted at any moment. Those that are missing go to lost. The last
// line has the seq that it returns.
func (ix *Index) copyPath(ctx context.Context, leaf int32, id protocol.SessionID, blobs *Blobs, lost *Lost, put func([]byte) error) (last protocol.Seq, err error) {
	for e := range ix.snapshot().copied(leaf) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		line, err := ix.src.read(e.off, int(e.size))
		if err != nil {
			return 0, err
		}
		if line, err = protocol.WithSession(line, id); err != nil {
			return 0, fmt.Errorf("event %s: %w", e.id.id(), err)
		}
		if ev, err := protocol.ParseEvent(line); err == nil { // else it names nothing that can be told
			for _, sha := range ev.Payloads() {
				switch err := blobs.Keep(sha); {
				case errors.Is(err, ErrNoBlob):
					lost.Add(sha, err)
				case err != nil:
					return 0, err
				}
			}
		}
		if err := put(append(line, '\n')); err != nil {
			return 0, err
		}
		last = protocol.Seq(e.seq)
	}
	return last, nil
}

// is reports whether an event is of one of the types.
func (s snapshot) is(e *entry, types ...protocol.EventType) bool {
	return e.typ != otherType && slices.Contains(types, s.types[e.typ])
}

// appender writes to the end of a file in large pieces.
type appender struct {
	file disk.File
	buf  []byte
	end  int64
	err  error // of the last write
}

func (a *appender) put(p []byte) error {
	a.buf = append(a.buf, p...)
	if len(a.buf) < rawlog.BlockSize {
		return nil
	}
	return a.flush()
}

func (a *appender) flush() error {
	_, a.err = a.file.WriteAt(a.buf, a.end)
	a.end += int64(len(a.buf))
	a.buf = a.buf[:0]
	return a.err
}
