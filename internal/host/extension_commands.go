package host

import (
	"context"
	"fmt"
	"strings"

	"scorel/internal/extension"
	"scorel/protocol"
)

// maxQueuedCommands bounds the commands of extensions that wait for a step border
// behind their request.
const maxQueuedCommands = 16

// extensionCommands is the commands of the extensions of a session; it implements
// [command.Source]. One without extensions has none.
type extensionCommands struct {
	*commandRun
	x *extended
}

// List implements [command.Source]. It starts the extensions: only they know their
// commands.
func (c extensionCommands) List(ctx context.Context) (list []protocol.CommandInfo, problems []string) {
	if c.x == nil {
		return nil, nil
	}
	if err := c.x.load(ctx); err != nil {
		return nil, []string{sentence(err) + "."}
	}
	for _, k := range c.x.set.Commands() {
		list = append(list, k.CommandInfo)
	}
	return list, nil
}

func (c extensionCommands) find(ctx context.Context, name string) (extension.Command, error) {
	if c.x != nil {
		if err := c.x.load(ctx); err != nil {
			return extension.Command{}, err
		}
		for _, k := range c.x.set.Commands() {
			if k.Name == name {
				return k, nil
			}
		}
	}
	return extension.Command{}, protocol.About("name", "", protocol.CodeInvalidRequest, "No extension has a command /%.100s any more; /help lists those that there are.", name)
}

// Run implements [command.Source]. While a turn runs the command waits for its next
// step border, and the answer does not; one that is immediate runs at once.
func (c extensionCommands) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	k, err := c.find(ctx, name)
	if err != nil {
		return nil, err
	}
	x := c.x
	run := func(ctx context.Context) (string, error) {
		return c.acting(ctx, func() (string, error) {
			status, err := k.Run(ctx, args)
			return status, commandError(err)
		})
	}
	if k.Immediate {
		status, err := run(ctx)
		return &protocol.CommandResult{Status: status}, err
	}
	if !x.lane.Working() {
		var status string
		err := x.lane.AtBorder(ctx, func(ctx context.Context) (err error) {
			status, err = run(ctx)
			return err
		})
		return &protocol.CommandResult{Status: status}, commandError(err)
	}
	x.mu.Lock()
	full := x.queued >= maxQueuedCommands || x.ctx.Err() != nil
	if !full {
		x.queued++
		x.wg.Add(1)
	}
	x.mu.Unlock()
	if full {
		return nil, protocol.Errorf(protocol.CodeRateLimited, "%d commands wait already for the running turn.", maxQueuedCommands)
	}
	go func() { // ends with the command, or the session
		defer x.wg.Done()
		defer func() {
			if r := recover(); r != nil {
				x.lane.Panicked(r)
			}
		}()
		err := x.lane.AtBorder(x.ctx, func(ctx context.Context) error {
			status, err := run(ctx)
			if err == nil && status != "" {
				x.lane.Notify(k.Origin, "info", status)
			}
			return err
		})
		x.mu.Lock()
		x.queued--
		x.mu.Unlock()
		if err != nil && x.ctx.Err() == nil {
			x.lane.Notify(k.Origin, "error", fmt.Sprintf("/%s: %s", k.Name, sentence(err)))
		}
	}()
	return &protocol.CommandResult{Queued: true}, nil
}

// commandError gives the error of a command as the person who sent it is told.
func commandError(err error) error {
	if err == nil {
		return nil
	}
	if pe := protocol.AsError(err); pe.Code != protocol.CodeInternalError {
		return err
	}
	return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", strings.TrimRight(sentence(err), "."))
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
