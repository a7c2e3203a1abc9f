package channels

import (
	"fmt"
	"slices"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/host/mcpservers"
)

// What servers declare.
const (
	capability        = "claude/channel"
	relayCapability   = "claude/channel/permission"
	pairingCapability = "scorel/channel/pairing"
)

// named is a channel as somebody has named it.
type named struct {
	mcp.Channel
	config bool // by the configuration alone
}

// gate decides whether a channel may push. A refusal is a clause without a subject; with
// neither a refusal nor a server nobody knows yet.
func gate(n named, in mcpservers.Use) (server *mcpservers.Pushing, refusal string) {
	i := slices.IndexFunc(in.Servers, func(p mcpservers.Pushing) bool { return n.Names(p.Entry) })
	if i < 0 {
		return nil, missing(n, in.Set)
	}
	p := in.Servers[i]
	switch s := p.Lease.Status(); s.State {
	case pool.Pending:
		if s.Problem != "" {
			return nil, "its server cannot be reached now and is tried again (" + s.Problem + "); what it pushes meanwhile is lost"
		}
		return nil, ""
	case pool.NeedsAuth:
		return nil, "its server wants you to sign in"
	case pool.Failed:
		return nil, "its server cannot be used: " + s.Problem
	}
	switch {
	case !p.Lease.Declares(capability):
		return nil, "its server does not declare the capability " + capability
	case p.Lease.CanPush() != nil:
		return nil, fmt.Sprintf("its server cannot push: %v", p.Lease.CanPush())
	case n.config && p.Entry.OfProject():
		return nil, "its server is one of the project's files, which only --channels can name"
	case n.Market != "":
		return nil, fmt.Sprintf("extensions come from no marketplace here, so nobody knows that it is from %q", n.Market)
	case in.Set.Channels.Off:
		return nil, "an administrator has switched channels off"
	case !in.Set.Channels.Allows(n.String()):
		return nil, "an administrator's file does not allow it"
	case in.Config.Limited && !slices.Contains(in.Config.Allowed, n.Channel):
		return nil, "channels.allowed in your config.toml does not have it"
	}
	return &p, ""
}

// missing says why the session has no such server.
func missing(n named, set mcp.Set) string {
	for _, e := range set.Entries {
		switch {
		case !n.Names(e):
		case e.Disabled:
			return "its server is disabled; scorel mcp enable " + e.Name + " switches it on"
		default:
			return "its server is not used in this session"
		}
	}
	if n.Plugin != "" {
		return "no extension of this id has an MCP server"
	}
	return "there is no MCP server of this name here; scorel mcp list shows those that there are"
}
