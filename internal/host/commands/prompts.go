package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/command"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/mcpservers"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
	"scorel/protocol/framed"
)

// promptPrefix begins the names of prompts of MCP servers.
const promptPrefix = "mcp__"

// maxPrompt is how much text of a prompt is sent, in bytes.
const maxPrompt = 100_000

// serverPrompts are the prompts of a session's MCP servers: /mcp__server__prompt sends what
// the prompt says, marked as the server's. They are listed once the servers have begun,
// which is with the first turn, or with the first of these commands.
type serverPrompts struct {
	*commandRun
	offer *mcpservers.Offer // nil: no server has begun
}

// prompts returns those of the session.
func (c *commandRun) prompts() serverPrompts {
	return serverPrompts{c, c.cs.turns.BegunServers(c.l.ID(), c.root)}
}

// beginPrompts begins the servers of the session and waits for the one that a name is of.
func (c *commandRun) beginPrompts(ctx context.Context, name string) error {
	if c.l == nil || !strings.HasPrefix(name, promptPrefix) {
		return nil
	}
	offer, err := c.cs.turns.Servers(ctx, c.l.ID(), c.l.Meta(), c.options)
	if err != nil {
		return err
	}
	return offer.AwaitListed(ctx, name)
}

// List implements [command.Source].
func (c serverPrompts) List(context.Context) (out []protocol.CommandInfo, problems []string) {
	if c.offer == nil {
		return nil, nil
	}
	for _, p := range c.offer.Prompts() {
		info := protocol.CommandInfo{Name: p.Name, Source: protocol.CommandMCP, Origin: p.Server, ArgumentHint: p.Hint(), Completes: len(p.Arguments) > 0}
		info.Description = strings.Join(strings.Fields(p.Description), " ")
		if info.Description == "" {
			info.Description = p.Title
		}
		info.Description = strings.TrimSpace(info.Description + " (from the MCP server " + p.Server + ")")
		out = append(out, info)
	}
	return out, nil
}

// Complete implements [command.Source]: what the server says that the argument at the end may
// be. A completion is all that is typed after the name.
func (c serverPrompts) Complete(ctx context.Context, name, args string) (out []protocol.Completion, err error) {
	if c.offer == nil {
		return nil, nil
	}
	prompts := c.offer.Prompts()
	i := slices.IndexFunc(prompts, func(p mcpservers.Prompt) bool { return p.Name == name })
	if i < 0 || len(prompts[i].Arguments) == 0 {
		return nil, nil
	}
	p, words := prompts[i], command.Words(args)
	if args == "" || strings.HasSuffix(args, " ") {
		words = append(words, "")
	}
	at := min(len(words), len(p.Arguments)) - 1
	before, typed := map[string]string{}, ""
	for i, a := range p.Arguments[:at] {
		before[a.Name] = words[i]
		typed += quoted(words[i]) + " "
	}
	for _, value := range c.offer.Complete(ctx, p, p.Arguments[at].Name, strings.Join(words[at:], " "), before) {
		out = append(out, protocol.Completion{Value: typed + quoted(value), Label: value})
	}
	return out, nil
}

// quoted is a word as it is typed, so that [command.Words] makes the word of it.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \"'\\") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// Run implements [command.Source].
func (c serverPrompts) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	for _, p := range c.offer.Prompts() {
		if p.Name == name {
			return c.fill(ctx, p, args)
		}
	}
	return nil, protocol.About("name", "", protocol.CodeInvalidRequest, "The command /%s is gone.", name)
}

func (c serverPrompts) fill(ctx context.Context, p mcpservers.Prompt, typed string) (*protocol.CommandResult, error) {
	values, err := arguments(p, command.Words(typed))
	if err != nil {
		return nil, err
	}
	filled, err := c.offer.Fill(ctx, p, values)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "/%s was not sent: the MCP server %s: %s.", p.Name, p.Server, strings.TrimSuffix(failure.Sentence(err), "."))
	}
	if n := len(filled.Text); n > maxPrompt {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "/%s was not sent: what the MCP server %s makes of it has %d bytes, at most %d are taken.", p.Name, p.Server, n, maxPrompt)
	}
	// Who typed it vouches for the wish, not for every word of the server.
	text := promptsafe.Text(framed.ServerPrompt, framed.Attrs(p.Name, typed)+fmt.Sprintf(" server=%q", p.Server), filled.Text)
	return c.sendContent(ctx, append([]protocol.Block{protocol.Text(text)}, filled.Pictures...), "")
}

// arguments returns words to the arguments of a prompt in their order; the last one takes what
// is left.
func arguments(p mcpservers.Prompt, words []string) (map[string]string, error) {
	usage := strings.TrimSpace("Type /" + p.Name + " " + p.Hint())
	if len(words) > 0 && len(p.Arguments) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "/%s takes nothing after its name. %s.", p.Name, usage)
	}
	values, missing := p.Fit(words)
	if len(missing) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "/%s needs %s. %s.", p.Name, strings.Join(missing, " and "), usage)
	}
	return values, nil
}

// sendContent sends what a command became.
func (c *commandRun) sendContent(ctx context.Context, content []protocol.Block, status string) (*protocol.CommandResult, error) {
	sent, err := c.l.Send(ctx, c.by, lane.Message{Content: content, Busy: c.busy, Options: c.options})
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Sent: sent, Status: status}, nil
}
