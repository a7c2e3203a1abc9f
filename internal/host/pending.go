package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"scorel/internal/engine/session"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bounds of going on with the queues of earlier hosts.
const (
	maxPending     = 10_000  // sessions, the newest ones
	maxPendingOpen = 4       // side by side
	maxPendingFile = 4 << 10 // bytes
)

// pendingRecord is what stands in ~/.scorel/pending/<sessionId>, which is there
// while messages wait in the session. The messages themselves are in the log.
type pendingRecord struct {
	// UncleanStarts counts in a row the hosts that went on with the queue by
	// themselves behind one that was killed.
	UncleanStarts int `json:"uncleanStarts"`
	// Clean says that the last host ended as it should.
	Clean bool `json:"clean"`
	// Served says that a serving host took all that waits. What a command took for
	// itself waits under that command's own settings, which no host knows later.
	Served bool `json:"served"`
}

// pendingFile is the file of one open session; it is touched under the session's
// lock. It implements [lane.Pending].
type pendingFile struct {
	h    *Host
	id   protocol.SessionID
	name string

	mu   sync.Mutex
	rec  pendingRecord
	kept bool // it is there
}

func (h *Host) pendingDir() string { return filepath.Join(h.cfg.StoreDir, "pending") }

// pending reads the file of a session. One that is damaged counts as one of which
// nothing is known.
func (h *Host) pending(id protocol.SessionID) *pendingFile {
	p := &pendingFile{h: h, id: id, name: filepath.Join(h.pendingDir(), string(id))}
	data, err := disk.ReadFile(h.cfg.FS, p.name, maxPendingFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p
	case err == nil:
		err = json.Unmarshal(data, &p.rec)
	}
	if err != nil {
		p.rec = pendingRecord{}
		h.report(id, "the mark of the queue cannot be read: "+err.Error(), nil)
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

// Keep implements [lane.Pending].
func (p *pendingFile) Keep() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec := p.rec
	rec.Clean = false
	rec.Served = p.h.cfg.Serving && (rec.Served || !p.kept)
	if p.kept && rec == p.rec {
		return nil
	}
	if !p.kept {
		rec.UncleanStarts = 0
	}
	return p.write(rec)
}

// Drop implements [lane.Pending]. It is not synced: at a power cut the file may be
// there again, and goes at the next start.
func (p *pendingFile) Drop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.h.cfg.FS.Remove(p.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.rec, p.kept = pendingRecord{}, false
	return nil
}

// write replaces the file, durably.
func (p *pendingFile) write(rec pendingRecord) error {
	dir := p.h.pendingDir()
	// Others make the folder too and do not wait until that is durable.
	if _, err := p.h.cfg.FS.Stat(dir); err != nil || !p.h.pendingDurable.Load() {
		if err := p.h.cfg.FS.MkdirAll(dir); err != nil {
			return err
		}
		if err := p.h.cfg.FS.SyncDir(p.h.cfg.StoreDir); err != nil {
			return err
		}
		p.h.pendingDurable.Store(true)
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(p.h.cfg.FS, p.name, append(data, '\n')); err != nil {
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
func (h *Host) leaveQueue(s *slot) {
	h.mu.Lock()
	ends := h.closed
	h.mu.Unlock()
	l, p := s.lane, s.pending
	var err error
	if n, _ := l.Waiting(); n == 0 {
		err = p.Drop()
	} else if ends {
		err = p.clean()
	}
	if err != nil {
		h.report(l.ID(), "record the end of the host: "+err.Error(), nil)
	}
}

// start counts a start behind a host that was killed, and says why the queue is not
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

// goOnPending goes on with what waits in the sessions of the device, as a serving
// host does at its start. It returns when each has begun, or waits for a person.
func (h *Host) goOnPending(ctx context.Context) {
	entries, err := h.cfg.FS.ReadDir(h.pendingDir())
	if err != nil {
		return // nothing ever waited
	}
	slots := make(chan struct{}, maxPendingOpen)
	var wg sync.WaitGroup
	defer wg.Wait()
	taken := 0
	for _, e := range slices.Backward(entries) { // by name: the newest session is the last
		id := protocol.SessionID(e.Name())
		if id.Check() != nil {
			if disk.IsTemp(e.Name()) { // of a host that was killed while it wrote
				_ = h.cfg.FS.Remove(filepath.Join(h.pendingDir(), e.Name()))
			}
			continue
		}
		if taken++; taken > maxPending {
			h.note(fmt.Sprintf("more than %d sessions have a queue; the oldest wait until they are opened", maxPending))
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wg.Go(func() { // ends when the session has begun
			defer h.Rescue("going on with a queue")
			defer func() { <-slots }()
			if err := h.goOnWith(ctx, id); err != nil {
				h.note(fmt.Sprintf("go on with the queue of %s: %v", id, err))
			}
		})
	}
}

// goOnWith opens a session and begins a turn with what waits, or pauses the queue
// and says why in the session's diagnostics.
func (h *Host) goOnWith(ctx context.Context, id protocol.SessionID) error {
	s, err := h.acquire(ctx, id)
	if err != nil {
		var pe *protocol.Error
		if errors.As(err, &pe) && pe.Code == protocol.CodeSessionNotFound || errors.Is(err, session.ErrNotFound) {
			return h.dropPending(id)
		}
		return err // another host has it, or it cannot be read: it stays as it is
	}
	defer h.release(s)
	if _, ready := s.lane.Waiting(); !ready {
		return nil // taken, or it waits for a person already
	}
	why, err := s.pending.start()
	if err == nil && why == "" {
		if err = s.lane.GoOn(ctx); err == nil {
			h.report(id, "went on with the queue of an earlier host", nil)
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err() // the host ends: the next one goes on
	}
	if err != nil {
		why = err.Error()
	}
	h.report(id, "the queue of an earlier host is paused, because "+why, nil)
	return s.lane.Pause(ctx)
}

// dropPending removes the mark of a session that is gone.
func (h *Host) dropPending(id protocol.SessionID) error {
	err := h.cfg.FS.Remove(filepath.Join(h.pendingDir(), string(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// note tells of what concerns no open session.
func (h *Host) note(what string) {
	if h.cfg.Report != nil {
		h.cfg.Report(what, nil)
	}
}
