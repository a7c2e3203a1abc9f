package shell

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/host/lane/addition"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// shellTool is the tool that a command of a person runs as.
var shellTool = tool.Shell().Spec().Name

// maxRunning bounds the commands of people that run at once in a session; further ones
// are refused.
const maxRunning = 4

// Owner is the lane whose commands run.
type Owner interface {
	// MayBegin returns why nothing may begin, nil when it may. It is called with the
	// journal locked.
	MayBegin() error
	// Idle is called when a command has ended.
	Idle()
}

// Config is what [Shells] need.
type Config struct {
	Journal   *journal.Journal
	Additions *addition.List
	Owner     Owner
	Blobs     *session.Blobs
	Now       func() time.Time
	Rand      io.Reader
	Fuse      *fault.Fuse
	// Life ends when the session is given up.
	Life context.Context
}

// Shells are the commands of people in one session.
type Shells struct {
	cfg     Config
	j       *journal.Journal
	running map[protocol.EventID]context.CancelCauseFunc // guarded by the journal's lock
	lost    []protocol.ShellRun                          // of an earlier host; guarded by the journal's lock
	n       atomic.Int32
	wg      sync.WaitGroup // their goroutines
}

// New returns the commands of a session, with those that an earlier host was killed with.
func New(ctx context.Context, cfg Config) (*Shells, error) {
	lost, err := fold(ctx, cfg.Journal.Index())
	return &Shells{cfg: cfg, j: cfg.Journal, lost: lost, running: map[protocol.EventID]context.CancelCauseFunc{}}, err
}

// Run runs a command of a person that is ready to run, beside whatever else runs in the
// session. It returns when it is durable that the command begins, and before it does:
// release is called when it has ended, or at once where it does not begin. Its output goes
// to the clients. At its end its message enters at once, or, while a turn runs, at the next
// step boundary.
func (s *Shells) Run(ctx context.Context, c journal.Caller, shell protocol.Shell, call tool.Prepared, release func()) (*protocol.ShellStarted, error) {
	id := protocol.NewEventID(s.cfg.Rand)
	running, err := s.begin(ctx, c, id, shell)
	if err != nil {
		release()
		return nil, err
	}
	args, err := json.Marshal(map[string]string{"command": shell.Command})
	if err != nil {
		panic("shell: " + err.Error()) // strings only
	}
	s.j.NotifyBeside(c.Client, &protocol.ToolExecutionStart{EventID: id, ToolCallID: string(id), ToolName: shellTool, Args: args, Shell: &shell})
	go func() { // ends with the command, at the latest by Stop
		defer s.cfg.Fuse.Catch()
		s.complete(running, id, c.Client, shell, call, release)
		s.cfg.Owner.Idle()
	}()
	return &protocol.ShellStarted{EventID: id}, nil
}

// complete runs a command that has begun and has its message enter.
func (s *Shells) complete(running context.Context, id protocol.EventID, client protocol.ClientID, shell protocol.Shell, call tool.Prepared, release func()) {
	defer s.end()
	message := func() *protocol.CustomMessage {
		defer release()
		return s.message(running, id, client, shell, call)
	}()
	if err := s.enter(journal.Authored{Body: message, By: journal.Author{Client: client, ID: id}}); err != nil {
		s.j.Report("record a command of a person: " + err.Error())
		s.j.NotifyBeside(protocol.HostClient, &protocol.MessageCancelled{EventID: id, Reason: protocol.CancelStorage})
	}
}

// begin takes a place and stores that the command begins. The context that it returns ends
// with [Shells.Cancel] and [Shells.Stop].
func (s *Shells) begin(ctx context.Context, c journal.Caller, id protocol.EventID, shell protocol.Shell) (running context.Context, err error) {
	data, err := json.Marshal(protocol.ShellRun{SessionID: s.j.ID(), EventID: id, Command: shell.Command, InContext: shell.InContext})
	if err != nil {
		return nil, err
	}
	var ticket *publish.Ticket
	err = s.j.Write(ctx, func() error {
		if err := s.cfg.Owner.MayBegin(); err != nil {
			return err
		}
		if n := len(s.running); n >= maxRunning || s.cfg.Additions.Waiting() >= addition.MaxWaiting {
			return protocol.Errorf(protocol.CodeRateLimited, "%d commands of people run or wait for the running step already; wait for one of them, or end one.", n)
		}
		if _, ticket, err = s.j.Append(ctx, &protocol.Custom{Kind: protocol.ShellKind, Data: data}, c.Author()); err != nil {
			return err
		}
		running, s.running[id] = context.WithCancelCause(s.cfg.Life)
		s.n.Add(1)
		s.wg.Add(1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := ticket.Wait(context.WithoutCancel(ctx)); err != nil {
		s.drop(id)
		s.end()
		return nil, err
	}
	return running, nil
}

// drop takes a command that has ended off the list and gives its place back. It comes
// before anybody learns of the end: who then stops it is told that it is over, and who then
// starts another finds the place free.
func (s *Shells) drop(id protocol.EventID) {
	s.j.Lock()
	defer s.j.Unlock()
	s.running[id](nil)
	delete(s.running, id)
}

// end ends what a command held the session open for.
func (s *Shells) end() {
	s.n.Add(-1)
	s.wg.Done()
}

// Busy reports whether a command runs, or its message is about to enter. It waits for
// nobody.
func (s *Shells) Busy() bool { return s.n.Load() > 0 }

// Cancel ends a running command; it reports whether there was one. It does not wait for
// its end.
func (s *Shells) Cancel(id protocol.EventID) bool {
	s.j.Lock()
	defer s.j.Unlock()
	cancel := s.running[id]
	if cancel != nil {
		cancel(journal.ErrCancelled)
	}
	return cancel != nil
}

// Stop ends all commands, because the host ends. The journal is locked.
func (s *Shells) Stop() {
	for _, cancel := range s.running {
		cancel(runtime.ErrHostStops)
	}
}

// Wait returns when all commands have ended and their messages have entered.
func (s *Shells) Wait() { s.wg.Wait() }

// enter has a message enter, when it may, and returns when it is durable or waits for a
// step boundary.
func (s *Shells) enter(body protocol.Body) error {
	ctx := context.Background() // ends with the move or the turn that is waited for
	var ticket *publish.Ticket
	err := s.j.Add(ctx, func() (err error) {
		ticket, err = s.cfg.Additions.Enter(ctx, body)
		return err
	})
	return journal.WaitFor(ctx, ticket, err)
}
