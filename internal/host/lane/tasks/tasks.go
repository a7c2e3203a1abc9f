package tasks

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"scorel/internal/engine/background"
	"scorel/internal/engine/progress"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/partial"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Config is what [Tasks] need.
type Config struct {
	Journal   *journal.Journal
	Now       func() time.Time
	Rand      io.Reader
	Processes *progress.Recorder
	// Outputs keeps what commands print for the next host; nil keeps nothing.
	Outputs Outputs
	// Idle is called when a command has ended.
	Idle func()
	// Stirred is called when there may be something new for the model: a command has ended, or
	// printed something. No lock is held.
	Stirred func()
	// Life ends when the session is given up, and Panicked is [background.Config.Panicked].
	Life     context.Context
	Panicked func(recovered any)
}

// Outputs keeps what background commands print.
type Outputs interface {
	// Output returns what keeps the output of one command.
	Output(c partial.Command) *partial.Output
}

// Tasks are the background commands of one session. They outlive turns.
type Tasks struct {
	j       *journal.Journal
	set     *background.Set
	outputs Outputs
	rand    io.Reader
	stirred func()
	telling []telling // notices on their way into the log; guarded by the journal's lock
}

// telling is a notice that has entered, and that is told when it is durable.
type telling struct {
	notice background.Notice
	ticket *publish.Ticket
}

// New returns the background commands of a session, of which none runs.
func New(cfg Config) *Tasks {
	t := &Tasks{j: cfg.Journal, outputs: cfg.Outputs, rand: cfg.Rand, stirred: cfg.Stirred}
	t.set = background.New(background.Config{Now: cfg.Now, Rand: cfg.Rand, Ended: cfg.Idle, Processes: cfg.Processes, Tell: t.notifyProcess, Changed: t.notifyTask,
		Keep: t.keepOutput, Life: cfg.Life, Panicked: cfg.Panicked})
	return t
}

// Set returns the commands for the tools of a turn.
func (t *Tasks) Set() *background.Set { return t.set }

// Start starts spec.Run as a background command of the session is started.
func (t *Tasks) Start(spec background.Spec) (id string, err error) { return t.set.Start(nil, spec) }

// List returns the background commands of the session.
func (t *Tasks) List() *protocol.TaskList { return &protocol.TaskList{Tasks: t.set.List()} }

// Running counts those that run.
func (t *Tasks) Running() int { return t.set.Running() }

// Stop ends a command and returns when it has ended. The model is told of it as of any end.
func (t *Tasks) Stop(ctx context.Context, id string) (*protocol.TaskInfo, error) {
	stopped, err := t.set.Stop(ctx, id, background.ToPerson)
	if errors.Is(err, background.ErrUnknown) {
		return nil, unknown(id)
	}
	return &stopped.Info, err
}

func unknown(id string) error {
	return protocol.About("taskId", "", protocol.CodeNotFound, "The session has no background command %.60q; list_tasks gives those that there are.", id)
}

// Output returns the newest output of a command, for people.
func (t *Tasks) Output(id string) (*protocol.TaskOutput, error) {
	info, text, omitted, err := t.set.Newest(id)
	if err != nil {
		return nil, unknown(id)
	}
	return &protocol.TaskOutput{Task: info, Text: text, Omitted: omitted}, nil
}

// Append appends what the commands have to tell: the model is told at a step boundary or
// before a message, never in between. It returns how many events that were. The journal is
// locked.
func (t *Tasks) Append(ctx context.Context) (int, error) {
	t.telling = slices.DeleteFunc(t.telling, func(t telling) bool { return t.ticket.Durable() })
	notices := t.set.Take()
	for i, n := range notices {
		_, ticket, err := t.j.Append(ctx, &protocol.HarnessItem{Item: n.Item()}, journal.ByHost())
		if err != nil {
			t.set.GiveBack(notices[i:])
			return i, err
		}
		t.telling = append(t.telling, telling{n, ticket})
	}
	return len(notices), nil
}

// Lost has told again what was lost with what could not be stored. It runs on the
// publisher's writer: what has been stored is known to be. The journal is locked.
func (t *Tasks) Lost() {
	for _, n := range slices.Backward(t.telling) { // so that lines of one monitor keep their order
		if !n.ticket.Durable() {
			t.set.GiveBack([]background.Notice{n.notice})
		}
	}
	t.telling = nil
	if err := t.Retell(context.Background(), t.j.Leaf()); err != nil { // ends that a lost result told
		t.j.Report("look for background commands on the path: " + err.Error())
	}
}

// notifyProcess sends a process event of a command.
func (t *Tasks) notifyProcess(p protocol.ToolProcess) {
	t.j.Lock()
	defer t.j.Unlock()
	if err := t.j.Notify(&p); err != nil {
		t.j.Report("report the state of a background command: " + err.Error())
	}
}

// notifyTask tells clients the state of a command.
func (t *Tasks) notifyTask(info protocol.TaskInfo) {
	t.j.NotifyBeside(protocol.HostClient, &protocol.TaskUpdate{Task: info})
	t.stirred()
}

// keepOutput keeps what a command prints for the next host.
func (t *Tasks) keepOutput(id, call, command string, started time.Time) background.Keeper {
	if t.outputs == nil {
		return nil
	}
	return t.outputs.Output(partial.Command{SessionID: t.j.ID(), EventID: protocol.NewEventID(t.rand), TaskID: id, CallID: call, Command: command, StartedAt: started.UnixMilli()})
}
