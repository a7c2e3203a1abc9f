package mcpcmd

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/host/mcpservers"
	"scorel/internal/platform/disk"
	"scorel/internal/ui/plain"
	"scorel/protocol/display"
)

// maxChecks is how many servers scorel mcp list --check connects with at once.
const maxChecks = 8

// check connects with the servers that count, side by side, and puts what it found into
// their states. Those that would not be started are left as they are. list begins with the
// entries of the set, in their order.
func (cs *commands) check(ctx context.Context, f *files, list []server) {
	var all sync.WaitGroup
	turn := make(chan struct{}, maxChecks)
	for i, e := range f.set.Entries {
		if list[i].Status != mcpConfigured {
			continue
		}
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			list[i].Status = cs.state(ctx, f, e)
		})
	}
	all.Wait()
}

// state connects with one server and says how that went.
func (cs *commands) state(ctx context.Context, f *files, e mcp.Entry) string {
	reached, _, err := cs.reach(f, e)
	if err != nil {
		return "failed: " + display.Line(err.Error())
	}
	s, err := connect.Open(ctx, reached.Target, connect.Options{Version: cs.Version, Root: f.root})
	if errors.Is(err, connect.ErrNeedsAuth) {
		return "needs a sign-in: scorel mcp login " + display.Line(e.Name)
	}
	if err != nil {
		return "failed: " + display.Line(err.Error())
	}
	defer s.Close()
	tools, _, err := s.Tools(ctx)
	if err != nil {
		return "connected, but its tools cannot be listed: " + display.Line(err.Error())
	}
	return "connected, " + plain.Count(len(tools), "tool")
}

// signedIn reports whether somebody is signed in to the server of an entry, "" where nobody
// signs in to it, or where that is not known because the entry cannot be used.
func (f *files) signedIn(e mcp.Entry) string {
	r, err := mcpservers.Reach(e, f.set.Policy, f.vars, f.in)
	if err != nil {
		return ""
	}
	login, err := mcpservers.NewLogin(e, r, disk.OS(), filepath.Join(f.home, ".scorel", "credentials.json"), f.version)
	if err != nil || login == nil {
		return ""
	}
	switch in, err := login.SignedIn(); {
	case err != nil:
		return "not known: " + display.Line(err.Error())
	case in:
		return "yes"
	}
	return "no"
}
