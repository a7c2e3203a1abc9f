package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// interrupts gives the signals that end a run in order: the turn is cancelled, and
// what it left running is ended. The terminal's end is one of them, unless whoever
// started the program wants it to go on without one (nohup).
func interrupts() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	return c, func() { signal.Stop(c) }
}

// survivePipe makes writing to a pipe that nobody reads an error, which ends a run
// in order, instead of a signal that ends the program and leaves commands running.
// The signal is taken and not ignored, because children inherit what is ignored.
func survivePipe() (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}
