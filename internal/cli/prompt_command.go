package cli

import (
	"context"
	"fmt"
	"strings"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// promptCommand gives the slash command that a prompt is: one of the session's
// templates, skills or extensions. Any other text that begins with a slash, such as a
// path, is a message; nil says so.
func (l *link) promptCommand(ctx context.Context, id protocol.SessionID, text string) (*protocol.RunCommand, error) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return nil, nil
	}
	name := text[1:]
	if i := strings.IndexAny(name, " \t\r\n"); i >= 0 {
		name = name[:i]
	}
	if name == "" || strings.Contains(name, "/") {
		return nil, nil
	}
	list, err := client.Call[*protocol.CommandList](ctx, l.Client, id, &protocol.ListCommands{})
	if err != nil {
		return nil, err
	}
	for _, c := range list.Commands {
		plain, _, _ := strings.Cut(c.Name, ":")
		if c.Source != protocol.CommandBuiltin && (c.Name == name || plain == name || string(c.Source)+":"+plain == name || plain+":"+string(c.Source) == name) {
			return &protocol.RunCommand{Name: name, Args: strings.TrimSpace(text[1+len(name):]), WhenBusy: "reject"}, nil
		}
	}
	return nil, nil
}

// runPrompt runs a command for scorel -p. It gives the turn that answers; "" when the
// command is done, and then what it printed is the result.
func (a *app) runPrompt(ctx context.Context, l *link, run *protocol.RunCommand, res *result) (protocol.TurnID, error) {
	done, err := client.Call[*protocol.CommandResult](ctx, l.Client, res.SessionID, run)
	if err != nil {
		return "", err
	}
	if done.Sent != nil {
		if done.Status != "" {
			fmt.Fprintln(a.stderr, "scorel: "+display.Line(done.Status))
		}
		return done.Sent.TurnID, nil
	}
	res.Result, res.Terminal = done.Text, protocol.TerminalCompleted
	if res.Result == "" {
		res.Result = done.Status
	}
	return "", nil
}
