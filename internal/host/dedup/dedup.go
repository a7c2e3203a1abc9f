package dedup

import (
	"context"
	"slices"
	"strings"

	"scorel/internal/host/failure"
	"scorel/internal/host/guard"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Bounds of the memory of requests; the oldest results go first, and requests that
// are being handled never. What is no longer in memory is found in the log, when
// the client says that it repeats.
const (
	maxInFlight      = 256  // a client; further ones are refused
	maxResults       = 256  // a client
	maxResultClients = 1024 // clients
	maxResultBytes   = 1 << 10
)

// Requests remembers the requests that acted, so that each acts once however often
// it is sent. The zero value remembers none.
type Requests struct {
	mu      fault.Shared
	clients map[protocol.ClientID]*results
	order   []protocol.ClientID // oldest first
}

// Watch has the process end when a panic leaves the memory half changed.
func (o *Requests) Watch(g *guard.Guard) { g.Watch(&o.mu) }

type results struct {
	byID   map[protocol.RequestID]*outcome
	order  []protocol.RequestID // of those that are done, oldest first
	flying int                  // those that are being carried out
}

// outcome is a request that is being handled, or what came of it.
type outcome struct {
	body  string        // [protocol.Call.BodyOf]
	done  chan struct{} // closed when reply is set
	reply protocol.Reply
}

// Handle handles a request that acts, or returns what came of it when it was sent before.
// do reports whether it has acted, also where it fails. It goes on when ctx ends, which the
// end of the connection does: the repeat on the next one meets it.
func (o *Requests) Handle(ctx context.Context, client protocol.ClientID, call protocol.Call, do func(context.Context) (reply protocol.Reply, acted bool)) protocol.Reply {
	first, out := o.enter(client, call.RequestID, call.Body)
	switch {
	case out == nil:
		return protocol.Reply{RequestID: call.RequestID, Err: protocol.Errorf(protocol.CodeRateLimited, "%d requests of this client are running; wait for some of them.", maxInFlight)}
	case out.body != call.Body:
		return protocol.Reply{RequestID: call.RequestID, Err: ErrAnother()}
	}
	whole := make(chan protocol.Reply, 1)
	if first {
		go func() { // ends with what the request does, which ends with its session
			reply, acted := do(context.WithoutCancel(ctx)) // catches panics
			out.reply = remembered(reply)
			o.leave(client, call.RequestID, acted)
			whole <- reply
			close(out.done)
		}()
	}
	if err := awaitReply(ctx, out); err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: failure.Of(err)}
	}
	if first {
		return <-whole
	}
	return out.reply
}

// ErrAnother is the answer to a request whose name was used for another one.
func ErrAnother() *protocol.Error {
	return protocol.About("requestId", "", protocol.CodeInvalidRequest, "This requestId was used for another request; use a new one for each.")
}

// IsAnother reports whether a cause is that of another request with the same name. One of
// which the body was not kept may be this one.
func IsAnother(cause *protocol.Cause, call protocol.Call) bool {
	return cause != nil && cause.Body != "" && call.Body != "" && cause.Body != call.Body
}

// remembered is what is kept of an answer.
func remembered(reply protocol.Reply) protocol.Reply {
	if long, ok := reply.Data.(protocol.Kept); ok {
		reply.Data = long.Keep(maxResultBytes)
	}
	return reply
}

// leave notes that a request has been handled. What failed before it did anything
// is forgotten: it may be tried again.
func (o *Requests) leave(client protocol.ClientID, id protocol.RequestID, keep bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.clients[client] // one with a request in flight is never dropped
	r.flying--
	if !keep {
		delete(r.byID, id)
		return
	}
	if len(r.order) >= maxResults {
		delete(r.byID, r.order[0])
		r.order = r.order[1:]
	}
	r.order = append(r.order, id)
}

func awaitReply(ctx context.Context, o *outcome) error {
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter returns the outcome of a request, and whether the caller is the first to
// send it; nil when the client has too many in flight.
func (o *Requests) enter(client protocol.ClientID, id protocol.RequestID, body string) (bool, *outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.clients[client]
	if r == nil {
		r = o.newClient(client)
	}
	if out := r.byID[id]; out != nil {
		return false, out
	}
	if r.flying >= maxInFlight {
		return false, nil
	}
	r.flying++
	out := &outcome{body: body, done: make(chan struct{})}
	r.byID[id] = out
	return true, out
}

// newClient makes the memory of a client, in the place of the oldest one that has
// nothing in flight. mu is held.
func (o *Requests) newClient(client protocol.ClientID) *results {
	if o.clients == nil {
		o.clients = map[protocol.ClientID]*results{}
	}
	if len(o.order) >= maxResultClients {
		oldest := slices.IndexFunc(o.order, func(id protocol.ClientID) bool { return o.clients[id].flying == 0 })
		if oldest >= 0 { // else there are as many more as connections allow
			delete(o.clients, o.order[oldest])
			o.order = slices.Delete(o.order, oldest, oldest+1)
		}
	}
	r := &results{byID: map[protocol.RequestID]*outcome{}}
	o.clients[client], o.order = r, append(o.order, client)
	return r
}

// Clip cuts a text to what is kept of an answer.
func Clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxResultBytes)], "")
}
