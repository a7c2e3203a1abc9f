package follow

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

// Interrupts returns the signals that end a run in order: the turn is cancelled, and
// what it left running is ended. Ctrl-C and the terminal's end are two of them, unless
// whoever started the program wants it to go on without them (nohup, trap, or a command
// in the background of a script).
func Interrupts() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c, func() { signal.Stop(c) }
}

// maxInterrupts is how many signals a run takes, so that it can print its result. The one
// after them ends the program at once.
const maxInterrupts = 3

// Starting returns a context that ends with the first of those signals until begun is called:
// then whoever follows the run takes them. Until stop is called, [maxInterrupts] of them do not
// end the program: also after the run, while it prints its result.
func Starting(ctx context.Context) (starting context.Context, begun, stop func()) {
	starting, cancel := context.WithCancel(ctx)
	signals, quiet := Interrupts()
	var taken atomic.Bool
	over := make(chan struct{})
	go func() { // ends with stop
		defer quiet()
		for range maxInterrupts {
			select {
			case <-signals:
				if !taken.Load() {
					cancel()
				}
			case <-over:
				return
			}
		}
	}()
	return starting, func() { taken.Store(true) }, sync.OnceFunc(func() { close(over); cancel() })
}

// Interruptible returns a context that ends with the first of those signals, so that a
// command takes away what it has begun; the next signal ends the program.
func Interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stop := Interrupts()
	go func() { // ends with the context
		select {
		case <-signals:
			stop()
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); stop() }
}

// SurvivePipe makes writing to a pipe that nobody reads an error, which ends a run
// in order, instead of a signal that ends the program and leaves commands running.
// The signal is taken and not ignored, because children inherit what is ignored.
func SurvivePipe() (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}
