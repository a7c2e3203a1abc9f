package partial

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/platform/disk"
)

// When what was given is on disk.
const (
	writeAfter = 250 * time.Millisecond
	writeFull  = 4 << 10 // bytes that are written at once
	syncEvery  = time.Second
)

// lossText is what is reported when something cannot be written.
const lossText = "keep what a kill of the host would lose"

// source gives what is to be written: the bytes after those that are in the file, or,
// with again, the whole file.
type source func() (data []byte, anew bool)

// appender writes a file from behind. Its timer's goroutine does all the work on disk;
// it ends with drop or close at the latest.
type appender struct {
	fs     disk.FS
	name   string
	take   source
	report *Reports

	io     sync.Mutex // held over the file; taken before mu
	f      disk.File
	made   bool // there is a file
	size   int64
	synced time.Time
	dirty  bool

	mu      sync.Mutex
	timer   *time.Timer
	syncing bool // the timer is for a sync alone
	hurried bool
	failed  bool
	closed  bool
}

// gathered is told that n bytes wait to be written.
func (a *appender) gathered(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.failed || a.closed:
	case a.timer == nil:
		a.timer = time.AfterFunc(writeAfter, a.flush)
	case a.syncing: // what has come now does not wait for that
		a.syncing = false
		a.timer.Reset(writeAfter)
	case n >= writeFull && !a.hurried:
		a.hurried = true
		a.timer.Reset(0)
	}
}

// flush writes what waits.
func (a *appender) flush() {
	defer a.rescue()
	a.io.Lock()
	defer a.io.Unlock()
	a.mu.Lock()
	a.timer, a.hurried, a.syncing = nil, false, false
	over := a.closed || a.failed
	a.mu.Unlock()
	if over {
		return
	}
	if err := a.write(); err != nil {
		a.report.unkept(lossText, err.Error())
		a.mu.Lock()
		a.failed = true
		a.mu.Unlock()
		a.end()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dirty && a.timer == nil && !a.closed { // the last of it is synced, too
		a.syncing = true
		a.timer = time.AfterFunc(max(0, syncEvery-time.Since(a.synced)), a.flush)
	}
}

// now writes what waits, and returns when it is durable, or known not to be.
func (a *appender) now() {
	defer a.rescue()
	a.io.Lock()
	defer a.io.Unlock()
	a.mu.Lock()
	over := a.closed || a.failed
	a.mu.Unlock()
	if over {
		return
	}
	err := a.write()
	if err == nil && a.dirty {
		err = a.f.Sync()
	}
	if err == nil {
		a.synced, a.dirty = time.Now(), false
		return
	}
	a.report.unkept(lossText, err.Error())
	a.mu.Lock()
	a.failed = true
	a.mu.Unlock()
	a.end()
}

// rescue has a panic of a timer cost no more than a file that cannot be written.
func (a *appender) rescue() {
	r := recover()
	if r == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.failed {
		a.failed = true
		a.report.unkept(lossText, fmt.Sprintf("a fault inside Scorel: %v", r))
	}
}

// write writes what waits, and syncs when that was not done for a while. io is held.
func (a *appender) write() error {
	data, anew := a.take()
	if a.f == nil && len(data) > 0 {
		var err error
		if a.f, err = a.open(); err != nil {
			return err
		}
		anew, a.made, a.synced = true, true, time.Now()
	}
	if anew && len(data) > 0 {
		if err := a.f.Truncate(0); err != nil {
			return err
		}
		a.size = 0
	}
	if len(data) > 0 {
		if _, err := a.f.WriteAt(data, a.size); err != nil {
			return err
		}
		a.size += int64(len(data))
		a.dirty = true
	}
	if a.dirty && time.Since(a.synced) >= syncEvery {
		if err := a.f.Sync(); err != nil {
			return err
		}
		a.synced, a.dirty = time.Now(), false
	}
	return nil
}

// end closes the file. io is held.
func (a *appender) end() {
	if a.f != nil {
		_ = a.f.Close() // what is not synced is no promise
		a.f = nil
	}
}

// close stops writing, and returns whether there is a file.
func (a *appender) close() bool {
	a.mu.Lock()
	a.closed = true
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	a.mu.Unlock()
	a.io.Lock()
	defer a.io.Unlock()
	a.end()
	return a.made
}

// open opens the file, in a folder that may not be there yet.
func (a *appender) open() (disk.File, error) {
	f, err := a.fs.Open(a.name, disk.Create)
	if errors.Is(err, fs.ErrNotExist) {
		if err = a.fs.MkdirAll(filepath.Dir(a.name)); err == nil {
			f, err = a.fs.Open(a.name, disk.Create)
		}
	}
	return f, err
}
