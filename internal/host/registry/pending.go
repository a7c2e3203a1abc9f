package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// maxPendingFile bounds a pending file, in bytes.
const maxPendingFile = 4 << 10

// pendingRecord is what is stored in ~/.scorel/pending/<sessionId>, which is there
// while messages wait in the session. The messages themselves are in the log.
type pendingRecord struct {
	// UncleanStarts counts in a row the hosts that went on with the queue by
	// themselves after one that was killed.
	UncleanStarts int `json:"uncleanStarts"`
	// Clean says that the last host ended as it should.
	Clean bool `json:"clean"`
	// Served says that a serving host took all that waits. What a command took for
	// itself waits under that command's own settings, which no host knows later.
	Served bool `json:"served"`
}

// pendingFile is the file of one open session; it is touched under the session's
// lock. It implements [queue.File].
type pendingFile struct {
	r    *Registry
	id   protocol.SessionID
	name string

	mu   sync.Mutex
	rec  pendingRecord
	kept bool // it is there
}

// PendingDir is where the files of sessions with a queue are.
func (r *Registry) PendingDir() string { return filepath.Join(r.cfg.StoreDir, "pending") }

// pendingOf reads the file of a session. One that is damaged counts as one of which
// nothing is known.
func (r *Registry) pendingOf(id protocol.SessionID) *pendingFile {
	p := &pendingFile{r: r, id: id, name: filepath.Join(r.PendingDir(), string(id))}
	data, err := disk.ReadFile(r.cfg.FS, p.name, maxPendingFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p
	case err == nil:
		if err = json.Unmarshal(data, &p.rec); err == nil && disk.Blank(data) {
			err = errors.New("it says nothing")
		}
	}
	if err != nil {
		p.rec = pendingRecord{}
		r.cfg.Log.Report(id, "the mark of the queue cannot be read: "+err.Error(), nil)
	}
	p.kept = true
	return p
}

// found makes the file agree with what the log says when the session is opened.
func (p *pendingFile) found(waiting int) error {
	switch {
	case waiting == 0 && p.kept:
		return p.Drop()
	case waiting > 0 && !p.kept: // lost, or made where nobody kept one
		return p.write(pendingRecord{})
	}
	return nil
}

// Keep implements [queue.File].
func (p *pendingFile) Keep() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec := p.rec
	rec.Clean = false
	rec.Served = p.r.cfg.Serving && (rec.Served || !p.kept)
	if p.kept && rec == p.rec {
		return nil
	}
	if !p.kept {
		rec.UncleanStarts = 0
	}
	return p.write(rec)
}

// Drop implements [queue.File]. It is not synced: at a power cut the file may be
// there again, and goes at the next start.
func (p *pendingFile) Drop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.r.cfg.FS.Remove(p.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.rec, p.kept = pendingRecord{}, false
	return nil
}

// write replaces the file, durably.
func (p *pendingFile) write(rec pendingRecord) error {
	dir := p.r.PendingDir()
	// Others make the folder too and do not wait until that is durable.
	if _, err := p.r.cfg.FS.Stat(dir); err != nil || !p.r.durable.Load() {
		if err := p.r.cfg.FS.MkdirAll(dir); err != nil {
			return err
		}
		if err := p.r.cfg.FS.SyncDir(p.r.cfg.StoreDir); err != nil {
			return err
		}
		p.r.durable.Store(true)
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(p.r.cfg.FS, p.name, append(data, '\n')); err != nil {
		return err
	}
	p.rec, p.kept = rec, true
	return nil
}

// clean records that the host ends as it should while messages wait.
func (p *pendingFile) clean() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.kept {
		return nil
	}
	return p.write(pendingRecord{Clean: true, Served: p.rec.Served})
}

// leaveQueue records how a session is left whose log is complete.
func (r *Registry) leaveQueue(s *Session) {
	l, p := s.lane, s.pending
	var err error
	if n, _ := l.Waiting(); n == 0 {
		err = p.Drop()
	} else if r.isClosed() {
		err = p.clean()
	}
	if err != nil {
		r.cfg.Log.Report(l.ID(), "record the end of the host: "+err.Error(), nil)
	}
}

// start counts a start after a host that was killed, and returns why the queue is not
// to go on by itself, if so. What it counts is durable before anything goes on.
func (p *pendingFile) start() (why string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec := p.rec
	if rec.Clean {
		rec.UncleanStarts = 0
	} else {
		rec.UncleanStarts++
	}
	rec.Clean = false
	switch {
	case !rec.Served:
		why = "they were queued for a command with settings of its own, or nothing is known of them"
	case rec.UncleanStarts > 1:
		why = fmt.Sprintf("the host was killed %d times while they waited, perhaps by one of them", rec.UncleanStarts)
	}
	return why, p.write(rec)
}

// DropPending removes the pending file of a session that is gone.
func (r *Registry) DropPending(id protocol.SessionID) error {
	err := r.cfg.FS.Remove(filepath.Join(r.PendingDir(), string(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
