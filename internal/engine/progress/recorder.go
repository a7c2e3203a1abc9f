package progress

import (
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Config is what a [Recorder] needs.
type Config struct {
	Session protocol.SessionID
	// Dir is the folder of the session's logs, made when the first line is written;
	// "" keeps none.
	Dir string
	FS  disk.FS
	Now func() time.Time // of time stamps
	// Report takes what people who look for a fault need to see; may be nil.
	Report func(what string, detail []byte)
	// Panicked is told what a panic of a timer was, which has ended that; nil lets it end
	// the program.
	Panicked func(recovered any)
}

// timed is the root of what a timer calls.
func (c *Config) timed(f func()) func() {
	return func() {
		if c.Panicked != nil {
			defer func() {
				if r := recover(); r != nil {
					c.Panicked(r)
				}
			}()
		}
		f()
	}
}

// Recorder follows the calls of one session.
type Recorder struct {
	cfg Config

	mu    sync.Mutex // guards what is said to be so below; no I/O under it
	logs  map[string]*log
	dirty []*log // with lines that wait
	bytes int    // of those
	timer *time.Timer
	soon  bool // the timer runs at once

	// writing is held while lines are written; mu may be taken with it held.
	writing sync.Mutex
	total   int64 // bytes in Dir; -1 until it is known. writing guards it
	told    bool  // of a disk that takes nothing. writing guards it
}

// New makes a recorder. It touches nothing.
func New(cfg Config) *Recorder {
	if cfg.FS == nil {
		cfg.FS = disk.OS()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Report == nil {
		cfg.Report = func(string, []byte) {}
	}
	return &Recorder{cfg: cfg, logs: map[string]*log{}, total: -1}
}

// Dir returns the folder of a session's logs in the folder of Scorel.
func Dir(home string, id protocol.SessionID) string {
	return filepath.Join(home, Folder, string(id))
}

// Folder is where the logs of all sessions are, in the folder of Scorel.
const Folder = "processes"

// Begin follows a call. wake is called when there is something to take; it must
// neither wait nor call back. A nil recorder gives a nil call.
func (r *Recorder) Begin(info Info, wake func()) *Call {
	if r == nil {
		return nil
	}
	if info.Operation == "" {
		info.Operation = OperationID(info.CallID)
	}
	info.Operation = cut(info.Operation, maxWord)
	return &Call{r: r, info: info, wake: wake}
}

// Close writes what waits. Calls that have not ended keep no more lines.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	r.Flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	r.cfg.Dir = ""
}
