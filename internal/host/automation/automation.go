package automation

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/schedule"
	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/automation/store"
	"scorel/internal/host/lane"
	"scorel/internal/host/registry"
	"scorel/internal/host/settings"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Sessions opens the sessions of a host.
type Sessions interface {
	Acquire(ctx context.Context, id protocol.SessionID) (*registry.Session, error)
	Release(s *registry.Session)
	View(ctx context.Context, id protocol.SessionID) (index *session.Index, report health.Report, done func(), err error)
	Go(what string, job func(context.Context)) bool
	Lane(id protocol.SessionID) *lane.Lane
	Notify(id protocol.SessionID, level, text string)
	Ending() bool
	States() []protocol.SessionState
}

// Library makes sessions.
type Library interface {
	CreateSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CreateSession) (*protocol.SessionSummary, error)
}

// Announcer tells all clients of the device.
type Announcer interface{ Broadcast(f protocol.Frame) }

// Turns makes turns ready.
type Turns interface {
	// Try returns why no turn could run with such options in a session so described, else its
	// model.
	Try(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (model.Info, error)
}

// Log keeps sentences for people who look for a fault.
type Log interface {
	Report(id protocol.SessionID, what string, detail []byte)
}

// Config is what [Automation] is made from.
type Config struct {
	Settings  *settings.Settings
	Sessions  Sessions
	Library   Library
	Announcer Announcer
	Turns     Turns
	Log       Log
	// Say is told of what concerns the whole host, may be nil.
	Say  func(text string)
	Now  func() time.Time
	Rand io.Reader
	// Clock is the one that schedules follow, nil for the machine's.
	Clock schedule.Clock
}

// folder is that of the files of automation, in the user's Scorel folder.
const folder = "automation"

// Automation has the schedules and runs of a host. It may be used concurrently.
type Automation struct {
	cfg       Config
	epoch     protocol.Epoch
	store     *store.Store
	file      string // of the store
	fault     error  // why there is no store
	outages   outages
	day       *day
	alarm     *schedule.Alarm
	poked     atomic.Bool // the loop is to look again
	upcoming  upcoming
	storeNext time.Time // when the loop tries to store again
	heldNext  time.Time // when the loop looks at heartbeats that are held

	files sync.Mutex // held while the files of a project are read and applied, so that the last read counts; before mu

	mu      sync.Mutex // guards what follows; nothing is called with it held
	jobs    map[protocol.RunID]*job
	busy    map[protocol.RunID]waiting
	ends    map[protocol.RunID]ended // of runs, that could not be stored yet
	notices map[string][]string      // about heartbeats, by project
}

// New makes the automation of a host. Only one that stays has schedules do anything, from
// [Automation.Start] on.
func New(cfg Config) *Automation {
	a := &Automation{cfg: cfg, epoch: protocol.NewEpoch(cfg.Rand), jobs: map[protocol.RunID]*job{}, busy: map[protocol.RunID]waiting{}, ends: map[protocol.RunID]ended{}, notices: map[string][]string{}}
	if cfg.Clock == nil {
		a.cfg.Clock = schedule.SystemClock{}
	}
	a.alarm = schedule.NewAlarm(a.cfg.Clock)
	if !cfg.Settings.Ephemeral {
		a.open(filepath.Join(cfg.Settings.Dir, folder))
	}
	return a
}

// open reads the files of a folder.
func (a *Automation) open(dir string) {
	var err error
	a.file = filepath.Join(dir, store.Name)
	if a.store, err = store.Open(a.cfg.Settings.FS, dir, a.cfg.Now); err == nil {
		a.day, err = openDay(a.cfg.Settings.FS, dir, a.cfg.Clock)
	}
	if err != nil {
		a.store, a.fault = nil, err
	}
}

// Start has schedules make runs, until the host ends.
func (a *Automation) Start() {
	if a.store == nil || !a.cfg.Settings.Serving {
		return
	}
	a.cfg.Sessions.Go("schedules", a.loop)
}

// Shut notes that the host ends as it should.
func (a *Automation) Shut() {
	if a.store == nil || len(a.store.State().Runs) == 0 {
		return
	}
	if err := a.store.Update(func(st *store.State) error { st.Rest(a.epoch); return nil }); err != nil {
		a.report("note the end of the host", err)
	}
}

// Waits reports whether the host is to stay though nobody is connected: a schedule is armed,
// or a run has not ended.
func (a *Automation) Waits() bool {
	if a.store == nil || !a.cfg.Settings.Serving {
		return false
	}
	st := a.store.State()
	for _, x := range st.Schedules {
		if x.State == protocol.ScheduleArmed || x.State == protocol.SchedulePaused && x.PausedUntil > 0 {
			return true
		}
	}
	for _, r := range st.Runs {
		if !r.State.Final() {
			return true
		}
	}
	return false
}

// ended is how a run has ended.
type ended struct {
	state protocol.RunState
	why   string
}

// waiting is why a run waits that could begin by the clock.
type waiting struct {
	why   string
	until time.Time // when it is tried again at the latest; zero: each time the loop looks
	in    protocol.SessionID
}

// Idle is told that no turn runs in a session any more.
func (a *Automation) Idle(id protocol.SessionID) {
	a.mu.Lock()
	waits := false
	for run, w := range a.busy {
		if w.in == id {
			waits = true
			delete(a.busy, run)
		}
	}
	a.mu.Unlock()
	if waits {
		a.poke()
	}
}

// limits returns what the configuration says now.
func (a *Automation) limits() (config.Automation, error) {
	cfg, err := a.cfg.Settings.User()
	return cfg.Automation, err
}

// update changes the file and tells all clients.
func (a *Automation) update(change func(*store.State) error) error {
	if a.store == nil {
		return a.fault
	}
	err := a.store.Update(change)
	a.noteStored(err)
	if err == nil {
		a.cfg.Announcer.Broadcast(&protocol.AutomationChanged{})
	}
	return err
}

func (a *Automation) report(what string, err error) {
	a.cfg.Log.Report("", what+": "+err.Error(), nil)
}

// rescue ends a panic of a goroutine that works for a run: the run has failed.
func (a *Automation) rescue(id protocol.RunID) {
	if r := recover(); r != nil {
		a.cfg.Log.Report("", "the run "+string(id)+" has panicked", []byte(fault.Caught(r).Error()))
		a.finish(id, protocol.RunFailed, "a fault inside Scorel ended it; please report it")
	}
}
