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

// Config is what [Commands] are made from.
type Config struct {
	Settings   *settings.Settings
	Boxes      *confinement.Boxes
	Extensions *extensions.Extensions
	Turns      *turnconfig.Maker
	Editor     Editor
	Notes      Notes
}

// Commands has the slash commands of a host.
type Commands struct {
	settings   *settings.Settings
	boxes      *confinement.Boxes
	extensions *extensions.Extensions
	turns      *turnconfig.Maker
	editor     Editor
	notes      Notes
	templates  *command.Templates
}

// New makes commands.
func New(cfg Config) *Commands {
	return &Commands{settings: cfg.Settings, boxes: cfg.Boxes, extensions: cfg.Extensions, turns: cfg.Turns, editor: cfg.Editor, notes: cfg.Notes,
		templates: command.NewTemplates(cfg.Settings.Dir)}
}

// Handle enters the handlers of this package's requests.
func (cs *Commands) Handle(t request.Table) {
	cs.handleCommands(t)
	cs.handleMode(t)
	cs.handleReload(t)
	cs.handleResources(t)
	cs.handleShell(t)
}
