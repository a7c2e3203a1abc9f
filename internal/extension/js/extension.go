package js

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/bundle"
	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/js/mirror"
	"scorel/internal/extension/js/node"
	"scorel/internal/extension/rpc"
)

// extension is one of them. Fields below loop are its loop's.
type extension struct {
	c    *child
	load rpc.Load
	slot int

	before, loaded chan struct{} // closed when the one before it is loaded, and when it is; before is nil for the first
	release        sync.Once     // closes loaded

	mu     sync.Mutex
	engine *engine.Engine
	ended  bool

	// loop
	view             *mirror.View
	host             *host
	handlers         map[string]goja.Callable
	onLoad           goja.Callable
	writesToTerminal bool         // its code has notifications for a terminal
	kinds            []string     // of custom events, which the extension names
	uses             []bundle.Use // of an extension that is checked
}

// request is one call of the host that an extension answers. It is the context of the
// code that runs for it.
type request struct {
	x      *extension
	id     json.RawMessage
	method string
	what   string // for people
	snap   *mirror.Snapshot
	listed *mirror.Listed // the list that was handed out for it last
	clock  *clock         // nil: it has no limit
	abort  func(reason string)
	done   bool
	waits  int // for the host and the like; on the loop
}

// Pause implements [engine.Waiter].
func (r *request) Pause() {
	r.waits++
	if r.clock != nil {
		r.clock.Pause()
	}
}

// Resume implements [engine.Waiter].
func (r *request) Resume() {
	r.waits--
	if r.clock != nil {
		r.clock.Resume()
	}
}

// answer answers it once; it is called on the loop.
func (r *request) answer(result []byte, err *rpcError) {
	if r.done {
		return
	}
	r.done = true
	if r.clock != nil {
		r.clock.stop()
	}
	r.x.c.forget(r)
	r.x.c.peer.answer(r.id, result, err)
	if r.method == rpc.MethodLoad {
		r.x.next()
	}
}

// next lets the extension run that is loaded after this one.
func (x *extension) next() { x.release.Do(func() { close(x.loaded) }) }

func (r *request) fail(err *engine.Error) {
	if r.method == rpc.MethodLoad {
		err = r.x.named(err)
	}
	if endsIt(r) {
		r.x.c.remove(r.x) // whoever has the answer does not find it any more
	}
	data, _ := json.Marshal(rpc.ErrorData{Stack: err.Stack})
	r.answer(nil, &rpcError{Code: rpc.ErrFailed, Message: err.Message, Data: data})
}

// named returns an error that says at least in which file it happened.
func (x *extension) named(err *engine.Error) *engine.Error {
	base := filepath.Base(x.load.Path)
	if err.Stack != "" || strings.Contains(err.Message, base) {
		return err
	}
	return &engine.Error{Message: base + ": " + err.Message}
}

func (r *request) cancel() {
	if r.method == rpc.MethodLoad {
		r.x.next() // nobody waits for it any more
	}
	if !r.done && r.abort != nil {
		r.abort("The request was cancelled")
	}
}

// begin loads the extension and answers extension/load. What is Scorel's own of that, and what
// is in the cache, is made ready at once; the extension's code comes after all that were asked
// for before are loaded.
func (x *extension) begin(m *message) {
	fail := func(err error) {
		e := &rpcError{Code: rpc.ErrFailed, Message: err.Error()}
		var own *engine.Error
		if errors.As(err, &own) {
			e.Data, _ = json.Marshal(rpc.ErrorData{Stack: own.Stack})
		}
		x.close()
		x.c.peer.answer(m.ID, nil, e)
	}
	program, err := x.ready()
	if program == nil || err != nil {
		x.await()
	}
	if program == nil && err == nil {
		program, err = x.compile()
	}
	if err != nil {
		fail(err)
		return
	}
	session, _ := x.c.current()
	var s rpc.Session
	_ = json.Unmarshal(session, &s)
	e, err := engine.New(engine.Config{
		Page: x.c.cfg.Page, Slot: x.slot, Watch: x.c.cfg.Watch, Cwd: s.Cwd, Env: x.c.cfg.Env, Root: x.root(),
		Builtin:     node.Builtin,
		Instead:     bundle.Instead,
		Log:         func(level, text string) { x.c.log(x.load.Ext, level, text) },
		Failed:      x.failed,
		Interrupted: x.interrupted,
	})
	if err != nil {
		fail(err)
		return
	}
	x.mu.Lock()
	x.engine = e
	ended := x.ended
	x.mu.Unlock()
	if ended {
		e.Close()
		return
	}
	x.handlers = map[string]goja.Callable{}
	prelude := make(chan error, 1)
	if !e.Post(func() { prelude <- x.runPrelude() }) {
		return
	}
	x.await()
	e.Post(func() {
		r := x.newRequest(m, "loading")
		x.limit(r)
		e.Within(r, func() {
			err := <-prelude // it ran before
			if err == nil {
				err = x.start(r, program)
			}
			if err != nil {
				r.fail(e.Failure(err))
				x.close()
			}
		})
	})
}

func (x *extension) root() string {
	root := x.load.Root
	if root == "" {
		root = filepath.Dir(x.load.Path)
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		return real
	}
	return root
}

// await waits until the extensions before this one are loaded.
func (x *extension) await() {
	if x.before != nil {
		<-x.before
	}
}

func (x *extension) options() bundle.Options {
	return bundle.Options{Entry: x.load.Path, Root: x.load.Root, Files: x.load.Files, Cache: x.load.Cache, Version: x.c.cfg.Version}
}

// ready is compile for an extension whose bundle is in the cache; nil for others.
func (x *extension) ready() (*goja.Program, error) {
	b, err := bundle.Cached(x.options())
	if b == nil || err != nil {
		return nil, err
	}
	return x.programOf(b)
}

// compile bundles the extension and makes a program of it.
func (x *extension) compile() (*goja.Program, error) {
	x.c.bundles.Lock()
	defer x.c.bundles.Unlock()
	// Nothing stops the bundler or the compiler, which compute constants: like an
	// interpreter that hangs they are for the parent to end.
	x.c.cfg.Page.Busy(x.slot, true)
	defer x.c.cfg.Page.Busy(x.slot, false)
	b, err := bundle.Make(x.options())
	if err != nil {
		return nil, err
	}
	return x.programOf(b)
}

func (x *extension) programOf(b *bundle.Bundle) (*goja.Program, error) {
	var err error
	for _, mark := range []string{"]9;", "]99;", "]777;", `"\x07"`} { // of a notification for a terminal, and the bell
		x.writesToTerminal = x.writesToTerminal || bytes.Contains(b.Code, []byte(mark))
	}
	for _, kind := range x.load.Kinds {
		if bytes.Contains(b.Code, []byte(kind)) {
			x.kinds = append(x.kinds, kind)
		}
	}
	if x.load.Check {
		if x.uses, err = bundle.Uses(b, x.root()); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(x.load.Path), err)
		}
	}
	p, err := bundle.Compile(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(x.load.Path), err)
	}
	return p, nil
}

// runPrelude runs what each extension stands on.
func (x *extension) runPrelude() error {
	programs, err := x.c.prelude()
	if err != nil {
		return err
	}
	e := x.engine
	vm := e.VM
	x.view = mirror.NewView(e, x.snapshot)
	x.host = newHost(x)
	if err := vm.Set("__host", x.host.object); err != nil {
		return err
	}
	for _, p := range programs {
		if _, err := e.Run(p); err != nil {
			return err
		}
	}
	return vm.GlobalObject().Delete("__host")
}

// start runs the extension. The load is answered when the prelude's handler has given the
// registration.
func (x *extension) start(r *request, program *goja.Program) error {
	e := x.engine
	vm := e.VM
	if x.onLoad == nil {
		return errors.New("the prelude does not load extensions")
	}
	v, err := e.Run(program)
	if err != nil {
		return err
	}
	main, ok := goja.AssertFunction(v)
	if !ok {
		return errors.New("the bundle is not a function")
	}
	loader := vm.NewObject()
	_ = loader.Set("module", func(c goja.FunctionCall) goja.Value { return e.Module(c.Argument(0).String()) })
	_ = loader.Set("loaded", func(c goja.FunctionCall) goja.Value {
		v, err := e.Call(x.onLoad, goja.Undefined(), c.Argument(0))
		if err != nil {
			e.Throw(err)
		}
		x.settle(v, func(v goja.Value) {
			data, err := e.Stringify(v)
			if err != nil {
				x.loadFailed(r, e.Failure(err))
				return
			}
			r.answer(x.withKinds(data), nil)
		}, func(err *engine.Error) { x.loadFailed(r, err) })
		return goja.Undefined()
	})
	v, err = e.Call(main, goja.Undefined(), loader)
	if err != nil {
		return err
	}
	x.settle(v, func(goja.Value) {}, func(err *engine.Error) { x.loadFailed(r, err) })
	return nil
}

// withKinds returns a registration with the kinds of entries that the extension knows.
func (x *extension) withKinds(registration []byte) []byte {
	if len(x.kinds) == 0 || len(registration) < 2 || registration[0] != '{' {
		return registration
	}
	list, err := json.Marshal(x.kinds)
	if err != nil {
		return registration
	}
	out := slices.Concat([]byte(`{"entryTypes":`), list)
	if registration[1] != '}' {
		out = append(out, ',')
	}
	return append(out, registration[1:]...)
}

func (x *extension) loadFailed(r *request, err *engine.Error) {
	if r.done { // it had begun already, and goes on
		x.failed("load", err)
		return
	}
	r.fail(err)
	x.close()
}

// settle calls one of the two when a value, which may be a promise, is there.
func (x *extension) settle(v goja.Value, ok func(goja.Value), failed func(*engine.Error)) {
	e := x.engine
	o, isObject := v.(*goja.Object)
	if isObject {
		if p, is := o.Export().(*goja.Promise); is {
			switch p.State() {
			case goja.PromiseStateFulfilled:
				ok(p.Result())
				return
			case goja.PromiseStateRejected:
				// Handled: nobody else is to report it.
				then, _ := goja.AssertFunction(o.Get("catch"))
				_, _ = e.Call(then, o, e.VM.ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() }))
				failed(e.FailureOf(p.Result()))
				return
			}
		}
		if then, is := goja.AssertFunction(o.Get("then")); is {
			onOK := func(c goja.FunctionCall) goja.Value { ok(c.Argument(0)); return goja.Undefined() }
			onFailed := func(c goja.FunctionCall) goja.Value {
				failed(e.FailureOf(c.Argument(0)))
				return goja.Undefined()
			}
			if _, err := e.Call(then, o, e.VM.ToValue(onOK), e.VM.ToValue(onFailed)); err != nil {
				failed(e.Failure(err))
			}
			return
		}
	}
	ok(v)
}

// snapshot is the conversation as the code that runs should see it: as of its request.
func (x *extension) snapshot() *mirror.Snapshot {
	if r, ok := x.engine.Context().(*request); ok && r.snap != nil && !r.done {
		return r.snap
	}
	return x.c.store.Now()
}

// newRequest makes a request that can be cancelled from now on.
func (x *extension) newRequest(m *message, what string) *request {
	r := &request{x: x, id: m.ID, method: m.Method, what: what, snap: x.c.store.Now()}
	x.c.mu.Lock()
	x.c.requests[string(m.ID)] = r
	x.c.mu.Unlock()
	return r
}

// limit gives the request a clock.
func (x *extension) limit(r *request) {
	r.clock = newClock(x.c.cfg.Handler, func() {
		x.engine.Post(func() {
			if r.done {
				return
			}
			if r.abort != nil {
				r.abort("The time is over")
			}
			r.fail(&engine.Error{Message: fmt.Sprintf("%s gave no answer within %d s of its own time", r.what, int(x.c.cfg.Handler.Seconds()))})
			if endsIt(r) {
				x.close()
			}
		})
	})
}

// endsIt reports whether an extension is of no use when a request fails.
func endsIt(r *request) bool { return r.method == rpc.MethodLoad || r.method == rpc.MethodUnload }

// running returns the engine of an extension that has one.
func (x *extension) running() *engine.Engine {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.engine
}

var errLoading = errors.New("it is still being loaded")

// request has the extension answer a call of the host.
func (x *extension) request(m *message) {
	e := x.running()
	r := x.newRequest(m, "")
	err := errLoading
	if e != nil {
		err = e.Offer(func() { x.run(m, r) })
	}
	if err != nil {
		x.c.forget(r)
		x.c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrGone, Message: fmt.Sprintf("%s: %v", x.load.Ext, err)})
	}
}

// run calls the prelude's handler.
func (x *extension) run(m *message, r *request) {
	e := x.engine
	var name struct {
		Hook    string `json:"hook"`
		Tool    string `json:"tool"`
		Command string `json:"command"`
		Place   string `json:"place"`
		Message struct{ CustomType string }
		Entry   struct{ CustomType string }
	}
	_ = json.Unmarshal(m.Params, &name)
	what := "the handler of " + name.Hook
	limited := m.Method == rpc.MethodHook && !strings.HasPrefix(name.Hook, "session_before_") && name.Hook != "session_start" && name.Hook != "user_bash"
	switch m.Method {
	case rpc.MethodTool:
		what = "the tool " + name.Tool
	case rpc.MethodCommand:
		what = "the command " + name.Command
	case rpc.MethodComplete:
		what, limited = "the completion of "+name.Command, true
	case rpc.MethodRender:
		what, limited = "the renderer of "+cmp.Or(name.Tool, name.Message.CustomType, name.Entry.CustomType, name.Place), true
	case rpc.MethodUnload:
		what, limited = "the end of the extension", true
	}
	r.what = what
	handler := x.handlers[m.Method]
	if handler == nil {
		if m.Method == rpc.MethodUnload {
			r.answer(nil, nil)
			x.close()
			return
		}
		r.answer(nil, &rpcError{Code: rpc.ErrMethod, Message: fmt.Sprintf("the prelude does not handle %s", m.Method)})
		return
	}
	if limited {
		x.limit(r)
	}
	finish := func() {
		if m.Method == rpc.MethodUnload {
			x.close()
		}
	}
	params, err := e.Parse(m.Params)
	if err != nil {
		r.fail(e.Failure(err))
		finish()
		return
	}
	e.Within(r, func() {
		v, err := e.Call(handler, goja.Undefined(), params, x.host.signal(r))
		if err != nil {
			r.fail(e.Failure(err))
			finish()
			return
		}
		x.settle(v, func(v goja.Value) {
			data, err := e.Stringify(v)
			if err != nil {
				r.fail(e.Failure(err))
			} else {
				r.answer(data, nil)
			}
			finish()
		}, func(err *engine.Error) {
			r.fail(err)
			finish()
		})
	})
}

// notify tells the extension of an event. What comes faster than it works is dropped and
// said once.
func (x *extension) notify(method string, params json.RawMessage) {
	e := x.running()
	if e == nil {
		return
	}
	err := e.Offer(func() {
		if handler := x.handlers[method]; handler != nil {
			n := newNotice(method, params)
			e.Within(n, func() { x.tell(handler, params, n) })
		}
	})
	if errors.Is(err, engine.ErrFull) {
		x.c.log(x.load.Ext, "warning", "it does not keep up with the events of the session; some were left out")
	}
}

// notice is the context of code that runs because of an event, which nobody waits for.
type notice struct{ what string }

func newNotice(method string, params json.RawMessage) *notice {
	var p struct {
		Type    string `json:"type"`
		Channel string `json:"channel"`
	}
	_ = json.Unmarshal(params, &p)
	if method == rpc.NoteInput {
		method = "a key"
	}
	return &notice{cmp.Or(p.Type, p.Channel, method)}
}

// tell calls the prelude's handler of a notification.
func (x *extension) tell(handler goja.Callable, params json.RawMessage, n *notice) {
	e := x.engine
	v, err := e.Parse(params)
	if err == nil {
		v, err = e.Call(handler, goja.Undefined(), v)
	}
	switch {
	case engine.IsStop(err): // interrupted was told
	case err != nil:
		x.failed(n.what, e.Failure(err))
	default:
		x.settle(v, func(goja.Value) {}, func(err *engine.Error) { x.failed(n.what, err) })
	}
}

// failed reports an error that no request answers for.
func (x *extension) failed(what string, err *engine.Error) {
	if err.Message == engine.ErrClosed.Error() {
		return
	}
	params, merr := json.Marshal(struct {
		Ext   string `json:"ext"`
		Event string `json:"event"`
		Error string `json:"error"`
		Stack string `json:"stack,omitempty"`
	}{x.load.Ext, what, err.Message, err.Stack})
	if merr == nil {
		x.c.peer.notify(rpc.NoteHandlerFailed, params, true)
	}
}

// interrupted answers what was interrupted: its code does not go on. Where it is not
// known whose code that was, it may have been that of any request which waits for nothing
// outside, and an answer that never comes would hold up the session.
func (x *extension) interrupted(context any, err *engine.Error) {
	hit := []*request{}
	switch c := context.(type) {
	case *request:
		if c.done { // something that it has started, and nobody waits for
			x.failed(c.what, err)
			return
		}
		if c.method == rpc.MethodRender { // who asked has shown it without, long ago
			x.failed(c.what, err)
		}
		hit = append(hit, c)
	case *notice:
		x.failed(c.what, err)
	default:
		x.failed("interrupted", err)
		for _, r := range x.c.requestsOf(x) {
			if r.waits == 0 {
				hit = append(hit, r)
			}
		}
	}
	for _, r := range hit {
		r.fail(err)
		if endsIt(r) {
			x.close()
		}
	}
}

// close ends the extension. Requests that are open are answered.
func (x *extension) close() {
	x.c.remove(x)
	x.mu.Lock()
	e := x.engine
	x.ended = true
	x.mu.Unlock()
	x.next()
	if e == nil {
		return
	}
	e.Close()
	go func() { // ends with the loop, which an interrupt ends
		<-e.Done()
		for _, r := range x.c.requestsOf(x) {
			r.answer(nil, &rpcError{Code: rpc.ErrGone, Message: fmt.Sprintf("%s: %v", x.load.Ext, engine.ErrClosed)})
		}
	}()
}
