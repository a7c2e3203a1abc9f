package disktest

import (
	"io/fs"
	"sync"

	"scorel/internal/platform/disk"
)

// Op names a kind of call that Faulty counts and fails.
type Op string

// The fault points.
const (
	OpOpen     Op = "open"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpSyncDir  Op = "syncdir"
	OpRename   Op = "rename"
	OpTruncate Op = "truncate"
)

// Faulty fails the N-th fault point of FS, counted from 1; with N = 0 it only
// counts. Sticky also fails all after it. A call that fails gives Err and does
// nothing; with Short a failing write writes half of its bytes first. Set the
// fields before use.
type Faulty struct {
	disk.FS
	N      int
	Sticky bool
	Err    error
	Short  bool

	mu    sync.Mutex
	calls int
	fired bool
	ops   map[Op]int
}

// Fired reports whether a call has failed.
func (f *Faulty) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// Calls returns how many fault points were met, of the given kinds or of all.
func (f *Faulty) Calls(ops ...Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(ops) == 0 {
		return f.calls
	}
	n := 0
	for _, op := range ops {
		n += f.ops[op]
	}
	return n
}

func (f *Faulty) fail(op Op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.ops == nil {
		f.ops = map[Op]int{}
	}
	f.ops[op]++
	if f.N == 0 || f.calls < f.N || f.calls > f.N && !f.Sticky {
		return nil
	}
	f.fired = true
	return &fs.PathError{Op: string(op), Path: name, Err: f.Err}
}

// Open is a fault point.
func (f *Faulty) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	if err := f.fail(OpOpen, name); err != nil {
		return nil, err
	}
	file, err := f.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f, name}, nil
}

// Rename is a fault point.
func (f *Faulty) Rename(from, to string) error {
	if err := f.fail(OpRename, to); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

// SyncDir is a fault point.
func (f *Faulty) SyncDir(name string) error {
	if err := f.fail(OpSyncDir, name); err != nil {
		return err
	}
	return f.FS.SyncDir(name)
}

type faultyFile struct {
	disk.File
	f    *Faulty
	name string
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.f.fail(OpWrite, f.name); err != nil {
		if !f.f.Short {
			return 0, err
		}
		n, _ := f.File.WriteAt(p[:len(p)/2], off)
		return n, err
	}
	return f.File.WriteAt(p, off)
}

func (f *faultyFile) Sync() error {
	if err := f.f.fail(OpSync, f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.f.fail(OpTruncate, f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}
