// Package sandbox is the one place where Scorel starts child processes. Every
// child has its own process group and a scrubbed environment; when its context
// ends, or its caller stops waiting, the whole group is killed.
//
// With a [Profile] a child is confined: on Linux the running binary starts again
// as the stage (package stage), which takes on namespaces, read-only mounts,
// Landlock and seccomp and then becomes the command; on macOS it runs under
// sandbox-exec. What a profile promises and the system cannot hold is an error
// of Start, never a child that is less confined. [Detect] says beforehand what
// holds and what to do about the rest. This process itself is never restricted.
//
// A [HelperProcess] works for this one over pipes and is unconfined: it is the
// user's own code, such as an extension.
//
// All may be used by several goroutines at once. No other package imports
// os/exec; a test holds that.
package sandbox
