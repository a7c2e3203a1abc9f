package session

import (
	"cmp"
	"context"
	"slices"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// reorder reads a log again whose lines stand in another order than they were written, by
// the numbers of its events. What comes counts only when nothing at all is wrong with it:
// every checksum is right, and every event follows on the one before it. So it is the order
// in which the log was written; what is left to report is where lines are out of it.
func (l *loaded) reorder(ctx context.Context, first *loader) error {
	if !l.report.Has(health.Disorder) || l.report.More > 0 || l.newer != "" || l.tail < l.size || !first.summed ||
		slices.ContainsFunc(l.report.Findings, func(f health.Finding) bool { return f.Kind != health.Disorder && !f.Repairable() }) {
		return nil
	}
	ix := newIndex(l.index.id, l.index.src)
	ix.header, ix.meta, ix.headerAt, ix.end = l.index.header, l.index.header.Meta, l.index.headerAt, l.index.end
	ix.mixed = true
	again := &loader{l: &loaded{index: ix}, doubt: -1, session: first.session, summed: true}
	entries := slices.SortedFunc(slices.Values(l.index.entries), func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	for i := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := ix.src.read(entries[i].off, int(entries[i].size))
		if err != nil {
			return err
		}
		var r record
		var used usages
		if err := parseRecord(line, entries[i].off, &r, &used); err != nil || r.sum != protocol.SumRight || !r.hasPrev {
			return nil
		}
		again.event(&r, used, 0)
		if !again.l.report.Clean() {
			return nil
		}
	}
	l.index, first.doubt = ix, again.doubt
	l.report.Findings = slices.DeleteFunc(l.report.Findings, func(f health.Finding) bool { return f.Kind != health.Disorder })
	for i := range l.report.Findings {
		l.report.Findings[i].Detail = "it is read in its place"
	}
	return nil
}
