package registry

import (
	"sync"
	"time"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// Bounds of the log that is kept read.
const (
	leastKept = 1 << 20          // bytes; a shorter one is read in no time
	keepView  = 10 * time.Second // after its last use
)

// views keeps the log that was read last and that nobody has open: who asks for page
// after page of it would have it read whole for each. One that has changed since is read
// again.
type views struct {
	mu     sync.Mutex // guards all below; nothing is closed under it
	kept   *sharedView
	drop   *time.Timer // nil until it is needed
	closed bool
}

// sharedView is a view of one state of a log.
type sharedView struct {
	*session.View
	report health.Report
	stamp  session.Stamp
	users  int // guarded by views.mu; being kept counts as one
}

// take returns the kept view when it is of that state, nil otherwise.
func (vs *views) take(id protocol.SessionID, stamp session.Stamp) *sharedView {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v := vs.kept
	if v == nil || v.ID() != id || v.stamp != stamp {
		return nil
	}
	v.users++
	vs.drop.Reset(keepView)
	return v
}

// keep keeps a view in place of the one before; the caller is its first user.
func (vs *views) keep(v *sharedView) {
	vs.mu.Lock()
	v.users = 1
	if vs.closed || v.stamp.Size < leastKept {
		vs.mu.Unlock()
		return
	}
	v.users++
	old := vs.kept
	vs.kept = v
	if vs.drop == nil {
		vs.drop = time.AfterFunc(keepView, func() { vs.release(vs.forget()) }) // close stops it
	} else {
		vs.drop.Reset(keepView)
	}
	vs.mu.Unlock()
	vs.release(old)
}

// forget returns the view that is kept no longer, for release.
func (vs *views) forget() *sharedView {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v := vs.kept
	vs.kept = nil
	return v
}

// release ends one use. The last one closes the view.
func (vs *views) release(v *sharedView) {
	if v == nil {
		return
	}
	vs.mu.Lock()
	v.users--
	last := v.users == 0
	vs.mu.Unlock()
	if last {
		_ = v.Close() // it was only read
	}
}

// close keeps none any more.
func (vs *views) close() {
	vs.mu.Lock()
	vs.closed = true
	if vs.drop != nil {
		vs.drop.Stop()
	}
	vs.mu.Unlock()
	vs.release(vs.forget())
}
