// Package engine runs the JavaScript of one extension: one goja runtime on an event
// loop of its own, with the globals that Node and browsers share (timers, promises,
// console, fetch, URL, AbortController, TextEncoder, Buffer, structuredClone, crypto),
// and what the language has had since ES2022 that goja lacks.
//
// An [Engine] owns one goroutine, on which alone its runtime is used; [Engine.Post] hands
// it work from any other. A [Watch] interrupts interpreters that do not come back, and
// guards the heap of the process. Neither can stop a native function of the interpreter
// that runs on (fill, a sparse join, a huge number): that is for the parent of the
// process, which sees on the shared page who runs.
//
// What never ends well inside a process is left to the process: engines are meant for a
// child (package js).
package engine
