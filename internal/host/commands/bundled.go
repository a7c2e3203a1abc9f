package commands

import (
	"context"

	"scorel/internal/engine/command"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

// bundledCommands are the templates that are part of the program. Any other command of
// the same name counts in the place of one, so they stand last in a registry.
type bundledCommands struct{ *commandRun }

// List implements [command.Source].
func (bundledCommands) List(context.Context) (out []protocol.CommandInfo, problems []string) {
	for _, t := range command.BundledTemplates() {
		out = append(out, protocol.CommandInfo{Name: t.Name, Description: t.Description, ArgumentHint: t.ArgumentHint,
			Source: protocol.CommandTemplate, Scope: command.Bundled})
	}
	return out, nil
}

// Complete implements [command.Source].
func (bundledCommands) Complete(context.Context, string, string) ([]protocol.Completion, error) {
	return nil, nil
}

// Run implements [command.Source].
func (c bundledCommands) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	data, ok := command.BundledText(name)
	if !ok {
		return nil, protocol.About("name", "", protocol.CodeInvalidRequest, "The command /%s is gone.", name)
	}
	body, err := command.ReadBody(data)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	a, err := command.ParseArgs(args)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "%s.", failure.Sentence(err))
	}
	text, err := body.Expand(ctx, a, nil) // it has no shell lines
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return c.send(ctx, text, "")
}
