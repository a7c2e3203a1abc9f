package lane

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"scorel/internal/disk"
	"scorel/protocol"
)

// flaky is a disk whose next fsync of a log fails when it is armed.
type flaky struct {
	disk.FS
	armed atomic.Bool
}

func (f *flaky) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	file, err := f.FS.Open(name, flag)
	if err != nil || !strings.HasSuffix(name, ".jsonl") {
		return file, err
	}
	return &flakyFile{file, f}, nil
}

type flakyFile struct {
	disk.File
	f *flaky
}

func (f *flakyFile) Sync() error {
	if f.f.armed.CompareAndSwap(true, false) {
		return &fs.PathError{Op: "fsync", Path: "log", Err: syscall.EIO}
	}
	return f.File.Sync()
}

// TestAdditionsThatAFailedWriteTookAreAddedAgain fails the fsync with which additions
// of a turn would have become durable.
func TestAdditionsThatAFailedWriteTookAreAddedAgain(t *testing.T) {
	disk := &flaky{FS: disk.OS()}
	tr := newTrialOn(t, disk, `{"do":[{"call":"Do","id":"c1","input":{}}]}`, again)
	var stored []string
	tr.do = func(ctx context.Context) {
		if err := tr.lane.Add(ctx, note("one"), note("two")); err != nil {
			t.Error(err)
		}
		if err := tr.lane.pub.Flush(ctx); err != nil {
			t.Error(err)
		}
		tr.lane.Watch(func(e protocol.Event) { // the result is stored alone; what follows fails
			if m, ok := e.Message(); ok && m.Role == protocol.RoleToolResult {
				disk.armed.Store(true)
			}
			stored = append(stored, brief(e))
		})
	}
	tr.open()
	tr.say("go")
	if disk.armed.Load() {
		t.Fatal("nothing has failed")
	}
	if end := tr.lane.Publisher().Live(); end.Running {
		t.Error("the turn runs on")
	}
	if err := tr.lane.Publisher().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := tr.path()
	notes := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "hook_context ") })
	if !slices.Equal(notes, []string{"hook_context one", "hook_context two"}) {
		t.Errorf("path %q (told %q)", got, stored)
	}
	tr.close()
}
