package session

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// owing is a session to be deleted, beside another one that names one of its payloads.
type owing struct {
	*world
	now                               time.Time
	other                             protocol.SessionID
	only, young, shared, aside, alone string
}

func newOwing(t *testing.T) *owing {
	t.Helper()
	o := &owing{world: newWorld(t)}
	o.now = o.world.now().Add(-48 * time.Hour)
	o.mem.Now = func() time.Time { return o.now }
	put := func(text string) string {
		sha, _, err := o.store.Blobs().Put(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	o.only, o.shared, o.aside, o.alone = put("only"), put("shared"), put("aside"), put("nobody's")
	o.now = o.world.now()
	o.young = put("young")
	fill := func(names ...string) protocol.SessionID {
		log := o.create(t)
		for _, sha := range names {
			if err := log.Commit(t.Context(), []protocol.Event{o.event("", &protocol.FileSnapshot{Path: "/a", Blob: sha})}); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		return log.ID()
	}
	o.other = fill(o.shared)
	o.id = fill(o.only, o.shared, o.young)
	o.mem.Put(o.logName()+".damaged-1", []byte("torn "+o.aside))
	o.mem.Put("/home/.scorel/sessions/"+string(o.id)+".log", []byte("a diagnostic"))
	return o
}

// left says which payloads are there, by their contents.
func (o *owing) left(t *testing.T) string {
	t.Helper()
	var out []string
	for name, sha := range map[string]string{"only": o.only, "young": o.young, "shared": o.shared, "aside": o.aside, "alone": o.alone} {
		if o.store.Blobs().Has(sha) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (o *owing) sweep(t *testing.T, after time.Duration) Swept {
	t.Helper()
	store, err := OpenStore(Config{FS: o.mem, Dir: "/home/.scorel", Now: func() time.Time { return o.now.Add(after) }})
	if err != nil {
		t.Fatal(err)
	}
	out, err := store.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// own returns the files of the session that are there, but for its lock.
func (o *owing) own() (out []string) {
	for line := range strings.Lines(o.mem.String()) {
		if strings.Contains(line, string(o.id)) && !strings.Contains(line, lockSuffix) && !strings.Contains(line, "/deleted/") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestDeleteRemovesThePayloadsThatOnlyTheSessionNamed(t *testing.T) {
	o := newOwing(t)
	for range o.store.List(t.Context(), Query{}) { // which remembers first prompts
	}
	got, err := o.store.Delete(t.Context(), o.id, Beside{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{o.only, o.aside}
	slices.Sort(want)
	if !slices.Equal(got.Removed, want) || got.Bytes != int64(len("only")+len("aside")) || !slices.Equal(got.Later, []string{o.young}) || !slices.Equal(got.Kept, []string{o.shared}) {
		t.Errorf("%+v", got)
	}
	if s := o.left(t); s != "alone shared young" {
		t.Errorf("left are %s", s)
	}
	if s := o.sweep(t, 23*time.Hour); s.Blobs != 0 || o.left(t) != "alone shared young" {
		t.Errorf("swept too early: %+v", s)
	}
	if s := o.sweep(t, 25*time.Hour); s.Blobs != 1 || s.Bytes != int64(len("young")) || o.left(t) != "alone shared" {
		t.Errorf("swept: %+v, left are %s", s, o.left(t))
	}
	if strings.Contains(o.mem.String(), "/deleted/") {
		t.Errorf("left is\n%s", o.mem)
	}
}

func TestWhatComesBackBeforeItIsSweptStays(t *testing.T) {
	o := newOwing(t)
	if _, err := o.store.Delete(t.Context(), o.id, Beside{}); err != nil {
		t.Fatal(err)
	}
	o.now = o.now.Add(20 * time.Hour)
	if err := o.store.Blobs().Keep(o.young); err != nil { // for an event that is on its way
		t.Fatal(err)
	}
	o.now = o.now.Add(-20 * time.Hour)
	if s := o.sweep(t, 25*time.Hour); s.Blobs != 0 {
		t.Errorf("swept %+v", s)
	}
	log := o.create(t)
	if err := log.Commit(t.Context(), []protocol.Event{o.event("", &protocol.FileSnapshot{Path: "/a", Blob: o.young})}); err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if s := o.sweep(t, 100*time.Hour); s.Blobs != 0 || o.left(t) != "alone shared young" {
		t.Errorf("swept %+v, left are %s", s, o.left(t))
	}
}

func TestACloneKeepsWhatItNamesThoughItsSourceIsDeleted(t *testing.T) {
	o := newOwing(t)
	log, _, err := o.store.Clone(t.Context(), o.id, protocol.Header{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// Nothing of the clone is on the disk yet for who looks for names.
	if err := o.mem.Remove(o.store.path(log.ID())); err != nil {
		t.Fatal(err)
	}
	if _, err := o.store.Delete(t.Context(), o.id, Beside{}); err != nil {
		t.Fatal(err)
	}
	if s := o.left(t); s != "alone only shared young" {
		t.Errorf("left are %s", s)
	}
}

func TestADeleteThatIsCutOffAnywhereLeavesNothingWrong(t *testing.T) {
	for _, power := range []bool{false, true} {
		told := false
		for n := 1; ; n++ {
			o := newOwing(t)
			f := &disktest.Faulty{FS: o.mem, N: n, Sticky: true, Err: syscall.EIO}
			o.fs = f
			o.restart(t)
			done, err := o.store.Delete(t.Context(), o.id, Beside{})
			told = told || done.Left != nil
			o.fs = o.mem
			if power {
				o.mem.Crash(disktest.Drop, uint64(n))
			}
			o.restart(t)
			if !o.store.Blobs().Has(o.shared) {
				t.Fatalf("fault %d: a payload of another session is gone", n)
			}
			_, gone := o.mem.Stat(o.logName())
			if own := o.own(); gone != nil && len(own) > 0 && !power {
				t.Fatalf("fault %d: the session is gone, and these of its files are left, which no other Delete finds: %v", n, own)
			}
			if err != nil && gone != nil && !power {
				t.Fatalf("fault %d: the session is gone, and it is said that it is not: %v", n, err)
			}
			if gone == nil && !(o.store.Blobs().Has(o.only) && o.store.Blobs().Has(o.young)) {
				t.Fatalf("fault %d: the session is there (%v), its payloads are not", n, err)
			}
			o.sweep(t, 25*time.Hour)
			o.sweep(t, 50*time.Hour)
			if s := o.left(t); gone != nil && s != "alone shared" || gone == nil && s != "alone aside only shared young" && s != "alone only shared young" {
				t.Fatalf("fault %d (%v): the session is gone: %t, left are %s\n%s", n, err, gone != nil, s, o.mem)
			}
			if gone == nil { // what was cut off is finished by the next
				if _, err := o.store.Delete(t.Context(), o.id, Beside{}); err != nil || len(o.own()) > 0 {
					t.Fatalf("fault %d: deleting it again: %v, left are %v", n, err, o.own())
				}
			}
			if !f.Fired() {
				if n < 4 {
					t.Fatalf("only %d faults were met", n)
				}
				if !told {
					t.Error("no fault behind the removal of the log was told")
				}
				break
			}
		}
	}
}

func TestASweepRemovesOldUnfinishedFilesAndBringsBackABlobWhoseRemovalWasCutOff(t *testing.T) {
	o := newOwing(t)
	for _, name := range []string{"/home/.scorel/blobs/blob", "/home/.scorel/sessions/x.jsonl"} {
		f, _, err := disk.Temp(o.mem, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b := o.store.Blobs()
	if err := o.mem.Rename(b.path(o.shared), b.path(o.shared)+awaySuffix); err != nil {
		t.Fatal(err)
	}
	if s := o.sweep(t, time.Hour); s.Temps != 0 || !b.Has(o.shared) {
		t.Errorf("swept %+v", s)
	}
	if s := o.sweep(t, 25*time.Hour); s.Temps != 2 || strings.Contains(o.mem.String(), disk.TempMark) {
		t.Errorf("swept %+v, left is\n%s", s, o.mem)
	}
}

func TestADeletedSessionIsNotRememberedByLists(t *testing.T) {
	w := newWorld(t)
	for i := range 12 {
		log := w.create(t)
		if err := log.Commit(t.Context(), []protocol.Event{w.user("", "the secret words "+string(rune('a'+i)))}); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range w.store.List(t.Context(), Query{}) {
	}
	cache := func() string { return string(w.mem.Bytes("/home/.scorel/sessions/" + cacheName)) }
	if !strings.Contains(cache(), "secret words l") {
		t.Fatal("the list has no memory to forget")
	}
	w.restart(t) // a process that has not listed
	if _, err := w.store.Delete(t.Context(), w.id, Beside{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(cache(), "secret words l") || !strings.Contains(cache(), "secret words a") {
		t.Errorf("the list remembers %s", cache())
	}
}

func TestNamesAreFoundWhereverTheyStand(t *testing.T) {
	name := strings.Repeat("0123456789abcdef", 4)
	for before := range 200 {
		for _, around := range []string{`"`, "f", "x", "\n"} {
			text := strings.Repeat("g", before) + around + name + around + strings.Repeat("-", 7)
			old := map[string]int64{name: 1}
			if forgetNamed([]byte(text), old); len(old) != 0 {
				t.Fatalf("not found behind %d bytes and %q", before, around)
			}
		}
	}
	old := map[string]int64{name: 1}
	if forgetNamed([]byte(name[:63]+"g"+name[1:]), old); len(old) != 1 {
		t.Error("found in parts")
	}
}

// fullDisk has no room for a byte until a file of the suffix was removed; "" is for ever.
type fullDisk struct {
	disk.FS
	until string
	room  *bool
}

func (f fullDisk) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	file, err := f.FS.Open(name, flag)
	return fullFile{file, f.room}, err
}

func (f fullDisk) Remove(name string) error {
	if f.until != "" && strings.HasSuffix(name, f.until) {
		*f.room = true
	}
	return f.FS.Remove(name)
}

type fullFile struct {
	disk.File
	room *bool
}

func (f fullFile) WriteAt(p []byte, off int64) (int, error) {
	if !*f.room {
		return 0, disk.ErrNoSpace
	}
	return f.File.WriteAt(p, off)
}

func TestASessionIsDeletedOnAFullDisk(t *testing.T) {
	for name, until := range map[string]string{"room once the log is gone": logSuffix, "never": ""} {
		o := newOwing(t)
		for range o.store.List(t.Context(), Query{}) { // which remembers first prompts
		}
		store, err := OpenStore(Config{FS: fullDisk{o.mem, until, new(bool)}, Dir: "/home/.scorel", Now: func() time.Time { return o.now }})
		if err != nil {
			t.Fatal(err)
		}
		got, err := store.Delete(t.Context(), o.id, Beside{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got.Removed) != 2 || !slices.Equal(got.Later, []string{o.young}) || (got.Left == nil) != (until != "") {
			t.Errorf("%s: %+v", name, got)
		}
		if s := o.left(t); s != "alone shared young" {
			t.Errorf("%s: left are %s", name, s)
		}
		if data := o.mem.Bytes("/home/.scorel/sessions/" + cacheName); strings.Contains(string(data), string(o.id)) {
			t.Errorf("%s: lists remember it", name)
		}
		want := 0
		if until != "" {
			want = 1
		}
		if s := o.sweep(t, 25*time.Hour); s.Blobs != want {
			t.Errorf("%s: swept %+v", name, s)
		}
	}
}
