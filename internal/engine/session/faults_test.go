package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// A scenario does something to a store. It notes what was acknowledged and what
// was refused, and goes on after errors as a host would.
type scenario struct {
	name   string
	keeps  string // bytes that must be in some file at the end
	points int    // fault points that it must meet at least when nothing fails
	before func(t *testing.T, w *world)
	run    func(t *testing.T, w *world, a *acks)
}

// acks is what a scenario was told.
type acks struct {
	sessions map[protocol.SessionID][]protocol.EventID // acknowledged events, in order
	refused  map[protocol.EventID]bool
	blobs    map[string]string
	failed   int
	forEver  bool // the fault stays
}

func (a *acks) commit(log *Log, events ...protocol.Event) bool {
	err := log.Commit(context.Background(), events)
	for _, ev := range events {
		if err == nil {
			a.sessions[log.ID()] = append(a.sessions[log.ID()], ev.ID)
		} else {
			a.refused[ev.ID] = true
		}
	}
	return a.note(err)
}

func (a *acks) note(err error) bool {
	if err != nil {
		a.failed++
	}
	return err == nil
}

func scenarios() []scenario {
	base := func(t *testing.T, w *world) {
		log := w.create(t)
		events, _ := w.every("", 1)
		if err := log.Commit(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return []scenario{
		{"create and first append", "", 10, func(*testing.T, *world) {}, func(t *testing.T, w *world, a *acks) {
			log, err := w.store.Create(t.Context(), w.header())
			if !a.note(err) {
				return
			}
			defer log.Close()
			w.id = log.ID()
			a.sessions[w.id] = nil
			a.commit(log, w.user("", "first"))
		}},
		{"fifty grouped appends", "", 100, base, func(t *testing.T, w *world, a *acks) {
			log, _, err := w.store.Open(t.Context(), w.id)
			if !a.note(err) {
				return
			}
			defer log.Close()
			for i := range 50 {
				leaf := log.Index().Leaf()
				one := w.user(leaf, fmt.Sprint("message ", i))
				a.commit(log, one, w.assistant(one.ID, "yes"))
			}
		}},
		{"repair at open", "evt_torn", 10, func(t *testing.T, w *world) {
			base(t, w)
			w.mem.Put(w.logName(), append(w.mem.Bytes(w.logName()), `{"type":"message","id":"evt_torn`...))
		}, func(t *testing.T, w *world, a *acks) {
			log, report, err := w.store.Open(t.Context(), w.id)
			if !a.note(err) {
				return
			}
			defer log.Close()
			if report.ReadOnly != "" {
				a.failed++
			}
			w.seq = log.NextSeqFloor()
			a.commit(log, w.user(log.Index().Leaf(), "after the repair"))
		}},
		{"rewrite after a failed fsync", "", 8, base, func(t *testing.T, w *world, a *acks) {
			fail := &disktest.Faulty{FS: w.fs, Err: syscall.EIO}
			fsys := w.fs
			w.fs = fail
			w.restart(t)
			log, _, err := w.store.Open(t.Context(), w.id)
			w.fs = fsys
			if !a.note(err) {
				return
			}
			defer log.Close()
			a.commit(log, w.user(log.Index().Leaf(), "before"))
			fail.N = fail.Calls() + 2 // the fsync of the next commit
			if a.commit(log, w.user(log.Index().Leaf(), "lost")) {
				t.Error("a commit succeeds although its fsync failed")
			}
			a.failed-- // that one is meant to
			a.commit(log, w.user(log.Index().Leaf(), "after"))
		}},
		{"blob then event", "", 6, base, func(t *testing.T, w *world, a *acks) {
			log, _, err := w.store.Open(t.Context(), w.id)
			if !a.note(err) {
				return
			}
			defer log.Close()
			text := strings.Repeat("payload", 100_000)
			sha, _, err := w.store.Blobs().Put(t.Context(), strings.NewReader(text))
			if !a.note(err) {
				return
			}
			a.blobs[sha] = text
			m := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockFile, Name: "f", MediaType: "text/plain", Blob: sha}}}
			a.commit(log, w.event(log.Index().Leaf(), &protocol.MessageBody{Message: m}))
		}},
		{"clone", "", 8, base, func(t *testing.T, w *world, a *acks) {
			h := w.header()
			h.SessionID = protocol.NewSessionID(w.now(), w.rand)
			log, _, err := w.store.Clone(t.Context(), w.id, h)
			if !a.note(err) {
				if _, serr := w.mem.Stat(w.store.path(h.SessionID)); serr == nil {
					t.Errorf("a clone that failed (%v) is there", err)
				}
				return
			}
			defer log.Close()
			a.sessions[log.ID()] = ids(t, log.Index())
			from := w.id
			w.id = log.ID()
			a.commit(log, w.user(log.Index().Leaf(), "in the clone"))
			w.id = from
		}},
		{"import", "", 14, func(t *testing.T, w *world) {
			base(t, w)
			w.packed = w.bundle(t, strings.Repeat("payload", 1000))
		}, func(t *testing.T, w *world, a *acks) {
			h := protocol.Header{SessionID: protocol.NewSessionID(w.now(), w.rand)}
			log, _, err := w.store.Import(t.Context(), bytes.NewReader(w.packed), h, ImportOptions{})
			if !a.note(err) {
				if _, serr := w.mem.Stat(w.store.path(h.SessionID)); serr == nil {
					t.Errorf("an import that failed (%v) is there", err)
				}
				return
			}
			defer log.Close()
			a.sessions[log.ID()] = ids(t, log.Index())
			text := strings.Repeat("payload", 1000)
			a.blobs[sha(text)] = text
		}},
	}
}

func TestAFailureAtAnyPointLosesNothingAcknowledged(t *testing.T) {
	harness.Computed(t)
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			count := runFaulty(t, sc, 0, false, nil, false)
			t.Logf("%s: %d fault points (open %d, write %d, sync %d, folder sync %d, rename %d, truncate %d)", sc.name, count.Calls(),
				count.Calls(disktest.OpOpen), count.Calls(disktest.OpWrite), count.Calls(disktest.OpSync),
				count.Calls(disktest.OpSyncDir), count.Calls(disktest.OpRename), count.Calls(disktest.OpTruncate))
			if count.Calls() < sc.points {
				t.Fatalf("only %d fault points were met, want %d", count.Calls(), sc.points)
			}
			for _, sticky := range []bool{false, true} {
				for _, fault := range []struct {
					err   error
					short bool
				}{{syscall.EIO, false}, {fmt.Errorf("%w: %w", disk.ErrNoSpace, syscall.ENOSPC), false}, {syscall.EIO, true}} {
					n := 1
					for runFaulty(t, sc, n, sticky, fault.err, fault.short).Fired() {
						n++
					}
					if n <= sc.points {
						t.Fatalf("the faults ended at %d, want %d", n, sc.points)
					}
				}
			}
		})
	}
}

// runFaulty runs a scenario in which the n-th call fails, and then checks what
// is left, as a new process finds it and as one finds it after a power cut.
func runFaulty(t *testing.T, sc scenario, n int, sticky bool, fault error, short bool) *disktest.Faulty {
	t.Helper()
	w := newWorld(t)
	sc.before(t, w)
	before := acks{sessions: map[protocol.SessionID][]protocol.EventID{}, refused: map[protocol.EventID]bool{}, blobs: map[string]string{}}
	if w.id != "" {
		before.sessions[w.id] = w.stored(t)
	}
	f := &disktest.Faulty{FS: w.mem, N: n, Sticky: sticky, Err: fault, Short: short}
	w.fs = f
	w.restart(t)
	before.forEver = sticky
	sc.run(t, w, &before)
	name := fmt.Sprintf("call %d fails with %v (sticky %t, short %t)", n, fault, sticky, short)
	if n == 0 && before.failed > 0 {
		t.Fatalf("%d calls failed by themselves", before.failed)
	}
	w.fs = w.mem
	w.check(t, name, &before)
	w.mem.Crash(disktest.Drop, uint64(n))
	w.check(t, name+", then the power", &before)
	if sc.keeps != "" && !w.somewhere(t, sc.keeps) {
		t.Errorf("%s: %q is gone", name, sc.keeps)
	}
	return f
}

// somewhere reports whether some file beside the logs, or a log, holds text.
func (w *world) somewhere(t *testing.T, text string) bool {
	t.Helper()
	files, err := w.mem.ReadDir("/home/.scorel/sessions")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if bytes.Contains(w.mem.Bytes("/home/.scorel/sessions/"+f.Name()), []byte(text)) {
			return true
		}
	}
	return false
}

// stored returns the ids in the current log.
func (w *world) stored(t *testing.T) []protocol.EventID {
	t.Helper()
	v, _, err := w.store.View(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	return ids(t, v.Index())
}

// check opens every acknowledged session with a sound disk: all acknowledged
// events are there in order, none that was refused, and it can go on.
func (w *world) check(t *testing.T, name string, a *acks) {
	t.Helper()
	w.restart(t)
	for id, want := range a.sessions {
		log, report, err := w.store.Open(t.Context(), id)
		if err != nil {
			t.Errorf("%s: session %s: %v", name, id, err)
			continue
		}
		got := ids(t, log.Index())
		if len(got) < len(want) || fmt.Sprint(got[:len(want)]) != fmt.Sprint(want) {
			t.Errorf("%s: %d events are there, %d were acknowledged: %v", name, len(got), len(want), report.Sentences())
		}
		for _, id := range got[min(len(got), len(want)):] {
			// On a disk that takes nothing any more what was written cannot be
			// taken back either.
			if !a.refused[id] || !a.forEver {
				t.Errorf("%s: event %s was not acknowledged and is there", name, id)
			}
		}
		if ro, why := log.ReadOnly(); ro {
			t.Errorf("%s: read-only: %s", name, why)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
	for sha, text := range a.blobs {
		r, size, err := w.store.Blobs().Open(sha)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got bytes.Buffer
		if _, err := got.ReadFrom(r); err != nil || size != int64(len(text)) || got.String() != text {
			t.Errorf("%s: the blob has other content (%v)", name, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestALogThatCannotBeWrittenStaysReadableAndGoesOnWhenTheDiskDoes(t *testing.T) {
	w := newWorld(t)
	f := &disktest.Faulty{FS: w.mem, Err: syscall.EIO, Sticky: true}
	w.fs = f
	w.restart(t)
	log := w.create(t)
	a := w.user("", "told")
	if err := log.Commit(t.Context(), []protocol.Event{a}); err != nil {
		t.Fatal(err)
	}
	f.N = f.Calls() + 1
	for range 3 {
		w.seq = log.NextSeqFloor()
		if err := log.Commit(t.Context(), []protocol.Event{w.user(a.ID, "x")}); !errors.Is(err, ErrStorage) {
			t.Fatalf("a commit on a broken disk gives %v", err)
		}
	}
	if log.Broken() == nil {
		t.Fatal("the log does not know that it is broken")
	}
	f.N = 0
	ev, err := log.Index().Event(t.Context(), a.ID)
	if err != nil || ev.ID != a.ID {
		t.Fatalf("what was told cannot be read: %v", err)
	}
	w.seq = log.NextSeqFloor()
	b := w.user(a.ID, "after")
	if err := log.Commit(t.Context(), []protocol.Event{b}); err != nil || log.Broken() != nil {
		t.Fatalf("when the disk works again: %v, broken: %v", err, log.Broken())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	again, report, err := w.store.Open(t.Context(), log.ID())
	if err != nil || !report.Clean() || again.Index().Len() != 2 || again.Index().Leaf() != b.ID {
		t.Fatalf("after a restart: %v %+v", err, report)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFullDiskFailsOneCommitAndNotTheNext(t *testing.T) {
	w := newWorld(t)
	f := &disktest.Faulty{FS: w.mem, Err: fmt.Errorf("%w: %w", disk.ErrNoSpace, syscall.ENOSPC), Short: true}
	w.fs = f
	w.restart(t)
	log := w.create(t)
	f.N = f.Calls() + 1
	if err := log.Commit(t.Context(), []protocol.Event{w.user("", "lost")}); !errors.Is(err, disk.ErrNoSpace) || !errors.Is(err, ErrStorage) {
		t.Fatal(err)
	}
	b := w.user("", "kept")
	if err := log.Commit(t.Context(), []protocol.Event{b}); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, log.Index()); len(got) != 1 || got[0] != b.ID {
		t.Fatal(got)
	}
}

func TestCrashesKeepWhatWasAcknowledged(t *testing.T) {
	for _, how := range []disktest.Crash{disktest.Drop, disktest.Reorder, disktest.Half512} {
		for seed := range uint64(60) {
			w := newWorld(t)
			log := w.create(t)
			leaf := protocol.EventID("")
			var want []protocol.EventID
			for i := range int(seed % 7) {
				var events []protocol.Event
				events, leaf = w.every(leaf, i)
				if err := log.Commit(t.Context(), events); err != nil {
					t.Fatal(err)
				}
				for _, ev := range events {
					want = append(want, ev.ID)
				}
			}
			// One more commit is cut off in the middle: its bytes are written, its
			// fsync never returns.
			events, _ := w.every(leaf, 3)
			f, err := w.mem.Open(w.logName(), disk.ReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			var lines []byte
			inFlight := map[protocol.EventID]bool{}
			for _, ev := range events {
				if lines, err = ev.AppendLine(lines); err != nil {
					t.Fatal(err)
				}
				lines = append(lines, '\n')
				inFlight[ev.ID] = true
			}
			if _, err := f.WriteAt(lines, log.Index().Size()); err != nil {
				t.Fatal(err)
			}
			w.mem.Crash(how, seed)
			w.restart(t)
			log, report := w.open(t)
			got := ids(t, log.Index())
			if len(got) < len(want) || fmt.Sprint(got[:len(want)]) != fmt.Sprint(want) {
				t.Fatalf("%s, seed %d: %d events, %d were acknowledged: %v", how, seed, len(got), len(want), report.Sentences())
			}
			for _, id := range got[len(want):] {
				if !inFlight[id] {
					t.Fatalf("%s, seed %d: event %s comes from nowhere", how, seed, id)
				}
			}
			if ro, _ := log.ReadOnly(); ro {
				leaf := log.Index().Leaf()
				w.seq = log.NextSeqFloor() - 1
				if err := log.PickLeaf(t.Context(), w.event(leaf, &protocol.Branch{LeafEventID: leaf})); err != nil {
					t.Fatal(err)
				}
			}
			w.goOn(t, log)
		}
	}
}
