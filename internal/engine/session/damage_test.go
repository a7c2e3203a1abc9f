package session

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/session/health"
	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func TestFlippedBitsNeverStopASessionAndAreReported(t *testing.T) {
	harness.Computed(t)
	const flipEvery = 3 // bytes between two of which a bit is flipped
	w := newWorld(t)
	data := w.record(t, 2)
	total := len(lines(data)) - 1
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(data); i += flipEvery {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << r.IntN(8)
		c := w.with(t, bad)
		log, report, err := c.store.Open(t.Context(), c.id)
		if err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		n := log.Index().Len()
		// The checksum of the header can lose its own name; all else is found.
		if key := bytes.Index(data, []byte(`"crc"`)); report.Clean() && (i < key || i >= key+len(`"crc":"`)) {
			t.Fatalf("byte %d: %d of %d events and nothing reported: %q", i, n, total, bad[max(0, i-40):min(len(bad), i+40)])
		}
		if n < total-3 {
			t.Fatalf("byte %d: one bit costs %d events: %v", i, total-n, report.Sentences())
		}
		for _, err := range log.Index().Back(t.Context(), log.Index().Leaf()) {
			if err != nil {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		v, _, err := c.store.View(t.Context(), c.id)
		if err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamageIsReportedAndCostsOnlyWhatIsDamaged(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 2)
	all := lines(data)
	total := len(all) - 1
	join := func(l [][]byte) []byte { return append(bytes.Join(l, []byte("\n")), '\n') }
	edit := func(f func(l [][]byte) [][]byte) []byte { return join(f(slices.Clone(all))) }
	find := func(typ string) int {
		return slices.IndexFunc(all, func(l []byte) bool { return bytes.HasPrefix(l, []byte(`{"type":"`+typ+`"`)) })
	}
	lastConv := find("branch_summary")
	for _, tc := range []struct {
		name     string
		data     []byte
		kinds    []health.Kind
		lost     int
		readOnly bool
	}{
		{"nothing", data, nil, 0, false},
		{"NUL tail", append(bytes.Clone(data), make([]byte, 4096)...), []health.Kind{health.TailCut, health.NULRun}, 0, false},
		{"NUL tail without newline", append(bytes.TrimSuffix(bytes.Clone(data), []byte("\n")), make([]byte, 512)...), []health.Kind{health.TailCut, health.NULRun, health.NoNewline}, 0, false},
		{"NULs before a line", edit(func(l [][]byte) [][]byte { l[5] = append(make([]byte, 600), l[5]...); return l }), []health.Kind{health.NULRun, health.JoinedLines}, 0, false},
		{"a line of NULs", edit(func(l [][]byte) [][]byte { return slices.Insert(l, 5, make([]byte, 512)) }), []health.Kind{health.NULRun}, 0, false},
		{"doubled line", edit(func(l [][]byte) [][]byte { return slices.Insert(l, 6, l[5]) }), []health.Kind{health.RepeatedID}, 0, false},
		{"the log after itself", append(bytes.Clone(data), data...), append([]health.Kind{health.RepeatedHeader}, slices.Repeat([]health.Kind{health.RepeatedID}, total)...), 0, false},
		{"repeated seq", edit(func(l [][]byte) [][]byte {
			l[6] = bytes.Replace(l[6], []byte(`"seq":6,`), []byte(`"seq":5,`), 1)
			return l
		}), []health.Kind{health.RepeatedSeq}, 1, false},
		{"joined lines", edit(func(l [][]byte) [][]byte {
			l[5] = append(bytes.Clone(l[5]), l[6]...)
			return slices.Delete(l, 6, 7)
		}), []health.Kind{health.JoinedLines}, 0, false},
		{"joined last lines", edit(func(l [][]byte) [][]byte {
			l[total-1] = append(bytes.Clone(l[total-1]), l[total]...)
			return l[:total]
		}), []health.Kind{health.JoinedLines}, 0, false},
		{"a torn line joined with the next", edit(func(l [][]byte) [][]byte {
			l[5] = append(bytes.Clone(l[5][:len(l[5])/2]), l[6]...)
			return slices.Delete(l, 6, 7)
		}), []health.Kind{health.JoinedLines, health.DamagedLine}, 1, false},
		{"lost middle line", edit(func(l [][]byte) [][]byte { return slices.Delete(l, 5, 6) }), []health.Kind{health.MissingParent}, 1, false},
		{"lost compact", edit(func(l [][]byte) [][]byte { i := find("compact"); return slices.Delete(l, i, i+1) }), []health.Kind{health.MissingParent}, 1, false},
		{"lost last conversation event", edit(func(l [][]byte) [][]byte { return slices.Delete(l, lastConv, lastConv+1) }), []health.Kind{health.MissingParent}, 1, false},
		{"two lines swapped", edit(func(l [][]byte) [][]byte { l[3], l[4] = l[4], l[3]; return l }), []health.Kind{health.Disorder}, 0, false},
		{"CRLF", bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), []health.Kind{health.CRLF}, 0, false},
		{"CRLF without the last", bytes.TrimSuffix(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), []byte("\r\n")), []health.Kind{health.CRLF, health.NoNewline}, 0, false},
		{"BOM", append([]byte("\xef\xbb\xbf"), data...), []health.Kind{health.BOM}, 0, false},
		{"raw U+2028", bytes.ReplaceAll(data, []byte(`\u2028`), []byte("\u2028")), []health.Kind{health.Changed, health.Changed}, 0, false},
		{"no header", join(all[1:]), []health.Kind{health.DamagedHeader}, 0, false},
		{"broken header", edit(func(l [][]byte) [][]byte { l[0] = []byte(`{"version":`); return l }), []health.Kind{health.DamagedHeader}, 0, false},
		{"header of another session", edit(func(l [][]byte) [][]byte {
			l[0] = bytes.Replace(l[0], []byte(w.id), []byte("ses_00000000000000000000000000"), 1)
			return l
		}), []health.Kind{health.DamagedHeader}, 0, false},
		{"half a tail line", append(bytes.Clone(data), `{"type":"rewind","id":"evt_00`...), []health.Kind{health.TailCut}, 0, false},
		{"a damaged rewind in the middle", edit(func(l [][]byte) [][]byte {
			l[total-1] = []byte(`{"type":"rewind","id":"evt_00","seq":77,`)
			return l
		}), []health.Kind{health.DamagedLine}, 1, true},
		{"a damaged rewind that was put in", edit(func(l [][]byte) [][]byte {
			return slices.Insert(l, total, []byte(`{"type":"rewind","id":"evt_00","seq":77,`))
		}), []health.Kind{health.DamagedLine}, 0, false}, // the line after it says that none stood there
		{"a damaged rewind before a later branch", edit(func(l [][]byte) [][]byte {
			return slices.Insert(l, 3, []byte(`{"type":"rewind","id":"evt_00","seq":7,`))
		}), []health.Kind{health.DamagedLine}, 0, false},
		{"a damaged compact at the end", append(bytes.Clone(data), `{"type":"compact","id":`+"\n"...), []health.Kind{health.Tail}, 0, true},
		{"a damaged rewind joined with the last line", append(bytes.TrimSuffix(bytes.Clone(data), []byte("\n")), `{"type":"rewind","id":`+"\n"...), []health.Kind{health.Tail}, 0, true},
		{"an empty line", edit(func(l [][]byte) [][]byte { return slices.Insert(l, 5, nil) }), []health.Kind{health.DamagedLine}, 0, false},
		{"a transient event", edit(func(l [][]byte) [][]byte { return slices.Insert(l, 5, []byte(`{"type":"turn_start","seq":5}`)) }), []health.Kind{health.DamagedLine}, 0, false},
		{"an impossible seq", edit(func(l [][]byte) [][]byte {
			l[5] = bytes.Replace(l[5], []byte(`"seq":5,`), []byte(`"seq":18446744073709551615,`), 1)
			return l
		}), []health.Kind{health.DamagedLine}, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := w.with(t, tc.data)
			log, report := c.open(t)
			for _, k := range tc.kinds {
				if !report.Has(k) {
					t.Errorf("no %s in %v", k, report.Sentences())
				}
			}
			if len(tc.kinds) == 0 && !report.Clean() {
				t.Error(report.Sentences())
			}
			if got := log.Index().Len(); got != total-tc.lost {
				t.Errorf("%d events, want %d: %v", got, total-tc.lost, report.Sentences())
			}
			if ro, why := log.ReadOnly(); ro != tc.readOnly {
				t.Errorf("read-only: %t (%s)", ro, why)
			}
			var parsed []protocol.EventID
			for l, err := range log.Index().After(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if bytes.ContainsAny(l.Bytes, "\r\n") {
					t.Fatalf("%q", l.Bytes)
				}
				if e, err := protocol.ParseEvent(l.Bytes); err == nil {
					parsed = append(parsed, e.ID)
				}
			}
			var events []protocol.EventID
			for e, err := range log.Index().EventsAfter(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, e.ID)
			}
			if !slices.Equal(events, parsed) {
				t.Errorf("%d events come parsed, %d lines can be", len(events), len(parsed))
			}
			if !tc.readOnly {
				c.goOn(t, log)
				return
			}
			leaf := log.Index().Leaf()
			c.seq = log.NextSeqFloor() - 1
			if err := log.PickLeaf(t.Context(), c.event(leaf, &protocol.Branch{LeafEventID: leaf})); err != nil {
				t.Fatal(err)
			}
			if l := lines(c.mem.Bytes(c.logName())); !rawlog.IsWholeEvent(l[len(l)-1]) {
				t.Fatalf("the picked leaf is not in a line of its own: %q", l[len(l)-1])
			}
			c.goOn(t, log)
		})
	}
}

func TestOrphanHangsOnTheEventBeforeItWithAGap(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "one")
	b := w.assistant(a.ID, "two")
	c := w.user(b.ID, "three")
	if err := log.Commit(t.Context(), []protocol.Event{a, b, c}); err != nil {
		t.Fatal(err)
	}
	data := lines(w.mem.Bytes(w.logName()))
	lost := append(bytes.Join(slices.Delete(slices.Clone(data), 2, 3), []byte("\n")), '\n')
	log, report := w.with(t, lost).open(t)
	if got, err := log.Index().Parent(c.ID); err != nil || got != a.ID {
		t.Fatalf("the orphan hangs on %q (%v): %v", got, err, report.Sentences())
	}
	want := []Gap{{After: a.ID, Before: c.ID, Missing: b.ID}}
	if got := log.Index().Gaps(); !slices.Equal(got, want) {
		t.Fatalf("gaps %v, want %v", got, want)
	}
	if log.Index().Leaf() != c.ID {
		t.Fatal("the leaf has moved")
	}
}

func TestFirstEventAfterARepairHasASeqAboveAllInTheDamage(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 1)
	c := w.with(t, append(bytes.Clone(data), `{"type":"message","id":"evt_0000000000000000","parentId":null,"seq":4321,"se`...))
	log, _ := c.open(t)
	if got := log.NextSeqFloor(); got != 4322 {
		t.Fatalf("the next seq is %d", got)
	}
	c.seq = 4320
	if err := log.Commit(t.Context(), []protocol.Event{c.user(log.Index().Leaf(), "x")}); err == nil {
		t.Fatal("a number from the damaged bytes was used again")
	}
}

func TestLogWithLostMovesWaitsForTheLeafAlsoOverRestarts(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 1)
	bad := append(bytes.Clone(data), `{"type":"rewind","id":"evt_damaged","targetEv`+"\n"+`{"type":"mess`...)
	c := w.with(t, bad)
	for range 2 {
		log, report := c.open(t)
		if !log.NeedsLeaf() || report.ReadOnly == "" {
			t.Fatalf("it does not ask: %v", report.Sentences())
		}
		c.seq = log.NextSeqFloor() - 1
		if err := log.Commit(t.Context(), []protocol.Event{c.user("", "x")}); !isErr(err, ErrReadOnly) {
			t.Fatalf("a commit gives %v", err)
		}
		if !bytes.Equal(c.mem.Bytes(c.logName()), bad) {
			t.Fatal("the damaged end was touched before anybody looked")
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	log, _ := c.open(t)
	first := ids(t, log.Index())[0]
	c.seq = log.NextSeqFloor() - 1
	if err := log.PickLeaf(t.Context(), c.rewind(log.Index().Leaf(), &first)); err != nil {
		t.Fatal(err)
	}
	if ro, _ := log.ReadOnly(); ro || log.Index().Leaf() != first {
		t.Fatal("the picked leaf does not count")
	}
	files, err := c.mem.ReadDir("/home/.scorel/sessions")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f fs.DirEntry) bool { return strings.Contains(f.Name(), ".damaged-") }) {
		t.Fatal("the damaged end was not set aside")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log, report := c.open(t)
	if !report.Clean() || log.Index().Leaf() != first {
		t.Fatalf("after a restart: leaf %s, %v", log.Index().Leaf(), report.Sentences())
	}
}

func TestSessionOpensReadOnlyWhenTheTailCannotBeSetAside(t *testing.T) {
	w := newWorld(t)
	bad := append(w.record(t, 1), "garbage"...)
	c := w.with(t, bad)
	c.fs = noNewFiles{c.mem}
	c.restart(t)
	log, report := c.open(t)
	if ro, _ := log.ReadOnly(); !ro || report.Has(health.TailCut) {
		t.Fatal(report.Sentences())
	}
	if !bytes.Equal(c.mem.Bytes(c.logName()), bad) {
		t.Fatal("the log was changed")
	}
	if len(ids(t, log.Index())) != log.Index().Len() {
		t.Fatal("what is stored cannot be read")
	}
}

// noNewFiles is a file system in which no file can be made.
type noNewFiles struct{ disk.FS }

func (f noNewFiles) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	if flag == disk.Exclusive {
		return nil, disk.ErrNoSpace
	}
	return f.FS.Open(name, flag)
}

func TestLineOfAHundredMegabytesNeedsLittleMemory(t *testing.T) {
	w := newWorld(t)
	store, err := OpenStore(Config{Dir: t.TempDir(), Now: w.now, Rand: w.rand})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), w.header())
	if err != nil {
		t.Fatal(err)
	}
	w.id = log.ID()
	a := w.user("", "before")
	if err := log.Commit(t.Context(), []protocol.Event{a}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	b := w.user(a.ID, "behind")
	line, err := b.AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := disk.OS().Open(store.path(w.id), disk.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	off, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	piece := bytes.Repeat([]byte("long "), 1<<20/5)
	write := func(p []byte) {
		n, err := f.WriteAt(p, off)
		if err != nil {
			t.Fatal(err)
		}
		off += int64(n)
	}
	write([]byte(`{"type":"message","id":"evt_0000000000000000","parentId":null,"seq":99,"x":"`))
	for range 100 {
		write(piece)
	}
	write([]byte("\"}\n"))
	write(append(line, '\n'))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	log, report, err := store.Open(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	runtime.ReadMemStats(&after)
	if log.Index().Len() != 2 || !report.Has(health.DamagedLine) {
		t.Fatalf("%d events, %v", log.Index().Len(), report.Sentences())
	}
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 32 {
		t.Fatalf("opening took %d MB of memory", got)
	}
	if got := log.NextSeqFloor(); got != 100 {
		t.Fatalf("the next seq is %d", got)
	}
}

func TestReportIsBounded(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 1)
	l := lines(data)
	var bad bytes.Buffer
	fmt.Fprintf(&bad, "%s\n", l[0])
	for range 5000 {
		bad.WriteString("garbage\n")
	}
	for _, line := range l[1:] {
		fmt.Fprintf(&bad, "%s\n", line)
	}
	log, report := w.with(t, bad.Bytes()).open(t)
	if len(report.Findings) != health.Max || report.More != 4000 || log.Index().Len() != len(l)-1 {
		t.Fatalf("%d findings and %d more, %d events", len(report.Findings), report.More, log.Index().Len())
	}
}
