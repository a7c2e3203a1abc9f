package session

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"scorel/internal/engine/session/rawlog"
	"scorel/protocol"
)

// FindCause returns the event that completed a request, found by a search through
// the bytes of the whole log. With found and an empty id the header did: the
// request made the session.
func (ix *Index) FindCause(ctx context.Context, client protocol.ClientID, request protocol.RequestID) (id protocol.EventID, found bool, err error) {
	h := ix.Header()
	if h.Cause != nil && h.Cause.ClientID == client && h.Cause.RequestID == request {
		return "", true, nil
	}
	quoted, err := json.Marshal(request)
	if err != nil {
		return "", false, err
	}
	s := ix.snapshot()
	err = ix.search(ctx, quoted, func(place int64) bool {
		id, found = ix.hasCause(s, place, client, request)
		return !found
	})
	return id, found, err
}

// Names reports whether an event of the log names a payload
// ([protocol.Event.Payloads]). It looks at the events in which the name stands.
func (ix *Index) Names(ctx context.Context, sha256 string) (found bool, err error) {
	if !protocol.IsPayload(sha256) {
		return false, nil
	}
	s := ix.snapshot()
	looked := int64(-1) // the event that was looked at last
	err = ix.search(ctx, []byte(sha256), func(place int64) bool {
		e := s.covers(place)
		if e == nil || e.off == looked {
			return true
		}
		looked = e.off
		line, err := ix.src.read(e.off, int(e.size))
		if err != nil {
			return true
		}
		ev, err := protocol.ParseEvent(line)
		found = err == nil && slices.Contains(ev.Payloads(), sha256)
		return !found
	})
	return found, err
}

// covers returns the event in whose bytes a place of the file is, nil for none.
func (s snapshot) covers(place int64) *entry {
	if s.mixed {
		n := slices.IndexFunc(s.entries, func(e entry) bool { return e.off <= place && place < e.off+int64(e.size) })
		if n < 0 {
			return nil
		}
		return &s.entries[n]
	}
	n, _ := slices.BinarySearchFunc(s.entries, place, func(e entry, place int64) int {
		if e.off+int64(e.size) <= place {
			return -1
		}
		return 1
	})
	if n == len(s.entries) || s.entries[n].off > place {
		return nil
	}
	return &s.entries[n]
}

// search calls visit with each place of the log where the text begins, until it
// returns false.
func (ix *Index) search(ctx context.Context, text []byte, visit func(place int64) bool) error {
	size, overlap := ix.Size(), int64(len(text))
	buf := make([]byte, min(rawlog.BlockSize, size))
	for off := int64(0); off < size; off += int64(len(buf)) - overlap {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := buf[:min(int64(len(buf)), size-off)]
		if err := rawlog.ReadFull(ix.src.readAt, p, off); err != nil {
			return err
		}
		for at := 0; ; at++ {
			i := bytes.Index(p[at:], text)
			if i < 0 {
				break
			}
			at += i
			if !visit(off + int64(at)) {
				return nil
			}
		}
		if off+int64(len(p)) == size {
			break
		}
	}
	return nil
}

// hasCause looks at the event that covers a place of the file.
func (ix *Index) hasCause(s snapshot, place int64, client protocol.ClientID, request protocol.RequestID) (protocol.EventID, bool) {
	e := s.covers(place)
	if e == nil {
		return "", false
	}
	line, err := ix.src.read(e.off, int(e.size))
	if err != nil {
		return "", false
	}
	env, err := protocol.ScanEnvelope(line)
	if err != nil || env.Cause == nil || env.Cause.ClientID != client || env.Cause.RequestID != request {
		return "", false
	}
	return env.ID, true
}
