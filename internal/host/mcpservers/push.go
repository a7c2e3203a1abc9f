package mcpservers

import (
	"encoding/json"

	"scorel/internal/engine/config"
	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Pusher takes what the servers of sessions push. Its methods do not wait.
type Pusher interface {
	// Names returns the servers that may push into a session whose turn begins with these
	// settings, as people name them; nil for none.
	Names(id protocol.SessionID, cfg config.Config, over settings.Overrides) []mcpconfig.Channel
	// Turn is told at the beginning of a turn, of a session with such names, what it uses.
	Turn(id protocol.SessionID, in Use)
	// Changed is told that the state of a server of a session has changed.
	Changed(id protocol.SessionID)
	// Pushed takes a notification that came through the connection of a key.
	Pushed(key pool.Key, method string, params json.RawMessage)
	// Lost is told that something which came through the connection of a key did not arrive, and
	// why, as a clause.
	Lost(key pool.Key, why string)
}

// Use is what a session uses whose servers may push.
type Use struct {
	Set     mcpconfig.Set // all that are configured
	Config  config.Channels
	Servers []Pushing // those that are used
}

// Pushing is a server of a session.
type Pushing struct {
	Entry mcpconfig.Entry
	Lease *pool.Lease
}

// push tells who takes what servers push that a turn begins.
func (o *Offer) push(root string, cfg config.Config, over settings.Overrides) {
	if o.s.cfg.Pusher.Names(o.id, cfg, over) == nil {
		return
	}
	o.x.mu.Lock()
	given := o.x.over
	o.x.mu.Unlock()
	over.MCPConfig, over.StrictMCP = given.MCPConfig, given.StrictMCP
	use := Use{Set: o.s.Configured(root, cfg, over), Config: cfg.Channels}
	for _, u := range o.servers() {
		use.Servers = append(use.Servers, Pushing{u.entry, u.lease})
	}
	o.s.cfg.Pusher.Turn(o.id, use)
}
