package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// interrupts gives the signals that end a run in order: the turn is cancelled, and
// what it left running is ended. Ctrl-C and the terminal's end are two of them, unless
// whoever started the program wants it to go on without them (nohup, trap, or a command
// in the background of a script).
func interrupts() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
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
