package doctor

import (
	"context"
	"fmt"
	"time"

	"scorel/protocol"
)

// Limit is how long a check may take: longer than one needs on a machine that has much
// else to do.
const Limit = 5 * time.Second

// The states of a finding.
const (
	ok   = "ok"
	warn = "warn"
	fail = "fail"
)

// Finding is what a check found. Advice is "" when nothing need be done.
type Finding struct{ State, Text, Advice string }

// OK is a finding of something that is well.
func OK(format string, args ...any) Finding {
	return Finding{State: ok, Text: fmt.Sprintf(format, args...)}
}

// Warn is a finding that a person should know, and can work with.
func Warn(text, advice string) Finding { return Finding{warn, text, advice} }

// Fail is a finding that keeps Scorel, or a part of it, from working or being
// safe.
func Fail(text, advice string) Finding { return Finding{fail, text, advice} }

// Check is one check. Look ends when its context does, as far as the system lets
// it.
type Check struct {
	ID   string
	Look func(ctx context.Context) Finding
}

// Run runs the checks side by side and returns what they found in their order. One
// that hangs in the system is left behind a little after [Limit] and reported.
func Run(ctx context.Context, checks []Check) []protocol.DoctorCheck {
	patience, stop := context.WithTimeout(ctx, Limit+Limit/10) // for those that end with their context
	defer stop()
	ctx, end := context.WithTimeout(patience, Limit)
	defer end()
	found := make([]chan Finding, len(checks))
	for i, c := range checks {
		found[i] = make(chan Finding, 1)
		go func() { found[i] <- look(ctx, c) }() // ends when the check does; the channel holds one
	}
	out := make([]protocol.DoctorCheck, len(checks))
	for i, c := range checks {
		f := Warn(fmt.Sprintf("the check did not end within %v", Limit), "Something it looks at hangs: a network file system, or a program. Look there.")
		select {
		case f = <-found[i]:
		case <-patience.Done():
			select {
			case f = <-found[i]: // it was done, too
			default:
			}
		}
		out[i] = protocol.DoctorCheck{ID: c.ID, State: f.State, Text: f.Text, Advice: f.Advice}
	}
	return out
}

// look runs a check; a panic of it is what it has found.
func look(ctx context.Context, c Check) (f Finding) {
	defer func() {
		if r := recover(); r != nil {
			f = Fail(fmt.Sprintf("a fault inside Scorel ended the check: %v", r), "Please report it.")
		}
	}()
	return c.Look(ctx)
}
