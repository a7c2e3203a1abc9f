// Package stage is what a confined command is before it becomes itself: the
// running binary, started again as `scorel __spawn`, in namespaces of its own. It
// reads its [Plan] from an inherited socket, lays mounts over what is closed,
// makes the rest of the system read-only, gives up every capability, takes on
// Landlock and seccomp, and executes the command. What cannot be done ends it
// with status 125 and one sentence to the host: nothing runs half confined.
//
// It runs in this package's init, so that a binary which links it needs no hook
// of its own, test binaries included. Go initialises a package as soon as its
// imports are ready, lowest path first. This one imports nothing that needs the
// tables of Unicode, so 25 packages come before it and not 125, and a confined
// command does not pay for the others: it starts with 290 page faults and not 520.
// A test counts what comes before it.
//
// Nothing here touches the process of the host.
package stage
