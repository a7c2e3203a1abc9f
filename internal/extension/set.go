package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"scorel/internal/extension/rpc"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Limits of extensions. Those of time are of the extension's own: while one waits for
// something that it asked the host for, its clock stands still.
const (
	handlerTime  = 120 * time.Second // for a hook in JavaScript, whose own 10 s the child keeps
	processTime  = 10 * time.Second  // for a hook of a process
	loadTime     = 30 * time.Second  // to start, and to load one extension
	noticeAfter  = time.Second       // of that, then people are told whom they wait for
	bundleNotice = 3 * time.Second   // the same of JavaScript, which may have to be bundled
	startTime    = 5 * time.Second   // that is waited for what it does in session_start
	unloadTime   = 5 * time.Second   // for what an extension does when it ends
	completeTime = 2 * time.Second   // for completions of an argument
	busyTime     = 10 * time.Second  // for an interpreter that does not return to its event loop
	maxMemory    = 768 << 20         // resident bytes of a process
	addressSpace = 2 << 30           // bytes that the child with JavaScript may map
	maxKills     = 3                 // then an extension is off for the session
	watchEvery   = 250 * time.Millisecond
)

// Host is what extensions ask for. Call carries out a request of an extension that the
// set does not carry out itself; the result is marshalled. An error is told to the
// extension as it is.
type Host interface {
	Call(ctx context.Context, e Extension, method string, params json.RawMessage) (any, error)
	// State gives what changes, as it is now.
	State() rpc.State
	// Notify shows people a sentence. It does not wait.
	Notify(level, text string)
	// PutBlob stores a payload and gives its SHA-256 when it is durable.
	PutBlob(ctx context.Context, data []byte) (string, error)
	// HasBlob reports whether a payload is stored.
	HasBlob(sha string) bool
}

// Config is what a [Set] needs, with a field for each thing that its caller knows.
type Config struct {
	Host    Host
	Log     Log // nil: there is no conversation
	Session rpc.Session
	Version string // of Scorel
	// Find looks for the extensions of the session; see [Find].
	Find func(ctx context.Context) Found
	// Settings reads the configuration and returns what returns the table of an extension in
	// it, nil without one; either may be nil.
	Settings func() func(e Extension) json.RawMessage
	// Cache is the folder for bundles. Record is [sandbox.Helper.Record].
	Cache, Record string
	// Environ gives the scrubbed environment of a process that is started; an error keeps
	// it from being started.
	Environ func() ([]string, error)
	// Ready, which may be nil, is called when extensions have been loaded, before they are
	// told that the session starts: State is to be what it is for the next turn.
	Ready func(ctx context.Context)
	// Resources, which may be nil, takes what an extension brings along beside itself, each
	// time it starts.
	Resources func(e Extension, r rpc.ResourcesAnswer)
	// Model gives a model that the session may use, as extensions see it, nil for none;
	// nil: there are none.
	Model func(ref string) *rpc.Model
	// Frame, which may be nil, takes what an extension has drawn. It is called by the reader of
	// a process, and does not wait.
	Frame func(e Extension, f rpc.Frame)
	// Check says that the extensions are only checked.
	Check bool
	// Reason is what session_start says of a first load: startup, resume, new or fork.
	Reason string
	// Report takes what people who look for a fault need to see.
	Report func(what string, detail []byte)
	// Fault is told of a panic in a goroutine of the set, which gives the session up; nil:
	// the panic goes on.
	Fault func(*fault.Panic)
	// Clean takes secrets out of what an extension says of its errors, and of its stderr;
	// nil takes out nothing.
	Clean func(text string) string
	// Spare returns a process that was started for whoever is the first to need one, nil for
	// none; may be nil.
	Spare func() *Spare
	// Tests bound less, and start the child in their own way.
	child  []string // arguments
	bounds bounds
}

// bounds are limits that tests make smaller.
type bounds struct {
	busy, handler, process time.Duration
	watch                  time.Duration
	memory, address        uint64
}

func (b *bounds) fill() {
	set := func(to *time.Duration, d time.Duration) {
		if *to == 0 {
			*to = d
		}
	}
	set(&b.busy, busyTime)
	set(&b.handler, handlerTime)
	set(&b.process, processTime)
	set(&b.watch, watchEvery)
	if b.memory == 0 {
		b.memory = maxMemory
	}
	if b.address == 0 && !raced {
		b.address = addressSpace
	}
}

// Set is the extensions of one loaded session.
type Set struct {
	cfg  Config
	life context.Context // ends with Close: nothing is waited for that starts
	stop context.CancelFunc

	// starting is held ([Set.hold]) while processes are started, loaded or ended; mu may
	// be taken with it held.
	starting  chan struct{}
	beginning chan struct{} // held while extensions are told that the session starts; never together with starting
	mu        sync.Mutex
	found     bool // Find was asked
	problems  []string
	members   []*member // in load order
	shared    *child    // of JavaScript extensions, nil when it does not run
	children  []*child  // all that run
	warned    []string  // kinds of custom events that nobody knows, once told
	closed    bool
	wg        sync.WaitGroup // what follows processes to their end
}

// member is an extension of a set. The fields below are guarded by Set.mu.
type member struct {
	Extension
	set   *Set
	clock clock

	registered rpc.Registration
	tools      []tool // of registered, those that can be used
	child      *child // in which it is loaded, nil in none
	kills      int
	apart      bool       // it has a child of its own
	again      bool       // it was loaded before in this session
	begun      bool       // it was told that the session starts
	told       bool       // people know that it cannot be started
	loading    bool       // it was sent to be loaded, and that is not answered
	model      *rpc.Model // that was chosen when it last heard of a model; nil: not known
	failures   []string
	running    map[string]*running // tools, by call
	immediate  int                 // immediate commands that run
	command    context.Context     // of the command that runs and is none, nil for none
	teller     *teller
}

// New makes the set of a session. It does nothing yet.
func New(cfg Config) *Set {
	cfg.bounds.fill()
	if cfg.Clean == nil {
		cfg.Clean = func(text string) string { return text }
	}
	if cfg.child == nil {
		cfg.child = []string{rpc.ChildName}
	}
	s := &Set{cfg: cfg, starting: make(chan struct{}, 1), beginning: make(chan struct{}, 1)}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// hold takes starting, and fails when ctx ends before it is free. An extension may wait
// in it for its own process: its context ends with that.
func (s *Set) hold(ctx context.Context) (release func(), err error) { return take(ctx, s.starting) }

func take(ctx context.Context, one chan struct{}) (release func(), err error) {
	select {
	case one <- struct{}{}:
		return func() { <-one }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Load looks for extensions when that was not done or nothing was found, starts and loads
// what is not running, and tells who has been loaded that the session starts. It returns
// when what they do then is done, or startTime is over for each. Who fails is told to
// people, and stands in List. The error is that ctx has ended before: then nothing is
// known of the extensions.
func (s *Set) Load(ctx context.Context) error {
	release, err := s.hold(ctx)
	if err != nil {
		return err
	}
	s.look(ctx)
	s.tellBroken()
	s.ensureAll(ctx)
	release()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.begin(ctx)
}

// look looks for extensions, if that is to be done. starting is held.
func (s *Set) look(ctx context.Context) {
	s.mu.Lock()
	waits := slices.ContainsFunc(s.members, func(m *member) bool { return m.State == protocol.ExtensionUntrusted })
	done := s.closed || s.found && len(s.members) > 0 && !waits
	s.mu.Unlock()
	if done {
		return
	}
	found := s.cfg.Find(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found && waits && !changed(s.members, found.Extensions) {
		return
	}
	s.found, s.problems = true, found.Problems
	var members []*member
	for _, e := range found.Extensions {
		// One that runs goes on.
		if i := slices.IndexFunc(s.members, func(m *member) bool { return m.child != nil && m.Path == e.Path && m.Scope == e.Scope }); i >= 0 && e.State == protocol.ExtensionFound {
			members = append(members, s.members[i])
			continue
		}
		m := &member{Extension: e, set: s, running: map[string]*running{}}
		m.teller = &teller{m: m}
		members = append(members, m)
	}
	s.members = members
}

// tellBroken tells people of extensions that cannot be started as they were found, once.
// starting is held.
func (s *Set) tellBroken() {
	s.mu.Lock()
	var broken []string
	for _, m := range s.members {
		if m.State == protocol.ExtensionFailed && m.Problem != "" && !m.told {
			m.told = true
			broken = append(broken, notLoaded(m.ID, m.Problem))
		}
	}
	s.mu.Unlock()
	for _, text := range broken {
		s.cfg.Host.Notify("error", text)
	}
}

func notLoaded(id, why string) string {
	return fmt.Sprintf("The extension %s is not loaded: %s", id, why)
}

// changed reports whether another state was found than the one that counts.
func changed(members []*member, found []Extension) bool {
	if len(members) != len(found) {
		return true
	}
	for i, m := range members {
		if m.Path != found[i].Path || (m.State == protocol.ExtensionUntrusted) != (found[i].State == protocol.ExtensionUntrusted) {
			return true
		}
	}
	return false
}

func (s *Set) all() []*member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.members)
}

// Loaded reports whether an extension runs, or would be started again.
func (s *Set) Loaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.members, (*member).active)
}

// active reports whether an extension takes part in the session. mu of the set is held.
func (m *member) active() bool {
	return m.State == protocol.ExtensionLoaded || m.State == protocol.ExtensionStopped
}

// List says how the extensions stand. It starts nothing, but looks when nobody has,
// unless ctx ends first.
func (s *Set) List(ctx context.Context) *protocol.ExtensionList {
	if release, err := s.hold(ctx); err == nil {
		s.look(ctx)
		release()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &protocol.ExtensionList{Extensions: []protocol.ExtensionInfo{}, Problems: slices.Clone(s.problems)}
	for _, m := range s.members {
		out.Extensions = append(out.Extensions, m.info())
	}
	return out
}

// who returns the extension, whose state may change.
func (m *member) who() Extension {
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	return m.Extension
}

// Info returns an extension that was only found.
func (e Extension) Info() protocol.ExtensionInfo {
	return protocol.ExtensionInfo{ID: e.ID, Name: e.Name, Path: e.Path, Scope: string(e.Scope), Kind: string(e.Kind), State: e.State, Problem: e.Problem}
}

func (m *member) info() protocol.ExtensionInfo {
	info := m.Info()
	r := m.registered
	if r.Name != "" {
		info.Name = r.Name
	}
	info.Version = r.Version
	for _, t := range m.tools {
		info.Tools = append(info.Tools, t.spec.Name)
	}
	for _, c := range r.Commands {
		info.Commands = append(info.Commands, c.Name)
	}
	for _, p := range r.Providers {
		for _, pm := range p.Models {
			info.Models = append(info.Models, p.Name+"/"+pm.ID)
		}
	}
	info.Hooks = append(slices.Clone(r.Hooks), r.Events...)
	if slices.Contains(info.Hooks, "*") { // it is one of all
		info.Hooks = slices.DeleteFunc(info.Hooks, func(name string) bool { return name == "session_start" })
	}
	slices.Sort(info.Hooks)
	info.Hooks = slices.Compact(info.Hooks)
	info.Unsupported = append(slices.Clone(r.Unsupported), r.Warnings...)
	return info
}

// Reload ends what runs, looks again and starts again. session_shutdown says reload. Who
// has hooks or tools of an extension from before goes on with what has taken its place.
func (s *Set) Reload(ctx context.Context) *protocol.ExtensionList {
	release, err := s.hold(ctx)
	if err != nil {
		return s.List(ctx)
	}
	again := s.end(ctx, "reload")
	s.mu.Lock()
	s.found, s.members, s.warned = false, nil, nil
	s.mu.Unlock()
	s.look(ctx)
	for _, m := range s.all() {
		m.again, m.told = slices.Contains(again, m.ID), true // who asked for it is told
	}
	s.ensureAll(ctx)
	release()
	_ = s.begin(ctx) // else ctx has ended, and it is done with the next load
	return s.List(ctx)
}

// Close ends the extensions, whose session_shutdown says quit, and every goroutine of
// the set.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	release, _ := s.hold(context.Background()) // which does not end
	s.end(context.Background(), "quit")
	release()
	s.wg.Wait()
}

// spawn does something in a goroutine of the set, of which a panic gives the session up.
func (s *Set) spawn(do func()) {
	s.wg.Go(func() {
		if p := fault.Attempt(do); p != nil {
			if s.cfg.Fault == nil {
				panic(p)
			}
			s.cfg.Fault(p)
		}
	})
}

// end ends all processes and returns the ids of what was loaded. starting is held.
func (s *Set) end(ctx context.Context, reason string) (ids []string) {
	s.mu.Lock()
	children := slices.Clone(s.children)
	for _, m := range s.members {
		if m.child != nil {
			ids = append(ids, m.ID)
		}
	}
	s.mu.Unlock()
	var wg fault.Group
	for _, c := range children {
		wg.Go(func() { c.shutdown(ctx, reason) }) // ends with the process
	}
	wg.Wait()
	return ids
}

// find returns the member of an id that takes part.
func (s *Set) find(id string) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.members {
		if m.ID == id && m.State != protocol.ExtensionShadowed {
			return m
		}
	}
	return nil
}

// current returns the member that stands for m now, which is another one when the
// extensions were loaded again since m was handed out: of the same name, file and owner.
// An error says that there is none. mu is held.
func (s *Set) current(m *member) (*member, error) {
	for _, o := range s.members {
		if o == m {
			return m, nil
		}
		if o.ID != m.ID || o.Path != m.Path || o.Scope != m.Scope || o.Kind != m.Kind {
			continue
		}
		switch o.State {
		case protocol.ExtensionShadowed, protocol.ExtensionDisabled, protocol.ExtensionUntrusted:
		default:
			return o, nil
		}
	}
	return nil, fmt.Errorf("the extension %s %w; what has begun with it ends without it", m.ID, errTakenOut)
}

// errTakenOut is that an extension is no longer one of the session.
var errTakenOut = errors.New("was taken out by /reload")

// fail notes that an extension could not be loaded, and tells people. mu is not held.
func (s *Set) fail(m *member, why string) {
	s.mu.Lock()
	m.State, m.Problem, m.told = protocol.ExtensionFailed, why, true
	closed := s.closed
	s.mu.Unlock()
	if closed { // that is why
		return
	}
	s.cfg.Host.Notify("error", notLoaded(m.ID, why))
}
