package disk_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
)

// TestFileSystemsAgree holds the machine's file system and those in memory to the
// same rules.
func TestFileSystemsAgree(t *testing.T) {
	for name, at := range map[string]struct {
		fs  disk.FS
		dir string
	}{"OS": {disk.OS(), t.TempDir()}, "Mem": {disktest.NewMem(), "/d"}, "Process": {&disktest.Process{FS: disktest.NewMem()}, "/d"}} {
		t.Run(name, func(t *testing.T) {
			fsys, dir := at.fs, filepath.Join(at.dir, "a", "b")
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := fsys.Open(filepath.Join(dir, "f"), disk.Create); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file in a folder that is not there: %v", err)
			}
			must(fsys.MkdirAll(dir))
			must(fsys.MkdirAll(dir))
			f, err := fsys.Open(filepath.Join(dir, "f"), disk.Exclusive)
			must(err)
			if _, err := fsys.Open(filepath.Join(dir, "f"), disk.Exclusive); !errors.Is(err, fs.ErrExist) {
				t.Errorf("an exclusive file twice: %v", err)
			}
			if _, err := fsys.Open(filepath.Join(dir, "g"), disk.ReadWrite); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file that is not there: %v", err)
			}
			_, err = f.WriteAt([]byte("hello"), 3)
			must(err)
			must(f.Truncate(6))
			must(f.Truncate(10))
			_, err = f.WriteAt([]byte("AB"), 8)
			must(err)
			must(f.Sync())
			buf := make([]byte, 20)
			if n, err := f.ReadAt(buf, 0); err != io.EOF || string(buf[:n]) != "\x00\x00\x00hel\x00\x00AB" {
				t.Errorf("%q %v", buf[:n], err)
			}
			if size, err := f.Size(); size != 10 || err != nil {
				t.Errorf("%d %v", size, err)
			}
			must(f.Close())
			if _, err := f.ReadAt(buf, 0); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("a closed file: %v", err)
			}
			ro, err := fsys.Open(filepath.Join(dir, "f"), disk.ReadOnly)
			must(err)
			if _, err := ro.WriteAt([]byte("x"), 0); err == nil {
				t.Error("a file opened for reading was written")
			}
			must(ro.Sync())
			must(ro.Close())
			must(fsys.Rename(filepath.Join(dir, "f"), filepath.Join(dir, "h")))
			must(fsys.SyncDir(dir))
			if _, err := fsys.Stat(filepath.Join(dir, "f")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a renamed file: %v", err)
			}
			if info, err := fsys.Stat(filepath.Join(dir, "h")); err != nil || info.Size() != 10 {
				t.Errorf("%v %v", info, err)
			}
			before, err := fsys.Stat(filepath.Join(dir, "h"))
			must(err)
			must(fsys.Touch(filepath.Join(dir, "h")))
			if info, err := fsys.Stat(filepath.Join(dir, "h")); err != nil || info.ModTime().Before(before.ModTime()) || info.Size() != 10 {
				t.Errorf("touched: %v %v", info, err)
			}
			if err := fsys.Touch(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("touching what is not there: %v", err)
			}
			entries, err := fsys.ReadDir(dir)
			if err != nil || len(entries) != 1 || entries[0].Name() != "h" || entries[0].IsDir() {
				t.Errorf("%v %v", entries, err)
			}
			must(fsys.Remove(filepath.Join(dir, "h")))
			if err := fsys.Remove(filepath.Join(dir, "h")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("removing what is not there: %v", err)
			}
			if n, err := fsys.Free(dir); err != nil || n == 0 {
				t.Errorf("%d bytes free (%v)", n, err)
			}
			u, err := fsys.Lock(filepath.Join(dir, "l"), []byte("me"))
			must(err)
			var held *disk.LockedError
			if _, err := fsys.Lock(filepath.Join(dir, "l"), nil); !errors.As(err, &held) || string(held.Owner) != "me" {
				t.Errorf("a held lock: %v", err)
			}
			must(u.Unlock())
		})
	}
}

func TestCrashLosesWhatWasNotSynced(t *testing.T) {
	setup := func() *disktest.Mem {
		m := disktest.NewMem()
		m.Put("/old", []byte("old"))
		f, err := m.Open("/old", disk.ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("new!"), 0); err != nil {
			t.Fatal(err)
		}
		g, err := m.Open("/fresh", disk.Create)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.WriteAt(make([]byte, 2000), 0); err != nil {
			t.Fatal(err)
		}
		if err := g.Sync(); err != nil { // its content is safe, its name is not
			t.Fatal(err)
		}
		return m
	}
	m := setup()
	m.Crash(disktest.Drop, 1)
	if string(m.Bytes("/old")) != "old" || m.Bytes("/fresh") != nil {
		t.Fatalf("after a drop: %q and %d bytes", m.Bytes("/old"), len(m.Bytes("/fresh")))
	}
	kept, lost := 0, 0
	for seed := range uint64(40) {
		m := setup()
		m.Crash(disktest.Reorder, seed)
		switch string(m.Bytes("/old")) {
		case "old":
			lost++
		case "new!":
			kept++
		default:
			t.Fatalf("%q", m.Bytes("/old"))
		}
	}
	if kept == 0 || lost == 0 {
		t.Fatalf("a reordering crash keeps %d and loses %d of 40 writes", kept, lost)
	}
	m = setup()
	if err := m.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	m.Crash(disktest.Drop, 1)
	if len(m.Bytes("/fresh")) != 2000 {
		t.Fatal("a synced file with a synced name is gone")
	}
}

func TestAKilledProcessLeavesWhatItWroteAndNoLockAndChangesNothingMore(t *testing.T) {
	m := disktest.NewMem()
	p := &disktest.Process{FS: m}
	f, err := p.Open("/f", disk.Create)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("written"), 0); err != nil {
		t.Fatal(err)
	}
	lock, err := p.Lock("/lock", []byte("me"))
	if err != nil {
		t.Fatal(err)
	}
	p.FailSyncs(1)
	if err := f.Sync(); err == nil || p.FailedSyncs() != 1 {
		t.Errorf("a sync that is to fail: %v", err)
	}
	p.Kill()
	if _, err := f.WriteAt([]byte("late"), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a write of the killed process: %v", err)
	}
	if err := f.Truncate(0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a truncation: %v", err)
	}
	if err := f.Sync(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a sync: %v", err)
	}
	if err := p.Remove("/f"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a removal: %v", err)
	}
	if _, err := p.Open("/g", disk.Create); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("another file: %v", err)
	}
	if string(m.Bytes("/f")) != "written" || m.Bytes("/g") != nil {
		t.Errorf("what is left: %q and %q", m.Bytes("/f"), m.Bytes("/g"))
	}
	next := &disktest.Process{FS: m}
	held, err := next.Lock("/lock", []byte("next"))
	if err != nil {
		t.Fatalf("the lock of a killed process: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	if _, is, err := m.Holder("/lock"); err != nil || !is {
		t.Errorf("the killed process has freed the lock of the next one: %v", err)
	}
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
}

// TestAPipeIsRefusedAtOnce: whoever puts a pipe where Scorel keeps a file has
// nobody wait for its other end.
func TestAPipeIsRefusedAtOnce(t *testing.T) {
	fsys, pipe := disk.OS(), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	within := func(what string, f func() error) {
		t.Helper()
		go func() { failed <- f() }() // ends with the open, or with the test's program
		select {
		case err := <-failed:
			if err == nil {
				t.Errorf("%s: it is taken", what)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: it waits for the other end", what)
		}
	}
	for _, flag := range []disk.OpenFlag{disk.ReadOnly, disk.ReadWrite, disk.Create} {
		within(fmt.Sprint("open ", flag), func() error { _, err := fsys.Open(pipe, flag); return err })
	}
	within("a lock", func() error {
		if _, held, err := fsys.Holder(pipe); held || err != nil {
			return err
		}
		return errors.New("not held")
	})
}
