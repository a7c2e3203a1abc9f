// Package modeltest is a vendor's server without the vendor: one http.Handler
// for each API that streams the answers of a script as the vendor does, fails as
// the vendor fails, and refuses with 400 what the vendor refuses (the judge).
// Tests of adapters, of the runtime and of the whole program use it, and so does
// the mock server of the benchmarks, in a process of its own.
//
// Scripts are those of package script. On the wire a call does not report whether it
// is a step or a summary: a line of kind compact answers when no step line does,
// unless [Config.Kind] tells the two apart.
//
// A handler may serve any number of requests at once.
package modeltest
