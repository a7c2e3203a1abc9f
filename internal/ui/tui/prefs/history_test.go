package prefs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
)

func clock() func() time.Time {
	at := time.UnixMilli(1_700_000_000_000)
	return func() time.Time { at = at.Add(time.Second); return at }
}

func add(t *testing.T, h *History, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := h.Add(text); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
}

func wantEntries(t *testing.T, h *History, want ...string) {
	t.Helper()
	if got := h.Entries(); !slices.Equal(got, want) {
		t.Errorf("it has %q, want %q", got, want)
	}
}

func TestWhatWasTypedInThisProjectComesFirst(t *testing.T) {
	dir := t.TempDir()
	now := clock()
	here, there := NewHistory(disk.OS(), dir, "/here", now), NewHistory(disk.OS(), dir, "/there", now)
	wantEntries(t, here)
	add(t, here, "one", "same")
	add(t, there, "two", "same", "three\nlines")
	add(t, here, "four", "one")
	wantEntries(t, here, "two", "three\nlines", "same", "four", "one")
	wantEntries(t, there, "four", "one", "two", "same", "three\nlines") // each sees what the other adds
	again := NewHistory(disk.OS(), dir, "/here", now)
	wantEntries(t, again, "two", "three\nlines", "same", "four", "one")
}

func TestWhatMayBeASecretOrIsNobodysBusinessIsNotWrittenDown(t *testing.T) {
	dir := t.TempDir()
	h := NewHistory(disk.OS(), dir, "p", clock())
	add(t, h, " begins with a blank", "\ttab", "", "   ", "use sk-ant-api03-"+strings.Repeat("Ab9", 30), "/login mistral 0a1b2c3d4e5f", strings.Repeat("x", MaxEntry+1), "kept")
	wantEntries(t, h, "kept")
	data, err := os.ReadFile(filepath.Join(dir, "history"))
	if err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("the file is %q (%v)", data, err)
	}
	info, err := os.Stat(filepath.Join(dir, "history"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v (%v)", info.Mode(), err)
	}
	add(t, h, "kept", "kept") // the same again is no news
	if data, _ := os.ReadFile(filepath.Join(dir, "history")); strings.Count(string(data), "\n") != 1 {
		t.Errorf("the same text stands there several times: %q", data)
	}
}

func TestDamagedLinesAreSkippedAndKept(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "history")
	damaged := "no json\n{\"text\":5}\n\xff\xfe\n{\"at\":1,\"text\":\"fine\"}\n{\"at\":2,\"text\":\"torn"
	if err := os.WriteFile(name, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	h := NewHistory(disk.OS(), dir, "", clock())
	wantEntries(t, h, "fine")
	add(t, h, "next")
	wantEntries(t, h, "fine", "next")
	data, err := os.ReadFile(name)
	if err != nil || !strings.HasPrefix(string(data), damaged+"\n{") {
		t.Errorf("the file is %q (%v)", data, err)
	}
}

func TestTheHistoryIsBoundedAndKeepsTheNewest(t *testing.T) {
	mem := disktest.NewMem()
	var b strings.Builder
	b.WriteString("a damaged line\n")
	for i := range MaxEntries - 1 {
		line, _ := json.Marshal(entry{int64(i), "p", fmt.Sprint("entry ", i)})
		b.Write(append(line, '\n'))
	}
	if err := mem.MkdirAll("/h"); err != nil {
		t.Fatal(err)
	}
	mem.Put("/h/history", []byte(b.String()))
	h, other := NewHistory(mem, "/h", "p", clock()), NewHistory(mem, "/h", "p", clock())
	if n := len(other.Entries()); n != MaxEntries-1 {
		t.Fatalf("%d entries", n)
	}
	add(t, h, "newest")
	got := h.Entries()
	if len(got) != MaxEntries*3/4 || got[len(got)-1] != "newest" || got[len(got)-2] != fmt.Sprint("entry ", MaxEntries-2) {
		t.Errorf("%d entries, the newest %q", len(got), got[len(got)-2:])
	}
	if !slices.Equal(other.Entries(), got) {
		t.Error("another terminal has not seen that the file was written anew")
	}
	// Large ones count by their bytes.
	large := strings.Repeat("x", MaxEntry-20)
	for i := range MaxFile/MaxEntry + 20 {
		add(t, h, fmt.Sprint(i, large))
	}
	if size := len(mem.Bytes("/h/history")); size > MaxFile {
		t.Errorf("the file has %d bytes", size)
	}
	if got := h.Entries(); got[len(got)-1] != fmt.Sprint(MaxFile/MaxEntry+19, large) || !slices.Equal(got, other.Entries()) {
		t.Error("the newest is not there, or another terminal has others")
	}
}

// TestAFaultAtAnyPointLosesNothingThatWasThere: what fails is told, the text stays in
// memory, and the file has all that it had.
func TestAFaultAtAnyPointLosesNothingThatWasThere(t *testing.T) {
	for n := 1; ; n++ {
		mem := disktest.NewMem()
		if err := mem.MkdirAll("/h"); err != nil {
			t.Fatal(err)
		}
		add(t, NewHistory(mem, "/h", "p", clock()), "before")
		faulty := &disktest.Faulty{FS: mem, N: n, Err: errors.New("broken"), Short: true}
		h := NewHistory(faulty, "/h", "p", clock())
		err := h.Add("now")
		if err != nil && !strings.HasPrefix(err.Error(), "what you type is not kept in /h/history: ") {
			t.Errorf("call %d: %v", n, err)
		}
		if got := h.Entries(); !slices.Contains(got, "now") {
			t.Errorf("call %d, error %v: it has %q", n, err, got)
		}
		if !faulty.Fired() {
			if n < 3 {
				t.Errorf("only %d calls", n)
			}
			return
		}
		after := NewHistory(mem, "/h", "p", clock())
		add(t, after, "after")
		got := after.Entries()
		if len(got) < 2 || got[0] != "before" || got[len(got)-1] != "after" {
			t.Errorf("call %d: the file has %q", n, got)
		}
	}
}

func TestManyTerminalsLoseNoLine(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			h := NewHistory(disk.OS(), dir, fmt.Sprint(i), time.Now)
			for k := range 50 {
				if err := h.Add(fmt.Sprintf("%d of %d", k, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := NewHistory(disk.OS(), dir, "0", time.Now).Entries(); len(got) != 200 || got[199] != "49 of 0" {
		t.Errorf("%d entries, the newest %q", len(got), got[len(got)-1])
	}
}

// asNobody runs a test of this program as an ordinary user, in a folder that is
// theirs, because nothing is closed to root.
func asNobody(t *testing.T, test, variable string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "prefs") // t.TempDir has parents that are closed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "test")
	if err := os.WriteFile(again, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), again, "-test.run=^"+test+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), variable+"="+home, "TMPDIR="+home)
	if os.Getuid() == 0 {
		if err := os.Chown(home, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("as an ordinary user: %v\n%s", err, out)
	}
}

func TestAFolderThatCannotBeWrittenIsASentenceAndTheTextStays(t *testing.T) {
	home := os.Getenv("PREFS_CLOSED")
	if home == "" {
		asNobody(t, "TestAFolderThatCannotBeWrittenIsASentenceAndTheTextStays", "PREFS_CLOSED")
		return
	}
	dir := filepath.Join(home, ".scorel")
	h := NewHistory(disk.OS(), dir, "p", clock())
	add(t, h, "before")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v (%v)", info, err)
	}
	name := filepath.Join(dir, "history")
	if err := os.Chmod(name, 0o400); err != nil {
		t.Fatal(err)
	}
	err := h.Add("now")
	if err == nil || err.Error() != "what you type is not kept in "+name+": open "+name+": permission denied" {
		t.Errorf("the error is %v", err)
	}
	wantEntries(t, h, "before", "now")
	for i := range 3 * maxUnwritten {
		if err := h.Add(fmt.Sprint(i)); err == nil {
			t.Fatal("it was written")
		}
	}
	if got := h.Entries(); len(got) != 1+maxUnwritten || got[len(got)-1] != "299" {
		t.Errorf("%d are kept in memory", len(got))
	}
	if err := os.Chmod(name, 0); err != nil {
		t.Fatal(err)
	}
	if got := NewHistory(disk.OS(), dir, "p", clock()).Entries(); len(got) != 0 {
		t.Errorf("an unreadable file has %q", got)
	}
	// Settings: what cannot be read is told, and what cannot be written changes nothing.
	settings := Path(dir)
	if err := os.WriteFile(settings, []byte("vim = true\n"), 0); err != nil {
		t.Fatal(err)
	}
	if s, problems := Read(dir); s != Defaults() || len(problems) != 1 || !strings.Contains(problems[0].Text, "permission denied") {
		t.Errorf("%+v %v", s, problems)
	}
	if err := Set(disk.OS(), dir, "vim", "false"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the error is %v", err)
	}
}
