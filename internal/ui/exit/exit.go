package exit

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"scorel/protocol"
)

// The codes.
const (
	OK        = 0
	Failed    = 1   // a provider or the storage failed
	Usage     = 2   // the command line or the configuration is wrong
	Limit     = 3   // a limit ended the run
	Lacks     = 3   // of extensions check: the extension uses what Scorel lacks
	Unasked   = 4   // something was needed that nobody could be asked for, or a hook refused the message
	Loop      = 5   // the model repeated itself, and nobody let it go on
	Misfit    = 6   // no answer fits the JSON Schema that was asked for
	Cancelled = 130 // interrupted
	Pipe      = 141 // nobody reads what is printed: what a shell says of a program that SIGPIPE ended
)

// UsageError is a wrong command line. It hides what it was made of: for a program it is
// that and nothing else.
type UsageError struct{ error }

// Usagef makes a [UsageError].
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// AsUsage makes an error one of a wrong command line.
func AsUsage(err error) error { return UsageError{err} }

// interruptedError says what a signal has ended. It hides what it was made of, which is how a
// context ends.
type interruptedError struct{ text string }

// Interruptedf makes the error of a command that a signal has ended: it says what is there
// now of what the command was to do.
func Interruptedf(format string, args ...any) error {
	return interruptedError{"interrupted: " + fmt.Sprintf(format, args...)}
}

func (e interruptedError) Error() string { return e.text }

func (interruptedError) Unwrap() error { return context.Canceled }

// Interrupted returns err, or when it comes from the end of ctx by a signal, an error that
// says so. left says what is there of what the command was to do.
func Interrupted(ctx context.Context, err error, left string) error {
	var said interruptedError
	if err == nil || ctx.Err() == nil || errors.As(err, &said) {
		return err
	}
	return Interruptedf("%s", left)
}

// Code returns the exit code of a command that failed with err.
func Code(err error) int {
	var usage UsageError
	var config interface{ WrongConfig() } // a host that could not be started
	var pe *protocol.Error
	switch {
	case errors.As(err, &usage), errors.As(err, &config):
		return Usage
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, syscall.EPIPE):
		return Pipe
	case protocol.AboutOf(err).Reason == protocol.ReasonUnasked:
		return Unasked
	case errors.As(err, &pe):
		switch pe.Code {
		case protocol.CodeInvalidRequest, protocol.CodeSessionNotFound, protocol.CodeInvalidEventID, protocol.CodeProjectNotFound, protocol.CodeNotFound:
			return Usage
		case protocol.CodePermissionDenied:
			return Unasked
		}
	}
	return Failed
}
