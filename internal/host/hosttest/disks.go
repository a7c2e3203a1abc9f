package hosttest

import (
	"io/fs"
	"sync"

	"scorel/internal/platform/disk"
)

// Failing is a disk that fails the n-th write or fsync of a log or payload after
// it was armed, and all after it until it is repaired.
type Failing struct {
	disk.FS
	Mu        sync.Mutex
	calls     int
	n         int
	err       error
	fired     bool
	Once      bool   // it is repaired when it has failed
	FreeBytes uint64 // on the disk; 0: what there is
}

func (f *Failing) Arm(n int, err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.calls, f.n, f.err, f.fired = 0, n, err, false
}

func (f *Failing) Repair() { f.Arm(0, nil) }

func (f *Failing) fails(op, name string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.calls++
	if f.n == 0 || f.calls < f.n {
		return nil
	}
	f.fired = true
	if f.Once {
		f.n = 0
	}
	return &fs.PathError{Op: op, Path: name, Err: f.err}
}

func (f *Failing) Count() (calls int, fired bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.calls, f.fired
}

func (f *Failing) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	file, err := f.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &failingFile{file, f, name}, nil
}

func (f *Failing) Free(dir string) (uint64, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.FreeBytes > 0 {
		return f.FreeBytes, nil
	}
	return f.FS.Free(dir)
}

type failingFile struct {
	disk.File
	f    *Failing
	name string
}

func (f *failingFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.f.fails("write", f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *failingFile) Sync() error {
	if err := f.f.fails("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}
