package turnconfig

import (
	"context"

	"scorel/internal/host/mcpservers"
	"scorel/protocol"
)

// Servers begins the MCP servers of a session, as its first turn does, and waits for none.
func (tc *Maker) Servers(ctx context.Context, id protocol.SessionID, meta protocol.Meta, options *protocol.TurnOptions) (*mcpservers.Offer, error) {
	t := &turn{tc: tc, id: id, meta: meta, options: options}
	if options != nil {
		t.by = *options
	}
	if err := t.where(); err != nil {
		return nil, err
	}
	return tc.servers.Offer(ctx, id, t.root, t.cfg, t.over)
}

// BegunServers returns the MCP servers of a session that have begun, nil for none. root is
// that of its workspace.
func (tc *Maker) BegunServers(id protocol.SessionID, root string) *mcpservers.Offer {
	cfg, err := tc.settings.Load(root)
	if err != nil {
		return nil // what begins a turn says it
	}
	return tc.servers.Begun(id, cfg.Permissions.Timeout)
}
