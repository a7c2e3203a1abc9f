package node

import (
	"embed"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
	"scorel/internal/extension/js/pattern"
)

//go:embed *.js
var sources embed.FS

// programs are the scripts that have been asked for, compiled once a process.
var programs struct {
	sync.Mutex
	m map[string]*goja.Program
}

// Builtin finds a module by its name without "node:".
func Builtin(name string) (engine.Builtin, bool) {
	file, native, ok := module(name)
	if !ok {
		return engine.Builtin{}, false
	}
	return engine.Builtin{Program: compiled(file), Native: native}, true
}

func compiled(file string) *goja.Program {
	programs.Lock()
	defer programs.Unlock()
	if p := programs.m[file]; p != nil {
		return p
	}
	src, err := sources.ReadFile(file + ".js")
	if err != nil {
		panic(err) // every name of module has its file; a test holds it
	}
	p, err := pattern.Compile("scorel:"+file, src)
	if err != nil {
		panic(err) // a script of our own
	}
	if programs.m == nil {
		programs.m = map[string]*goja.Program{}
	}
	programs.m[file] = p
	return p
}

// module returns the script of a module, and what it is built on.
func module(name string) (file string, native func(*engine.Engine) goja.Value, ok bool) {
	switch name {
	case "path", "events", "util", "timers", "assert", "stream", "querystring", "string_decoder", "readline", "tty", "buffer", "http", "https":
		return name, nil, true
	case "assert/strict", "path/posix", "fs/promises", "stream/promises", "timers/promises", "util/types":
		return "part", part(name), true
	case "os":
		return name, osNative, true
	case "process":
		return name, processNative, true
	case "crypto":
		return name, cryptoNative, true
	case "url":
		return name, urlNative, true
	case "fs":
		return name, fsNative, true
	case "child_process":
		return name, childNative, true
	}
	return "", nil, false
}

// part is a module that is a member of another.
func part(name string) func(*engine.Engine) goja.Value {
	return func(e *engine.Engine) goja.Value {
		whole, member, _ := strings.Cut(name, "/")
		return e.Module(whole).ToObject(e.VM).Get(member)
	}
}
