package session

import (
	"context"
	"fmt"
	"slices"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// Repair rewrites a log so that it holds only its header and its whole events,
// each in a line of its own, with the bytes they have. The file as it was is kept
// beside it, durable before anything changes. Events hang together as before, and a
// repair event names the gaps that are there since. What was changed and can still be
// read stays, with its mark. A log that waits for its leaf to be picked, or that a later
// version wrote, gives ErrReadOnly. The report is what was found; other errors are
// those of Open.
func (s *Store) Repair(ctx context.Context, id protocol.SessionID) (health.Report, error) {
	log, report, err := s.Open(ctx, id)
	if err != nil {
		return health.Report{}, err
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
	if len(broken) == 0 && !slices.ContainsFunc(report.Findings, func(f health.Finding) bool { return !f.Stays() }) {
		return report, nil
	}
	if report.Has(health.ChangedHeader) {
		log.ix.headerAt = [2]int{} // it is written as it was read
	}
	for i := range broken {
		e := &log.ix.entries[i]
		report.Add(health.Finding{Kind: health.DamagedLine, Offset: e.off, EventID: e.id.id()})
	}
	aside, err := log.setAside(ctx, 0, log.ix.Size())
	if err != nil {
		return report, fmt.Errorf("repair session %s: %w: %w", id, ErrStorage, err)
	}
	if report.SetAside == "" {
		report.SetAside = aside
	}
	gaps, err := log.ix.gapsWithout(ctx, broken, report)
	if err != nil {
		return report, fmt.Errorf("repair session %s: %w", id, err)
	}
	log.file = nil // another gets its name; src reads on in it
	if err := log.compactFile(ctx, broken, gaps); err != nil {
		return report, fmt.Errorf("repair session %s: %w: %w", id, ErrStorage, err)
	}
	return report, nil
}

// gapsWithout returns the gaps that the log has, and will have without the events at the
// places in broken, at most as many as one repair event names; a second repair names
// more.
func (ix *Index) gapsWithout(ctx context.Context, broken map[int]bool, report health.Report) ([]protocol.RepairGap, error) {
	s := ix.snapshot()
	known, err := ix.repaired(ctx)
	if err != nil {
		return nil, err
	}
	found := map[protocol.EventID]bool{} // bounded by the report
	for _, f := range report.Findings {
		found[f.EventID] = found[f.EventID] || f.Repairable()
	}
	var gaps []protocol.RepairGap
	last := protocol.Seq(0)
	for i := range s.entries {
		if broken[i] {
			continue
		}
		line, err := ix.src.read(s.entries[i].off, int(s.entries[i].size))
		if err != nil {
			return nil, err
		}
		var k protocol.Keys
		if err := protocol.ScanKeys(line, &k); err != nil {
			return nil, err
		}
		gap := protocol.RepairGap{Before: protocol.EventID(k.ID)}
		if e := &s.entries[i]; e.flags&flagGap != 0 || e.parent != none && broken[int(e.parent)] {
			gap.Missing = protocol.EventID(k.ParentID)
		}
		if k.HasPrev && ix.followsOn(k.Seq) && k.Prev > last {
			gap.Prev = k.Prev
		}
		last = max(last, k.Seq)
		if (gap.Missing != "" || gap.Prev != 0 || found[gap.Before]) && !known[gap.Before] {
			if gaps = append(gaps, gap); len(gaps) == protocol.MaxRepairGaps {
				break
			}
		}
	}
	return gaps, nil
}

// undecodable returns the places of events that are damaged inside.
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
func (l *Log) compactFile(ctx context.Context, without map[int]bool, gaps []protocol.RepairGap) error {
	return l.store.replaceLog(l.name, func(put func([]byte) error) error {
		last, err := l.ix.writeSound(ctx, put, without)
		if err != nil || len(gaps) == 0 {
			return err
		}
		cfg := l.store.cfg
		ev := protocol.NewEvent(&protocol.Repair{Gaps: gaps})
		ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(cfg.Rand), l.ix.leafWithout(without), l.ix.NextSeqFloor()
		ev.SessionID, ev.ClientID, ev.TS = l.ix.id, protocol.HostClient, cfg.Now().UnixMilli()
		if ev, err = ev.SealAfter(last); err != nil {
			return err
		}
		return put(append(ev.Raw(), '\n'))
	})
}

// leafWithout returns the leaf, or the newest event below it that is none of those at the
// places in without.
func (ix *Index) leafWithout(without map[int]bool) protocol.EventID {
	s := ix.snapshot()
	ix.mu.RLock()
	leaf := ix.leaf
	ix.mu.RUnlock()
	for leaf != none && without[int(leaf)] {
		leaf = s.entries[leaf].parent
	}
	return s.idAt(leaf)
}

// writeSound writes the header and the sound events, and returns the highest seq.
func (ix *Index) writeSound(ctx context.Context, put func([]byte) error, without map[int]bool) (last protocol.Seq, err error) {
	head, err := ix.headerLine()
	if err != nil {
		return 0, err
	}
	if err := put(append(head, '\n')); err != nil {
		return 0, err
	}
	s := ix.snapshot()
	for i := range s.entries {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if without[i] {
			continue
		}
		line, err := ix.src.read(s.entries[i].off, int(s.entries[i].size))
		if err != nil {
			return 0, err
		}
		last = max(last, protocol.Seq(s.entries[i].seq))
		if err := put(append(line, '\n')); err != nil {
			return 0, err
		}
	}
	return last, nil
}
