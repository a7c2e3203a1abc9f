package session

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"scorel/protocol"
)

// lastWithoutSums is the last commit that wrote no checksums.
const lastWithoutSums = "71d398c69eb6114d1ea0d13974e429aa4ff33912"

// olderReader builds testdata/older against the session package of that commit.
func olderReader(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("git", "-C", root, "cat-file", "-e", lastWithoutSums+"^{commit}").Run(); err != nil {
		t.Skip("the history of this checkout has no commit " + lastWithoutSums + ", the last without checksums")
	}
	dir := t.TempDir()
	archive := exec.Command("git", "-C", root, "archive", "--format=tar", "-o", filepath.Join(dir, "older.tar"), lastWithoutSums,
		"go.mod", "go.sum", "internal/session", "internal/disk", "internal/bundle", "protocol") // as they lay then
	if out, err := archive.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	unpack := exec.Command("tar", "-xf", "older.tar")
	unpack.Dir = dir
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	source, err := os.ReadFile(filepath.Join("testdata", "older", "main.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "cmd"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cmd", "main.go"), source, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "older", "./cmd")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "older")
}

func TestTheVersionBeforeChecksumsReadsAndKeepsThem(t *testing.T) {
	older := olderReader(t)
	w := newWorld(t)
	dir := t.TempDir()
	store, err := OpenStore(Config{Dir: dir, Rand: w.rand, Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	w.store = store
	log := w.create(t)
	events, leaf := w.every("", 1)
	left := w.user(leaf, "a way that is left")
	events = append(events, left, w.rewind(left.ID, &leaf))
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	name := store.path(w.id)
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.Command(older, dir, string(w.id))
	cmd.Stderr = &errs
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	var found struct {
		Events        int
		Leaf          protocol.EventID
		Findings      []string
		Clone, Import protocol.SessionID
	}
	if err := json.Unmarshal(said, &found); err != nil {
		t.Fatal(err)
	}
	if found.Events != len(events) || found.Leaf != leaf || len(found.Findings) != 0 {
		t.Fatalf("the older version found %s", said)
	}
	if after, err := os.ReadFile(name); err != nil || !bytes.HasPrefix(after, before) {
		t.Fatalf("the older version changed what was there (%v)", err)
	}
	for _, id := range []protocol.SessionID{w.id, found.Clone, found.Import} {
		log, report, err := store.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !report.Clean() {
			t.Errorf("%s: %v", id, report.Sentences())
		}
		sums := map[protocol.Sum]int{}
		for e, err := range log.Index().EventsAfter(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			sums[e.Sum()]++
		}
		if sums[protocol.SumWrong] != 0 || sums[protocol.SumUnknown] != 1 || sums[protocol.SumRight] == 0 {
			t.Errorf("%s: checksums %v", id, sums)
		}
		w.id, w.seq = id, log.NextSeqFloor()-1
		if err := log.Commit(t.Context(), []protocol.Event{w.user(log.Index().Leaf(), "I go on")}); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		log, report, err = store.Open(t.Context(), id)
		if err != nil || !report.Clean() {
			t.Fatalf("%s, gone on: %v (%v)", id, report.Sentences(), err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
