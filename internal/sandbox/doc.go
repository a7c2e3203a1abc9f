// Package sandbox is the one place where Scorel starts child processes. Every
// child has its own process group and a scrubbed environment; when its context
// ends, or its caller stops waiting, the whole group is killed.
//
// No other package imports os/exec; a test holds that.
package sandbox
