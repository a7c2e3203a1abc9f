package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"scorel/internal/engine/command"
	"scorel/internal/engine/discovery"
	"scorel/internal/engine/trust"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
	"scorel/protocol/framed"
)

// templates are the commands in Markdown files.
type templates struct{ *commandRun }

func (c templates) find(ctx context.Context) ([]command.Template, []string) {
	list, warning := c.cs.settings.Places("commands", c.dir, c.root, ".claude")
	list = append(list, c.cs.extensions.PromptPlaces(ctx, c.root)...)
	found, problems := c.cs.templates.Find(ctx, list)
	if warning != "" {
		problems = append(problems, warning)
	}
	return found, problems
}

// List implements [command.Source].
func (c templates) List(ctx context.Context) (out []protocol.CommandInfo, problems []string) {
	found, problems := c.find(ctx)
	for _, t := range found {
		info := protocol.CommandInfo{Name: t.Name, Description: t.Description, ArgumentHint: t.ArgumentHint, Source: protocol.CommandTemplate,
			Origin: t.Path, Scope: string(t.Place.Scope), Refused: t.Problem}
		if info.Refused == "" && t.Shell && t.Place.Scope == discovery.Project {
			if _, trusted, err := c.read(t); err != nil || !trusted {
				info.Refused = notTrusted(t)
			}
		}
		out = append(out, info)
	}
	return out, problems
}

func notTrusted(t command.Template) string {
	if t.Trusted() == "" {
		return "It has shell lines, and only commands in the top folder of a project can be trusted; move it there, or to your own commands."
	}
	return "Its shell lines are not trusted as they are now; scorel trust shows them."
}

// read returns the content of a template as it is now, and whether its shell lines may
// run.
func (c templates) read(t command.Template) (data []byte, trusted bool, err error) {
	if name := t.Trusted(); name != "" {
		data, trusted, _, err = c.cs.settings.Trust.Read(c.root, trust.KindCommand, name, command.MaxFile)
		if err == nil && data == nil {
			err = fmt.Errorf("%s is gone", t.Path)
		}
		return data, trusted, err
	}
	real, err := t.Place.Resolve(filepath.Base(t.Path), c.cs.settings.Dir)
	if err != nil {
		return nil, false, fmt.Errorf("%s %w", t.Path, err)
	}
	content, err := discovery.Read(filepath.Dir(real), filepath.Base(real), command.MaxFile)
	if err != nil {
		return nil, false, fmt.Errorf("%s %w", t.Path, err)
	}
	return content.Data, t.Place.Scope != discovery.Project, nil
}

// Complete implements [command.Source].
func (templates) Complete(context.Context, string, string) ([]protocol.Completion, error) {
	return nil, nil
}

// Run implements [command.Source].
func (c templates) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	found, _ := c.find(ctx)
	for _, t := range found {
		if t.Name == name {
			return c.expand(ctx, t, args)
		}
	}
	return nil, protocol.About("name", "", protocol.CodeInvalidRequest, "The command /%s is gone.", name)
}

// textOf returns the text of a template that has no shell lines.
func (c templates) textOf(ctx context.Context, t command.Template, typed string) (string, error) {
	data, _, err := c.read(t)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	body, err := t.ReadBody(data)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "%s: %s.", t.Path, err)
	}
	if body.Shell() {
		return "", protocol.Errorf(protocol.CodeForbidden, "/%s has shell lines, which run only in a session; send /%s to one.", t.Name, t.Name)
	}
	args, err := command.ParseArgs(typed)
	if err != nil {
		return "", protocol.Errorf(protocol.CodePayloadTooLarge, "%s.", failure.Sentence(err))
	}
	text, err := body.Expand(ctx, args, nil)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return text, nil
}

func (c templates) expand(ctx context.Context, t command.Template, typed string) (*protocol.CommandResult, error) {
	data, trusted, err := c.read(t)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	body, err := t.ReadBody(data)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s: %s.", t.Path, err)
	}
	if body.Shell() && !trusted {
		return nil, protocol.Errorf(protocol.CodeForbidden, "/%s cannot be run: %s", t.Name, notTrusted(t))
	}
	args, err := command.ParseArgs(typed)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "%s.", failure.Sentence(err))
	}
	options, notes := c.turnOf(t)
	own := options != c.options
	if own {
		c.options, c.busy = options, lane.BusyReject
	}
	var ran []string
	config, done := c.turnConfig()
	defer done()
	text, err := body.Expand(ctx, args, c.shell(config, &ran))
	var files string
	if err == nil {
		files, err = c.named(ctx, config, body, args)
	}
	if err != nil {
		var pe *protocol.Error
		if !errors.As(err, &pe) {
			pe = protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
		}
		return nil, c.afterShell(ctx, ran, pe)
	}
	if t.Place.Scope == discovery.Project && text != "" {
		// Who typed it vouches for the wish, not for every word of the project's file.
		text = promptsafe.Text(framed.ProjectCommand, framed.Attrs(t.Name, typed)+fmt.Sprintf(" path=%q", t.Path), text)
	}
	if len(ran) > 0 {
		notes = append([]string{"ran " + strings.Join(ran, ", ")}, notes...)
	}
	sent, err := c.send(ctx, text+files, strings.Join(notes, "; "))
	if pe := (*protocol.Error)(nil); own && errors.As(err, &pe) && pe.Code == protocol.CodeRuntimeBusy {
		err = protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running, and this command begins one %s; send it again when the turn has ended.", c.with(t))
	}
	if err != nil {
		return nil, c.afterShell(ctx, ran, err)
	}
	return sent, nil // the message names the request
}
