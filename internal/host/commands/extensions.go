package commands

import (
	"context"
	"strings"

	"scorel/internal/extension"
	"scorel/internal/host/extensions"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane/component"
	"scorel/protocol"
)

// extensionCommands is the commands of the extensions of a session; it implements
// [command.Source]. One without extensions has none.
type extensionCommands struct {
	*commandRun
	x *extensions.Session
}

// List implements [command.Source]. It starts the extensions: only they know their
// commands.
func (c extensionCommands) List(ctx context.Context) (list []protocol.CommandInfo, problems []string) {
	commands, err := c.x.Commands(ctx)
	if err != nil {
		return nil, []string{failure.Sentence(err) + "."}
	}
	for _, k := range commands {
		list = append(list, k.CommandInfo)
	}
	return list, nil
}

func (c extensionCommands) find(ctx context.Context, name string) (extension.Command, error) {
	commands, err := c.x.Commands(ctx)
	if err != nil {
		return extension.Command{}, err
	}
	for _, k := range commands {
		if k.Name == name {
			return k, nil
		}
	}
	return extension.Command{}, protocol.About("name", "", protocol.CodeInvalidRequest, "No extension has a command /%.100s any more; /help lists those that there are.", name)
}

// Run implements [command.Source]. While a turn runs the command waits for its next
// step boundary, and the answer does not; one that is immediate runs at once.
func (c extensionCommands) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	k, err := c.find(ctx, name)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context) (string, error) {
		return c.acting(ctx, func() (string, error) {
			status, err := k.Run(component.WithRequester(ctx, c.by.Client), args)
			return status, commandError(err)
		})
	}
	if k.Immediate {
		status, err := run(ctx)
		return &protocol.CommandResult{Status: status}, err
	}
	if !c.l.Working() {
		var status string
		var to *extensions.Movement
		if c.moves {
			ctx, to = extensions.WithMovement(ctx, c.by)
		}
		err := c.l.RunCommand(ctx, name, func(ctx context.Context) (err error) {
			status, err = run(ctx)
			return err
		})
		return &protocol.CommandResult{Status: status, Move: to.Move()}, commandError(err)
	}
	if err := c.x.Queue(k, run); err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Queued: true}, nil
}

// commandError returns the error of a command as the person who sent it is told.
func commandError(err error) error {
	if err == nil {
		return nil
	}
	if pe := protocol.AsError(err); pe.Code != protocol.CodeInternalError {
		return err
	}
	return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", strings.TrimRight(failure.Sentence(err), "."))
}

// Complete implements [command.Source].
func (c extensionCommands) Complete(ctx context.Context, name, args string) ([]protocol.Completion, error) {
	k, err := c.find(ctx, name)
	if err != nil {
		return nil, err
	}
	list, err := k.Complete(ctx, args)
	if err != nil {
		return nil, commandError(err)
	}
	return list.Items, nil
}
