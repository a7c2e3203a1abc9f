package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"scorel/internal/engine/session/health"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

func TestHeaderIsDurableWhenCreateReturns(t *testing.T) {
	w := newWorld(t)
	w.create(t)
	w.mem.Crash(disktest.Drop, 1)
	w.restart(t)
	log, report := w.open(t)
	if h := log.Index().Header(); h.Meta.Name != "first" || h.SessionID != w.id || h.CreatedAt != w.now().UnixMilli() || !report.Clean() {
		t.Fatalf("%+v %v", h, report.Sentences())
	}
}

func TestOpenTellsWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	for _, id := range []protocol.SessionID{protocol.NewSessionID(w.now(), w.rand), "", "../../etc/passwd"} {
		if _, _, err := w.store.Open(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("open %q: %v", id, err)
		}
		if _, _, err := w.store.View(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("view %q: %v", id, err)
		}
		if _, err := w.store.Delete(t.Context(), id, Beside{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("delete %q: %v", id, err)
		}
	}
	var locked *LockedError
	if _, _, err := w.store.Open(t.Context(), w.id); !errors.As(err, &locked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second writer gets %v", err)
	}
	h := w.header()
	h.SessionID = w.id
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Create(t.Context(), h); !errors.Is(err, ErrExists) {
		t.Errorf("creating it again gives %v", err)
	}
	if err := log.Commit(t.Context(), []protocol.Event{w.user("", "x")}); !errors.Is(err, ErrClosed) {
		t.Errorf("a commit after Close gives %v", err)
	}
}

func TestDeleteLeavesOnlyTheLock(t *testing.T) {
	w := newWorld(t)
	w.record(t, 1)
	base := strings.TrimSuffix(w.logName(), logSuffix)
	w.mem.Put(base+".log", []byte("d"))
	w.mem.Put(base+".jsonl.damaged-1", []byte("d"))
	if _, err := w.store.Delete(t.Context(), w.id, Beside{}); err != nil {
		t.Fatal(err)
	}
	w.mem.Crash(disktest.Reorder, 3)
	if got, want := w.mem.String(), base+".lock 0\n"; !strings.Contains(got, want) || strings.Count(got, string(w.id)) != 1 {
		t.Fatalf("left is\n%s", got)
	}
}

func TestViewNeverRepairsAndEndsAtTheSizeItFound(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "a")
	if err := log.Commit(t.Context(), []protocol.Event{a}); err != nil {
		t.Fatal(err)
	}
	v, report, err := w.store.View(t.Context(), w.id)
	if err != nil || !report.Clean() {
		t.Fatal(err, report.Sentences())
	}
	defer v.Close()
	if err := log.Commit(t.Context(), []protocol.Event{w.user(a.ID, "b")}); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, v.Index()); len(got) != 1 {
		t.Fatalf("the view has grown: %v", got)
	}
	torn := append(w.mem.Bytes(w.logName()), `{"type":`...)
	c := w.with(t, torn)
	v2, report, err := c.store.View(t.Context(), c.id)
	if err != nil {
		t.Fatal(err)
	}
	defer v2.Close()
	if !report.Has(health.Tail) || report.SetAside != "" || !bytes.Equal(c.mem.Bytes(c.logName()), torn) {
		t.Fatalf("%v", report.Sentences())
	}
}

func TestViewMakesDurableWhatItShows(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 1)
	f, err := w.mem.Open(w.logName(), disk.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	line, err := w.user("", "written by somebody who was killed").AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(append(line, '\n'), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	v, _, err := w.store.View(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	shown := v.Index().Len()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	w.mem.Crash(disktest.Drop, 1)
	w.restart(t)
	if log, _ := w.open(t); log.Index().Len() != shown {
		t.Fatalf("%d events were shown, %d survive", shown, log.Index().Len())
	}
}

func TestSyncsOfAllLogsShareOneLimit(t *testing.T) {
	w := newWorld(t)
	g := disktest.NewGate(w.mem)
	store, err := OpenStore(Config{FS: g, Dir: "/home/.scorel", Now: w.now, Rand: w.rand, SyncLimit: 2})
	if err != nil {
		t.Fatal(err)
	}
	var logs []*Log
	for range 4 {
		log, err := store.Create(t.Context(), w.header())
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		logs = append(logs, log)
	}
	g.HoldSyncs()
	done := make(chan error, len(logs))
	for _, log := range logs {
		w.id = log.ID()
		ev := w.user("", "x")
		go func() { done <- log.Commit(context.WithoutCancel(t.Context()), []protocol.Event{ev}) }()
	}
	g.AwaitWaiting(2)
	if logs[0].Index().Len()+logs[1].Index().Len()+logs[2].Index().Len()+logs[3].Index().Len() != 0 {
		t.Error("an event is in an index before its fsync has returned")
	}
	if n := g.Waiting(); n != 2 {
		t.Errorf("%d fsyncs are in flight", n)
	}
	g.Release(2)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	g.Release(-1)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestListIsNewestFirstAndReadsOnlyWhatChanged(t *testing.T) {
	w := newWorld(t)
	c := &counted{FS: w.mem}
	w.fs = c
	w.restart(t)
	var made []protocol.SessionID
	for i := range 12 {
		h := w.header()
		h.Meta.Name, h.Meta.ProjectID = fmt.Sprint("session ", i), protocol.ProjectID("prj_000000000000000"+fmt.Sprint(i%2))
		log, err := w.store.Create(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		w.id = log.ID()
		made = append(made, w.id)
		u := w.user("", strings.Repeat("é", 300))
		info := w.event(u.ID, &protocol.SessionInfo{Changes: protocol.MetaChanges{WorkDir: ptr(fmt.Sprint("/w/", i))}})
		fake := w.user(u.ID, `{"type":"session_info","changes":{"name":"fake"}}`)
		if err := log.Commit(t.Context(), []protocol.Event{u, info, fake}); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	list := func(q Query) (out []Summary) {
		for s, err := range w.store.List(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return out
	}
	all := list(Query{})
	if len(all) != 12 || all[0].ID != made[11] || all[11].ID != made[0] {
		t.Fatalf("%d sessions: %+v", len(all), all)
	}
	if s := all[0]; s.Meta.Name != "session 11" || s.Meta.WorkDir != "/w/11" || s.FirstPrompt != strings.Repeat("é", 200) || s.Events != 3 ||
		s.CreatedAt != w.now().UnixMilli() || s.Locked != nil {
		t.Fatalf("%+v", s)
	}
	c.read = 0
	list(Query{})
	if c.read != 0 {
		t.Errorf("listing again reads %d bytes", c.read)
	}
	w.restart(t)
	list(Query{})
	if got := int64(len(w.mem.Bytes("/home/.scorel/sessions/" + cacheName))); c.read != got {
		t.Errorf("a new process reads %d bytes, the cache has %d", c.read, got)
	}
	if got := list(Query{ProjectID: "prj_0000000000000001", Limit: 2}); len(got) != 2 || got[1].ID != made[9] {
		t.Errorf("%+v", got)
	}
	if got := list(Query{Text: string(made[3])}); len(got) != 1 || got[0].ID != made[3] {
		t.Errorf("by the id: %v", got)
	}
	if got := list(Query{Text: "SESSION 3"}); len(got) != 1 || got[0].ID != made[3] {
		t.Errorf("%+v", got)
	}
	at := all[4].Position()
	if got := list(Query{Before: &at, Limit: 3}); len(got) != 3 || got[0].ID != all[5].ID {
		t.Errorf("%+v", got)
	}
	w.id = made[0]
	log, _ := w.open(t)
	if err := log.Commit(t.Context(), []protocol.Event{w.event("", &protocol.SessionInfo{Changes: protocol.MetaChanges{Name: ptr("renamed")}})}); err != nil {
		t.Fatal(err)
	}
	if got := list(Query{Limit: 1}); got[0].ID != made[0] || got[0].Meta.Name != "renamed" || got[0].Locked == nil || got[0].Locked.PID != os.Getpid() {
		t.Errorf("%+v", got)
	}
	w.mem.Put("/home/.scorel/sessions/"+cacheName, []byte("{damaged"))
	w.restart(t)
	if got := list(Query{}); len(got) != 12 {
		t.Errorf("a damaged cache costs %d sessions", 12-len(got))
	}
}

func TestALogThatDoesNotSayWhatItIsOfIsInEachList(t *testing.T) {
	w := newWorld(t)
	names := []string{"sound", "emptied", "damaged header", "unreadable", "zeroed"}
	ids := map[protocol.SessionID]string{}
	for _, name := range names {
		h := w.header()
		h.Meta.ProjectID = "prj_0000000000000001"
		log, err := w.store.Create(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		ids[log.ID()] = name
		path := w.store.path(log.ID())
		raw := w.mem.Bytes(path)
		switch name {
		case "emptied":
			w.mem.Put(path, nil)
		case "damaged header":
			w.mem.Put(path, append([]byte("{x"), raw[2:]...))
		case "zeroed":
			w.mem.Put(path, make([]byte, len(raw)))
		case "unreadable":
			w.fs = &unreadable{w.fs, path}
		}
	}
	w.restart(t)
	want := map[string]string{"sound": "", "emptied": "Its log is empty.", "unreadable": "Its log cannot be read: permission denied.",
		"damaged header": "The first line of its log is damaged, which says what it is of.", "zeroed": "The first line of its log is damaged, which says what it is of."}
	for range 2 { // from the cache, too
		got := map[string]string{}
		for s, err := range w.store.List(t.Context(), Query{ProjectID: "prj_0000000000000001", Top: true}) {
			if err != nil {
				t.Fatal(err)
			}
			got[ids[s.ID]] = s.Damaged
		}
		if !maps.Equal(got, want) {
			t.Errorf("listed are %v, want %v", got, want)
		}
		for s := range w.store.List(t.Context(), Query{ProjectID: "prj_0000000000000002"}) {
			if ids[s.ID] == "sound" {
				t.Errorf("another project has it, too: %+v", s)
			}
		}
	}
	for id, name := range ids {
		report, err := w.store.Verify(t.Context(), id)
		if (name == "sound") != (err == nil && report.Clean()) {
			t.Errorf("%s: verify says %+v, %v", name, report, err)
		}
	}
}

// unreadable is a file system with a file that cannot be opened.
type unreadable struct {
	disk.FS
	path string
}

func (u *unreadable) Open(name string, mode disk.OpenFlag) (disk.File, error) {
	if name == u.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.FS.Open(name, mode)
}

func TestALogThatALinkLeadsToIsListedAsItIs(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	var err error
	if w.store, err = OpenStore(Config{Dir: dir, Now: w.now, Rand: w.rand}); err != nil {
		t.Fatal(err)
	}
	h := w.header()
	h.Meta.ProjectID = "prj_0000000000000001"
	log, err := w.store.Create(t.Context(), h)
	if err != nil || log.Close() != nil {
		t.Fatal(err)
	}
	path, elsewhere := w.store.path(log.ID()), filepath.Join(dir, "elsewhere")
	dangling := w.store.path("ses_00000000000000000000000009")
	if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path), os.Symlink(filepath.Join(dir, "none"), dangling)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for s, err := range w.store.List(t.Context(), Query{ProjectID: h.Meta.ProjectID}) {
		n++
		if err != nil || s.ID == log.ID() && s.Damaged != "" || s.ID != log.ID() && !strings.Contains(s.Damaged, "a link that leads nowhere") {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if n != 2 {
		t.Errorf("%d are listed", n)
	}
	done, err := w.store.Delete(t.Context(), log.ID(), Beside{})
	if _, there := os.Stat(elsewhere); err != nil || there != nil || done.Left == nil || !strings.Contains(done.Left.Error(), elsewhere) {
		t.Errorf("deleting it: %+v, %v; the file that the link led to: %v", done, err, there)
	}
}

func TestBlobsAreSharedDurableAndBounded(t *testing.T) {
	w := newWorld(t)
	b := w.store.Blobs()
	sha, size, err := b.Put(t.Context(), iotest.OneByteReader(strings.NewReader("content")))
	if err != nil || size != 7 || sha != "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73" {
		t.Fatal(sha, size, err)
	}
	if again, _, err := b.Put(t.Context(), strings.NewReader("content")); err != nil || again != sha {
		t.Fatal(again, err)
	}
	w.mem.Crash(disktest.Drop, 1)
	if !b.Has(sha) || strings.Count(w.mem.String(), "/blobs/") != 1 {
		t.Fatalf("left is\n%s", w.mem)
	}
	r, size, err := b.Open(sha)
	if err != nil || size != 7 {
		t.Fatal(size, err)
	}
	defer r.Close()
	if _, err := r.Seek(3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "tent" {
		t.Fatalf("%q %v", rest, err)
	}
	for _, name := range []string{"", "../x", strings.Repeat("a", 64), strings.ToUpper(sha)} {
		if _, _, err := b.Open(name); !errors.Is(err, ErrNotFound) || b.Has(name) {
			t.Errorf("blob %q: %v", name, err)
		}
	}
	if _, _, err := b.Put(t.Context(), io.LimitReader(zeros{}, MaxBlob+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a blob that is too large: %v", err)
	}
	if _, _, err := b.Put(t.Context(), iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a reader that fails: %v", err)
	}
	if strings.Contains(w.mem.String(), disk.TempMark) {
		t.Errorf("left is\n%s", w.mem)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestPruneRemovesOnlyOldBlobsThatNobodyNames(t *testing.T) {
	w := newWorld(t)
	now := w.now()
	w.mem.Now = func() time.Time { return now }
	b := w.store.Blobs()
	put := func(text string) string {
		sha, _, err := b.Put(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	now = w.now().Add(-48 * time.Hour)
	named, aside, old, again := put("named"), put("aside"), put("old"), put("again")
	log := w.create(t)
	if err := log.Commit(t.Context(), []protocol.Event{w.event("", &protocol.FileSnapshot{Path: "/a", Blob: named})}); err != nil {
		t.Fatal(err)
	}
	w.mem.Put(w.logName()+".damaged-1", []byte("torn "+aside))
	now = w.now().Add(-23 * time.Hour)
	young := put("young")
	put("again")
	got, err := b.Prune(t.Context(), 0)
	if err != nil || got.Blobs != 1 || got.Bytes != 3 {
		t.Fatalf("%+v %v", got, err)
	}
	for sha, want := range map[string]bool{named: true, aside: true, young: true, again: true, old: false} {
		if b.Has(sha) != want {
			t.Errorf("%s: there %t, want %t", sha, !want, want)
		}
	}
}

func TestVerifyFindsWhatOpeningDoesNot(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	sha, _, err := w.store.Blobs().Put(t.Context(), strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	bad, _, err := w.store.Blobs().Put(t.Context(), strings.NewReader("other"))
	if err != nil {
		t.Fatal(err)
	}
	missing := strings.Repeat("0", 64)
	a := w.user("", "SPOIL")
	events := []protocol.Event{a}
	for _, s := range []string{sha, bad, missing} {
		events = append(events, w.event(a.ID, &protocol.FileSnapshot{Path: "/a", Blob: s}))
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	w.mem.Put("/home/.scorel/blobs/"+bad, []byte("xxxxx"))
	report, err := w.store.Verify(t.Context(), w.id)
	if err != nil || !report.Has(health.BlobMissing) || !report.Has(health.BlobDamaged) || len(report.Findings) != 2 {
		t.Fatalf("%v %v", report.Sentences(), err)
	}
	data := bytes.Replace(w.mem.Bytes(w.logName()), []byte("SPOIL"), []byte("a\\qbc"), 1)
	c := w.with(t, data)
	report, err = c.store.Verify(t.Context(), c.id)
	if err != nil || !report.Has(health.DamagedLine) {
		t.Fatalf("%v %v", report.Sentences(), err)
	}
	if !bytes.Equal(c.mem.Bytes(c.logName()), data) {
		t.Fatal("verify has changed the log")
	}
}

func TestRepairKeepsTheOldFileAndAllSoundEvents(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 1)
	l := lines(data)
	bad := bytes.Join([][]byte{append([]byte("\xef\xbb\xbf"), l[0]...), l[1], []byte("garbage"), append(bytes.Clone(l[2]), l[3]...)}, []byte("\r\n"))
	bad = append(append(append(bad, '\r', '\n'), bytes.Join(l[4:], []byte("\n"))...), '\n')
	c := w.with(t, bad)
	report, err := c.store.Repair(t.Context(), c.id)
	if err != nil || report.SetAside == "" {
		t.Fatal(report.Sentences(), err)
	}
	if got := c.mem.Bytes(c.logName()); !bytes.Equal(got, data) {
		t.Fatalf("repaired to\n%s\nwant\n%s", got, data)
	}
	if !bytes.Equal(c.mem.Bytes(report.SetAside), bad) {
		t.Fatal("the old file was not kept")
	}
	if report, err := c.store.Repair(t.Context(), c.id); err != nil || !report.Clean() {
		t.Fatal(report.Sentences(), err)
	}
}

func TestExportGivesTheBytesOfTheLog(t *testing.T) {
	w := newWorld(t)
	data := w.record(t, 3)
	for name, in := range map[string][]byte{"sound": data, "CRLF": bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")),
		"damaged": append(append(bytes.Clone(data), "garbage\n"...), "garbage"...)} {
		c := w.with(t, in)
		v, _, err := c.store.View(t.Context(), c.id)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := ExportJSONL(t.Context(), &out, v); err != nil || !bytes.Equal(out.Bytes(), data) {
			t.Errorf("%s: %d bytes, want %d (%v)", name, out.Len(), len(data), err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreWorksOnTheMachinesDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", ".scorel")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	var err error
	if w.store, err = OpenStore(Config{Dir: dir, Now: w.now, Rand: w.rand}); err != nil {
		t.Fatal(err)
	}
	for _, err := range w.store.List(t.Context(), Query{}) {
		t.Fatalf("an empty store lists something (%v)", err)
	}
	log := w.create(t)
	events, _ := w.every("", 1)
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(w.store.path(w.id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("torn"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	log, report := w.open(t)
	if data, err := os.ReadFile(report.SetAside); err != nil || string(data) != "torn" {
		t.Fatalf("%q %v", data, err)
	}
	w.goOn(t, log)
}
