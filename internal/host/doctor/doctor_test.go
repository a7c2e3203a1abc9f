package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/session"
	"scorel/internal/engine/session/owner"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/sandbox/sandboxtest"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// expect fails when a check does not find this.
func expect(t *testing.T, what string, c Check, state, text, advice string) {
	t.Helper()
	f := c.Look(t.Context())
	if f.State != state || !strings.Contains(f.Text, text) || !strings.Contains(f.Advice, advice) || (state != ok) != (f.Advice != "") {
		t.Errorf("%s: %+v, want %s with %q and %q", what, f, state, text, advice)
	}
}

func TestChecksRunSideBySideAndOneThatHangsIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		slow := func(ctx context.Context) Finding {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			return OK("slow")
		}
		start := time.Now()
		got := Run(t.Context(), []Check{
			{"slow", slow}, {"hangs", func(context.Context) Finding { <-hang; return OK("never") }},
			{"ends", func(ctx context.Context) Finding { <-ctx.Done(); return Warn("in time", "x") }}, {"too", slow},
		})
		if took := time.Since(start); took > Limit+Limit/10 {
			t.Errorf("took %v", took)
		}
		var states []string
		for _, c := range got {
			states = append(states, c.ID+" "+c.State+" "+c.Text)
		}
		if s := strings.Join(states, "|"); s != "slow ok slow|hangs warn the check did not end within 5s|ends warn in time|too ok slow" {
			t.Error(s)
		}
		close(hang)
	})
}

func TestHomeFindsWhatOthersCanReadOrWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".scorel")
	home := Home(dir, os.Getuid())
	expect(t, "missing", home, ok, "does not exist yet", "")
	write := func(name string, mode os.FileMode) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(full, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("trust.json", 0o600)
	write("config.toml", 0o644)
	write("skills/x/run.sh", 0o755)
	expect(t, "well", home, ok, "closed to others", "")
	write("sessions/ses_x.jsonl", 0o644)
	expect(t, "readable session", home, warn, "1 files can be read by others, "+dir+"/sessions/ses_x.jsonl", "chmod -R go= "+dir)
	write("config.toml", 0o666)
	expect(t, "writable config", home, fail, "config.toml can be written by others (mode 0666)", "chmod go-w "+dir+"/config.toml")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	expect(t, "open folder", home, warn, "can be read by others (mode 0755)", "chmod go= "+dir)
	expect(t, "another owner", Home(dir, os.Getuid()+1), fail, "belongs to another user", "sudo chown -R")
	expect(t, "no folder", Home(filepath.Join(dir, "trust.json"), os.Getuid()), fail, "is not a folder", "Move it away")
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		closed := filepath.Join(dir, "x", ".scorel")
		if err := os.MkdirAll(filepath.Join(closed, "run"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(closed, "run"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(closed, "run"), 0o700)
		expect(t, "closed to the user", Home(closed, os.Getuid()), fail, "cannot be read: permission denied", "sudo chown -R")
	})
}

// room is a file system with so much room.
type room struct {
	disk.FS
	free uint64
	err  error
}

func (r room) Free(string) (uint64, error) { return r.free, r.err }

func TestSpaceFindsFullAndReadOnlyDisks(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		fs                  disk.FS
		state, text, advice string
	}{
		{room{disk.OS(), 100 << 30, nil}, ok, "102400 MiB are free", ""},
		{room{disk.OS(), 900 << 20, nil}, warn, "only 900 MiB are free", "Free some space"},
		{room{disk.OS(), 100 << 20, nil}, fail, "below 256 MiB no turn is started", "scorel sessions prune"},
		{room{disk.OS(), 0, errors.New("gone")}, fail, "is not known: gone", "df "},
	} {
		expect(t, c.text, Space(c.fs, dir), c.state, c.text, c.advice)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("the probe is left: %v", left)
	}
	expect(t, "a folder that is not there", Space(disk.OS(), filepath.Join(dir, "a", "b")), ok, "MiB are free", "")
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
		expect(t, "read-only", Space(disk.OS(), dir), fail, "cannot be written: permission denied", "set HOME")
	})
}

func TestFoldersFindsThoseThatCannotBeWritten(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		at := func(name string) string { return filepath.Join(dir, name) }
		for _, name := range []string{"sessions", "blobs"} {
			if err := os.Mkdir(at(name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, "all is well", Folders(at("sessions"), at("blobs"), at("not there yet")), ok, "can be written", "")
		if err := errors.Join(os.Chmod(at("blobs"), 0o500), os.WriteFile(at("pending"), nil, 0o600), os.Symlink("nowhere", at("run"))); err != nil {
			t.Fatal(err)
		}
		expect(t, "three are not", Folders(at("sessions"), at("pending"), at("blobs"), at("run")), fail,
			"cannot be used: "+at("pending")+": it is not a folder; "+at("blobs")+": permission denied; "+at("run")+": it is a link that leads nowhere", "chmod u+rwx")
	})
}

func TestMountFindsFileSystemsThatLoseOrRefuse(t *testing.T) {
	for _, c := range []struct {
		m                   disk.Mount
		err                 error
		state, text, advice string
	}{
		{disk.Mount{Type: "ext4"}, nil, ok, "is on ext4", ""},
		{disk.Mount{Type: "nfs", Remote: true}, nil, warn, "network file system (nfs)", "local disk"},
		{disk.Mount{Type: "tmpfs", Volatile: true}, nil, warn, "gone after the next start", "Set HOME"},
		{disk.Mount{Type: "ext4", NoExec: true}, nil, warn, "noexec", "mount it without noexec"},
		{disk.Mount{Type: "ext4", ReadOnly: true}, nil, fail, "mounted read-only", "Mount it writable"},
		{disk.Mount{}, errors.New("stale handle"), fail, "stale handle", "df "},
	} {
		expect(t, c.text, Mount("/x", func(string) (disk.Mount, error) { return c.m, c.err }), c.state, c.text, c.advice)
	}
	if m, err := disk.MountOf(t.TempDir()); err != nil || m.Type == "" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := disk.MountOf("/no/such/folder"); err == nil {
		t.Error("a missing folder has a file system")
	}
}

func TestProgramsAreThereAndNewEnough(t *testing.T) {
	dir := t.TempDir()
	find := func(name string) string {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return ""
		}
		return filepath.Join(dir, name)
	}
	say := func(name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + os.Getenv("PATH")}
	checks := map[string]Check{}
	for _, p := range Programs() {
		checks[p.Name] = Installed(p, find, sandbox.New(sandbox.Config{}), env)
	}
	expect(t, "no bash", checks["bash"], fail, "bash is not on PATH", "Install bash")
	expect(t, "no git", checks["git"], warn, "git is not on PATH", "Install git")
	expect(t, "no rg", checks["rg"], ok, "ripgrep is not installed", "")
	say("bash", "echo 'GNU bash, version 3.2.57(1)-release'")
	expect(t, "old bash", checks["bash"], fail, "is version 3.2.57(1)-release; 4 or later is needed", "Install a newer one")
	say("bash", "echo 'GNU bash, version 5.2.15(1)-release'; echo more")
	expect(t, "bash", checks["bash"], ok, "5.2.15", "")
	say("git", "exit 1")
	expect(t, "broken git", checks["git"], warn, "does not say its version", "Install git")
	say("rg", "echo something else")
	expect(t, "another rg", checks["rg"], warn, "does not say its version", "Install rg")
	say("rg", "head -c 10000000 /dev/zero")
	expect(t, "much output", checks["rg"], warn, "does not say its version", "Install rg")
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("\x7fELF no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	expect(t, "no program", checks["git"], warn, "does not say its version", "Install git")
	gone := Installed(Programs()[0], func(string) string { return filepath.Join(dir, "gone") }, sandbox.New(sandbox.Config{}), env)
	expect(t, "gone meanwhile", gone, fail, "cannot be started", "Install bash")
	say("git", "exec sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if f := checks["git"].Look(ctx); f.State != warn || !strings.Contains(f.Text, "--version does not end") {
		t.Errorf("a program that hangs: %+v", f)
	}
}

// logs makes a store with sessions and returns their ids.
func logs(t *testing.T, n int) (dir string, store *session.Store, ids []protocol.SessionID) {
	t.Helper()
	dir = t.TempDir()
	store, err := session.OpenStore(session.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		id := protocol.NewSessionID(time.Now(), rand.Reader)
		log, err := store.Create(t.Context(), protocol.Header{Version: protocol.HeaderVersion, SessionID: id, CreatedAt: 1, Meta: protocol.Meta{WorkDir: "/"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return dir, store, ids
}

func TestSessionsFindsDamageAndDeadOwners(t *testing.T) {
	dir, store, ids := logs(t, 3)
	expect(t, "well", Sessions(store), ok, "3, 0 MiB; looked at: the newest 3", "")
	name := filepath.Join(dir, "sessions", string(ids[1])+".jsonl")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{\"type\":\"user\n\x00\x00"); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	before, _ := os.ReadFile(name)
	expect(t, "damaged", Sessions(store), warn, "damaged are 1 of the 3 newest: "+string(ids[1]), "scorel sessions repair")
	if after, _ := os.ReadFile(name); string(after) != string(before) {
		t.Error("the look repaired it")
	}
	if err := os.WriteFile(name+".damaged-20260101", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, int64(len(before)-len("{\"type\":\"user\n\x00\x00"))); err != nil {
		t.Fatal(err)
	}
	expect(t, "set aside", Sessions(store), ok, "set aside earlier: 1", "")

	// A lock that somebody's child still holds, for an owner that has ended.
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	lock, err := disk.OS().Lock(filepath.Join(dir, "sessions", string(ids[2])+".lock"), owner.Owner{PID: gone.Process.Pid}.Text())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	expect(t, "dead owner", Sessions(store), warn, "no longer runs: "+string(ids[2]), "fuser")
	if err := os.RemoveAll(filepath.Join(dir, "sessions")); err != nil {
		t.Fatal(err)
	}
	expect(t, "none", Sessions(store), ok, "none yet", "")
	if err := os.WriteFile(filepath.Join(dir, "sessions"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, "no folder", Sessions(store), fail, "cannot be read", "Make ~/.scorel/sessions readable")
}

func TestChildrenFindsWhatADeadHostLeft(t *testing.T) {
	dir, _, ids := logs(t, 2)
	check := Children(disk.OS(), dir)
	expect(t, "none", check, ok, "commands that run: 0", "")
	for _, id := range ids {
		run := filepath.Join(dir, "run", string(id))
		if err := os.MkdirAll(run, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run, "123"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := disk.OS().Lock(filepath.Join(dir, "sessions", string(ids[0])+".lock"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	expect(t, "left", check, warn, "whose host died: "+string(ids[1]), "scorel -p --session")
	if err := os.RemoveAll(filepath.Join(dir, "run", string(ids[1]))); err != nil {
		t.Fatal(err)
	}
	expect(t, "running", check, ok, "commands that run: 1", "")
	copied := filepath.Join(dir, "run", string(ids[1]), "124")
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, []byte(`{"pgid":124,"folder":"1:2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, "a copy of a record", check, ok, "none is left over", "")
	if err := os.RemoveAll(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "run"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, "no folder", check, fail, "cannot be read", "Make it readable")
}

func TestBlobsFindsMuchThatNothingNames(t *testing.T) {
	dir, store, _ := logs(t, 1)
	expect(t, "none", Blobs(store.Blobs()), ok, "none", "")
	sha, _, err := store.Blobs().Put(t.Context(), strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	blob := filepath.Join(dir, "blobs", sha)
	if err := os.Truncate(blob, 2<<30); err != nil { // a hole: it takes no room
		t.Fatal(err)
	}
	expect(t, "young", Blobs(store.Blobs()), ok, "1, 2048 MiB; named by no session: 0", "")
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(blob, old, old); err != nil {
		t.Fatal(err)
	}
	expect(t, "old", Blobs(store.Blobs()), warn, "1, 2048 MiB, are named by no session", "scorel sessions prune")
	if _, err := os.Stat(blob); err != nil {
		t.Error("the look removed it")
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if f := Blobs(store.Blobs()).Look(ended); f.State != ok || !strings.Contains(f.Text, "no time") {
		t.Errorf("without time: %+v", f)
	}
}

func TestProcessesFindsLogsOfSessionsThatAreGone(t *testing.T) {
	dir, id := t.TempDir(), protocol.NewSessionID(time.Now(), rand.Reader)
	look := func(gone bool) Check {
		return Processes(func(ctx context.Context) (progress.Usage, error) {
			return progress.Look(ctx, disk.OS(), dir, time.Now().Add(-24*time.Hour), func(protocol.SessionID) (bool, error) { return !gone, nil })
		})
	}
	expect(t, "none", look(true), ok, "none", "")
	folder := progress.Dir(dir, id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "x.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(folder, "x.jsonl"), 2<<30); err != nil { // a hole: it takes no room
		t.Fatal(err)
	}
	expect(t, "young", look(true), ok, "of 1 sessions, 2048 MiB; of sessions that are gone: 0 MiB", "")
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(folder, old, old); err != nil {
		t.Fatal(err)
	}
	expect(t, "there", look(false), ok, "gone: 0 MiB", "")
	expect(t, "gone", look(true), warn, "2048 MiB are logs of sessions that are gone", "scorel sessions prune")
}

func TestClockFindsAWrongYearAndSessionsOfTheFuture(t *testing.T) {
	dir := t.TempDir()
	at := func(s string) func() time.Time {
		when, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return func() time.Time { return when }
	}
	if err := os.Chtimes(dir, at("2027-01-01T00:00:00Z")(), at("2027-01-01T00:00:00Z")()); err != nil {
		t.Fatal(err)
	}
	expect(t, "right", Clock(at("2027-06-01T00:00:00Z"), dir), ok, "2027-06-01", "")
	expect(t, "1970", Clock(at("1970-01-01T00:00:07Z"), dir), fail, "the clock says 1970-01-01", "timedatectl")
	expect(t, "set back", Clock(at("2026-06-01T00:00:00Z"), dir), fail, "sessions were written at 2027-01-01", "Set the clock")
	expect(t, "no sessions", Clock(at("2026-06-01T00:00:00Z"), dir+"/none"), ok, "2026", "")
}

func TestMemorySaysTheHeap(t *testing.T) {
	open := func() (int, int) { return 3, 4 }
	expect(t, "little", Memory(func() uint64 { return 12 << 20 }, open), ok, "heap 12.0 MiB", "")
	expect(t, "much", Memory(func() uint64 { return 2 << 30 }, open), warn, "heap 2048.0 MiB; goroutines: ", "restart the host")
	if f := Memory(Heap, open).Look(t.Context()); !strings.Contains(f.Text, "open sessions: 3, connections: 4") {
		t.Errorf("%+v", f)
	}
	if Heap() == 0 {
		t.Error("there is no heap")
	}
}

func TestWhatHangsInTheSystemDoesNotHoldTheChecks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".scorel")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trust.json", "sessions"} { // nobody writes these pipes
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := Run(t.Context(), []Check{Home(dir, os.Getuid()), Children(disk.OS(), dir)})
	if s := fmt.Sprint(got[0].State, " ", got[1].State); s != "ok ok" {
		t.Errorf("%+v", got)
	}
}
