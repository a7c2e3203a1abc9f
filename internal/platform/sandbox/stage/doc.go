// Package stage is what a confined command is before it becomes itself: the
// running binary, started again as `scorel __spawn`, in namespaces of its own. It
// reads its [Plan] from an inherited socket, lays mounts over what is closed,
// makes the rest of the system read-only, gives up every capability, takes on
// Landlock and seccomp, and executes the command. What cannot be done ends it
// with status 125 and one sentence to the host: nothing runs half confined.
//
// It runs in this package's init, so that a binary which links it needs no hook
// of its own, test binaries included. Go initialises a package as soon as its
// imports are ready, lowest path first; this one imports little, so it comes
// before the tables that the whole binary carries, and a confined
// command does not pay for them (1.8 ms of 4.9 when this was written). Keep its
// imports few.
//
// Nothing here touches the process of the host.
package stage
