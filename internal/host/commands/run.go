package commands

import (
	"cmp"
	"context"

	"scorel/internal/engine/command"
	"scorel/internal/host/dedup"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// commandRun is somebody who lists or runs slash commands of a folder, or of a
// session.
type commandRun struct {
	cs        *Commands
	l         *lane.Lane // nil: nothing can be run
	by        lane.Caller
	dir, root string
	busy      lane.WhenBusy
	options   *protocol.TurnOptions
	moves     bool // the client carries out a move
}

// commandsOf returns who runs commands of a session, or, without one, lists those of a
// folder.
func (cs *Commands) commandsOf(l *lane.Lane, by lane.Caller, workDir string) (*commandRun, error) {
	if l != nil {
		workDir = l.Meta().WorkDir
	}
	dir, err := cs.settings.LookedAt(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, cs.settings.UserHome)
	return &commandRun{cs: cs, l: l, by: by, dir: dir, root: root}, nil
}

// registry returns the commands of all sources.
func (c *commandRun) registry() command.Registry {
	r := command.Registry{builtins{c}, scheduleCommands{c}, jobCommands{c}, templates{c}, skillCommands{c}}
	if c.l != nil {
		r = append(r, extensionCommands{c, c.cs.extensions.Of(c.l.ID())}, c.prompts())
	}
	return append(r, bundledCommands{c})
}

func (cs *Commands) listCommands(ctx context.Context, l *lane.Lane, by lane.Caller, workDir string) (*protocol.CommandList, error) {
	c, err := cs.commandsOf(l, by, workDir)
	if err != nil {
		return nil, err
	}
	return c.registry().List(ctx), nil
}

func (cs *Commands) completeCommand(ctx context.Context, l *lane.Lane, by lane.Caller, r *protocol.CompleteCommand) (*protocol.CompletionList, error) {
	c, err := cs.commandsOf(l, by, "")
	if err != nil {
		return nil, err
	}
	return c.registry().Complete(ctx, r.Name, r.Args)
}

func (cs *Commands) runCommand(ctx context.Context, l *lane.Lane, by lane.Caller, r *protocol.RunCommand) (*protocol.CommandResult, error) {
	c, err := cs.commandsOf(l, by, "")
	if err != nil {
		return nil, err
	}
	c.busy, c.options, c.moves = lane.WhenBusy(r.WhenBusy), r.Options, r.Moves
	if err := c.beginPrompts(ctx, r.Name); err != nil {
		return nil, err
	}
	return c.registry().Run(ctx, r.Name, r.Args)
}

// expandCommand returns the text of a template, for who uses it elsewhere. Files that it
// names are left to them.
func (cs *Commands) expandCommand(ctx context.Context, r *protocol.ExpandCommand) (*protocol.ExpandedCommand, error) {
	c, err := cs.commandsOf(nil, lane.Caller{}, r.WorkDir)
	if err != nil {
		return nil, err
	}
	found, _ := templates{c}.find(ctx)
	for _, t := range found {
		if t.Name == r.Name || t.Name+":"+string(protocol.CommandTemplate) == r.Name {
			text, err := templates{c}.textOf(ctx, t, r.Args)
			return &protocol.ExpandedCommand{Text: text}, err
		}
	}
	return nil, protocol.About("name", "", protocol.CodeNotFound, "There is no command /%.80s that is a template; list_commands has them.", r.Name)
}

// send sends the text that a command became.
func (c *commandRun) send(ctx context.Context, text, status string) (*protocol.CommandResult, error) {
	return c.sendContent(ctx, []protocol.Block{protocol.Text(text)}, status)
}

// TextCommands returns the templates and skills that are commands of a session.
func (cs *Commands) TextCommands(ctx context.Context, l *lane.Lane) []protocol.CommandInfo {
	c, err := cs.commandsOf(l, lane.Caller{}, "")
	if err != nil {
		return nil
	}
	found, _ := templates{c}.List(ctx)
	skills, _ := skillCommands{c}.List(ctx)
	return append(found, skills...)
}

// handleCommands enters the handlers of this file's requests.
func (cs *Commands) handleCommands(t request.Table) {
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.ListCommands) (protocol.Response, error) {
		if at.Lane == nil {
			return cs.listCommands(ctx, nil, at.By, r.WorkDir)
		}
		return cs.listCommands(ctx, at.Lane, at.By, "")
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.CompleteCommand) (protocol.Response, error) {
		return cs.completeCommand(ctx, at.Lane, at.By, r)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.ExpandCommand) (protocol.Response, error) {
		return cs.expandCommand(ctx, r)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.RunCommand) (protocol.Response, error) {
		return cs.runCommand(ctx, at.Lane, at.By, r)
	})
}

// acting handles what leaves no event that names the request: that it begins is
// stored before, and what came of it after.
func (c *commandRun) acting(ctx context.Context, do func() (status string, err error)) (string, error) {
	if err := c.l.RecordRequest(ctx, c.by, lane.RequestRun{}); err != nil {
		return "", err
	}
	status, err := do()
	if rerr := c.acted(ctx, status, err); rerr != nil || err != nil {
		return "", &failure.Acted{Err: cmp.Or(err, rerr)}
	}
	return status, nil
}

// acted stores what came of a request that acted, also when it was cancelled.
func (c *commandRun) acted(ctx context.Context, status string, err error) error {
	run := lane.RequestRun{Ended: true, Status: dedup.Clip(status)}
	if err != nil {
		pe := *failure.Of(err)
		pe.Message, pe.Details = dedup.Clip(pe.Message), nil
		run.Error = &pe
	}
	return c.l.RecordRequest(context.WithoutCancel(ctx), c.by, run)
}
