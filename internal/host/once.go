package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Bounds of the memory of requests; the oldest results go first, and requests that
// are being carried out never. What is no longer in memory is found in the log, when
// the client says that it repeats.
const (
	maxInFlight      = 256  // a client; further ones are refused
	maxResults       = 256  // a client
	maxResultClients = 1024 // clients
	maxResultBytes   = 1 << 10
)

// once remembers the requests that acted, so that each acts once however often
// it is sent.
type once struct {
	mu      fault.Shared
	clients map[protocol.ClientID]*results
	order   []protocol.ClientID // oldest first
}

type results struct {
	byID   map[protocol.RequestID]*outcome
	order  []protocol.RequestID // of those that are done, oldest first
	flying int                  // those that are being carried out
}

// outcome is a request that is being carried out, or what came of it.
type outcome struct {
	body  string        // [protocol.Call.BodyOf]
	done  chan struct{} // closed when reply is set
	reply protocol.Reply
}

// carryOut carries out a request that acts, or gives what came of it when it was
// sent before. Do says whether it has acted, also where it fails. It is carried out also when ctx ends, which the end of the connection
// does: the repeat on the next one meets it.
func (o *once) carryOut(ctx context.Context, client protocol.ClientID, call protocol.Call, do func(context.Context) (reply protocol.Reply, acted bool)) protocol.Reply {
	first, out := o.enter(client, call.RequestID, call.Body)
	switch {
	case out == nil:
		return protocol.Reply{RequestID: call.RequestID, Err: protocol.Errorf(protocol.CodeRateLimited, "%d requests of this client are being carried out; wait for some of them.", maxInFlight)}
	case out.body != call.Body:
		return protocol.Reply{RequestID: call.RequestID, Err: errAnother()}
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
		return protocol.Reply{RequestID: call.RequestID, Err: requestError(err)}
	}
	if first {
		return <-whole
	}
	return out.reply
}

// errAnother is the answer to a request whose name was used for another one.
func errAnother() *protocol.Error {
	return protocol.About("requestId", "", protocol.CodeInvalidRequest, "This requestId was used for another request; draw a new one for each.")
}

// another says whether a cause is that of another request with the same name. One of
// which the body was not kept may be this one.
func another(cause *protocol.Cause, call protocol.Call) bool {
	return cause != nil && cause.Body != "" && call.Body != "" && cause.Body != call.Body
}

// remembered is what is kept of an answer.
func remembered(reply protocol.Reply) protocol.Reply {
	if long, ok := reply.Data.(protocol.Kept); ok {
		reply.Data = long.Keep(maxResultBytes)
	}
	return reply
}

// leave notes that a request has been carried out. What failed before it did anything
// is forgotten: it may be tried again.
func (o *once) leave(client protocol.ClientID, id protocol.RequestID, keep bool) {
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

// enter gives the outcome of a request, and whether the caller is the first to
// send it; nil when the client has too many in flight.
func (o *once) enter(client protocol.ClientID, id protocol.RequestID, body string) (bool, *outcome) {
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
func (o *once) newClient(client protocol.ClientID) *results {
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

// repeated gives the answer to a request that a client repeats because the
// answer was lost, when the log shows that it was carried out.
func (h *Host) repeated(ctx context.Context, client protocol.ClientID, call protocol.Call) (protocol.Response, bool, error) {
	if call.SessionID == "" {
		return nil, false, nil
	}
	index, _, done, err := h.view(ctx, call.SessionID)
	if errors.Is(err, session.ErrNotFound) {
		_, deleted := call.Request.(*protocol.DeleteSession)
		return &protocol.Deleted{}, deleted, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer done()
	id, found, err := index.FindCause(ctx, client, call.RequestID)
	if err != nil {
		return nil, false, err
	}
	if !found {
		return ranAlready(ctx, index, client, call)
	}
	if id == "" { // the header's: the request made the session
		if another(index.Header().Cause, call) {
			return nil, true, errAnother()
		}
		sum := summaryOf(index)
		if _, ok := call.Request.(*protocol.ImportSession); ok {
			found, err := foundOnImport(ctx, index)
			return &protocol.Imported{Summary: sum, Findings: found}, err == nil, err
		}
		return &sum, true, nil
	}
	e, err := index.Event(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if another(e.Cause, call) {
		return nil, true, errAnother()
	}
	if r, ok := call.Request.(*protocol.RewindTo); ok && (r.RestoreFiles || len(r.Files) > 0) {
		moved, err := h.restoreAgain(ctx, call.SessionID, e, r)
		return moved, true, err
	}
	answer := call.Request.Spec().Answer(e)
	if moved, ok := answer.(*protocol.Moved); ok {
		for next, err := range index.EventsAfter(ctx, e.Seq) { // a summary stands directly behind
			if _, ok := next.Body.(*protocol.BranchSummary); err == nil && ok && lane.SameCause(next, e) {
				moved.LeafID, moved.SummaryID = next.ID, next.ID
			}
			break
		}
	}
	return answer, true, nil
}

// errBegun is why nobody knows what became of a request whose host died with it.
var errBegun = protocol.Errorf(protocol.CodeConflict, "the host ended while the command ran")

// ranAlready gives the answer to a command that is repeated and leaves no event that
// names it, when the log shows that it was begun.
func ranAlready(ctx context.Context, index *session.Index, client protocol.ClientID, call protocol.Call) (protocol.Response, bool, error) {
	if _, ok := call.Request.(*protocol.RunCommand); !ok {
		return nil, false, nil
	}
	run, found, err := lane.FindRequest(ctx, index, client, call.RequestID)
	switch {
	case err != nil || !found:
		return nil, false, err
	case another(&protocol.Cause{Body: run.Body}, call):
		return nil, true, errAnother()
	case !run.Ended:
		return nil, true, &actedError{unknownOutcome(errBegun)}
	case run.Error != nil:
		return nil, true, &actedError{run.Error}
	}
	return &protocol.CommandResult{Status: run.Status}, true, nil
}

// actedError is the error of a request that had effects before it failed: its repeat
// fails in the same way, and acts no more.
type actedError struct{ err error }

func (e *actedError) Error() string { return e.err.Error() }

func (e *actedError) Unwrap() error { return e.err }

// acting carries out what leaves no event that names the request: that it begins is
// stored before, and what came of it after.
func (c *commandRun) acting(ctx context.Context, do func() (status string, err error)) (string, error) {
	if err := c.l.RecordRequest(ctx, c.by, lane.RequestRun{}); err != nil {
		return "", err
	}
	status, err := do()
	if rerr := c.acted(ctx, status, err); rerr != nil || err != nil {
		return "", &actedError{cmp.Or(err, rerr)}
	}
	return status, nil
}

// acted stores what came of a request that acted, also when it was cancelled.
func (c *commandRun) acted(ctx context.Context, status string, err error) error {
	run := lane.RequestRun{Ended: true, Status: clip(status)}
	if err != nil {
		pe := *requestError(err)
		pe.Message, pe.Details = clip(pe.Message), nil
		run.Error = &pe
	}
	return c.l.RecordRequest(context.WithoutCancel(ctx), c.by, run)
}

// clip cuts a text to what is kept of an answer.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxResultBytes)], "")
}

// restoreAgain takes back the files of a rewind that is repeated: the host may have
// been killed between the event and the files.
func (h *Host) restoreAgain(ctx context.Context, id protocol.SessionID, rewind protocol.Event, r *protocol.RewindTo) (*protocol.Moved, error) {
	s, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer h.release(s)
	return s.lane.RestoreAgain(ctx, rewind, lane.Move{RestoreFiles: r.RestoreFiles, Files: r.Files})
}
