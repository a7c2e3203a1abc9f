package commands

import (
	"context"
	"fmt"
	"slices"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/permission"
	"scorel/internal/host/lane"
	"scorel/internal/host/mcpservers"
	"scorel/internal/host/request"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// WithResources returns the content of a message with the resources of MCP servers at its
// end that its text names, as @server:uri. A text may have been pasted from elsewhere: so
// what it names is read only where a rule lets the model call the server without a question,
// or a person agrees. An error says that the message was not sent, and why.
func (cs *Commands) WithResources(ctx context.Context, l *lane.Lane, content []protocol.Block, options *protocol.TurnOptions) ([]protocol.Block, error) {
	named := mcpservers.Mentions(content)
	if len(named) == 0 {
		return content, nil
	}
	offer, err := cs.turns.Servers(ctx, l.ID(), l.Meta(), options)
	if err != nil {
		return content, nil // nothing can be begun here; the turn says why
	}
	named, err = offer.Named(named) // before anybody is asked about them
	if len(named) == 0 {
		return content, err
	}
	cfg, err := cs.turns.Of(l.Log())(ctx, l.Meta(), options)
	if err != nil {
		return nil, err
	}
	defer cfg.Close()
	for _, m := range named {
		if err := mayRead(ctx, l, cfg, options, m); err != nil {
			return nil, err
		}
	}
	read, err := offer.Read(ctx, named)
	return slices.Concat(content, read), err
}

// maxResources is how many resources are listed at once.
const maxResources = 100

// handleResources enters the handlers of this file's requests.
func (cs *Commands) handleResources(t request.Table) {
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.ListMCPResources) (protocol.Response, error) {
		list := &protocol.MCPResourceList{Resources: []protocol.MCPResource{}}
		root, _ := workspace.Root(at.Lane.Meta().WorkDir, cs.settings.UserHome)
		offer := cs.turns.BegunServers(at.Lane.ID(), root)
		if offer == nil {
			return list, nil
		}
		most := maxResources
		if r.Limit > 0 {
			most = min(r.Limit, most)
		}
		for _, m := range offer.Resources(r.Query, most) {
			list.Resources = append(list.Resources, protocol.MCPResource{Server: m.Server, URI: m.URI, Name: m.Name, Description: m.Description, MediaType: m.MediaType})
		}
		return list, nil
	})
}

// mayRead returns why a resource may not be read for a message.
func mayRead(ctx context.Context, l *lane.Lane, cfg *lane.TurnConfig, options *protocol.TurnOptions, m mcpservers.Mention) error {
	server := connect.PlainName(m.Server)
	refused := func(why string, reason protocol.Reason) error {
		return protocol.About("content", reason, protocol.CodeForbidden, "The message was not sent, because @%s:%s was not read: %s", m.Server, m.URI, why)
	}
	if cfg.Policy.Removes("", server) {
		return refused("a rule denies the MCP server.", "")
	}
	v, err := l.Judge(cfg, options, permission.Action{Tool: "mcp__" + server, Kind: permission.Exec, Server: server})
	if err != nil || v.Decision == protocol.DecisionAllow {
		return err
	}
	yes, ok := l.Questions().DialogApart(ctx, protocol.Dialog{Kind: protocol.DialogConfirm, Source: "MCP server " + m.Server, Title: "Read this resource into your message?",
		Message: fmt.Sprintf("@%s:%s\n\nYour message names it. It goes to the model with the message.", m.Server, m.URI)}, cfg.AskTimeout)
	switch {
	case !ok:
		return refused("nobody answered; allow it with a permission rule, such as mcp__"+server+".", protocol.ReasonUnasked)
	case string(yes) != "true":
		return refused("you said no.", "")
	}
	return nil
}
