package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSecondLockNamesTheOwnerOfTheFirst(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.lock")
	fsys := OS()
	first, err := fsys.Lock(name, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	var held *LockedError
	if _, err := fsys.Lock(name, []byte("second, with a longer text")); !errors.As(err, &held) || string(held.Owner) != "first" {
		t.Fatalf("%v", err)
	}
	if owner, ok, err := fsys.Holder(name); err != nil || !ok || string(owner) != "first" {
		t.Fatalf("%q %t %v", owner, ok, err)
	}
	if err := errors.Join(first.Unlock(), first.Unlock()); err != nil {
		t.Fatal(err)
	}
	if owner, ok, err := fsys.Holder(name); err != nil || ok {
		t.Fatalf("%q %t %v", owner, ok, err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Fatalf("the lock file is gone: %v", err)
	}
	second, err := fsys.Lock(name, []byte("second"))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := fsys.Holder(name + "x"); ok || err != nil {
		t.Fatalf("a lock that was never taken is held (%v)", err)
	}
}

func TestALockIsFreeAtOnceThoughAChildSharesTheOpenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.lock")
	held, err := OS().Lock(name, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	shared, err := unix.Dup(int(held.(*heldLock).f.Fd())) // as between fork and exec
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(shared) }()
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := OS().Lock(name, []byte("second"))
	if err != nil {
		t.Fatalf("after Unlock: %v", err)
	}
	if err := again.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// TestALockWhoseOwnerWasKilledIsWaitedFor: between fork and exec a child shares the
// flock of its parent, which may be killed just then.
func TestALockWhoseOwnerWasKilledIsWaitedFor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.lock")
	first, err := OS().Lock(name, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	l := systemLocker()
	var waits int
	l.wait = func(time.Duration) { waits++ }
	var held *LockedError
	if _, err := l.lock(name, []byte("second")); !errors.As(err, &held) || string(held.Owner) != "first" || waits != looks {
		t.Errorf("while the owner runs: %v, %d waits", err, waits)
	}
	l.alive = func(pid int, _ uint64) bool { return pid != os.Getpid() }
	waits = 0
	if _, err := l.lock(name, []byte("second")); !errors.As(err, &held) || waits != deadLooks {
		t.Errorf("while a child of the dead owner does not end: %v, %d waits", err, waits)
	}
	l.wait = func(time.Duration) {
		if waits++; waits == 2*deadLooks-1 {
			if err := first.(*heldLock).f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	second, err := l.lock(name, []byte("second"))
	if err != nil {
		t.Fatalf("once the child has become another program: %v", err)
	}
	if text, live, err := l.holder(name); string(text) != "second" || !live || err != nil {
		t.Errorf("%q %t %v", text, live, err)
	}
	if err := second.Unlock(); err != nil {
		t.Error(err)
	}
}

// machine is one host that uses a remote file system.
type machine struct {
	name  string
	boot  string
	flock func(*os.File, int) error
	clock *time.Time
	alive bool // of the processes of this machine
	wait  func(time.Duration)
}

func (m *machine) locker() *locker {
	return &locker{
		write: writeOwner,
		flock: m.flock, remote: func(*os.File) bool { return true },
		self:  func() pulse { return pulse{Host: m.name, Boot: m.boot, PID: 1, Start: 2} },
		alive: func(int, uint64) bool { return m.alive },
		now:   func() time.Time { return *m.clock },
		wait: func(d time.Duration) {
			if m.wait != nil {
				m.wait(d)
			}
		},
		every: time.Hour, // tests beat by hand
	}
}

// works is an flock that another machine does not see.
func works(*os.File, int) error { return nil }

func missing(*os.File, int) error { return unix.ENOLCK }

func TestRemoteLockRefusesAnOwnerWhosePulseBeats(t *testing.T) {
	for name, call := range map[string]func(*os.File, int) error{"flock unseen": works, "no flock": missing} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.lock")
			now := time.UnixMilli(1_800_000_000_000)
			a := &machine{name: "a", boot: "1", flock: call, clock: &now, alive: true}
			b := &machine{name: "b", boot: "2", flock: call, clock: &now, alive: true}
			first, err := a.locker().lock(file, []byte("owner a"))
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(pulseLife - time.Second)
			var held *LockedError
			if _, err := b.locker().lock(file, []byte("owner b")); !errors.As(err, &held) || string(held.Owner) != "owner a" {
				t.Fatalf("a live owner is not respected: %v", err)
			}
			if owner, ok, err := b.locker().holder(file); !ok || string(owner) != "owner a" || err != nil {
				t.Fatalf("%q %t %v", owner, ok, err)
			}
			now = now.Add(2 * time.Second)
			second, err := b.locker().lock(file, []byte("owner b"))
			if err != nil {
				t.Fatalf("a dead owner is respected: %v", err)
			}
			if err := errors.Join(first.Unlock(), second.Unlock()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A machine that slept for longer than a pulse lives has lost its lock.
func TestUnlockLeavesTheOwnerThatHasTakenTheLockOver(t *testing.T) {
	for name, call := range map[string]func(*os.File, int) error{"flock unseen": works, "no flock": missing} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.lock")
			now := time.UnixMilli(1_800_000_000_000)
			lock := func(name string) (Unlocker, error) {
				return (&machine{name: name, boot: name, flock: call, clock: &now, alive: true}).locker().lock(file, []byte("owner "+name))
			}
			first, err := lock("a")
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(pulseLife + time.Second)
			if err := first.Held(); err != nil {
				t.Errorf("nobody has taken it over: %v", err)
			}
			second, err := lock("b")
			if err != nil {
				t.Fatal(err)
			}
			var lost *LockedError
			if err := first.Held(); !errors.As(err, &lost) || string(lost.Owner) != "owner b" {
				t.Errorf("the first is not told that it lost the lock: %v", err)
			}
			if err := second.Held(); err != nil {
				t.Error(err)
			}
			if err := first.Unlock(); err != nil {
				t.Error(err)
			}
			var held *LockedError
			if u, err := lock("c"); !errors.As(err, &held) || string(held.Owner) != "owner b" {
				t.Errorf("a third has it, too: %v %v", u, err)
			}
			if err := second.Unlock(); err != nil {
				t.Error(err)
			}
			if data, err := os.ReadFile(file); err != nil || len(data) != 0 {
				t.Errorf("nobody holds it, and it says %q (%v)", data, err)
			}
		})
	}
}

func TestLockThatWasTakenOverAndReleasedIsLost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.lock")
	now := time.UnixMilli(1_800_000_000_000)
	lock := func(name string) Unlocker {
		u, err := (&machine{name: name, boot: name, flock: missing, clock: &now, alive: true}).locker().lock(file, []byte(name))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	first := lock("a")
	now = now.Add(pulseLife + time.Second)
	if err := lock("b").Unlock(); err != nil {
		t.Fatal(err)
	}
	var lost *LockedError
	if err := first.Held(); !errors.As(err, &lost) {
		t.Errorf("another had it since, and it counts as held (%v)", err)
	}
	if err := first.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestRemoteLockOfThisMachineLivesAsLongAsItsProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.lock")
	now := time.UnixMilli(1_800_000_000_000)
	m := &machine{name: "a", boot: "1", flock: missing, clock: &now, alive: true}
	first, err := m.locker().lock(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(10 * pulseLife) // it was stopped for long, and still has the session
	var held *LockedError
	if _, err := m.locker().lock(file, nil); !errors.As(err, &held) {
		t.Fatalf("%v", err)
	}
	m.alive = false
	second, err := m.locker().lock(file, nil)
	if err != nil {
		t.Fatalf("the process is gone: %v", err)
	}
	if err := errors.Join(first.Unlock(), second.Unlock()); err != nil {
		t.Fatal(err)
	}
}

func TestOfTwoThatFindADeadOwnerTheLaterClaimStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.lock")
	now := time.UnixMilli(1_800_000_000_000)
	b := &machine{name: "b", boot: "2", flock: missing, clock: &now}
	var second Unlocker
	a := &machine{name: "a", boot: "1", flock: missing, clock: &now}
	a.wait = func(time.Duration) { // between a's claim and its look
		a.wait = nil
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(0), f.Close()); err != nil { // b had looked before a wrote
			t.Fatal(err)
		}
		if second, err = b.locker().lock(file, []byte("owner b")); err != nil {
			t.Fatal(err)
		}
	}
	var held *LockedError
	if _, err := a.locker().lock(file, []byte("owner a")); !errors.As(err, &held) || string(held.Owner) != "owner b" {
		t.Fatalf("both have it: %v", err)
	}
	if err := second.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestPulseBeatsUntilUnlock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.lock")
	now := time.UnixMilli(1_800_000_000_000)
	l := (&machine{name: "a", boot: "1", flock: missing, clock: &now}).locker()
	l.every = time.Millisecond
	beats := make(chan struct{}, 1)
	l.now = func() time.Time {
		select {
		case beats <- struct{}{}:
		default:
		}
		return now
	}
	u, err := l.lock(file, []byte("me"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-beats
	}
	if err := u.Unlock(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || len(data) != 0 {
		t.Fatalf("nobody holds it, and it says %q (%v)", data, err)
	}
}

func TestWriteFileReplacesAllOrNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, data := range [][]byte{[]byte("a longer first content"), []byte("short"), nil} {
		if err := WriteFile(OS(), name, data); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%q %v", got, err)
		}
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v %v", info.Mode(), err)
		}
		if files, err := os.ReadDir(filepath.Dir(name)); err != nil || len(files) != 1 {
			t.Fatalf("%v %v", files, err)
		}
	}
}

func TestFullDisksAndQuotasAreNoSpace(t *testing.T) {
	for _, err := range []error{unix.ENOSPC, unix.EDQUOT, &os.PathError{Op: "write", Err: unix.ENOSPC}} {
		if got := spaceError(err); !errors.Is(got, ErrNoSpace) || !errors.Is(got, err) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	if got := spaceError(unix.EIO); errors.Is(got, ErrNoSpace) {
		t.Errorf("EIO becomes %v", got)
	}
	full, err := OS().Open("/dev/full", ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if _, err := full.WriteAt([]byte("x"), 0); !errors.Is(err, ErrNoSpace) {
		t.Errorf("writing to a full disk gives %v", err)
	}
}

func TestALockIsNotWrittenThroughALink(t *testing.T) {
	dir := t.TempDir()
	mine, name := filepath.Join(dir, "mine"), filepath.Join(dir, "x.lock")
	if err := os.WriteFile(mine, []byte("of value"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, name); err != nil {
		t.Fatal(err)
	}
	if u, err := OS().Lock(name, []byte("pid 1")); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a link is locked: %v %v", u, err)
	}
	if data, err := os.ReadFile(mine); err != nil || string(data) != "of value" {
		t.Errorf("what the link leads to is %q (%v)", data, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if u, err := OS().Lock(name, nil); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a pipe is locked: %v %v", u, err)
	}
}

func TestALockIsTakenOnAFullDiskAndNamesNobody(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.lock")
	if err := os.WriteFile(name, []byte("somebody who died"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := systemLocker()
	full.write = func(f *os.File, text []byte) error {
		_, _ = f.WriteAt(text[:3], 0)
		return spaceError(unix.ENOSPC)
	}
	held, err := full.lock(name, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	var other *LockedError
	if _, err := OS().Lock(name, []byte("second")); !errors.As(err, &other) || len(other.Owner) != 0 {
		t.Errorf("a second one: %v, held by %q", err, other)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	full.remote = func(*os.File) bool { return true } // where only the text tells others
	if _, err := full.lock(name, []byte("first")); !errors.Is(err, ErrNoSpace) {
		t.Errorf("on a remote disk: %v", err)
	}
}

func TestALockWhoseFileWasRemovedIsTakenAnew(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := OS().Lock(name, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Unlock()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := first.Held(); err != nil {
		t.Fatal(err)
	}
	var held *LockedError
	if _, err := OS().Lock(name, []byte("second")); !errors.As(err, &held) || string(held.Owner) != "first" {
		t.Errorf("a second gives %v, %+v", err, held)
	}
	// Where another was quicker, it has the lock.
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	second, err := OS().Lock(name, []byte("second"))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Held(); !errors.As(err, &held) || string(held.Owner) != "second" {
		t.Errorf("the first gives %v", err)
	}
	if err := first.Unlock(); err != nil {
		t.Error(err)
	}
	if _, err := OS().Lock(name, []byte("third")); !errors.As(err, &held) || string(held.Owner) != "second" {
		t.Errorf("a third gives %v", err)
	}
	if err := second.Unlock(); err != nil {
		t.Error(err)
	}
}
