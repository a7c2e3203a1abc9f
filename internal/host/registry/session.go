package registry

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/lane"
	"scorel/internal/host/lane/queue"
	"scorel/protocol"
)

// Session is a session that is open, being opened or being closed. Who has acquired it
// may use all of it until it is released.
type Session struct {
	registry *Registry
	ready    chan struct{} // closed when lane or err is set
	lane     *lane.Lane
	pending  *pendingFile
	report   health.Report
	err      error

	toldTasks atomic.Int32           // background commands that clients were told of
	prompt    atomic.Pointer[string] // the first prompt, when it is known
	titled    atomic.Bool            // a title was asked for
	announces sync.Mutex             // held while clients are told what the session is like; Registry.mu may be taken with it held

	over sync.Once // nobody has it any more

	// Guarded by Registry.mu.
	refs int
	gone chan struct{} // not nil: it is being closed; closed when its lock is free
	rest *time.Timer   // closes it when it has been idle for long; nil until it is needed
}

func (r *Registry) newSession() *Session {
	return &Session{registry: r, ready: make(chan struct{}), refs: 1}
}

// Lane returns what runs the session.
func (s *Session) Lane() *lane.Lane { return s.lane }

// Report returns what was found when the log was opened.
func (s *Session) Report() health.Report { return s.report }

// Pending returns what marks the session while messages wait in it.
func (s *Session) Pending() queue.File { return s.pending }

// Opened reports whether the session is open, without waiting.
func (s *Session) Opened() bool {
	select {
	case <-s.ready:
		return s.lane != nil
	default:
		return false
	}
}

// tasks counts the background commands that run in the session.
func (s *Session) tasks() int {
	if !s.Opened() {
		return 0
	}
	return s.lane.Tasks().Running()
}

// TasksChanged reports whether the clients were told of another number of background
// commands than run now.
func (s *Session) TasksChanged() bool {
	return s.Opened() && int(s.toldTasks.Load()) != s.lane.Tasks().Running()
}

// ClaimTitle reports whether the caller is the one to ask for a title. Only one is, until
// UnclaimTitle lets another ask.
func (s *Session) ClaimTitle() bool { return s.titled.CompareAndSwap(false, true) }

// UnclaimTitle lets a title be asked for again.
func (s *Session) UnclaimTitle() { s.titled.Store(false) }

// TitleClaimed reports whether somebody asks for a title, or has.
func (s *Session) TitleClaimed() bool { return s.titled.Load() }

// State returns what goes on in the session, nil while it is not open.
func (s *Session) State() *protocol.SessionState {
	if !s.Opened() {
		return nil
	}
	st := s.lane.Publisher().Status()
	meta := s.lane.Log().Index().Meta()
	state := &protocol.SessionState{SessionID: s.lane.ID(), Name: meta.Name, Title: s.title(), Running: st.Running || s.lane.Working(), Asking: st.Asking,
		Queued: st.Queued, Tasks: s.lane.Tasks().Running(), Clients: st.Cursors, WorkDir: meta.WorkDir, Job: meta.Bounded().Job,
		Automation: st.Automation, Failed: st.Failed}
	state.Activity, state.Question, state.CostUSD = s.lane.Publisher().Doing()
	return state
}

// title is what the session is called: the first prompt does not change, so it is
// looked for until it is there.
func (s *Session) title() string {
	name := s.lane.Log().Index().Meta().Name
	if name != "" {
		return protocol.Title(name, "")
	}
	return protocol.Title("", s.firstPrompt())
}

// firstPrompt returns the text of the first prompt, "" before there is one.
func (s *Session) firstPrompt() string {
	if p := s.prompt.Load(); p != nil {
		return *p
	}
	text, err := s.lane.Log().Index().FirstPrompt(context.Background())
	if err == nil && text != "" {
		s.prompt.Store(&text)
	}
	return text
}

// SummaryOf describes a session by its log.
func SummaryOf(index *session.Index) protocol.SessionSummary {
	head := index.Header()
	return protocol.SessionSummary{SessionID: index.SessionID(), Meta: index.Meta().Bounded(), CreatedAt: head.CreatedAt,
		LeafID: index.Leaf(), Events: index.Len(), Bytes: index.Size(), ClonedFrom: head.ClonedFrom, Parent: head.Parent}
}

// Summary describes the session, which is open, as a list of sessions does.
func (s *Session) Summary() protocol.SessionSummary {
	r := s.registry
	sum := SummaryOf(s.lane.Log().Index())
	sum.State = s.State()
	s.toldTasks.Store(int32(sum.State.Tasks))
	if info, err := r.cfg.FS.Stat(filepath.Join(r.cfg.StoreDir, "sessions", string(sum.SessionID)+".jsonl")); err == nil {
		sum.UpdatedAt = info.ModTime().UnixMilli()
	}
	sum.FirstPrompt = s.firstPrompt()
	return sum
}

// Announce has send tell clients what the session is like now, one at a time: no
// older summary comes after a newer one. send waits for nobody.
func (s *Session) Announce(send func(protocol.SessionSummary)) {
	s.announces.Lock()
	defer s.announces.Unlock()
	send(s.Summary())
}
