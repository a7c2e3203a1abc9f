package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// TestCorpusOfDamagedLogs opens one log for each kind of damage that users of
// other agents reported; a file is named after project and issue.
func TestCorpusOfDamagedLogs(t *testing.T) {
	for name, want := range map[string]struct {
		events int
		kinds  []health.Kind
	}{
		"claude-code-49876": {5, []health.Kind{health.NULRun, health.TailCut}},                                // NUL bytes after the end
		"claude-code-50347": {4, []health.Kind{health.DamagedLine, health.MissingParent}},                     // a bad line in the middle
		"copilot-cli-4098":  {4, []health.Kind{health.JoinedLines, health.DamagedLine, health.MissingParent}}, // a cut line and the next in one
		"copilot-cli-2012":  {5, nil},                                                                         // U+2028 and U+2029 as they are
		"copilot-cli-2649":  {4, []health.Kind{health.DamagedLine, health.DamagedLine, health.MissingParent}}, // a line end inside a string
		"copilot-cli-1864":  {0, []health.Kind{health.NULRun, health.TailCut, health.DamagedHeader}},          // nothing but NUL bytes after a power cut
		"codex-24425":       {5, []health.Kind{health.DamagedLine, health.RepeatedID}},                        // a part of a line, then the line, twice
		"codex-45150":       {4, []health.Kind{health.MissingParent}},                                         // a number is missing
		"goose-3200":        {4, []health.Kind{health.DamagedLine, health.MissingParent}},                     // a line of something else
		"kimi-code-2902":    {5, []health.Kind{health.TailCut}},                                               // the disk was full
		"octos-2289":        {4, []health.Kind{health.JoinedLines, health.DamagedLine, health.MissingParent}}, // a torn tail and the next message
		"pi-8848":           {5, []health.Kind{health.RepeatedSeq, health.RepeatedSeq}},                       // two writers
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "corrupt", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			w.id = "ses_06gvgpgd01lecu1v9uuui6ren2"
			w.mem.Put(w.logName(), data)
			log, report := w.open(t)
			var kinds []health.Kind
			for _, f := range report.Findings {
				kinds = append(kinds, f.Kind)
			}
			slices.Sort(kinds)
			slices.Sort(want.kinds)
			if log.Index().Len() != want.events || !slices.Equal(kinds, want.kinds) {
				t.Errorf("%d events, want %d; found %v, want %v\n%s", log.Index().Len(), want.events, kinds, want.kinds,
					strings.Join(report.Sentences(), "\n"))
			}
			if want.events > 0 && log.Index().Leaf() != protocol.EventID("evt_0000000000000005") {
				t.Errorf("the leaf is %s", log.Index().Leaf())
			}
			w.goOn(t, log)
		})
	}
}

func FuzzOpen(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "corrupt", "*.jsonl"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWorld(t)
		w.id = "ses_06gvgpgd01lecu1v9uuui6ren2"
		w.mem.Put(w.logName(), data)
		log, _ := w.open(t)
		n := log.Index().Len()
		for _, err := range log.Index().Back(t.Context(), log.Index().Leaf()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if log.NeedsLeaf() {
			return
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		again, report := w.open(t)
		if again.Index().Len() != n || report.SetAside != "" {
			t.Fatalf("%d events, and %d when opened again: %v", n, again.Index().Len(), report.Sentences())
		}
	})
}
