package mcpservers

import (
	"context"
	"slices"

	"scorel/internal/engine/mcp/connect"
)

// maxWatched is of how many resources a session learns that they have changed.
const maxWatched = 100

// Updated is a resource that has changed since it was read.
type Updated struct{ Server, URI string }

// watched is a resource that was read.
type watched struct {
	Updated
	state watching
}

// watching says what is known of a resource that was read.
type watching int

const (
	unchanged watching = iota
	changed            // and the model has not been told
	taken              // as told, but the model is being told now
	told               // and it has not been read since
)

// resource reads a resource of a server, and watches it from then on.
func (o *Offer) resource(ctx context.Context, u *used, c connect.Call) (*connect.Answer, error) {
	o.x.watch(Updated{u.entry.Name, c.Tool}) // before the server can tell of a change
	return u.lease.Resource(ctx, c)
}

// watch notes that a resource is read.
func (x *session) watch(r Updated) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watched = slices.DeleteFunc(x.watched, func(w watched) bool { return w.Updated == r })
	if x.watched = append(x.watched, watched{Updated: r}); len(x.watched) > maxWatched {
		x.watched = slices.Delete(x.watched, 0, 1)
	}
}

// resourceChanged notes that a resource of a server has changed.
func (x *session) resourceChanged(server, uri string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range x.watched {
		if w := &x.watched[i]; w.Updated == (Updated{server, uri}) && w.state == unchanged {
			w.state = changed
		}
	}
}

// TakeUpdated returns the resources that were read in the session and have changed since, each
// once until it is read again, without those of servers that a rule denies. Those of the call
// before are told by then, unless UntakeUpdated has said that they are not.
func (o *Offer) TakeUpdated() (out []Updated) {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	for i := range o.x.watched {
		w := &o.x.watched[i]
		if w.state == taken {
			w.state = told
		}
		if w.state == changed && (o.x.denied == nil || !o.x.denied(connect.PlainName(w.Server))) {
			w.state = taken
			out = append(out, w.Updated)
		}
	}
	return out
}

// UntakeUpdated says that the model has not been told what TakeUpdated returned last.
func (o *Offer) UntakeUpdated() {
	o.x.mu.Lock()
	defer o.x.mu.Unlock()
	for i := range o.x.watched {
		if w := &o.x.watched[i]; w.state == taken {
			w.state = changed
		}
	}
}
