package disktest

import (
	"io/fs"
	"sync"
	"syscall"
	"time"

	"scorel/internal/platform/disk"
)

// Process is FS as one process has it, which can be killed: from then on every call
// fails and changes nothing, and the process's locks are free. What it had written
// stays, synced or not; [Mem.Crash] after it is a power cut. Set the fields before
// use.
type Process struct {
	disk.FS
	// SyncTakes is waited for before each sync of the file of that name; nil waits for
	// nothing.
	SyncTakes func(name string) time.Duration

	mu     sync.RWMutex // held for reading while a call is carried out
	killed bool
	sync   sync.Mutex // guards what follows
	locks  map[*processLock]struct{}
	fail   int
	failed int
}

// errKilled is what calls of a killed process fail with; nobody is there to see it.
var errKilled = fs.ErrClosed

// Kill ends the process. Calls that have begun are carried out first.
func (p *Process) Kill() {
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	p.sync.Lock()
	defer p.sync.Unlock()
	for l := range p.locks {
		_ = l.Unlocker.Unlock()
	}
	p.locks = nil
}

// FailSyncs lets the next n syncs of files fail with an I/O error.
func (p *Process) FailSyncs(n int) {
	p.sync.Lock()
	defer p.sync.Unlock()
	p.fail = n
}

// FailedSyncs returns how many syncs have failed.
func (p *Process) FailedSyncs() int {
	p.sync.Lock()
	defer p.sync.Unlock()
	return p.failed
}

func (p *Process) failing() bool {
	p.sync.Lock()
	defer p.sync.Unlock()
	if p.fail == 0 {
		return false
	}
	p.fail--
	p.failed++
	return true
}

// begin lets a call begin; end is called when it is done.
func (p *Process) begin(op, name string) (end func(), err error) {
	p.mu.RLock()
	if p.killed {
		p.mu.RUnlock()
		return nil, pathError(op, name, errKilled)
	}
	return p.mu.RUnlock, nil
}

// Open opens a file of the process.
func (p *Process) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	end, err := p.begin("open", name)
	if err != nil {
		return nil, err
	}
	defer end()
	f, err := p.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &processFile{f, p, name}, nil
}

// Rename renames while the process lives.
func (p *Process) Rename(from, to string) error {
	return p.do("rename", from, func() error { return p.FS.Rename(from, to) })
}

// Remove removes while the process lives.
func (p *Process) Remove(name string) error {
	return p.do("remove", name, func() error { return p.FS.Remove(name) })
}

// Touch changes a time while the process lives.
func (p *Process) Touch(name string) error {
	return p.do("touch", name, func() error { return p.FS.Touch(name) })
}

// MkdirAll makes folders while the process lives.
func (p *Process) MkdirAll(name string) error {
	return p.do("mkdir", name, func() error { return p.FS.MkdirAll(name) })
}

// ReadDir reads while the process lives.
func (p *Process) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = p.do("readdir", name, func() error { list, err = p.FS.ReadDir(name); return err })
	return list, err
}

// Stat looks while the process lives.
func (p *Process) Stat(name string) (info fs.FileInfo, err error) {
	err = p.do("stat", name, func() error { info, err = p.FS.Stat(name); return err })
	return info, err
}

// SyncDir syncs while the process lives.
func (p *Process) SyncDir(name string) error {
	return p.do("syncdir", name, func() error { return p.FS.SyncDir(name) })
}

// Lock takes a lock that ends with the process.
func (p *Process) Lock(name string, owner []byte) (disk.Unlocker, error) {
	end, err := p.begin("lock", name)
	if err != nil {
		return nil, err
	}
	defer end()
	l, err := p.FS.Lock(name, owner)
	if err != nil {
		return nil, err
	}
	held := &processLock{l, p}
	p.sync.Lock()
	defer p.sync.Unlock()
	if p.locks == nil {
		p.locks = map[*processLock]struct{}{}
	}
	p.locks[held] = struct{}{}
	return held, nil
}

func (p *Process) do(op, name string, call func() error) error {
	end, err := p.begin(op, name)
	if err != nil {
		return err
	}
	defer end()
	return call()
}

type processLock struct {
	disk.Unlocker
	p *Process
}

func (l *processLock) Unlock() error {
	l.p.sync.Lock()
	defer l.p.sync.Unlock()
	if _, held := l.p.locks[l]; !held {
		return nil // it ended with the process
	}
	delete(l.p.locks, l)
	return l.Unlocker.Unlock()
}

type processFile struct {
	disk.File
	p    *Process
	name string
}

func (f *processFile) ReadAt(b []byte, off int64) (int, error) {
	end, err := f.p.begin("read", f.name)
	if err != nil {
		return 0, err
	}
	defer end()
	return f.File.ReadAt(b, off)
}

func (f *processFile) WriteAt(b []byte, off int64) (int, error) {
	end, err := f.p.begin("write", f.name)
	if err != nil {
		return 0, err
	}
	defer end()
	return f.File.WriteAt(b, off)
}

func (f *processFile) Truncate(size int64) error {
	return f.p.do("truncate", f.name, func() error { return f.File.Truncate(size) })
}

func (f *processFile) Sync() error {
	if takes := f.p.SyncTakes; takes != nil {
		time.Sleep(takes(f.name))
	}
	return f.p.do("sync", f.name, func() error {
		if f.p.failing() {
			return pathError("sync", f.name, syscall.EIO)
		}
		return f.File.Sync()
	})
}

func (f *processFile) Size() (n int64, err error) {
	err = f.p.do("stat", f.name, func() error { n, err = f.File.Size(); return err })
	return n, err
}
