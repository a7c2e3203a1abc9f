package session

import (
	"context"
	"fmt"

	"scorel/protocol"
)

// Repair rewrites a log so that it holds only its header and its whole events,
// each in a line of its own, with the bytes they have. The file as it was is kept
// beside it, durable before anything changes. Events hang together as before.
// A log that waits for its leaf to be picked gives ErrReadOnly. The report is
// what was found; other errors are those of Open.
func (s *Store) Repair(ctx context.Context, id protocol.SessionID) (Report, error) {
	log, report, err := s.Open(ctx, id)
	if err != nil {
		return Report{}, err
	}
	defer log.Close()
	log.mu.Lock()
	defer log.mu.Unlock()
	if log.readOnly != "" {
		return report, fmt.Errorf("repair session %s: %w: %s", id, ErrReadOnly, log.readOnly)
	}
	broken, err := log.ix.undecodable(ctx)
	if err != nil {
		return report, err
	}
	if report.Clean() && len(broken) == 0 {
		return report, nil
	}
	for i := range broken {
		e := &log.ix.entries[i]
		report.add(Finding{Kind: FindDamagedLine, Offset: e.off, EventID: e.id.id()})
	}
	aside, err := log.setAside(ctx, 0, log.ix.Size())
	if err != nil {
		return report, fmt.Errorf("repair session %s: %w: %w", id, ErrStorage, err)
	}
	if report.SetAside == "" {
		report.SetAside = aside
	}
	if err := log.compactFile(ctx, broken); err != nil {
		return report, fmt.Errorf("repair session %s: %w: %w", id, ErrStorage, err)
	}
	return report, nil
}

// undecodable gives the places of events that are damaged inside.
func (ix *Index) undecodable(ctx context.Context) (map[int]bool, error) {
	out := map[int]bool{}
	s := ix.snapshot()
	for i := range s.entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := ix.src.read(s.entries[i].off, int(s.entries[i].size))
		if err != nil {
			return nil, err
		}
		if _, err := protocol.ParseEvent(line); err != nil {
			out[i] = true
		}
	}
	return out, nil
}

// compactFile puts a file of only the sound lines in the place of the log. The
// log must not be used for anything but Close afterwards.
func (l *Log) compactFile(ctx context.Context, without map[int]bool) error {
	return l.store.replaceLog(l.name, func(put func([]byte) error) error {
		return l.ix.writeSound(ctx, put, without)
	})
}

func (ix *Index) writeSound(ctx context.Context, put func([]byte) error, without map[int]bool) error {
	head, err := ix.headerLine()
	if err != nil {
		return err
	}
	if err := put(append(head, '\n')); err != nil {
		return err
	}
	s := ix.snapshot()
	for i := range s.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if without[i] {
			continue
		}
		line, err := ix.src.read(s.entries[i].off, int(s.entries[i].size))
		if err != nil {
			return err
		}
		if err := put(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
