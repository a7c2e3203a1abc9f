package mcpservers

import (
	"context"
	"slices"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/mcptool"
	"scorel/internal/engine/tool"
)

// Limit has the resources of servers left out that a rule denies. It counts until it is
// called again.
func (o *Offer) Limit(denied func(server string) bool) {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	o.x.denied = denied
}

// readable returns the servers that have resources, as they are known, without those that a
// rule denies.
func (o *Offer) readable() (out []mcptool.Readable) {
	o.x.mu.Lock()
	denied, list := o.x.denied, o.x.used
	o.x.mu.Unlock()
	for _, u := range list {
		if s := u.lease.Status(); s.Lists.Readable && (denied == nil || !denied(connect.PlainName(u.entry.Name))) {
			out = append(out, mcptool.Readable{Name: u.entry.Name, Resources: s.Lists.Resources, Read: func(ctx context.Context, c connect.Call) (*connect.Answer, error) { return o.resource(ctx, u, c) }})
		}
	}
	return out
}

// resources takes in whether a server has resources. mu is held.
func (o *Offer) resources(u *used, s pool.Status) {
	if !s.Listed || u.readable == s.Lists.Readable {
		return
	}
	u.readable = s.Lists.Readable
	o.gather()
}

// awaitResources waits for the first lists of servers, where all their tools are wanted:
// the tools for resources exist only where a server has some.
func (o *Offer) awaitResources(ctx context.Context) error {
	if err := o.AwaitAllListed(ctx); err != nil {
		return err
	}
	for _, u := range o.servers() {
		o.changed(u)
	}
	return nil
}

// resourceTools returns the tools for resources, none where no server has some.
func (o *Offer) resourceTools() []tool.Tool {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	return o.x.read
}

// makeResourceTools makes the tools for resources exist where a server has some. mu is held.
func (o *Offer) makeResourceTools() {
	switch has := slices.ContainsFunc(o.x.used, func(u *used) bool { return u.readable }); {
	case has && o.x.read == nil:
		o.x.read = mcptool.ResourceTools(o.readable, o.people(), payloads{o.s.cfg.Blobs})
	case !has:
		o.x.read = nil
	}
}
