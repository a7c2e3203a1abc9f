package engine

import (
	"cmp"
	"fmt"

	"github.com/dop251/goja"
)

// modules are the built-in modules of one runtime.
type modules struct {
	engine *Engine
	loaded map[string]goja.Value
	later  map[string]goja.Callable
}

// Builtin is a module that Scorel brings along: a script that evaluates to a function of
// (module, internal, native), which fills module.exports, and what native is.
type Builtin struct {
	Program *goja.Program
	Native  func(*Engine) goja.Value
}

// Define makes a built-in module of this runtime, in place of one of that name.
func (e *Engine) Define(name string, exports goja.Value) { e.modules.loaded[name] = exports }

// DefineLater is Define for a module whose exports load gives when it is first asked for.
func (e *Engine) DefineLater(name string, load goja.Callable) { e.modules.later[name] = load }

// Module returns the exports of a built-in module, or throws.
func (e *Engine) Module(name string) goja.Value {
	if v, ok := e.modules.loaded[name]; ok {
		return v
	}
	if load, ok := e.modules.later[name]; ok {
		v, err := e.Call(load, goja.Undefined())
		if err != nil {
			panic(e.NewError(err))
		}
		e.modules.loaded[name] = v
		return v
	}
	if e.cfg.Builtin != nil {
		if b, ok := e.cfg.Builtin(name); ok {
			return e.runModule(name, b)
		}
	}
	use := "docs/extensions/javascript.md lists what is there"
	if e.cfg.Instead != nil {
		use = cmp.Or(e.cfg.Instead(name), use)
	}
	panic(e.NewError(fmt.Errorf("there is no module %q in Scorel; %s", name, use)))
}

func (e *Engine) loadLibrary(name string) goja.Value {
	if v, ok := e.modules.loaded["scorel:"+name]; ok {
		return v
	}
	if name != "fetch" {
		panic(e.NewError(fmt.Errorf("there is no library %q", name)))
	}
	return e.runModule("scorel:"+name, Builtin{Program: fetchProgram()})
}

// runModule runs a module's script. A module that is asked for while it loads gives what
// it has exported so far.
func (e *Engine) runModule(name string, b Builtin) goja.Value {
	v, err := e.Run(b.Program)
	if err != nil {
		panic(e.NewError(err))
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		panic(e.NewError(fmt.Errorf("the module %s is not a function", name)))
	}
	module := e.VM.NewObject()
	exports := e.VM.NewObject()
	_ = module.Set("exports", exports)
	e.modules.loaded[name] = exports
	native := goja.Undefined()
	if b.Native != nil {
		native = b.Native(e)
	}
	if _, err := e.Call(f, goja.Undefined(), module, e.lib.internal, native); err != nil {
		delete(e.modules.loaded, name)
		panic(e.NewError(err))
	}
	e.modules.loaded[name] = module.Get("exports")
	return e.modules.loaded[name]
}
