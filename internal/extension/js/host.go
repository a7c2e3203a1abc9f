package js

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/bundle"
	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/js/mirror"
	"scorel/internal/extension/rpc"
	"scorel/internal/extension/shape"
	"scorel/internal/text/frontmatter"
)

// host is the object __host of one runtime.
type host struct {
	x      *extension
	e      *engine.Engine
	object *goja.Object

	newController *goja.Object
	newDOMError   *goja.Object

	// The newest values and the bytes that they were made of.
	state, session, config cachedValue
	drawing                goja.Value // the object cells, once it is used
}

type cachedValue struct {
	raw   string
	value goja.Value
}

func newHost(x *extension) *host {
	e := x.engine
	vm := e.VM
	h := &host{x: x, e: e, object: vm.NewObject()}
	h.newController = vm.Get("AbortController").ToObject(vm)
	h.newDOMError = vm.Get("DOMException").ToObject(vm)
	set := func(name string, f func(goja.FunctionCall) goja.Value) { _ = h.object.Set(name, f) }
	set("call", h.call)
	set("models", h.models)
	set("notify", h.notify)
	set("handle", func(c goja.FunctionCall) goja.Value {
		x.handlers[c.Argument(0).String()] = h.function(c.Argument(1), "handle")
		return goja.Undefined()
	})
	set("onLoad", func(c goja.FunctionCall) goja.Value {
		x.onLoad = h.function(c.Argument(0), "onLoad")
		return goja.Undefined()
	})
	set("define", func(c goja.FunctionCall) goja.Value {
		name, exports := c.Argument(0).String(), c.Argument(1)
		if load, ok := goja.AssertFunction(exports); ok {
			e.DefineLater(name, load)
		} else {
			e.Define(name, exports)
		}
		return goja.Undefined()
	})
	set("entries", func(c goja.FunctionCall) goja.Value { return x.view.Entries(h.form(c.Argument(0))) })
	set("stack", func(c goja.FunctionCall) goja.Value { return vm.ToValue(e.FailureOf(c.Argument(0)).Stack) })
	set("frontmatter", func(c goja.FunctionCall) goja.Value { return h.parse(fields(c.Argument(0).String())) })
	set("list", h.list)
	set("unlist", h.unlist)
	set("message", func(c goja.FunctionCall) goja.Value {
		data, err := e.Stringify(c.Argument(0))
		if err == nil && h.form(c.Argument(1)) != "" {
			data, err = shape.FromPi(data)
		}
		return h.parse(data, err)
	})
	set("toForm", func(c goja.FunctionCall) goja.Value {
		data, err := e.Stringify(c.Argument(0))
		if err == nil && h.form(c.Argument(1)) == mirror.Pi {
			data, err = shape.ToPi(data, c.Argument(2).ToInteger())
		}
		return h.parse(data, err)
	})
	_ = h.object.Set("inspect", e.Internal().Get("inspect"))
	_ = h.object.Set("format", e.Internal().Get("format"))
	_ = h.object.Set("ext", x.load.Ext)
	_ = h.object.Set("reason", x.load.Reason)
	_ = h.object.Set("scope", x.load.Scope)
	_ = h.object.Set("path", x.load.Path)
	_ = h.object.Set("version", x.c.cfg.Version)
	_ = h.object.Set("uses", h.uses())
	_ = h.object.Set("writesToTerminal", x.writesToTerminal)
	get := func(name string, f func() goja.Value) {
		_ = h.object.DefineAccessorProperty(name, vm.ToValue(func(goja.FunctionCall) goja.Value { return f() }), nil, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	get("state", func() goja.Value {
		_, state := x.c.current()
		return h.cached(&h.state, state)
	})
	get("session", func() goja.Value {
		session, _ := x.c.current()
		return h.cached(&h.session, session)
	})
	get("cells", func() goja.Value { return h.made(&h.drawing, h.cells) })
	set("part", func(c goja.FunctionCall) goja.Value { return h.part(c.Argument(0).String()) })
	get("builtins", func() goja.Value { return h.parse(x.c.builtinTools(), nil) })
	get("config", func() goja.Value { return h.cached(&h.config, x.load.Config) })
	return h
}

// uses returns what the files of an extension that is checked use of the API and of the
// modules; absent says of those of Node that they are not there.
func (h *host) uses() goja.Value {
	type use struct {
		bundle.Use
		Node   bool `json:"node"`
		Absent bool `json:"absent"`
	}
	list := []use{}
	for _, u := range h.x.uses {
		n := slices.Contains(bundle.NodeModules(), u.Of)
		list = append(list, use{u, n, n && h.absent(u)})
	}
	data, err := json.Marshal(list)
	return h.parse(data, err)
}

// absent reports whether a module of Node lacks something.
func (h *host) absent(u bundle.Use) (absent bool) {
	defer func() {
		if recover() != nil { // its getter refuses it
			absent = true
		}
	}()
	member := h.e.Module(u.Of).ToObject(h.e.VM).Get(u.Name)
	switch o := member.(type) {
	case nil:
		return u.Name != "default"
	case *goja.Object:
		mark := o.Get("absent")
		return mark != nil && mark.ToBoolean()
	}
	return goja.IsUndefined(member)
}

// fields returns the fields of a Markdown file and its body, as JSON.
func fields(text string) ([]byte, error) {
	d, err := frontmatter.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	found := make(map[string]json.RawMessage, len(d.Fields))
	for _, f := range d.Fields {
		if found[f.Name], err = f.Value.JSON(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(struct {
		Fields map[string]json.RawMessage `json:"frontmatter"`
		Body   string                     `json:"body"`
		Has    bool                       `json:"has"`
	}{found, d.Body, len(found) > 0})
}

// made returns a value that is made when it is first used.
func (h *host) made(kept *goja.Value, make func() goja.Value) goja.Value {
	if *kept == nil {
		*kept = make()
	}
	return *kept
}

// part returns what a part of the prelude evaluates to.
func (h *host) part(name string) goja.Value {
	compile := h.x.c.parts[name]
	if compile == nil {
		h.e.Throw(fmt.Errorf("the prelude has no part %q", name))
	}
	p, err := compile()
	if err != nil {
		h.e.Throw(err)
	}
	v, err := h.e.Run(p)
	if err != nil {
		h.e.Throw(err)
	}
	return v
}

// cached returns the value of JSON, the same one while the bytes are the same.
func (h *host) cached(c *cachedValue, raw json.RawMessage) goja.Value {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if c.value == nil || c.raw != string(raw) {
		*c = cachedValue{string(raw), h.parse(raw, nil)}
	}
	return c.value
}

func (h *host) parse(data []byte, err error) goja.Value {
	if err == nil && data == nil {
		return goja.Undefined()
	}
	var v goja.Value
	if err == nil {
		v, err = h.e.Parse(data)
	}
	if err != nil {
		h.e.Throw(err)
	}
	return v
}

func (h *host) function(v goja.Value, of string) goja.Callable {
	f, ok := goja.AssertFunction(v)
	if !ok {
		h.e.Throw(fmt.Errorf("__host.%s needs a function", of))
	}
	return f
}

func (h *host) form(v goja.Value) mirror.Form {
	name := ""
	if !goja.IsUndefined(v) {
		name = v.String()
	}
	f, err := mirror.ParseForm(name)
	if err != nil {
		h.e.Throw(err)
	}
	return f
}

// params makes the parameters of a call: an object, with the extension's id.
func (h *host) params(v goja.Value) []byte {
	data, err := h.e.Stringify(v)
	if err != nil {
		h.e.Throw(err)
	}
	if len(data) == 0 || string(data) == "null" {
		data = []byte("{}")
	}
	if data[0] != '{' {
		h.e.Throw(errors.New("the parameters of a call are an object"))
	}
	id, _ := json.Marshal(h.x.load.Ext)
	out := append([]byte(`{"ext":`), id...)
	if len(data) > 2 {
		out = append(out, ',')
	}
	out = append(out, data[1:]...)
	if most := h.x.c.cfg.MaxCall; len(out) > most-1024 {
		h.e.Throw(fmt.Errorf("the call is larger than %d MiB", most>>20))
	}
	return out
}

// waits reports whether a handler's clock stands still during a call: it waits for a
// person, a process or a model.
func waits(method string) bool {
	switch method {
	case rpc.CallDialog, rpc.CallExec, rpc.CallComplete, rpc.CallBuiltin:
		return true
	}
	return false
}

func (h *host) call(c goja.FunctionCall) goja.Value {
	method, params := c.Argument(0).String(), h.params(c.Argument(1))
	make := h.e.Promise
	if waits(method) {
		make = h.e.Async
	}
	var id int64
	forget := func() {}
	promise := make(func(settle func(func() (any, error))) {
		id = h.x.c.peer.call(method, params, func(result json.RawMessage, rerr *rpcError) {
			settle(func() (any, error) {
				forget()
				if rerr != nil {
					return nil, callError{rerr}
				}
				if len(result) == 0 {
					return goja.Null(), nil
				}
				return h.e.Parse(result)
			})
		})
	})
	if signal, ok := c.Argument(2).(*goja.Object); ok && id != 0 {
		forget = h.onAbort(signal, func() {
			h.x.c.peer.notify(rpc.NoteCancel, fmt.Appendf(nil, `{"id":%d}`, id), false)
		})
	}
	return promise
}

// callError is what the host answered instead of a result.
type callError struct{ *rpcError }

// Fields implements [engine.Coded].
func (e callError) Fields() map[string]any { return map[string]any{"code": e.Code} }

// onAbort calls f once when an AbortSignal is or becomes aborted.
func (h *host) onAbort(signal *goja.Object, f func()) (forget func()) {
	vm := h.e.VM
	if signal.Get("aborted") == nil {
		return func() {}
	}
	if signal.Get("aborted").ToBoolean() {
		f()
		return func() {}
	}
	add, ok := goja.AssertFunction(signal.Get("addEventListener"))
	if !ok {
		return func() {}
	}
	done := false
	listener := vm.ToValue(func(goja.FunctionCall) goja.Value {
		if !done {
			done = true
			f()
		}
		return goja.Undefined()
	})
	if _, err := h.e.Call(add, signal, vm.ToValue("abort"), listener); err != nil {
		return func() {}
	}
	return func() {
		done = true
		if remove, ok := goja.AssertFunction(signal.Get("removeEventListener")); ok {
			_, _ = h.e.Call(remove, signal, vm.ToValue("abort"), listener)
		}
	}
}

func (h *host) notify(c goja.FunctionCall) goja.Value {
	method := c.Argument(0).String()
	h.x.c.peer.notify(method, h.params(c.Argument(1)), method == rpc.NoteLog)
	return goja.Undefined()
}

// signal makes the AbortSignal of a request.
func (h *host) signal(r *request) goja.Value {
	vm := h.e.VM
	controller, err := vm.New(h.newController)
	if err != nil {
		return goja.Undefined()
	}
	r.abort = func(reason string) {
		abort, ok := goja.AssertFunction(controller.Get("abort"))
		if !ok {
			return
		}
		why, err := vm.New(h.newDOMError, vm.ToValue(reason), vm.ToValue("AbortError"))
		if err != nil {
			return
		}
		h.e.Within(r, func() {
			if _, err := h.e.Call(abort, controller, why); err != nil {
				h.x.failed("abort", h.e.Failure(err))
			}
		})
	}
	return controller.Get("signal")
}

func (h *host) list(c goja.FunctionCall) goja.Value {
	raw, err := h.e.Stringify(c.Argument(0))
	var data rpc.ContextData
	if err == nil {
		if err = json.Unmarshal(raw, &data); err != nil {
			err = fmt.Errorf("it is not a list of messages: %w", err)
		}
	}
	if err != nil {
		h.e.Throw(err)
	}
	array, listed, err := h.x.view.List(data, h.form(c.Argument(1)))
	if err != nil {
		h.e.Throw(err)
	}
	if r, ok := h.e.Context().(*request); ok {
		r.listed = listed
	}
	return array
}

func (h *host) unlist(c goja.FunctionCall) goja.Value {
	var listed *mirror.Listed
	if r, ok := h.e.Context().(*request); ok {
		listed = r.listed
	}
	data, err := h.x.view.Unlist(c.Argument(0), h.form(c.Argument(1)), listed)
	if err != nil {
		h.e.Throw(err)
	}
	if data == nil {
		return goja.Undefined()
	}
	raw, err := json.Marshal(data)
	return h.parse(raw, err)
}
