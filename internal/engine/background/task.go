package background

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"scorel/internal/engine/progress"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Bounds of how a command is named.
const (
	infoCommand  = 2000 // characters of a command in a list
	titleCommand = 80   // characters of its first line in a notice
	infoLine     = 200  // characters of the last line that it printed
)

// errStopped ends a command because somebody asked for it.
var errStopped = errors.New("stopped")

// ErrClosed, as the cause of the end of a context, says that the session was closed.
var ErrClosed = errors.New("the session was closed")

// task is one background command. Its goroutine ends when done is closed.
type task struct {
	origin
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it has ended and its output is read
	order  chan struct{} // holds one while people are told: nothing older comes after

	// mu guards all below. It may be taken with Set.mu held, never the other way
	// round.
	mu      sync.Mutex
	process *progress.Call           // set before anybody else sees the task run
	summary *protocol.ProcessSummary // of process, when it has ended
	follow  follow                   // has a lock of its own
	printed func() *time.Timer       // has people told soon; nil: nobody is
	telling *time.Timer              // runs until they are
	out     output
	cursor  int64         // how far the output has been read
	changed chan struct{} // not nil: somebody waits; closed by the next output
	keeper  Keeper        // nil: nothing is kept
	monitoring
	outcome
}

// origin is what started a task, and as what. It never changes, but that usage is set before
// done is closed.
type origin struct {
	id      string
	command string
	call    string
	limit   time.Duration // 0: none
	started time.Time
	session protocol.SessionID     // of a sub-agent
	tool    string                 // that started it
	agent   string                 // its name, "" of a command
	usage   func() *protocol.Usage // of a sub-agent that has ended; may be nil
	tokens  func() int             // that a sub-agent was answered so far; may be nil
}

// monitoring is what looks at each line of the output. The task's mu guards it.
type monitoring struct {
	monitors []*monitor
	line     []byte // the beginning of a line, while there are monitors
	returned bool   // the last line that monitors looked at ended in CR
}

// outcome is whether and how a task has ended. The task's mu guards it.
type outcome struct {
	state protocol.TaskState
	exit  sandbox.Exit
	ended time.Time
	why   error  // errStopped, ErrClosed, context.DeadlineExceeded or nil
	after string // what came of it besides, "" for nothing
	told  bool   // a model has been told of the end
}

// keep has what the task prints kept. It is called before the task runs.
func (t *task) keep(keep func(id, call, command string, started time.Time) Keeper) {
	if keep == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keeper = keep(t.id, t.call, t.command, t.started)
}

// Write takes output. It never fails, and never waits but for its lock.
func (t *task) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.write(p)
	if t.keeper != nil {
		_, _ = t.keeper.Write(p) // it never fails
	}
	t.watch(p)
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	t.tellSoon()
	return len(p), nil
}

// tellSoon has people told how the task is, unless they are about to be. t.mu is held.
func (t *task) tellSoon() {
	if t.printed != nil && t.telling == nil && t.state == protocol.TaskRunning {
		t.telling = t.printed()
	}
}

// unwatch ends the timer that has people told; it reports whether that was its end.
func (t *task) unwatch() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.telling != nil && t.telling.Stop()
}

// lastLine is the last line of output that is not blank. t.mu is held.
func (t *task) lastLine() string {
	lines := strings.Split(t.out.read(t.out.size-maxLine, t.out.size).text(maxLine), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(oneLine(lines[i])); line != "" {
			return shorten(line, infoLine)
		}
	}
	return ""
}

// finish records the end; done is the caller's to close.
func (t *task) finish(exit sandbox.Exit, why error, now time.Time, after string) {
	t.mu.Lock()
	if len(t.line) > 0 {
		t.look(t.line)
		t.line = nil
	}
	t.exit, t.ended, t.why, t.after, t.state = exit, now, why, after, protocol.TaskExited
	switch {
	case errors.Is(why, context.DeadlineExceeded):
		t.state = protocol.TaskTimedOut
	case why != nil:
		t.state = protocol.TaskStopped
	}
	t.endProcess()
	t.mu.Unlock()
}

// info describes the task. t.mu is held.
func (t *task) info() protocol.TaskInfo {
	i := protocol.TaskInfo{TaskID: t.id, Command: shorten(t.command, infoCommand), State: t.state, StartedAt: t.started.UnixMilli(),
		Bytes: t.out.size, LastLine: t.lastLine(), ToolCallID: t.call, SessionID: t.session, Agent: t.agent}
	if t.tokens != nil {
		i.Tokens = t.tokens()
	}
	if t.state != protocol.TaskRunning {
		i.EndedAt, i.Signal = t.ended.UnixMilli(), t.exit.Signal
		if t.exit.Err == nil {
			code := t.exit.Code
			i.ExitCode = &code
		}
	}
	return i
}

// title is the first line of the command, cut.
func (t *task) title() string {
	line, rest, more := strings.Cut(strings.TrimSpace(t.command), "\n")
	if more && strings.TrimSpace(rest) != "" && utf8.RuneCountInString(line) <= titleCommand-2 {
		line += " …"
	}
	return shorten(line, titleCommand)
}

// how returns how the task ended, and what came of it. t.mu is held.
func (t *task) how() string {
	if t.after != "" {
		return t.ending() + "; " + t.after
	}
	return t.ending()
}

func (t *task) ending() string {
	code := fmt.Sprintf("exit code %d", t.exit.Code)
	switch {
	case t.exit.Err != nil:
		code = "its exit code is not known: " + t.exit.Err.Error()
	case t.exit.Signal != "":
		code = "by " + t.exit.Signal + ", " + code
	}
	if t.agent != "" {
		return t.agentEnding()
	}
	after := " after " + t.ended.Sub(t.started).Round(100*time.Millisecond).String()
	switch {
	case errors.Is(t.why, ErrClosed):
		return "was ended, because its session was closed (" + code + ")"
	case t.state == protocol.TaskTimedOut:
		return fmt.Sprintf("was ended at its time limit of %d s (%s)", int(t.limit.Seconds()), code)
	case t.state == protocol.TaskStopped:
		return "was stopped" + after + " (" + code + ")"
	}
	return "ended" + after + " (" + code + ")"
}

// agentEnding is ending of a sub-agent, which has no exit code. t.mu is held.
func (t *task) agentEnding() string {
	after := " after " + t.ended.Sub(t.started).Round(100*time.Millisecond).String()
	switch {
	case errors.Is(t.why, ErrClosed):
		return "was ended, because its session was closed"
	case t.state == protocol.TaskStopped:
		return "was stopped" + after
	case t.exit.Code != 0:
		return "failed" + after
	}
	return "ended" + after
}

// what names the kind of the task for a model.
func (t *task) what() string {
	if t.agent != "" {
		return "Background agent"
	}
	return "Background command"
}

// drop removes a monitor. t.mu is held.
func (t *task) drop(m *monitor) {
	for i, other := range t.monitors {
		if other == m {
			t.monitors = append(t.monitors[:i:i], t.monitors[i+1:]...)
			break
		}
	}
	if len(t.monitors) == 0 {
		t.line, t.returned = nil, false
	}
}

func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return firstRunes(s, most-1) + "…"
}
