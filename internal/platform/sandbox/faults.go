package sandbox

import (
	"sync/atomic"

	"scorel/internal/platform/fault"
)

// faults keeps the first panic of the goroutines that serve a child: of what its output is
// written to, say. Whoever waits for the child meets it, so that the root of their goroutine
// catches it. The zero value is ready.
type faults struct{ first atomic.Pointer[fault.Panic] }

// catch ends the panic of a goroutine and does what nobody else can do then. It is deferred
// itself, at the root.
func (f *faults) catch(then func()) {
	if r := recover(); r != nil {
		f.first.CompareAndSwap(nil, fault.Caught(r))
		then()
	}
}

// meet panics with the panic that was caught.
func (f *faults) meet() {
	if p := f.first.Load(); p != nil {
		panic(p)
	}
}
