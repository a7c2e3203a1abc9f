package commands

import (
	"context"

	"scorel/internal/engine/command"
	"scorel/internal/host/confinement"
	"scorel/internal/host/extensions"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/host/turnconfig"
	"scorel/protocol"
)

// Editor changes what a session is like.
type Editor interface {
	UpdateInfo(ctx context.Context, l *lane.Lane, by lane.Caller, changes protocol.MetaChanges) error
}

// Notes has the notes of projects.
type Notes interface {
	AddMemory(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.AddMemory) error
	GetMemory(ctx context.Context, id protocol.SessionID, r *protocol.GetMemory) (*protocol.MemoryView, error)
}

// Automation has the schedules of a host and their runs.
type Automation interface {
	Create(ctx context.Context, by lane.Caller, source protocol.ScheduleSource, in protocol.SessionID, r *protocol.CreateSchedule) (*protocol.Schedule, error)
	List(id protocol.SessionID) ([]protocol.Schedule, error)
	Get(id protocol.ScheduleID) (*protocol.ScheduleDetails, error)
	Set(ctx context.Context, id protocol.ScheduleID, paused bool) (*protocol.Schedule, error)
	Delete(id protocol.ScheduleID, repeat bool) error
	RunNow(ctx context.Context, by lane.Caller, id protocol.ScheduleID) (*protocol.ScheduleRun, error)
	Runs(r *protocol.ListRuns) (*protocol.RunList, error)
	Cancel(id protocol.RunID, repeat bool) (*protocol.ScheduleRun, error)
	Status() (*protocol.AutomationStatus, error)
}

// Jobs makes sessions from templates, and lists them.
type Jobs interface {
	Templates(ctx context.Context, workDir string) (*protocol.JobTemplateList, error)
	List(ctx context.Context) ([]protocol.SessionSummary, error)
	Create(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CreateJob) (*protocol.SessionSummary, error)
	Reply(ctx context.Context, by lane.Caller, id protocol.SessionID, text string) (*protocol.Sent, error)
}

// Config is what [Commands] are made from.
type Config struct {
	Settings   *settings.Settings
	Boxes      *confinement.Boxes
	Extensions *extensions.Extensions
	Turns      *turnconfig.Maker
	Editor     Editor
	Notes      Notes
	Automation Automation
	Jobs       Jobs
}

// Commands has the slash commands of a host.
type Commands struct {
	settings   *settings.Settings
	boxes      *confinement.Boxes
	extensions *extensions.Extensions
	turns      *turnconfig.Maker
	editor     Editor
	notes      Notes
	automation Automation
	jobs       Jobs
	templates  *command.Templates
}

// New makes commands.
func New(cfg Config) *Commands {
	return &Commands{settings: cfg.Settings, boxes: cfg.Boxes, extensions: cfg.Extensions, turns: cfg.Turns, editor: cfg.Editor, notes: cfg.Notes, automation: cfg.Automation, jobs: cfg.Jobs,
		templates: command.NewTemplates(cfg.Settings.Dir)}
}

// Handle enters the handlers of this package's requests.
func (cs *Commands) Handle(t request.Table) {
	cs.handleCommands(t)
	cs.handleMode(t)
	cs.handleProactive(t)
	cs.handleReload(t)
	cs.handleResources(t)
	cs.handleShell(t)
}
