package mcpservers

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

const (
	// requireTime is how long an agent waits for the servers that it needs.
	requireTime = 30 * time.Second
	// requirePoll is how often they are looked at meanwhile.
	requirePoll = 500 * time.Millisecond
)

// Require waits until the named servers, and for each pattern of names one server, are
// connected and have tools: at most 30 s, and not longer than one of them can still be. An
// error says which is not.
func (o *Offer) Require(ctx context.Context, named, patterns []string) error {
	if len(named)+len(patterns) == 0 {
		return nil
	}
	limit := time.NewTimer(requireTime)
	defer limit.Stop()
	for {
		missing, why, pending := "", "", false
		for _, p := range slices.Concat(named, patterns) {
			if ok, reason, waits := o.has(p); !ok {
				if missing == "" || !waits {
					missing, why, pending = p, reason, waits
				}
				if !waits {
					break
				}
			}
		}
		if missing == "" {
			return nil
		}
		next := time.NewTimer(requirePoll)
		if pending {
			select {
			case <-next.C:
				continue
			case <-ctx.Done():
				next.Stop()
				return ctx.Err()
			case <-limit.C:
				why = fmt.Sprintf("it has not been connected within %v", requireTime)
			}
		}
		next.Stop()
		return protocol.Errorf(protocol.CodeInvalidRequest, "The agent needs the MCP server %s, which it cannot use: %s.", missing, why)
	}
}

// has reports whether a server of a name or pattern is connected and has tools, else why not,
// and whether that can still change by itself.
func (o *Offer) has(pattern string) (ok bool, why string, waits bool) {
	why = "there is no such server; scorel mcp list shows those that there are"
	for _, u := range o.servers() {
		if is, err := path.Match(pattern, u.entry.Name); err != nil || !is {
			continue
		}
		switch s := u.lease.Status(); {
		case s.State == pool.Connected && len(s.Tools) > 0:
			o.changed(u)
			return true, "", false
		case s.State == pool.Connected:
			why = "it has no tools"
		case s.State == pool.Pending:
			why, waits = "it is being connected with", true
		case s.State == pool.NeedsAuth:
			why = "it wants somebody to sign in: scorel mcp login " + u.entry.Name
		default:
			why = strings.TrimSuffix(s.Problem, ".")
		}
	}
	return false, why, waits
}

// With adds the tools of the named servers, as they are known, to those of others.
func (o *Offer) With(tools []tool.Tool, named []string) []tool.Tool {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	for _, u := range o.x.used {
		if !slices.Contains(named, u.entry.Name) {
			continue
		}
		for _, t := range u.tools {
			if !slices.ContainsFunc(tools, func(other tool.Tool) bool { return other.Spec().Name == t.Spec().Name }) {
				tools = append(tools, t)
			}
		}
	}
	slices.SortFunc(tools, byName)
	return tools
}
