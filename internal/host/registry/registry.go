package registry

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"scorel/internal/engine/session"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/guard"
	"scorel/internal/host/lane"
	"scorel/internal/host/publish"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Config is what a [Registry] is made from.
type Config struct {
	Store    *session.Store
	StoreDir string // where the store is
	FS       disk.FS
	// Serving keeps idle sessions open for a while.
	Serving bool
	Now     func() time.Time
	Log     *diagnostics.Log
	Guard   *guard.Guard
	Owner   Owner
	// Rested is told that a session was closed because it was idle for long.
	Rested func(id protocol.SessionID, meta protocol.Meta)
}

// Owner makes and ends what lives as long as a session is open.
type Owner interface {
	// Lane makes the lane of a session whose log was opened, with all that belongs to it.
	Lane(ctx context.Context, s *Session, log *session.Log) (*lane.Lane, error)
	// Quiet ends what may act in a session without being asked. It may be called more
	// than once.
	Quiet(id protocol.SessionID)
	// Forget ends all that is kept of a session, which has been closed.
	Forget(id protocol.SessionID)
}

// Registry holds the open sessions of a host.
type Registry struct {
	cfg     Config
	views   views       // logs that are read and not open
	durable atomic.Bool // the folder of pending files was synced into its own

	// publishers are those of open sessions; it needs no lock, for the last moment of a
	// host.
	publishers sync.Map // protocol.SessionID → *publish.Publisher

	closing sync.WaitGroup // sessions that are being closed
	jobs    sync.WaitGroup // requests that act and side jobs; added to with mu held
	life    context.Context
	end     context.CancelFunc // of life: side jobs end

	// mu guards all below and the fields of sessions that say so. It is the last lock
	// that is taken: no I/O is done and no other lock waited for under it, but the ones
	// by which a lane reports whether something runs in it.
	mu       fault.Shared
	sessions map[protocol.SessionID]*Session
	idle     []*Session // idle and still open, oldest first
	clients  int        // that are connected
	lastUse  time.Time  // when something ended
	stopping bool       // clients were told that the host ends; no turn begins any more
	closed   bool       // nothing is opened any more
}

// New makes a registry in which no session is open.
func New(cfg Config) *Registry {
	r := &Registry{cfg: cfg, sessions: map[protocol.SessionID]*Session{}, lastUse: cfg.Now()}
	r.life, r.end = context.WithCancel(context.Background())
	cfg.Guard.Watch(&r.mu)
	cfg.Guard.Flush(r.flush)
	return r
}

// Start begins what goes on beside all sessions: a serving registry resumes the queues
// of earlier hosts, and sweep removes what deleted sessions left. Close ends it.
func (r *Registry) Start(sweep bool) {
	if r.cfg.Serving {
		r.Go("going on with queues", r.resume)
	}
	if sweep {
		r.Go("removing what deleted sessions left", r.sweep)
	}
}

// Shut lets nothing be opened any more and ends the side jobs. Close follows.
func (r *Registry) Shut() {
	r.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, s := range r.sessions {
		if s.gone == nil {
			r.inUse(s)
		}
	}
}

// Close closes all sessions, after Shut, and returns when nothing of them runs any more.
func (r *Registry) Close() error {
	open := r.list(func(s *Session) bool { return s.gone == nil })
	// Side by side: each may wait for what it ends.
	failed := make([]error, len(open))
	var wg sync.WaitGroup
	for i, s := range open {
		wg.Go(func() { // ends with the session
			defer r.cfg.Guard.Rescue("closing a session")
			if <-s.ready; s.lane != nil {
				failed[i] = r.closeLane(s)
				r.cfg.Log.Report(s.lane.ID(), "closed: the host ends", nil)
			}
		})
	}
	wg.Wait()
	r.closing.Wait()
	r.jobs.Wait()
	r.views.close()
	return cmp.Or(failed...)
}

// list returns the sessions that fit, in no order. fits is called with mu held.
func (r *Registry) list(fits func(*Session) bool) (list []*Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if fits(s) {
			list = append(list, s)
		}
	}
	return list
}

// flush waits until what is stored has left for the clients. It takes no lock.
func (r *Registry) flush(ctx context.Context) {
	r.publishers.Range(func(_, pub any) bool {
		_ = pub.(*publish.Publisher).Flush(ctx) // who is broken has nothing left
		return true
	})
}
