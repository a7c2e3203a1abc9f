package session

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"scorel/internal/engine/session/health"
)

func TestLinesInTheWrongOrderAreReadInTheRightOne(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 2)
	all := lines(data)
	sound, _ := w.with(t, data).open(t)
	path, err := sound.Index().Path(sound.Index().Leaf())
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 5; n++ {
		for from := 1; from+n <= len(all); from++ {
			mixed := slices.Clone(all)
			slices.Reverse(mixed[from : from+n])
			c := w.with(t, append(bytes.Join(mixed, []byte("\n")), '\n'))
			what := fmt.Sprintf("%d lines from %d on", n, from)
			log, report := c.open(t)
			if slices.ContainsFunc(report.Findings, func(f health.Finding) bool { return f.Kind != health.Disorder }) || report.Clean() || report.ReadOnly != "" {
				t.Errorf("%s: %q", what, report.Sentences())
			}
			if got, err := log.Index().Path(log.Index().Leaf()); err != nil || !slices.Equal(got, path) {
				t.Errorf("%s: the path is %v, want %v (%v)", what, got, path, err)
			}
			if log.Index().Meta() != sound.Index().Meta() || log.Index().Usage() != sound.Index().Usage() {
				t.Errorf("%s: %+v %+v", what, log.Index().Meta(), log.Index().Usage())
			}
			for i := range log.Index().snapshot().entries {
				e := &log.Index().snapshot().entries[i]
				if found := log.Index().snapshot().covers(e.off + int64(e.size) - 1); found != e {
					t.Errorf("%s: at the end of %s is %v", what, e.id.id(), found)
				}
			}
			read := 0
			for _, err := range log.Index().Back(t.Context(), log.Index().Leaf()) {
				if err != nil {
					t.Fatal(err)
				}
				read++
			}
			if read < len(path) {
				t.Errorf("%s: %d of %d events are read", what, read, len(path))
			}
			c.goOn(t, log) // and closes it
			if _, err := c.store.Repair(t.Context(), c.id); err != nil {
				t.Fatal(err)
			}
			if got := lines(c.mem.Bytes(c.logName())); len(got) < len(all) || !slices.EqualFunc(got[:len(all)], all, bytes.Equal) {
				t.Errorf("%s: a repair leaves them", what)
			}
		}
	}
}
