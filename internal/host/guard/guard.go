package guard

import (
	"context"
	"fmt"
	"os"
	"time"

	"scorel/internal/host/diagnostics"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// ExitCode is the exit code of a host that a panic has ended (EX_SOFTWARE of
// sysexits(3)).
const ExitCode = 70

// lastMoment is how long a host that ends so waits until what is stored has left.
const lastMoment = 2 * time.Second

// Guard catches the panics of a host.
type Guard struct {
	log    *diagnostics.Log
	exit   func(code int) // nil is [os.Exit]
	shared []*fault.Shared
	flush  func(context.Context)
}

// New makes a guard. Exit ends the process; nil is [os.Exit].
func New(log *diagnostics.Log, exit func(code int)) *Guard {
	return &Guard{log: log, exit: exit}
}

// Watch has the process end when a panic leaves m locked. It is called before anything
// runs.
func (g *Guard) Watch(m *fault.Shared) {
	m.Fatal = g.fatal
	g.shared = append(g.shared, m)
}

// Flush sets what sends on what is stored, before the process ends. It takes no lock, and
// ends with its context. It is called before anything runs.
func (g *Guard) Flush(f func(context.Context)) { g.flush = f }

// Rescue ends the panic of a goroutine of the host. It is deferred itself, at the root.
func (g *Guard) Rescue(what string) {
	if r := recover(); r != nil {
		g.Caught("", what, fault.Caught(r))
	}
}

// Caught is told of every panic that was recovered at the root of a goroutine or request:
// it is noted, and where it has left what all sessions share locked, the process ends.
func (g *Guard) Caught(id protocol.SessionID, what string, p *fault.Panic) {
	g.Check(p)
	text := fmt.Sprintf("a fault inside Scorel, %s: %v", what, p.Value)
	if id != "" {
		g.log.Report(id, text, p.Stack)
		return
	}
	g.log.Note(text, p.Stack)
}

// Check ends the process when a panic has left what all sessions share locked.
func (g *Guard) Check(p *fault.Panic) {
	for _, m := range g.shared {
		m.Check(p)
	}
}

// fatal ends the process, because a panic has left what all sessions share half changed:
// what is stored leaves before. It takes no lock of the host.
func (g *Guard) fatal(p *fault.Panic) {
	text := fmt.Sprintf("a fault inside Scorel ended the host: %v; what was stored is whole, and sessions continue from there", p.Value)
	g.log.Note(text, p.Stack)
	ctx, cancel := context.WithTimeout(context.Background(), lastMoment)
	defer cancel()
	left := make(chan struct{})
	go func() { // ends with the process, if not before
		defer close(left)
		defer func() { _ = recover() }()
		if g.flush != nil {
			g.flush(ctx)
		}
	}()
	select {
	case <-left:
	case <-ctx.Done():
	}
	exit := g.exit
	if exit == nil {
		fmt.Fprintf(os.Stderr, "scorel: %s\n%s", text, p.Stack)
		exit = os.Exit
	}
	exit(ExitCode)
}
