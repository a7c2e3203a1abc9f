package js

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/js/mirror"
	"scorel/internal/extension/js/pattern"
	"scorel/internal/extension/rpc"
)

// Script is a part of the prelude.
type Script struct {
	Name   string        // shown in errors
	Source func() []byte // is called when it is compiled
	Later  bool          // it is run when another part asks for it by its name, in each runtime
}

// Config says how a child is run.
type Config struct {
	In      io.Reader
	Out     io.Writer
	Prelude []Script
	Page    *rpc.Page
	Watch   *engine.Watch
	Handler time.Duration // a handler's own time; 0: handlerLimit
	MaxCall int           // bytes of a call to the host; 0: wire.MaxMessage
	Env     []string      // of process.env and of children; already scrubbed
	Version string        // of what is linked in: part of the name of a cached bundle
	Began   func()        // is called once, when extensions are asked for more than to be loaded; may be nil
}

// maxExtensions bounds the extensions of one child, and endGrace how long its end waits
// for them to end their own processes.
const (
	maxExtensions = 100
	endGrace      = time.Second
)

// child is the process.
type child struct {
	cfg     Config
	peer    *peer
	store   *mirror.Store
	prelude func() ([]*goja.Program, error)
	parts   map[string]func() (*goja.Program, error) // of the prelude, those for later
	models  models
	bundles sync.Mutex // one bundle is made at a time: it takes memory

	mu       sync.Mutex
	exts     map[string]*extension
	loaded   int             // how many have begun: the slot of the next
	last     chan struct{}   // closed when the one that began last is loaded, or is not
	session  json.RawMessage // of initialize
	builtins json.RawMessage // of initialize
	state    json.RawMessage
	requests map[string]*request // those that run, by their id
}

// Serve runs a child until its input ends or the host shuts it down.
func Serve(cfg Config) error {
	if cfg.Handler == 0 {
		cfg.Handler = handlerLimit
	}
	if cfg.MaxCall == 0 {
		cfg.MaxCall = rpc.MaxMessage
	}
	c := &child{cfg: cfg, peer: newPeer(cfg.Out), store: mirror.NewStore(), exts: map[string]*extension{}, requests: map[string]*request{},
		parts: map[string]func() (*goja.Program, error){}}
	c.prelude = sync.OnceValues(c.compilePrelude)
	for _, s := range cfg.Prelude {
		if s.Later {
			c.parts[s.Name] = sync.OnceValues(func() (*goja.Program, error) { return compileScript(s) })
		}
	}
	go func() { _, _ = c.prelude() }() // ends with the compilation, for which the first extension waits
	go engine.Warm()                   // ends with the compilation, too
	defer c.end()
	r := bufio.NewReaderSize(cfg.In, 64<<10)
	for {
		line, err := readLine(r)
		switch {
		case errors.Is(err, errTooLong):
			c.log("", "warning", err.Error())
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the host: %w", err)
		case len(line) == 0:
			continue
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			c.log("", "warning", fmt.Sprintf("a line of the host is not JSON and was skipped: %v", err))
			continue
		}
		if m.Method == rpc.MethodShutdown {
			c.peer.answer(m.ID, nil, nil)
			c.peer.flush()
			return nil
		}
		c.take(&m)
	}
}

func compileScript(s Script) (*goja.Program, error) {
	return pattern.Compile("scorel:"+s.Name, s.Source())
}

// compilePrelude compiles what runs in each extension.
func (c *child) compilePrelude() ([]*goja.Program, error) {
	var out []*goja.Program
	for _, s := range c.cfg.Prelude {
		if s.Later {
			continue
		}
		p, err := compileScript(s)
		if err != nil {
			return nil, fmt.Errorf("compile the prelude: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// end ends all extensions, and with them their children.
func (c *child) end() {
	c.mu.Lock()
	all := make([]*extension, 0, len(c.exts))
	for _, x := range c.exts {
		all = append(all, x)
	}
	c.mu.Unlock()
	for _, x := range all {
		x.close()
	}
	limit := time.After(endGrace)
	for _, x := range all {
		if e := x.running(); e != nil {
			select {
			case <-e.Done():
			case <-limit:
				return
			}
		}
	}
}

// log sends a line for the diagnostics.
func (c *child) log(ext, level, text string) {
	params, err := json.Marshal(struct {
		Ext     string `json:"ext,omitempty"`
		Level   string `json:"level"`
		Message string `json:"message"`
	}{ext, level, text})
	if err == nil {
		c.peer.notify(rpc.NoteLog, params, true)
	}
}

// take carries out one message of the host. It never blocks on an extension.
func (c *child) take(m *message) {
	switch {
	case m.Method == "":
		c.peer.answered(m)
		return
	case m.Method == rpc.MethodInitialize:
		c.initialize(m)
		return
	case m.Method == rpc.MethodLoad:
		c.load(m)
		return
	case m.Method == rpc.NoteEntries:
		var n rpc.Entries
		err := json.Unmarshal(m.Params, &n)
		if err == nil {
			err = c.store.Apply(n.Keep, n.Add)
		}
		if err != nil {
			c.log("", "error", "the conversation of the host cannot be read: "+err.Error())
		}
		return
	case m.Method == rpc.NoteState:
		c.mu.Lock()
		c.state = m.Params
		c.mu.Unlock()
		return
	case m.Method == rpc.NoteCancel:
		var n rpc.Cancel
		if json.Unmarshal(m.Params, &n) == nil {
			c.cancel(n.ID)
		}
		return
	}
	var to struct {
		Ext string `json:"ext"`
	}
	_ = json.Unmarshal(m.Params, &to)
	c.mu.Lock()
	x := c.exts[to.Ext]
	c.mu.Unlock()
	switch {
	case m.Method == rpc.NoteInput:
		if x != nil {
			x.notify(m.Method, m.Params)
		}
	case m.Method == rpc.NoteEvent || m.Method == rpc.NoteBus:
		if x != nil {
			x.notify(m.Method, m.Params)
			return
		}
		if to.Ext == "" {
			c.broadcast(m)
		}
	case len(m.ID) == 0:
	case !known(m.Method):
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrMethod, Message: fmt.Sprintf("there is no method %q", m.Method)})
	case x == nil:
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrGone, Message: fmt.Sprintf("the extension %q is not loaded", to.Ext)})
	default:
		c.models.forget()
		if c.cfg.Began != nil {
			c.cfg.Began()
			c.cfg.Began = nil
		}
		x.request(m)
	}
}

func known(method string) bool {
	switch method {
	case rpc.MethodHook, rpc.MethodTool, rpc.MethodCommand, rpc.MethodComplete, rpc.MethodRender, rpc.MethodUnload:
		return true
	}
	return false
}

func (c *child) broadcast(m *message) {
	c.mu.Lock()
	all := make([]*extension, 0, len(c.exts))
	for _, x := range c.exts {
		all = append(all, x)
	}
	c.mu.Unlock()
	for _, x := range all {
		x.notify(m.Method, m.Params)
	}
}

func (c *child) initialize(m *message) {
	var init struct {
		Protocol int             `json:"protocol"`
		Session  json.RawMessage `json:"session"`
		State    json.RawMessage `json:"state"`
		Builtins json.RawMessage `json:"builtins"`
	}
	if err := json.Unmarshal(m.Params, &init); err != nil {
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrParams, Message: "initialize cannot be read: " + err.Error()})
		return
	}
	if init.Protocol != rpc.Version {
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrParams, Message: fmt.Sprintf("the host speaks version %d of the protocol of extensions, this is version %d", init.Protocol, rpc.Version)})
		return
	}
	c.mu.Lock()
	c.session, c.state, c.builtins = init.Session, init.State, init.Builtins
	c.mu.Unlock()
	result, _ := json.Marshal(rpc.Initialized{Protocol: rpc.Version})
	c.peer.answer(m.ID, result, nil)
}

func (c *child) load(m *message) {
	var l rpc.Load
	if err := json.Unmarshal(m.Params, &l); err != nil || l.Ext == "" || l.Path == "" {
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrParams, Message: "extension/load names no extension"})
		return
	}
	c.mu.Lock()
	slot := c.loaded
	c.loaded++
	switch {
	case c.session == nil:
		c.mu.Unlock()
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrRequest, Message: "initialize comes before extension/load"})
		return
	case c.exts[l.Ext] != nil:
		c.mu.Unlock()
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrParams, Message: fmt.Sprintf("the extension %q is loaded already", l.Ext)})
		return
	case len(c.exts) >= maxExtensions:
		c.mu.Unlock()
		c.peer.answer(m.ID, nil, &rpcError{Code: rpc.ErrParams, Message: fmt.Sprintf("there are %d extensions already", maxExtensions)})
		return
	}
	x := &extension{c: c, load: l, slot: slot, before: c.last, loaded: make(chan struct{})}
	c.last = x.loaded
	c.exts[l.Ext] = x
	c.mu.Unlock()
	go x.begin(m) // ends when it has answered
}

func (c *child) remove(x *extension) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exts[x.load.Ext] == x {
		delete(c.exts, x.load.Ext)
	}
}

func (c *child) cancel(id json.RawMessage) {
	c.mu.Lock()
	r := c.requests[string(id)]
	c.mu.Unlock()
	if r == nil {
		return
	}
	if e := r.x.running(); e != nil {
		e.Post(r.cancel)
	}
}

// requestsOf returns the requests of an extension that are not answered yet.
func (c *child) requestsOf(x *extension) []*request {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*request
	for _, r := range c.requests {
		if r.x == x {
			all = append(all, r)
		}
	}
	return all
}

func (c *child) forget(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, string(r.id))
}

// builtinTools returns the built-in tools that an extension may replace.
func (c *child) builtinTools() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.builtins) == 0 {
		return json.RawMessage("[]")
	}
	return c.builtins
}

// current returns what the host said last.
func (c *child) current() (session, state json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session, c.state
}
