package host

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"scorel/internal/engine/command"
	"scorel/internal/engine/fetch"
	"scorel/internal/engine/model"
	"scorel/internal/engine/prompt"
	"scorel/internal/engine/session"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/trust"
	"scorel/internal/host/clients"
	"scorel/internal/host/lane"
	"scorel/internal/host/partial"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/identity"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Config is what a host is made from.
type Config struct {
	// Dir is the folder of Scorel, ~/.scorel. UserHome is the user's home.
	Dir, UserHome string
	// StoreDir is where sessions and blobs are kept; empty is Dir.
	StoreDir string
	// Ephemeral keeps no key of the device.
	Ephemeral bool
	FS        disk.FS // nil is the machine's
	// Environ is the environment that keys are looked up in and that children
	// get, less what is not theirs. Settings are read from files only.
	Environ []string
	// Overrides are the caller's settings, above all files.
	Overrides Overrides
	// Unattended denies at once what nobody can be asked for.
	Unattended bool
	// Serving says that the host stays for many clients: idle sessions are kept open
	// for a while, and those with a queue are opened at start.
	Serving bool
	// Addresses gives where the host listens; may be nil.
	Addresses func() []string
	// Stop is told that a client wants the host to end; nil refuses that.
	Stop func(restarting bool)
	// Codec marshals and parses every request and frame on an embedded
	// connection, as a wire would.
	Codec bool
	// Version of Scorel, for the servers that pages are fetched from.
	Version string
	// Demo makes the demo model.
	Demo  func() (model.Model, error)
	HTTP  *http.Client // nil is the default
	Now   func() time.Time
	Rand  io.Reader
	Sleep func(ctx context.Context, d time.Duration) error
	// Silence is how long a model may say nothing; 0 is the runtime's default.
	Silence time.Duration
	// Confinement says what this system can hold of the sandbox; nil asks it.
	Confinement func() sandbox.Status
	// Exit ends the process with a code; nil is [os.Exit]. It is called when a panic has
	// left what all sessions share half changed.
	Exit func(code int)
	// Report is told of everything that goes into a session's diagnostics file;
	// may be nil.
	Report func(what string, detail []byte)
}

// Host owns the sessions that it has opened.
type Host struct {
	pendingDurable atomic.Bool // the folder of marks and half answers was synced into its own

	cfg    Config
	device protocol.DeviceID
	key    *ecdh.PrivateKey // the device's
	store  *session.Store
	trust  *trust.Store

	handlers handlers // of requests; complete, and never changed

	entries *clients.Store // those that may come in with their key
	trees   fileLists      // files of projects, for list_files
	views   views          // logs that are read and not open

	transfers transfers     // exports and imports on their way
	tests     chan struct{} // a place for each model that is being tested

	completing completionPlaces // of requests beside conversations
	skills     *skill.Finder
	templates  *command.Templates

	pages fetch.Cache // that sessions page through

	closing   sync.WaitGroup     // sessions that are being closed
	starts    sync.WaitGroup     // going on with what waited
	stop      context.CancelFunc // ends that
	asides    sync.WaitGroup     // what goes on beside conversations
	beside    context.Context    // of that; stop ends it
	once      once               // requests that acted
	acting    sync.WaitGroup     // those that are being carried out
	closeOnce sync.Once
	closeErr  error // of that

	rotating sync.Mutex // held while a diagnostics file is set aside

	// publishers are those of open sessions; it needs no lock, for the last moment of a
	// host.
	publishers sync.Map // protocol.SessionID → *publish.Publisher

	tempMu sync.Mutex   // held while a folder for temporary files is made; mu may be taken with it held
	mu     fault.Shared // guards all below; no I/O under it
	lanes  map[protocol.SessionID]*slot
	conns  map[*Conn]struct{}
	temps  map[protocol.SessionID]*sandbox.Temp // of open sessions that ran a command
	told   map[protocol.SessionID]bool          // open sessions whose diagnostics name what is not confined
	closed bool
	// extended are the extensions of open sessions.
	extended map[protocol.SessionID]*extended

	started   time.Time
	lastUse   time.Time // when something ended
	lingering []*slot   // sessions that are idle and still open, oldest first
	stopping  bool      // clients were told that the host ends; no turn begins any more
}

// slot is a session that is open, being opened or being closed.
type slot struct {
	ready   chan struct{} // closed when lane or err is set
	lane    *lane.Lane
	pending *pendingFile
	report  session.Report
	err     error

	toldTasks atomic.Int32           // background commands that clients were told of
	prompt    atomic.Pointer[string] // the first prompt, when it is known
	titled    atomic.Bool            // a title was asked for
	telling   sync.Mutex             // held while clients are told what the session is like; Host.mu may be taken with it held

	over sync.Once // nobody has it any more

	// Guarded by Host.mu.
	refs   int
	gone   chan struct{} // not nil: it is being closed; closed when its lock is free
	linger *time.Timer   // closes it when it has been idle for long; nil until it is needed
}

// New makes a host. It reads the device's key, making it at first start.
func New(cfg Config) (*Host, error) {
	if cfg.FS == nil {
		cfg.FS = disk.OS()
	}
	if cfg.StoreDir == "" {
		cfg.StoreDir = cfg.Dir
	}
	if cfg.Confinement == nil {
		cfg.Confinement = sandbox.Detect
	}
	h := &Host{cfg: cfg, lanes: map[protocol.SessionID]*slot{}, conns: map[*Conn]struct{}{}, temps: map[protocol.SessionID]*sandbox.Temp{}, told: map[protocol.SessionID]bool{}}
	h.mu.Fatal, h.once.mu.Fatal = h.fatal, h.fatal
	var err error
	if h.handlers, err = h.newHandlers(); err != nil {
		return nil, err
	}
	h.extended = map[protocol.SessionID]*extended{}
	h.started = cfg.Now()
	h.lastUse = h.started
	h.trust = trust.New(trust.Config{FS: cfg.FS, Dir: cfg.Dir, Now: cfg.Now})
	h.entries = clients.New(cfg.FS, filepath.Join(cfg.Dir, "entries.json"), cfg.Now)
	h.skills, h.templates = skill.NewFinder(cfg.Dir), command.NewTemplates(cfg.Dir)
	h.tests = make(chan struct{}, maxModelTests)
	h.completing = newPlaces()
	key, err := h.deviceKey()
	if err != nil {
		return nil, storageError("use "+cfg.Dir, err)
	}
	h.key, h.device = key, protocol.DeviceIDOf(key.PublicKey().Bytes())
	h.store, err = session.OpenStore(session.Config{FS: cfg.FS, Dir: cfg.StoreDir, Now: cfg.Now, Rand: cfg.Rand})
	if err != nil {
		return nil, storageError("use "+cfg.StoreDir, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop, h.beside = stop, ctx
	if cfg.Serving {
		h.starts.Go(func() { // Close ends it
			defer h.Rescue("going on with queues")
			h.goOnPending(ctx)
		})
	}
	if !cfg.Ephemeral {
		h.starts.Go(func() { // Close ends it
			defer h.Rescue("removing what deleted sessions left")
			h.sweep(ctx)
		})
	}
	return h, nil
}

// Device gives the device's id and the key that it derives from. The key belongs to
// the host; its private half is for proofs only.
func (h *Host) Device() (protocol.DeviceID, *ecdh.PrivateKey) { return h.device, h.key }

func (h *Host) deviceKey() (*ecdh.PrivateKey, error) {
	if h.cfg.Ephemeral {
		return identity.Ephemeral(h.cfg.Rand)
	}
	if err := h.cfg.FS.MkdirAll(h.cfg.Dir); err != nil {
		return nil, err
	}
	return identity.Load(h.cfg.FS, filepath.Join(h.cfg.Dir, "device.json"), h.cfg.Rand)
}

// Close cancels what runs, waits for it, and closes sessions and connections.
func (h *Host) Close() error {
	h.closeOnce.Do(func() {
		lanes, conns := h.shut()
		for _, c := range conns {
			_ = c.Close()
		}
		h.closeErr = h.closeLanes(lanes)
	})
	return h.closeErr
}

// shut lets nothing be opened any more, and gives what is open: closing counts the
// sessions that are being closed already.
func (h *Host) shut() (lanes []*slot, conns []*Conn) {
	h.stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, s := range h.lanes {
		if s.gone == nil {
			h.unlinger(s)
			lanes = append(lanes, s)
		}
	}
	return lanes, slices.Collect(maps.Keys(h.conns))
}

// acts lets a request act, unless the host is closing: acting is done with it.
func (h *Host) acts() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.acting.Add(1)
	return true
}

// closeLanes closes the sessions that shut gave.
func (h *Host) closeLanes(lanes []*slot) error {
	// Side by side: each may wait for what it ends.
	failed := make([]error, len(lanes))
	var wg sync.WaitGroup
	for i, s := range lanes {
		wg.Go(func() { // ends with the session
			defer h.Rescue("closing a session")
			if <-s.ready; s.lane != nil {
				failed[i] = h.closeLane(s)
				h.report(s.lane.ID(), "closed: the host ends", nil)
			}
		})
	}
	wg.Wait()
	h.closing.Wait()
	h.starts.Wait()
	h.asides.Wait()
	h.acting.Wait()
	h.trees.close()
	h.views.close()
	h.transfers.close()
	return cmp.Or(failed...)
}

// acquire opens a session, or shares the open one; release gives it back.
func (h *Host) acquire(ctx context.Context, id protocol.SessionID) (*slot, error) {
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	s, err := h.shared(ctx, id)
	if err != nil || s != nil {
		return s, err
	}
	s = &slot{ready: make(chan struct{}), refs: 1}
	h.lanes[id] = s
	h.mu.Unlock()

	// The others that wait for it are not to fail because this caller goes.
	ctx = context.WithoutCancel(ctx)
	h.fill(ctx, id, s, func() (*session.Log, session.Report, error) { return h.store.Open(ctx, id) })
	return s, s.err
}

// shared gives the open session, waiting for one that is being opened or closed.
// When there is none it gives nil, with mu held.
func (h *Host) shared(ctx context.Context, id protocol.SessionID) (*slot, error) {
	for {
		h.mu.Lock()
		s := h.lanes[id]
		switch {
		case h.closed:
			h.mu.Unlock()
			return nil, protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
		case s == nil:
			return nil, nil
		case s.gone == nil:
			s.refs++
			h.unlinger(s)
			h.mu.Unlock()
			<-s.ready
			return s, s.err
		}
		gone := s.gone
		h.mu.Unlock()
		select {
		case <-gone:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fill completes a slot with the log that open opens.
func (h *Host) fill(ctx context.Context, id protocol.SessionID, s *slot, open func() (*session.Log, session.Report, error)) {
	defer close(s.ready)
	if err := h.opening(ctx, id, s, open); err != nil {
		s.lane, s.err = nil, requestError(err)
		h.mu.Lock()
		delete(h.lanes, id)
		h.mu.Unlock()
	}
}

// opening opens the log of a slot and makes its lane. A panic is an error, and what was
// opened is closed.
func (h *Host) opening(ctx context.Context, id protocol.SessionID, s *slot, open func() (*session.Log, session.Report, error)) (err error) {
	var log *session.Log
	defer func() {
		if r := recover(); r != nil {
			err = errInside()
			defer h.caught(id, "opening a session", fault.Caught(r))
		}
		if err != nil && log != nil {
			_ = log.Close()
		}
	}()
	if log, s.report, err = open(); err != nil {
		return err
	}
	l, err := h.newLane(ctx, s, log)
	if err != nil {
		return err
	}
	h.report(id, fmt.Sprintf("opened: %d events, %d bytes", log.Index().Len(), log.Index().Size()), nil)
	s.lane = l
	return nil
}

func (h *Host) newLane(ctx context.Context, s *slot, log *session.Log) (*lane.Lane, error) {
	if err := h.reap(log.ID()); err != nil {
		return nil, err
	}
	s.pending = h.pending(log.ID())
	told := func(what string) { h.report(log.ID(), what, nil) }
	var lost []partial.Lost
	if readOnly, _ := log.ReadOnly(); !readOnly {
		lost = partial.Lose(h.cfg.FS, h.pendingDir(), log.ID(), told)
	}
	var made atomic.Pointer[lane.Lane]
	panicked := func(r any) {
		if l := made.Load(); l != nil {
			l.Panicked(r)
			return
		}
		h.Caught("making a session ready", r)
	}
	l, err := lane.New(ctx, lane.Config{Broke: func(p *fault.Panic) { h.broke(s, log.ID(), p) }, Damage: s.report.Summary(), Passing: s.report.Passing(), Pending: s.pending,
		Step: partial.NewStep(h.cfg.FS, h.pendingDir(), log.ID(), told), Lost: lost,
		Output: func(c partial.Command) *partial.Output {
			return partial.NewOutput(h.cfg.FS, h.pendingDir(), c, told)
		},
		Idle: func() { h.slotIdle(s) }, Changed: func() { h.sessionChanged(s) }, Device: h.device, Log: log, Blobs: h.store.Blobs(), Setup: h.setupOf(log), Agents: h.startAgent, Hooks: h.laneHooks(log.ID()),
		Files: h.files, DateChange: prompt.DateChange,
		Free:     func() (uint64, error) { return h.cfg.FS.Free(h.cfg.StoreDir) },
		Remember: h.remember, Unattended: h.cfg.Unattended, OwnMode: h.cfg.Overrides.Mode != "", Now: h.cfg.Now, Rand: h.cfg.Rand, Sleep: h.cfg.Sleep, Silence: h.cfg.Silence,
		Processes: h.processes(log.ID(), panicked),
		Report:    func(what string, detail []byte) { h.report(log.ID(), what, detail) }})
	if err != nil {
		return nil, err
	}
	made.Store(l)
	h.publishers.Store(log.ID(), l.Publisher())
	h.extend(l)
	waiting, _ := l.Waiting()
	if err := s.pending.found(waiting); err != nil { // the log is what counts
		h.report(log.ID(), "the mark of the queue: "+err.Error(), nil)
	}
	h.mu.Lock()
	stopping := h.stopping
	h.mu.Unlock()
	if stopping {
		l.Drain()
	}
	return l, nil
}

// create makes a session and opens it.
func (h *Host) create(ctx context.Context, header protocol.Header) (*slot, error) {
	id := header.SessionID
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
	}
	if h.lanes[id] != nil {
		h.mu.Unlock()
		return nil, protocol.Errorf(protocol.CodeConflict, "A session of that id exists already.")
	}
	s := &slot{ready: make(chan struct{}), refs: 1}
	h.lanes[id] = s
	h.mu.Unlock()
	h.fill(ctx, id, s, func() (*session.Log, session.Report, error) {
		log, err := h.store.Create(ctx, header)
		return log, session.Report{}, err
	})
	return s, s.err
}

// closeLane closes the lane of a session. One that meets a panic, or had one before, is
// given up.
func (h *Host) closeLane(s *slot) (err error) {
	l := s.lane
	defer func() {
		if r := recover(); r != nil {
			l.Panicked(r)
			defer h.leaveBroken(l.ID())
			err = l.Abandon()
		}
	}()
	// The folder of running children goes while the session's lock is held. One
	// that is not empty stays: its children outlived the turn.
	if !l.Busy() { // while they may still append
		h.shorten(l.ID())
	}
	return l.Close(func() {
		h.shorten(l.ID())
		_ = os.Remove(h.runDir(l.ID()))
		h.closeTemp(l.ID())
		h.leaveQueue(s)
	})
}

// view gives a session for reading: the open one, or a view that holds no lock.
func (h *Host) view(ctx context.Context, id protocol.SessionID) (*session.Index, session.Report, func(), error) {
	if err := id.Check(); err != nil {
		return nil, session.Report{}, nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	h.mu.Lock()
	open := h.lanes[id] != nil
	h.mu.Unlock()
	if open {
		s, err := h.acquire(ctx, id)
		if err != nil {
			return nil, session.Report{}, nil, err
		}
		return s.lane.Log().Index(), s.report, func() { h.release(s) }, nil
	}
	stamp, err := h.store.Stamp(id) // before it is read: what comes meanwhile is another state
	if err != nil {
		return nil, session.Report{}, nil, err
	}
	v := h.views.take(id, stamp)
	if v == nil {
		read, report, err := h.store.View(ctx, id)
		if err != nil {
			return nil, report, nil, err
		}
		v = &sharedView{View: read, report: report, stamp: stamp}
		h.views.keep(v)
	}
	return v.Index(), v.report, func() { h.views.release(v) }, nil
}

// tasks counts the background commands that run in the session.
func (s *slot) tasks() int {
	select {
	case <-s.ready:
	default:
		return 0
	}
	if s.lane == nil {
		return 0
	}
	return s.lane.RunningTasks()
}
