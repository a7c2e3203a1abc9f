package lane

import (
	"context"
	"io"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/progress"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/lane/queue"
	"scorel/internal/host/lane/tasks"
	"scorel/internal/host/partial"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Config is what a [Lane] needs. The lane owns Log and closes it.
type Config struct {
	Device protocol.DeviceID
	Log    *session.Log
	// Blobs keeps payloads; see [session.Blobs].
	Blobs *session.Blobs
	// Damage is a sentence about what the log was found to have lost, for people and the
	// model; Passing reports that opening the log has repaired it, so that it will not be
	// found again.
	Damage  string
	Passing bool
	// Turns makes turns ready, Host does what a session cannot do alone, and Owner is told
	// of the lane.
	Turns Turns
	Host  Host
	Owner Owner
	// Schedules is nil in a host that does not stay.
	Schedules Schedules
	// Limits hold for turns that begin by themselves; nil: none does.
	Limits Limits
	Kept   Kept
	// Unattended denies at once what would have to be asked while no interactive
	// client is attached; otherwise the question waits for one, for
	// [TurnConfig.AskTimeout].
	Unattended bool
	// OwnMode reports that the caller has chosen a permission mode for this host: the one
	// that was set in an earlier host does not count.
	OwnMode bool
	Now     func() time.Time
	Rand    io.Reader
	Sleep   func(ctx context.Context, d time.Duration) error // nil: the clock of the machine
	Silence time.Duration                                    // see [runtime.Run]
	// Processes follows what calls and background commands report of their work; the
	// lane closes it. nil: nobody follows.
	Processes *progress.Recorder
	// Report takes what people who look for a fault need to see.
	Report func(what string, detail []byte)
}

// Turns makes ready what the turns of a session run with. Its methods may be called by
// any number of goroutines at once.
type Turns interface {
	// TurnConfig returns what a turn runs with; options, which may be nil, are those of
	// the message that begins it. The lane closes the result when the turn has ended.
	TurnConfig(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*TurnConfig, error)
	// CallConfig returns what the turn of a call that no model makes runs with: the tools are
	// those that can be called so. The lane closes the result.
	CallConfig(ctx context.Context, meta protocol.Meta) (*TurnConfig, error)
	// Hooks returns the hooks of the session where no turn is made ready for which
	// [TurnConfig.Hooks] counts: before a move and when queued messages are changed. nil
	// is none.
	Hooks(ctx context.Context, meta protocol.Meta) (*hook.Chain, error)
	// OpenFiles opens the folders of the session, for restoring files.
	OpenFiles(meta protocol.Meta) (*files.Files, error)
}

// Host does what concerns more than one session. Its methods may be called by any number
// of goroutines at once, never with a lock of the lane held.
type Host interface {
	// FreeSpace returns the free disk space in bytes.
	FreeSpace() (uint64, error)
	// RememberRule stores a rule that a person answered "always" to.
	RememberRule(meta protocol.Meta, rule string) error
	// RunAgent completes a call of Task.
	RunAgent(ctx context.Context, o Order) (tool.Result, error)
}

// Schedules are those of the host.
type Schedules interface {
	Plan(ctx context.Context, in protocol.SessionID, r *protocol.CreateSchedule) (*protocol.ScheduleDetails, error)
	Create(ctx context.Context, by Caller, source protocol.ScheduleSource, in protocol.SessionID, r *protocol.CreateSchedule) (*protocol.Schedule, error)
	List(id protocol.SessionID) ([]protocol.Schedule, error)
	Delete(id protocol.ScheduleID, repeat bool) error
}

// Owner is told what becomes of a lane.
type Owner interface {
	// Idle is called when a turn or a command has ended, and nothing of it is left. It
	// may close the lane.
	Idle()
	// Changed is [publish.Config.Changed].
	Changed()
	// Broke is called, in a goroutine of its own, when something of the session has
	// panicked: nothing of the lane is trusted any more, and [Lane.Abandon] is to follow.
	Broke(*fault.Panic)
}

// Kept is what is stored beside the log for the next host. Each part may be missing.
type Kept struct {
	// Pending marks the session while messages wait.
	Pending queue.File
	// Turn has that a turn runs, and which of its calls have begun.
	Turn *partial.Turn
	// Step has the text of the running step.
	Step *partial.Step
	// Outputs has what background commands print.
	Outputs tasks.Outputs
	// Unkept returns why something of these is not on disk, once, and "" when all of it is.
	Unkept func() string
	// Lost are the background commands that the last host was killed with.
	Lost []partial.Lost
}

// leave stops the writing of what is kept of the running turn; what is there stays for the
// session's next owner.
func (k Kept) leave() {
	if k.Step != nil {
		k.Step.Leave()
	}
	if k.Turn != nil {
		k.Turn.Leave()
	}
}
