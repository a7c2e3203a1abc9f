// Package enginetest runs scripts in an engine for tests.
package enginetest

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/dop251/goja"

	"scorel/internal/extension/js/engine"
)

// Run is what became of a script.
type Run struct {
	Engine *engine.Engine
	mu     sync.Mutex
	Logs   []string // level: text
	Failed []string // what: message
}

// Lines returns the lines of the console so far.
func (r *Run) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.Logs...)
}

// Failures returns what nobody answered for.
func (r *Run) Failures() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.Failed...)
}

// New makes an engine in a folder, which the test's end closes.
func New(t testing.TB, cwd string, builtin func(string) (engine.Builtin, bool)) *Run {
	t.Helper()
	r := &Run{}
	e, err := engine.New(engine.Config{
		Cwd: cwd, Env: os.Environ(), Builtin: builtin,
		Log: func(level, text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Logs = append(r.Logs, level+": "+text)
		},
		Failed: func(what string, err *engine.Error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Failed = append(r.Failed, what+": "+err.Message)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Engine = e
	t.Cleanup(func() {
		e.Close()
		select {
		case <-e.Done():
		case <-time.After(30 * time.Second):
			t.Error("the engine did not end")
		}
	})
	return r
}

// Do runs the body of an async function, with require, and returns what it returns as
// JSON, or its error.
func (r *Run) Do(t testing.TB, body string) (string, *engine.Error) {
	t.Helper()
	type outcome struct {
		text string
		err  *engine.Error
	}
	done := make(chan outcome, 1)
	e := r.Engine
	e.Post(func() {
		p, err := goja.Compile("test.js", "(async (require) => {"+body+"\n})", true)
		if err != nil {
			done <- outcome{err: &engine.Error{Message: err.Error()}}
			return
		}
		v, err := e.Run(p)
		if err != nil {
			done <- outcome{err: e.Failure(err)}
			return
		}
		f, _ := goja.AssertFunction(v)
		v, err = e.Call(f, goja.Undefined(), e.VM.ToValue(func(c goja.FunctionCall) goja.Value { return e.Module(c.Argument(0).String()) }))
		if err != nil {
			done <- outcome{err: e.Failure(err)}
			return
		}
		then, _ := goja.AssertFunction(v.ToObject(e.VM).Get("then"))
		_, _ = e.Call(then, v, e.VM.ToValue(func(c goja.FunctionCall) goja.Value {
			data, err := e.Stringify(c.Argument(0))
			if err != nil {
				done <- outcome{err: e.Failure(err)}
			} else {
				done <- outcome{text: string(data)}
			}
			return goja.Undefined()
		}), e.VM.ToValue(func(c goja.FunctionCall) goja.Value {
			done <- outcome{err: e.FailureOf(c.Argument(0))}
			return goja.Undefined()
		}))
	})
	select {
	case o := <-done:
		return o.text, o.err
	case <-time.After(60 * time.Second):
		t.Fatalf("the script did not end; it logged %q and failed with %q", r.Lines(), r.Failures())
		return "", nil
	}
}

// Must runs a body that is to end well.
func (r *Run) Must(t testing.TB, body string) string {
	t.Helper()
	text, err := r.Do(t, body)
	if err != nil {
		t.Fatalf("%s\n%s", err.Message, err.Stack)
	}
	return text
}
