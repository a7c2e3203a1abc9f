package engine

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/dop251/goja"
)

// Call calls a function from a job. Promise jobs run before it returns, unless it is
// called by JavaScript that runs.
func (e *Engine) Call(f goja.Callable, this goja.Value, args ...goja.Value) (goja.Value, error) {
	return e.use(func() (goja.Value, error) { return f(this, args...) })
}

// Run runs a program from a job, like Call.
func (e *Engine) Run(p *goja.Program) (goja.Value, error) {
	return e.use(func() (goja.Value, error) { return e.VM.RunProgram(p) })
}

// Settle resolves or rejects from a job by a function that NewPromise gave.
func (e *Engine) Settle(f func(any) error, v any) {
	if _, err := e.use(func() (goja.Value, error) { return nil, f(v) }); err != nil && !IsStop(err) {
		e.cfg.Failed("internal", e.Failure(err))
	}
}

// use uses the interpreter. What stops it, or panics, where JavaScript called this goes
// on to the outermost use, which alone can tidy up.
func (e *Engine) use(do func() (goja.Value, error)) (v goja.Value, err error) {
	if e.depth > 0 {
		if v, err = do(); IsStop(err) {
			panic(err)
		}
		return v, err
	}
	if v, err = e.alone(do); e.broken(err) {
		e.stopped(e.context, err)
	}
	e.drain()
	return v, err
}

// alone is an outermost use of the interpreter. A panic is an error, after which the
// interpreter is at rest.
func (e *Engine) alone(do func() (goja.Value, error)) (v goja.Value, err error) {
	e.depth++
	defer func() {
		e.depth--
		r := recover()
		if r != nil {
			v, err = nil, e.recovered(r)
		}
		if r != nil || IsStop(err) {
			e.machine.rest()
		}
	}()
	return do()
}

// maxStops is how many promise jobs may be stopped, one after the other, before all that
// wait are dropped: they would keep the loop for as long again each.
const maxStops = 2

// drain runs the promise jobs that wait. One that is stopped stops no other.
func (e *Engine) drain() {
	context := e.context
	defer func() { e.context = context }()
	stops := 0
	for jobs := e.machine.take(); len(jobs) > 0; jobs = e.machine.take() {
		for _, job := range jobs {
			_, err := e.alone(func() (goja.Value, error) { job(); return nil, nil })
			switch {
			case err == nil:
			case !IsStop(err):
				e.cfg.Failed("internal", e.Failure(err))
			case !e.broken(err): // it is closed
				e.machine.take()
				return
			default:
				if stops++; stops == maxStops {
					e.machine.take()
					e.stopped(nil, err) // whose jobs those were is not known
					return
				}
				e.stopped(e.context, err)
			}
		}
	}
}

// IsStop reports whether an error is that the interpreter was stopped, or its stack full: no
// JavaScript can catch it.
func IsStop(err error) bool {
	var in *goja.InterruptedError
	var deep *goja.StackOverflowError
	return errors.As(err, &in) || errors.As(err, &deep)
}

// broken reports whether an error has stopped the interpreter, which is to go on.
func (e *Engine) broken(err error) bool {
	var in *goja.InterruptedError
	return IsStop(err) && !(errors.As(err, &in) && errors.Is(e.stopCause(in), ErrClosed))
}

// recovered makes an error of a panic in a native function.
func (e *Engine) recovered(r any) error {
	switch r := r.(type) {
	case *goja.Object:
		return e.FailureOf(r)
	case goja.Value:
		return &Error{Message: r.String()}
	case error:
		var ex *goja.Exception
		if errors.As(r, &ex) {
			return ex
		}
		if IsStop(r) {
			return r
		}
	}
	return &Error{Message: fmt.Sprintf("an internal function failed: %v", r), Stack: string(debug.Stack())}
}

// stopped tells whose code was stopped, and lets the interpreter go on with what comes
// next.
func (e *Engine) stopped(context any, err error) {
	if e.cfg.Interrupted != nil {
		e.cfg.Interrupted(context, e.Failure(err))
	}
	e.stop.Lock()
	goesOn := !errors.Is(e.cause, ErrClosed)
	if goesOn {
		e.cause = nil
		e.VM.ClearInterrupt()
	}
	e.stop.Unlock()
	if goesOn {
		e.enter() // its time begins again
	}
}

func (e *Engine) stopCause(in *goja.InterruptedError) error {
	if err, ok := in.Value().(error); ok {
		return err
	}
	return in
}
