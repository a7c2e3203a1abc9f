package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

const (
	// idleTime is how long a connection stays open that no session uses.
	idleTime = 5 * time.Minute
	// maxConnections is how many there may be at once.
	maxConnections = 256
	// localAtOnce and remoteAtOnce are how many processes and addresses are connected with
	// at the same time.
	localAtOnce  = 3
	remoteAtOnce = 20
	// attempts is how often an address is tried, 1, 2, 4 and 8 s apart, and half as much more
	// or less.
	attempts = 5
	// steady is how long a connection has to last for its attempts to be forgotten.
	steady = time.Minute
	// maxApart is of how many servers each session has a connection of its own, because they
	// have asked something while several called them.
	maxApart = 1000
	// maxBroken is how many calls in a row may break off before a connection is made again.
	maxBroken = 3
)

// State is the state of a connection.
type State string

// The states.
const (
	Pending   State = "pending"
	Connected State = "connected"
	Failed    State = "failed"
	NeedsAuth State = "needs-auth"
)

// Server is an open connection; [connect.Server] is one.
type Server interface {
	Tools(ctx context.Context) (tools []connect.Tool, faults []string, err error)
	Lists(ctx context.Context) (l connect.Lists, faults []string)
	Fresh() (tools, lists time.Duration)
	Call(ctx context.Context, c connect.Call) (*connect.Answer, error)
	Prompt(ctx context.Context, c connect.Call, arguments map[string]string) ([]connect.Message, error)
	Resource(ctx context.Context, c connect.Call) (*connect.Answer, error)
	Complete(ctx context.Context, p connect.Partial) []string
	Subscribe(ctx context.Context, uri string)
	Title() string
	Instructions() string
	Log() string
	Nonsense() string
	Done() <-chan struct{}
	// Fault returns the panic that has ended the connection, as a sentence without a subject;
	// nil if there was none.
	Fault() error
	Close()
}

// Guard is told of panics; that of the host is one.
type Guard interface {
	// Watch has the process end when a panic leaves m locked.
	Watch(m *fault.Shared)
	// Caught is told of a panic that was recovered.
	Caught(id protocol.SessionID, what string, p *fault.Panic)
}

// Key says which uses share a connection: those with the same entry and workspace, and,
// where a session has one of its own, session.
type Key struct{ Entry, Root, Session string }

// Spec is a server that is to be connected with.
type Spec struct {
	Key Key
	// Owner is the session that acquires it. It gets a connection of its own once the server
	// has asked something while several sessions called it.
	Owner  string
	Remote bool // it has an address
	// Held has a new connection begun by [Lease.Begin], by whoever waits for it or uses it, or
	// some time later; otherwise it is begun at once.
	Held bool
	// Brief has the connection end with its last use, not some minutes after.
	Brief bool
	// Open connects.
	Open func(ctx context.Context, h Hears) (Server, error)
	// Updated is told that a resource has changed that was read through the connection by
	// whoever; from a goroutine of the connection, until Release. It may be nil.
	Updated func(uri string)
	// SignedIn reports whether somebody has signed in since the server refused; nil where
	// nobody can.
	SignedIn func() bool
}

// Hears is told what comes of a server unasked. All of it may be called at any time, from
// any goroutine.
type Hears struct {
	Tools, Lists func()           // the list of tools, or one of the others, has changed
	Updated      func(uri string) // a resource that is subscribed to has changed
	Crowded      func()           // nobody knew to which of several sessions a question of it belongs
}

// Status is what is known of a server.
type Status struct {
	State        State
	Problem      string // a sentence without a subject; why the last try failed, "" otherwise
	Tools        []connect.Tool
	Lists        connect.Lists
	Listed       bool     // Lists have been read
	Faults       []string // sentences without a subject, about tools that are left out and the like
	Title        string
	Instructions string
	Log          string // the last that a process wrote to stderr
}

// Pool keeps connections. It may be used concurrently.
type Pool struct {
	local, remote chan struct{}
	jitter        func() float64 // 0.5 to 1.5
	guard         Guard
	wg            sync.WaitGroup

	mu     fault.Shared // nothing is called with it held
	open   map[Key]*connection
	apart  map[Key]bool // of which each session has a connection of its own
	closed bool
}

// New makes a pool without connections. A panic in one of its goroutines ends the connection
// that it is of, and the guard is told.
func New(guard Guard) *Pool {
	p := &Pool{guard: guard, local: make(chan struct{}, localAtOnce), remote: make(chan struct{}, remoteAtOnce), open: map[Key]*connection{}, apart: map[Key]bool{},
		jitter: func() float64 { return 0.5 + rand.Float64() }}
	guard.Watch(&p.mu)
	return p
}

// connection is one to a server, with those who use it. The pool's lock guards leases and
// idle, its own the rest.
type connection struct {
	pool   *Pool
	spec   Spec
	cancel context.CancelFunc
	begun  chan struct{} // closed by begin
	begin  func()        // lets it be begun; may be called more than once, by any goroutine
	kick   chan struct{} // asks for a new connection; holds one
	retool chan struct{} // asks for the tools; holds one
	relist chan struct{} // asks for the other lists; holds one

	leases map[*Lease]func()
	idle   *time.Timer

	mu     sync.Mutex
	status Status
	server Server        // of the state connected
	moved  chan struct{} // closed with the next change of the state
	broken int           // calls in a row that broke off
	read   []string      // addresses of resources, to be subscribed to; the oldest first
}

// Lease is the use of a connection by a session. It may be used concurrently.
type Lease struct {
	spec Spec
	pool *Pool

	mu       sync.Mutex // held while the lease goes over to another connection
	c        *connection
	released bool
}

// ErrClosed is that the pool has been closed.
var ErrClosed = errors.New("the host is stopping")

// Acquire takes part in a connection and returns at once; one that there is not is begun, see
// [Spec.Held].
// changed is told, from a goroutine of the pool, when the state or the tools have changed,
// until Release.
func (p *Pool) Acquire(spec Spec, changed func()) (*Lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &Lease{spec: spec, pool: p}
	c, err := p.join(l, changed)
	if err != nil {
		return nil, err
	}
	l.c = c
	return l, nil
}

// join takes a lease into the connection that it is for, which is begun where there is none.
// mu is held.
func (p *Pool) join(l *Lease, changed func()) (*connection, error) {
	if p.closed {
		return nil, ErrClosed
	}
	spec := l.spec
	if p.apart[spec.Key] {
		spec.Key.Session = spec.Owner
	}
	c := p.open[spec.Key]
	if c == nil {
		if len(p.open) >= maxConnections {
			return nil, fmt.Errorf("%d connections to MCP servers are open, which is the most; disable some servers, or close sessions", maxConnections)
		}
		ctx, cancel := context.WithCancel(context.Background())
		begun := make(chan struct{})
		c = &connection{pool: p, spec: spec, cancel: cancel, begun: begun, begin: sync.OnceFunc(func() { close(begun) }), kick: make(chan struct{}, 1), retool: make(chan struct{}, 1), relist: make(chan struct{}, 1),
			leases: map[*Lease]func(){}, status: Status{State: Pending}, moved: make(chan struct{})}
		p.open[spec.Key] = c
		p.wg.Go(func() { c.keep(ctx) }) // ends with ctx
	}
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	c.leases[l] = changed
	if !spec.Held {
		c.begin()
	}
	return c, nil
}

// split has each session that uses a connection get one of its own: with its next call, and
// from then on.
func (p *Pool) split(key Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key.Session == "" && len(p.apart) < maxApart {
		p.apart[key] = true
	}
}

// Close ends all connections and returns when they have ended.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, c := range p.open {
		p.drop(c)
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// Len returns how many connections there are.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// drop ends a connection. mu is held.
func (p *Pool) drop(c *connection) {
	if p.open[c.spec.Key] == c {
		delete(p.open, c.spec.Key)
	}
	if c.idle != nil {
		c.idle.Stop()
	}
	c.cancel()
}

// Release gives the connection back. It may be called more than once.
func (l *Lease) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return
	}
	l.released = true
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pool.leave(l.c, l)
}

// leave takes a lease out of a connection, which ends some time after the last. mu is held.
func (p *Pool) leave(c *connection, l *Lease) {
	delete(c.leases, l)
	if len(c.leases) > 0 || p.closed {
		return
	}
	if l.spec.Brief {
		p.drop(c)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(idleTime, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.idle == timer {
			p.drop(c)
		}
	})
	c.idle = timer
}

// connection returns that of the lease, which may have to go over to one of its session's.
func (l *Lease) connection() *connection {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.released || !l.pool.apart[l.spec.Key] || l.c.spec.Key.Session != "" || l.spec.Owner == "" {
		return l.c
	}
	changed := l.c.leases[l]
	c, err := l.pool.join(l, changed)
	if err != nil {
		return l.c // a shared one is better than none
	}
	l.pool.leave(l.c, l)
	l.c = c
	return c
}

// Status tells the state of the server. Its slices are not changed.
func (l *Lease) Status() Status {
	c := l.connection()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	if c.server != nil {
		s.Log = c.server.Log()
		if odd := c.server.Nonsense(); odd != "" {
			s.Faults = append(slices.Clip(s.Faults), odd)
		}
	}
	return s
}

// Settled waits until the first try to connect is over, or ctx ends.
func (l *Lease) Settled(ctx context.Context) error {
	return l.until(ctx, func(s Status) bool { return s.State != Pending || s.Problem != "" })
}

// until waits for a state, or until ctx ends.
func (l *Lease) until(ctx context.Context, is func(Status) bool) error {
	c := l.connection()
	c.begin()
	for {
		c.mu.Lock()
		s, moved := c.status, c.moved
		c.mu.Unlock()
		if is(s) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ErrReleased is that the session does not use the server any more.
var ErrReleased = errors.New("this session does not use it any more")

// Call calls a tool as [connect.Server.Call] does. It waits for a
// connection that is being made, and begins one to a process that has ended.
func (l *Lease) Call(ctx context.Context, c connect.Call) (*connect.Answer, error) {
	return through(ctx, l, func(s Server) (*connect.Answer, error) { return s.Call(ctx, c) })
}

// Prompt fills in a prompt as [connect.Server.Prompt] does, by a connection as for a call.
func (l *Lease) Prompt(ctx context.Context, c connect.Call, arguments map[string]string) ([]connect.Message, error) {
	return through(ctx, l, func(s Server) ([]connect.Message, error) { return s.Prompt(ctx, c, arguments) })
}

// Complete completes an argument as [connect.Server.Complete] does. What goes wrong says
// nothing of the connection.
func (l *Lease) Complete(ctx context.Context, p connect.Partial) []string {
	if l.gone() {
		return nil
	}
	server, err := l.connection().ready(ctx)
	if err != nil {
		return nil
	}
	return server.Complete(ctx, p)
}

// Resource reads a resource as [connect.Server.Resource] does, by a connection as for a call.
func (l *Lease) Resource(ctx context.Context, c connect.Call) (*connect.Answer, error) {
	return through(ctx, l, func(s Server) (*connect.Answer, error) {
		a, err := s.Resource(ctx, c)
		if err == nil && l.spec.Updated != nil {
			l.connection().note(c.Tool)
			s.Subscribe(ctx, c.Tool)
		}
		return a, err
	})
}

// note remembers a resource for the next connection.
func (c *connection) note(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.read, uri) {
		return
	}
	if c.read = append(c.read, uri); len(c.read) > connect.MaxSubscribed {
		c.read = c.read[1:]
	}
}

// subscribe subscribes to what was read through an earlier connection.
func (c *connection) subscribe(ctx context.Context, server Server) {
	c.mu.Lock()
	list := slices.Clone(c.read)
	c.mu.Unlock()
	for _, uri := range list {
		server.Subscribe(ctx, uri)
	}
}

// updated tells those who use the connection that a resource has changed.
func (c *connection) updated(uri string) {
	c.pool.mu.Lock()
	var tell []func(string)
	for l := range c.leases {
		if l.spec.Updated != nil {
			tell = append(tell, l.spec.Updated)
		}
	}
	c.pool.mu.Unlock()
	for _, changed := range tell {
		c.careful(func() { changed(uri) })
	}
}

// through asks a server something.
func through[T any](ctx context.Context, l *Lease, do func(Server) (T, error)) (T, error) {
	var none T
	for again := false; ; again = true {
		if l.gone() {
			return none, ErrReleased
		}
		conn := l.connection()
		server, err := conn.ready(ctx)
		if err != nil {
			return none, err
		}
		a, err := do(server)
		if errors.Is(err, connect.ErrNotSent) && !again {
			conn.replace(server)
			continue
		}
		conn.called(server, err)
		return a, err
	}
}

// gone reports whether the lease has been given back.
func (l *Lease) gone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.released
}

// ready returns the open connection.
func (c *connection) ready(ctx context.Context) (Server, error) {
	c.begin()
	for tried := false; ; {
		c.mu.Lock()
		s, server, moved := c.status, c.server, c.moved
		c.mu.Unlock()
		switch {
		case server != nil:
			return server, nil
		case s.State == NeedsAuth && !c.signedIn():
			return nil, connect.ErrNeedsAuth
		case s.State == Failed && (c.spec.Remote || tried):
			return nil, errors.New(s.Problem)
		case s.State == NeedsAuth || s.State == Failed:
			tried = tried || s.State == Failed
			c.leave(Pending, func() bool { return c.moved == moved }) // else somebody else was first
			continue
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// called draws the consequences of a call.
func (c *connection) called(server Server, err error) {
	switch {
	case errors.Is(err, connect.ErrNeedsAuth):
		// Who waits for the connection closes it; the state says that none is to be made.
		c.leave(NeedsAuth, func() bool { return c.server == server })
		return
	case !errors.Is(err, connect.ErrUnknownEffect):
		c.mu.Lock()
		c.broken = 0
		c.mu.Unlock()
		return
	}
	c.mu.Lock()
	c.broken++
	worn := c.broken >= maxBroken
	c.mu.Unlock()
	if worn {
		c.replace(server)
	}
}

// become changes what is known, and tells those who use the connection.
func (c *connection) become(server Server, s Status) {
	c.mu.Lock()
	c.set(server, s)
	c.mu.Unlock()
	c.tellChanged()
}

// offers is what the server of the connection offers from now on. It changes nothing where
// somebody has said since that this connection counts no more: the mark that ends it comes.
func (c *connection) offers(server Server, s Status) {
	c.mu.Lock()
	counts := c.server == server
	if counts {
		c.set(server, s)
	}
	c.mu.Unlock()
	if counts {
		c.tellChanged()
	}
}

// set changes what is known. c.mu is held.
func (c *connection) set(server Server, s Status) {
	if s.State == Connected && c.server != server { // that its lists have come says nothing of its calls
		c.broken = 0
	}
	c.server, c.status = server, s
	close(c.moved)
	c.moved = make(chan struct{})
}

// tellChanged tells those who use the connection that it has changed.
func (c *connection) tellChanged() {
	c.pool.mu.Lock()
	var tell []func()
	for _, changed := range c.leases {
		if changed != nil {
			tell = append(tell, changed)
		}
	}
	c.pool.mu.Unlock()
	for _, changed := range tell {
		c.careful(changed)
	}
}

// state returns the state.
func (c *connection) state() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status.State
}

// errEnded and errExited are the ends of a connection that nobody here wanted.
var (
	errEnded  = errors.New("its connection has ended")
	errExited = errors.New("its process has ended; it is started again when one of its tools is called")
)

// careful tells a session something; its panic is none of the connection.
func (c *connection) careful(tell func()) {
	if p := fault.Attempt(tell); p != nil {
		c.pool.guard.Caught("", "telling a session of the MCP server "+c.name(), p)
	}
}

// name returns what the server is called, which begins the key.
func (c *connection) name() string {
	name, _, _ := strings.Cut(c.spec.Key.Entry, " ")
	return name
}

// keep keeps the connection until ctx ends. After a panic it has failed, until somebody wants a
// new one.
func (c *connection) keep(ctx context.Context) {
	c.held(ctx)
	for ctx.Err() == nil {
		p := fault.Attempt(func() { c.run(ctx) })
		if p == nil {
			return
		}
		c.pool.guard.Caught("", "keeping the connection to the MCP server "+c.name(), p)
		c.become(nil, Status{State: Failed, Problem: connect.Broken(p).Error()})
		select {
		case <-c.kick:
		case <-ctx.Done():
		}
	}
}

// run keeps the connection until ctx ends.
func (c *connection) run(ctx context.Context) {
	for tried := 0; ctx.Err() == nil; {
		began, log := time.Now(), ""
		server, err := c.connect(ctx)
		if err == nil {
			wanted := c.hold(ctx, server)
			if time.Since(began) >= steady {
				tried = 0
			}
			err, log = errEnded, server.Log()
			if !c.spec.Remote {
				err = errExited
			}
			if fault := server.Fault(); fault != nil {
				err = fault
			}
			if wanted && c.state() != NeedsAuth { // somebody wants a new one
				tried = 0
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		tried++
		switch {
		case errors.Is(err, connect.ErrNeedsAuth) || c.state() == NeedsAuth:
			c.become(nil, Status{State: NeedsAuth})
		case c.spec.Remote && tried < attempts:
			c.become(nil, Status{State: Pending, Problem: err.Error()})
			wait := time.NewTimer(time.Duration(float64(time.Second<<(tried-1)) * c.pool.jitter()))
			select {
			case <-wait.C:
			case <-c.kick:
				tried = 0
			case <-ctx.Done():
			}
			wait.Stop()
			continue
		default:
			c.become(nil, Status{State: Failed, Problem: err.Error(), Log: log})
		}
		select {
		case <-c.kick:
			tried = 0
		case <-ctx.Done():
		}
	}
}

// connect makes a connection when it is its turn.
func (c *connection) connect(ctx context.Context) (Server, error) {
	slots := c.pool.local
	if c.spec.Remote {
		slots = c.pool.remote
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-c.kick: // this is the one that was asked for
	default:
	}
	return c.spec.Open(ctx, Hears{Tools: func() { ask(c.retool) }, Lists: func() { ask(c.relist) }, Updated: c.updated, Crowded: func() { c.pool.split(c.spec.Key) }})
}
