package memory

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/internal/platform/sandbox/sandboxtest"
)

// clock is at a quarter past two, until it is moved.
var noon = time.Date(2026, 11, 20, 14, 15, 0, 0, time.UTC)

func store(fsys disk.FS, dir string) *Store {
	return New(Config{FS: fsys, Dir: dir, Key: "project-0123456789ab", Now: func() time.Time { return noon }})
}

// onDisk is a store in a folder of its own, below a home that is there.
func onDisk(t *testing.T) *Store { return store(disk.OS(), filepath.Join(t.TempDir(), "memory")) }

func add(t *testing.T, s *Store, scope Scope, text string) string {
	t.Helper()
	path, err := s.Add(scope, text, "")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestNotesAreItemsOfAListInAFileOfTheirScope(t *testing.T) {
	s := onDisk(t)
	add(t, s, User, "I like short answers.")
	add(t, s, Project, "  tests need `make generate` first\r\n\r\nand a\u202e free\U000e0041\U000e007f po\u200brt\U000e0101\x1b[31m  ")
	add(t, s, Daily, "the parser is done")
	path := add(t, s, Daily, "the printer is not")
	for name, want := range map[string]string{
		"MEMORY.md": "- I like short answers.\n",
		"projects/project-0123456789ab/MEMORY.md":           "- tests need `make generate` first\n  and a free port[31m\n",
		"projects/project-0123456789ab/daily/2026-11-20.md": "- 14:15 the parser is done\n- 14:15 the printer is not\n",
	} {
		if got := contents(t, filepath.Join(s.cfg.Dir, name)); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if path != filepath.Join(s.cfg.Dir, "projects/project-0123456789ab/daily/2026-11-20.md") {
		t.Errorf("it says %s", path)
	}
}

func TestWhatAPersonWroteStays(t *testing.T) {
	s := onDisk(t)
	path := add(t, s, Project, "first")
	if err := os.WriteFile(path, []byte("# Mine\nno newline at the end"), 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, s, Project, "second")
	if got := contents(t, path); got != "# Mine\nno newline at the end\n- second\n" {
		t.Errorf("%q", got)
	}
	elsewhere := filepath.Join(t.TempDir(), "kept.md")
	if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	s.cfg.Resolve = disk.Personal
	add(t, s, Project, "third")
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if got := contents(t, elsewhere); !strings.HasSuffix(got, "- second\n- third\n") {
		t.Errorf("behind the link: %q", got)
	}
}

func TestANoteThatCannotBeKeptIsRefusedInASentenceAndChangesNothing(t *testing.T) {
	s := onDisk(t)
	full := add(t, s, User, "one")
	if err := os.WriteFile(full, []byte(strings.Repeat("x\n", MaxFile/2)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scope       Scope
		text, wants string
	}{
		{"team", "x", "it can be project, user or daily"},
		{Project, " \n\t", "the note is empty"},
		{Project, strings.Repeat("words ", 2000), "at most 8192"},
		{Project, strings.Repeat("w", MaxLine+1), "a line of the note has 2049 bytes"},
		{Project, "a\xff", "UTF-8"},
		{Daily, "deploy with token: 9f8e7d6c5b4a", "a password or a key"},
		{Daily, "-----BEGIN RSA PRIVATE KEY-----\nMII", "a password or a key"},
		{User, "one more", "may have at most 262144"},
	} {
		_, err := s.Add(c.scope, c.text, "")
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.wants) || strings.Contains(err.Error(), "9f8e") {
			t.Errorf("%s %.20q: %v", c.scope, c.text, err)
		}
	}
	if _, err := os.Stat(s.Path(Project)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
	if err := os.WriteFile(full, []byte(strings.Repeat("y", MaxFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if _, err := s.Add(User, "one more", ""); !errors.As(err, &refused) || !strings.Contains(err.Error(), "more than 262144") {
		t.Errorf("a file over the limit: %v", err)
	}
	if info, err := os.Stat(full); err != nil || info.Size() != MaxFile+1 {
		t.Errorf("%v %v", info, err)
	}
}

func TestTheKeyOfAProjectIsReadableAndSharedByItsWorktrees(t *testing.T) {
	main, linked := Key("/home/u/My Shop", "/home/u/My Shop/.git"), Key("/tmp/wt/topic", "/home/u/My Shop/.git")
	if main != linked || !strings.HasPrefix(main, "my-shop-") || len(main) != len("my-shop-")+12 {
		t.Errorf("%s %s", main, linked)
	}
	if other := Key("/srv/My Shop", "/srv/My Shop/.git"); other == main {
		t.Error("two repositories share a key")
	}
	if bare := Key("/srv/w", "/srv/shop.git"); !strings.HasPrefix(bare, "shop-") {
		t.Error(bare)
	}
	for _, root := range []string{"/", "/tmp/..x", "/tmp/" + strings.Repeat("ä", 200)} {
		if key := Key(root, ""); !filepath.IsLocal(key) || strings.HasPrefix(key, ".") || len(key) > keySlug+13 || strings.ContainsAny(key, "/\\ ") {
			t.Errorf("%s: %q", root, key)
		}
	}
}

// writer is set in processes that add notes and nothing else.
const writer = "TEST_MEMORY_WRITER"

func TestTwoProcessesThatAddAtOnceLoseNothing(t *testing.T) {
	const notes = 40
	if dir := os.Getenv(writer); dir != "" {
		for i := range notes {
			add(t, store(disk.OS(), dir), Daily, fmt.Sprintf("note %d of %d", i, os.Getpid()))
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "memory")
	var running []*exec.Cmd
	for range 2 {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), writer+"="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, c)
	}
	for _, c := range running {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	got := contents(t, store(disk.OS(), dir).Path(Daily))
	if n := strings.Count(got, "\n"); n != 2*notes {
		t.Errorf("%d notes of %d", n, 2*notes)
	}
	for _, c := range running {
		for i := range notes {
			if !strings.Contains(got, fmt.Sprintf("note %d of %d\n", i, c.Process.Pid)) {
				t.Errorf("note %d of %d is lost", i, c.Process.Pid)
			}
		}
	}
}

func TestANoteThatWasKeptSurvivesAnyFaultAndCrash(t *testing.T) {
	for _, how := range []disktest.Crash{disktest.Drop, disktest.Reorder, disktest.Half512} {
		for n := 0; ; n++ {
			mem := disktest.NewMem()
			mem.Put("/s/memory/projects/project-0123456789ab/daily/2026-11-20.md", []byte("- 09:00 old\n"))
			faulty := &disktest.Faulty{FS: mem, N: n, Err: errors.New("broken"), Short: n%2 == 0}
			s := store(faulty, "/s/memory")
			var kept []string
			for i := range 3 {
				for _, scope := range []Scope{Daily, User} {
					if _, err := s.Add(scope, fmt.Sprintf("%s %d", scope, i), ""); err == nil {
						kept = append(kept, fmt.Sprintf("%s %d\n", scope, i))
					}
				}
			}
			mem.Crash(how, uint64(n))
			all := string(mem.Bytes(s.Path(Daily))) + string(mem.Bytes(s.Path(User)))
			if !strings.HasPrefix(all, "- 09:00 old\n") {
				t.Errorf("%s, fault %d: the old note is lost: %q", how, n, all)
			}
			for _, note := range kept {
				if !strings.Contains(all, note) {
					t.Errorf("%s, fault %d: %q was kept and is lost: %q", how, n, note, all)
				}
			}
			if n > 0 && !faulty.Fired() {
				break
			}
			if n == 0 && len(kept) != 6 {
				t.Fatalf("without a fault %d notes were kept", len(kept))
			}
		}
	}
}

func TestANoteWhoseRequestIsRepeatedBehindAnyFaultAndCrashStandsThereOnce(t *testing.T) {
	for _, how := range []disktest.Crash{disktest.Drop, disktest.Reorder, disktest.Half512} {
		for n := 0; ; n++ {
			mem := disktest.NewMem()
			faulty := &disktest.Faulty{FS: mem, N: n, Err: errors.New("broken"), Short: n%2 == 0}
			s := store(faulty, "/s/memory")
			_, first := s.Add(Project, "the note", "client request")
			mem.Crash(how, uint64(n))
			s = store(mem, "/s/memory")
			path := s.Path(Project)
			for range 2 {
				if _, err := s.Add(Project, "the note", "client request"); err != nil {
					t.Errorf("%s, fault %d: the repeat: %v", how, n, err)
				}
				if got := strings.Count(string(mem.Bytes(path)), "the note"); got != 1 {
					t.Errorf("%s, fault %d: the note stands there %d times, first %v", how, n, got, first)
				}
			}
			if _, err := s.Add(Project, "the note", "client other"); err != nil || strings.Count(string(mem.Bytes(path)), "the note") != 2 {
				t.Errorf("%s, fault %d: another request adds none: %v", how, n, err)
			}
			if n > 0 && !faulty.Fired() {
				break
			}
		}
	}
}

func TestARepeatThatNobodyCanJudgeAddsNothing(t *testing.T) {
	mem := disktest.NewMem()
	dir := "/s/memory"
	for n := 1; ; n++ {
		faulty := &disktest.Faulty{FS: mem, N: n, Err: errors.New("broken")}
		if _, err := store(faulty, dir).Add(Project, "one", "client request"); err == nil {
			t.Fatal("no fault left the note between its request and its end")
		}
		if list, err := store(mem, dir).requests(); err == nil && len(list) == 1 {
			break
		}
	}
	s := store(mem, dir)
	add(t, s, Project, "edited since")
	before := string(mem.Bytes(s.Path(Project)))
	if _, err := s.Add(Project, "one", "client request"); !errors.Is(err, ErrUnknown) || string(mem.Bytes(s.Path(Project))) != before {
		t.Errorf("%v; the notes are %q", err, mem.Bytes(s.Path(Project)))
	}
	for i := range maxRequests + 5 {
		if _, err := s.Add(User, "x", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.requests(); err != nil || len(list) != maxRequests || list[0].By != "5" {
		t.Errorf("%d requests are remembered, %v", len(list), err)
	}
}

func TestOnlyTheUserReadsTheNotesAndAnUnreadableFileIsNamed(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		s := store(disk.OS(), filepath.Join(dir, "memory"))
		add(t, s, Project, "about the project")
		daily := add(t, s, Daily, "about today")
		err := filepath.WalkDir(s.cfg.Dir, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has the mode %v", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(daily, 0); err != nil {
			t.Fatal(err)
		}
		files, err := s.Read()
		if err == nil || !strings.Contains(err.Error(), daily) || len(files) != 1 || files[0].Scope != Project {
			t.Errorf("%+v %v", files, err)
		}
		if err := os.Chmod(filepath.Dir(daily), 0o500); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Add(Daily, "more", ""); err == nil || !strings.Contains(err.Error(), daily) {
			t.Errorf("a note in a closed folder: %v", err)
		}
		if err := os.Chmod(filepath.Dir(daily), 0o700); err != nil { // so that the folder can be removed
			t.Fatal(err)
		}
	})
}

func TestTheNewestFourteenDaysAreRead(t *testing.T) {
	s := onDisk(t)
	add(t, s, Daily, "x")
	dir := filepath.Dir(s.Path(Daily))
	for day := 1; day <= 18; day++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("2026-10-%02d.md", day)), []byte("- y\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"notes.md", "2026-13-01.md", "2026-10-01.txt", "2026-10-01.md.tmp-1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("z"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := s.Read()
	if err != nil || len(files) != maxDaily || files[0].Day != "2026-10-06" || files[maxDaily-1].Day != "2026-11-20" {
		t.Errorf("%d %v %+v", len(files), err, files)
	}
}

func TestAFileThatIsCutInACharacterIsText(t *testing.T) {
	s := onDisk(t)
	path := s.Path(User)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{"", "x", "xx", "xxx"} { // the cut is elsewhere in a character
		if err := os.WriteFile(path, []byte(first+strings.Repeat("😀", MaxFile/4+1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if files, err := s.Read(); err != nil || len(files) != 1 || !files[0].Cut || len(files[0].Text) < MaxFile-4 {
			t.Errorf("%q: %d files, %v", first, len(files), err)
		}
	}
	if err := os.WriteFile(path, []byte("whole\xe9"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := s.Read(); err == nil || !strings.Contains(err.Error(), path) || len(files) != 0 {
		t.Errorf("%+v, %v", files, err)
	}
}

func TestADamagedRecordOfRequestsIsSetAside(t *testing.T) {
	for _, text := range []string{"", "null", "[{", "{}"} {
		s := onDisk(t)
		if _, err := s.Add(User, "one", "first"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.requestsFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Add(User, "two", "second"); err != nil {
			t.Fatal(err)
		}
		if kept, _ := filepath.Glob(s.requestsFile() + disk.AsideMark + "*"); len(kept) != 1 {
			t.Errorf("%q: kept as %q", text, kept)
		}
	}
}
