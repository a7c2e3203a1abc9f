package cli

import (
	"context"
	"fmt"
	"strings"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// promptCommand gives the slash command that a prompt is: one of the host, or of the
// session's templates, skills or extensions. Any other text that begins with a slash,
// such as a path, is a message; nil says so.
func (a *app) promptCommand(ctx context.Context, l *link, id protocol.SessionID, text string) (*protocol.RunCommand, error) {
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
		if c.Name == name || plain == name || string(c.Source)+":"+plain == name || plain+":"+string(c.Source) == name {
			return &protocol.RunCommand{Name: name, Args: strings.TrimSpace(text[1+len(name):]), WhenBusy: "reject"}, nil
		}
	}
	for _, p := range list.Problems { // one of them may be why
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(p))
	}
	return nil, nil
}
