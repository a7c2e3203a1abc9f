package engine

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"scorel/internal/extension/rpc"
)

// Bounds of an engine.
const (
	MaxCallStack = 600     // frames of JavaScript; natives that call back count too
	MaxOffered   = 4_096   // jobs from outside that wait
	maxTimers    = 10_000  // that have not fired
	maxWaits     = 1_024   // native calls that have not come back
	maxRejected  = 1_000   // rejections nobody has handled yet
	maxLogText   = 16_000  // bytes of one line of the console
	maxRandom    = 1 << 16 // bytes of one getRandomValues
)

// ErrClosed is what a closed engine answers, ErrFull one to which too much has been
// handed.
var (
	ErrClosed = errors.New("the extension has ended")
	ErrFull   = errors.New("the extension has too much to do: 4,096 calls wait for it")
)

// Config says how an engine is. Only Log and Failed are needed.
type Config struct {
	Page  *rpc.Page // where it notes that it runs, in Slot
	Slot  int
	Watch *Watch
	Cwd   string
	Env   []string     // of process.env and of children
	Root  string       // of the extension: paths below it are shown without it
	HTTP  *http.Client // of fetch
	// Builtin finds the modules that come with Scorel.
	Builtin func(name string) (Builtin, bool)
	// Instead says what to use in the place of a module that does not; "" where nothing is
	// known, and nil for nothing.
	Instead func(name string) string

	// Log takes a line of the console; level is debug, info, warning or error.
	Log func(level, message string)
	// Failed takes what no call of a caller answers for: an unhandled rejection, a
	// timer that throws.
	Failed func(what string, err *Error)
	// Interrupted is told on the loop when the interpreter was stopped while it ran for
	// the context: what it would have answered does not come.
	Interrupted func(context any, err *Error)
}

// Waiter is a context of [Engine.Within] that wants to know when it waits for a person, a
// process or the network.
type Waiter interface {
	Pause()
	Resume()
}

// Engine is one runtime with its loop.
type Engine struct {
	cfg Config
	VM  *goja.Runtime // for jobs only

	mu      sync.Mutex
	queue   []func()
	offered int
	closed  bool
	wake    chan struct{}
	ended   chan struct{}

	busy atomic.Int64 // since when it runs, by wire.Monotonic; 0 idle
	interruption

	depth   int // of calls into the interpreter
	context any // of what runs
	timers  map[int64]*timer
	lastID  int64
	waits   int
	rejections
	machine machine
	lib     library
	modules modules
	closers map[int64]func()
}

// interruption is of a job that runs too long.
type interruption struct {
	stop  sync.Mutex // between the watch that interrupts and a job that ends
	cause error      // why it is being interrupted; under stop
}

// rejections are promises that were rejected and that nothing handles yet.
type rejections struct {
	rejected map[*goja.Promise]goja.Value
	order    []*goja.Promise
}

// New makes an engine and starts its loop, which Close ends.
func New(cfg Config) (*Engine, error) {
	e := &Engine{cfg: cfg, wake: make(chan struct{}, 1), ended: make(chan struct{}),
		timers: map[int64]*timer{}, rejections: rejections{rejected: map[*goja.Promise]goja.Value{}}, closers: map[int64]func(){}}
	if e.cfg.HTTP == nil {
		e.cfg.HTTP = http.DefaultClient
	}
	e.VM = goja.New()
	var err error
	if e.machine, err = newMachine(e.VM); err != nil {
		return nil, err
	}
	e.VM.SetMaxCallStackSize(MaxCallStack)
	e.VM.SetPromiseRejectionTracker(e.track)
	e.VM.SetAsyncContextTracker(tracker{e})
	if err := e.install(); err != nil {
		return nil, err
	}
	if cfg.Watch != nil {
		cfg.Watch.add(e)
	}
	go e.run() // ends by Close
	return e, nil
}

// Config returns what the engine was made with.
func (e *Engine) Config() Config { return e.cfg }

// Post hands over a job; the loop runs it after all that were handed over before. It
// reports whether the engine is open still. Internal work that has a bound of its own
// comes this way, and calls from outside by [Engine.Offer].
func (e *Engine) Post(job func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.push(job)
	return true
}

// Offer is Post for calls from outside: at most MaxOffered of them wait.
func (e *Engine) Offer(job func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrClosed
	case e.offered >= MaxOffered:
		return ErrFull
	}
	e.offered++
	e.push(func() {
		e.mu.Lock()
		e.offered--
		e.mu.Unlock()
		job()
	})
	return nil
}

func (e *Engine) push(job func()) {
	e.queue = append(e.queue, job)
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Close ends the loop after the job that runs, if one does, drops what waits, and ends
// the children and requests of the extension. It does not wait.
func (e *Engine) Close() {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.closed = true
	e.queue = nil
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
	e.interrupt(ErrClosed)
}

// Done is closed when the loop has ended.
func (e *Engine) Done() <-chan struct{} { return e.ended }

func (e *Engine) run() {
	defer close(e.ended)
	defer e.cleanUp()
	for {
		e.mu.Lock()
		for len(e.queue) == 0 && !e.closed {
			e.mu.Unlock()
			<-e.wake
			e.mu.Lock()
		}
		if e.closed {
			e.mu.Unlock()
			return
		}
		jobs := e.queue
		e.queue = nil
		e.mu.Unlock()
		for _, job := range jobs {
			if e.isClosed() {
				return
			}
			e.do(job)
		}
	}
}

func (e *Engine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

func (e *Engine) cleanUp() {
	if e.cfg.Watch != nil {
		e.cfg.Watch.remove(e)
	}
	for _, t := range e.timers {
		t.stop()
	}
	for _, end := range e.closers {
		end()
	}
}

// OnClose has end called on the loop when the engine ends; forget takes it back.
func (e *Engine) OnClose(end func()) (forget func()) {
	e.lastID++
	id := e.lastID
	e.closers[id] = end
	return func() { delete(e.closers, id) }
}

// do runs a job: busy for all who watch, and with an end to every panic.
func (e *Engine) do(job func()) {
	e.enter()
	defer e.leave()
	defer func() {
		if r := recover(); r != nil {
			e.cfg.Failed("internal", &Error{Message: fmt.Sprintf("panic: %v", r), Stack: string(debug.Stack())})
		}
	}()
	job()
	e.drain()
	e.machine.free()
	e.reportRejected()
	e.context = nil
}

func (e *Engine) enter() {
	e.busy.Store(rpc.Monotonic())
	e.cfg.Page.Busy(e.cfg.Slot, true)
	if e.cfg.Watch != nil {
		e.cfg.Watch.wakeUp()
	}
}

func (e *Engine) leave() {
	e.stop.Lock()
	defer e.stop.Unlock()
	e.busy.Store(0)
	e.cfg.Page.Busy(e.cfg.Slot, false)
	if e.cause != nil && !errors.Is(e.cause, ErrClosed) {
		e.cause = nil
		e.VM.ClearInterrupt()
	}
}

// Blocked runs f, which waits for something outside: the interpreter counts as idle.
func (e *Engine) Blocked(f func()) {
	e.busy.Store(0)
	e.cfg.Page.Busy(e.cfg.Slot, false)
	defer e.enter()
	f()
}

// interrupt stops what runs.
func (e *Engine) interrupt(why error) {
	e.stop.Lock()
	defer e.stop.Unlock()
	if e.cause == nil && (e.busy.Load() != 0 || errors.Is(why, ErrClosed)) {
		e.cause = why
		e.VM.Interrupt(why)
	}
}

// Context returns the context of what runs, nil without one.
func (e *Engine) Context() any { return e.context }

// Within runs f with a context that what it starts belongs to.
func (e *Engine) Within(context any, f func()) {
	before := e.context
	e.context = context
	defer func() { e.context = before }()
	f()
}

// Async returns a promise that start settles, once and from any goroutine: with a function
// that returns the value on the loop. While it is open the context waits, see [Waiter].
func (e *Engine) Async(start func(settle func(value func() (any, error)))) goja.Value {
	waiter, _ := e.context.(Waiter)
	return e.promise(waiter, start)
}

// Promise is Async for what the context's clock does not stand still for.
func (e *Engine) Promise(start func(settle func(value func() (any, error)))) goja.Value {
	return e.promise(nil, start)
}

func (e *Engine) promise(waiter Waiter, start func(settle func(value func() (any, error)))) goja.Value {
	p, resolve, reject := e.VM.NewPromise()
	if e.waits >= maxWaits {
		_ = reject(e.NewError(fmt.Errorf("%d calls are open already; wait for some of them", maxWaits)))
		return e.VM.ToValue(p)
	}
	e.waits++
	context := e.context
	if waiter != nil {
		waiter.Pause()
	}
	var once sync.Once
	start(func(value func() (any, error)) {
		once.Do(func() {
			e.Post(func() {
				e.waits--
				if waiter != nil {
					waiter.Resume()
				}
				e.Within(context, func() {
					v, err := value()
					if err != nil {
						e.Settle(reject, e.NewError(err))
						return
					}
					e.Settle(resolve, v)
				})
			})
		})
	})
	return e.VM.ToValue(p)
}

// tracker keeps the context over promise jobs.
type tracker struct{ e *Engine }

func (t tracker) Grab() any     { return t.e.context }
func (t tracker) Resumed(v any) { t.e.context = v }
func (t tracker) Exited()       { t.e.context = nil }

// track notes rejections that nobody handles.
func (e *Engine) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	switch op {
	case goja.PromiseRejectionReject:
		if len(e.order) < maxRejected {
			e.rejected[p] = p.Result()
			e.order = append(e.order, p)
		}
	case goja.PromiseRejectionHandle:
		delete(e.rejected, p)
	}
}

func (e *Engine) reportRejected() {
	if len(e.order) == 0 {
		return
	}
	order := e.order
	e.order = nil
	for _, p := range order {
		if v, ok := e.rejected[p]; ok {
			e.cfg.Failed("unhandledRejection", e.FailureOf(v))
		}
	}
	clear(e.rejected)
}

// timer is one of setTimeout or setInterval.
type timer struct {
	t       *time.Timer
	due     time.Time
	context any
	f       func()
}

func (t *timer) stop() { t.t.Stop() }

// setTimer calls f after d, once. It must be called on the loop. Timers are called in
// the order in which they are due, also when the loop was busy meanwhile.
func (e *Engine) setTimer(d time.Duration, f func()) (id int64, err error) {
	if len(e.timers) >= maxTimers {
		return 0, fmt.Errorf("%d timers wait already; clear some of them", maxTimers)
	}
	e.lastID++
	id = e.lastID
	t := &timer{due: time.Now().Add(d), context: e.context, f: f}
	e.timers[id] = t
	t.t = time.AfterFunc(d, func() {
		e.Post(func() { e.runTimers(id) })
	})
	return id, nil
}

// runTimers calls a timer that is due, and before it those that were due earlier, whose
// own jobs come after this one.
func (e *Engine) runTimers(id int64) {
	t, ok := e.timers[id]
	if !ok {
		return
	}
	var due []int64
	for other, o := range e.timers {
		if o.due.Before(t.due) || o.due.Equal(t.due) && other <= id {
			due = append(due, other)
		}
	}
	slices.SortFunc(due, func(a, b int64) int { return cmp.Or(e.timers[a].due.Compare(e.timers[b].due), cmp.Compare(a, b)) })
	for _, id := range due {
		t, ok := e.timers[id]
		if !ok || e.isClosed() { // one before has cleared it
			continue
		}
		delete(e.timers, id)
		t.stop()
		e.Within(t.context, t.f)
	}
}

func (e *Engine) clearTimer(id int64) {
	if t, ok := e.timers[id]; ok {
		t.stop()
		delete(e.timers, id)
	}
}
