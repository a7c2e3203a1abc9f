package session

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"scorel/internal/engine/session/rawlog"
)

func TestMutatedLogsOpenAndAreFoundTheSameAgain(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "corrupt", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var seeds [][]byte
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, data)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		data := slices.Clone(seeds[r.IntN(len(seeds))])
		for range r.IntN(20) {
			if len(data) > 0 {
				data = mutate(r, data)
			}
		}
		w := newWorld(t)
		w.id = "ses_06gvgpgd01lecu1v9uuui6ren2"
		w.mem.Put(w.logName(), data)
		log, _, err := w.store.Open(t.Context(), w.id)
		if err != nil {
			t.Fatalf("%v\n%q", err, data)
		}
		n, asks := log.Index().Len(), log.NeedsLeaf()
		if asks && r.IntN(2) == 0 {
			w.seq = log.NextSeqFloor() - 1
			if err := log.PickLeaf(t.Context(), w.rewind(log.Index().Leaf(), nil)); err != nil {
				t.Fatalf("%v\n%q", err, data)
			}
			n, asks = n+1, false
			if l := lines(w.mem.Bytes(w.logName())); !rawlog.IsWholeEvent(l[len(l)-1]) {
				t.Fatalf("the picked leaf is not in a line of its own: %q", l[len(l)-1])
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		again, report, err := w.store.Open(t.Context(), w.id)
		if err != nil || again.Index().Len() != n || again.NeedsLeaf() != asks || report.SetAside != "" {
			t.Fatalf("%d events, and opened again %d (%v): %v\n%q", n, again.Index().Len(), err, report.Sentences(), data)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// mutate flips a bit, removes or repeats a part, or puts a byte that matters.
func mutate(r *rand.Rand, data []byte) []byte {
	i := r.IntN(len(data))
	switch r.IntN(4) {
	case 0:
		data[i] ^= 1 << r.IntN(8)
	case 1:
		data = append(data[:i], data[min(len(data), i+r.IntN(100)):]...)
	case 2:
		data = append(data[:i:i], data[r.IntN(len(data)):]...)
	case 3:
		data[i] = "\n{}\"\\"[r.IntN(5)]
	}
	return data
}
