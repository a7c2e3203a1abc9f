package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"scorel/internal/host/audience"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Conn is a connection of one client. Its methods may be called concurrently;
// frames come to one receiver at a time.
type Conn struct {
	h             *Host
	client        protocol.ClientID
	name          string
	interactive   bool
	ctx           context.Context // ends with the connection
	stop          context.CancelFunc
	frames        chan protocol.Frame
	wg            sync.WaitGroup // of what sends frames
	notifications audience.Outbox

	uploading sync.Mutex         // held while a part is stored: they come one at a time
	uploads   map[string]*upload // guarded by it

	mu    sync.Mutex // guards what follows; no I/O under it
	grant protocol.Grant
	why   *protocol.Error // why the host ended the connection, if it did
	subs  map[protocol.SessionID]*subscription
	blobs map[string]bool // payloads that this client may read without naming a session
}

// Connect lets a client in that has proved who it is, with the grant it has.
func (h *Host) Connect(_ context.Context, hello protocol.Hello, grant protocol.Grant) (*Conn, error) {
	switch {
	case hello.ProtocolVersion != protocol.Version:
		return nil, protocol.Errorf(protocol.CodeUnsupportedProtocol, "The client speaks protocol %d and the host %d; use the same version of Scorel for both.", hello.ProtocolVersion, protocol.Version)
	case len(hello.ClientName) > protocol.MaxName:
		return nil, protocol.About("clientName", "", protocol.CodeInvalidRequest, "The client's name has %d bytes; it can have at most %d.", len(hello.ClientName), protocol.MaxName)
	case hello.ClientID == protocol.HostClient || hello.ClientID.Check() != nil:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The client id %q is not valid.", hello.ClientID)
	}
	if err := grant.Check(); err != nil && grant != protocol.GrantPending {
		return nil, protocol.Errorf(protocol.CodeForbidden, "%s.", failure.Sentence(err))
	}
	c := &Conn{h: h, client: hello.ClientID, name: hello.ClientName, interactive: hello.Interactive, grant: grant, frames: make(chan protocol.Frame),
		subs: map[protocol.SessionID]*subscription{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	if len(hello.PublicKey) > 0 {
		_ = h.entries.Seen(c.client) // for people only: who cannot write it may still come in
	}
	if err := h.sessions.Enter(); err != nil {
		return nil, err
	}
	if !h.audience.Join(c) {
		h.sessions.Leave()
		return nil, protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
	}
	if grant == protocol.GrantPending {
		stop := c.expirePending()
		context.AfterFunc(c.ctx, func() { stop() })
	}
	return c, nil
}

// Call handles one request. It fails only when the connection is closed; a
// request that fails is a reply with an error.
func (c *Conn) Call(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	if c.ctx.Err() != nil {
		return protocol.Reply{}, io.ErrClosedPipe
	}
	if !c.h.cfg.Codec {
		return c.handle(ctx, call), nil
	}
	data, err := json.Marshal(call)
	if err != nil {
		return protocol.Reply{}, err
	}
	parsed, err := protocol.ParseCall(data)
	if err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: protocol.AsError(err)}, nil
	}
	if data, err = json.Marshal(c.handle(ctx, parsed)); err != nil {
		return protocol.Reply{}, err
	}
	return protocol.ParseReply(data, call.Request.Spec().Name)
}

func (c *Conn) handle(ctx context.Context, call protocol.Call) protocol.Reply {
	if problem := call.Check(); problem != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: problem.Err()}
	}
	if err := c.allowed(call.Request); err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: err}
	}
	if !call.Request.Spec().Mutates {
		return c.answer(ctx, call, c.dispatch)
	}
	call.Body = call.BodyOf()
	return c.h.requests.Handle(ctx, c.client, call, func(ctx context.Context) (reply protocol.Reply, acted bool) {
		done, err := c.h.sessions.Act()
		if err != nil {
			return protocol.Reply{RequestID: call.RequestID, Err: failure.Of(err)}, false
		}
		defer done()
		reply = c.answer(ctx, call, func(ctx context.Context, call protocol.Call) (data protocol.Response, err error) {
			defer func() {
				var failed *failure.Acted
				acted = err == nil || errors.As(err, &failed)
			}()
			if call.Repeat {
				data, was, err := c.h.repeated(ctx, c.client, call)
				if was {
					return data, err
				}
				if err != nil {
					return nil, failure.UnknownOutcome(err)
				}
			}
			return c.dispatch(ctx, call)
		})
		return reply, acted
	})
}

// allowed returns why the client may not make a request, if so.
func (c *Conn) allowed(r protocol.Request) *protocol.Error {
	grant := c.granted()
	if grant == protocol.GrantPending {
		return protocol.About("", protocol.ReasonPending, protocol.CodeForbidden,
			"This client waits until a person confirms it: with scorel clients confirm %s on the machine of the host, or where that shows it.", c.client)
	}
	if needed := r.Spec().Grant; !grant.Allows(needed) {
		return protocol.Errorf(protocol.CodeForbidden, "This entry has the grant %s; %s needs %s. The owner of the device can widen it.", grant, r.Spec().Name, needed)
	}
	if n, ok := r.(protocol.NamesFolder); ok && !grant.Allows(protocol.GrantControl) {
		if dir := n.NamedFolder(); dir != "" && !c.h.rooms.settings.InProject(dir) {
			return protocol.About("workDir", "", protocol.CodeForbidden, "This entry has the grant %s, and may name the folders of known projects only; list_projects has them.", grant)
		}
	}
	return nil
}

// answer makes the reply to a request. A panic is a reply, too.
func (c *Conn) answer(ctx context.Context, call protocol.Call, do func(context.Context, protocol.Call) (protocol.Response, error)) (reply protocol.Reply) {
	defer func() {
		if r := recover(); r != nil {
			c.h.guard.Caught("", "carrying out "+call.Request.Spec().Name, fault.Caught(r))
			reply = protocol.Reply{RequestID: call.RequestID, Err: failure.Inside()}
		}
	}()
	data, err := do(ctx, call)
	if err != nil {
		pe := failure.Of(err)
		c.noteCall(call, pe)
		return protocol.Reply{RequestID: call.RequestID, Err: pe}
	}
	c.noteCall(call, nil)
	return protocol.Reply{RequestID: call.RequestID, Data: data}
}

// Frames returns the frames for the client, for one receiver, which takes them in their
// order; when Done is closed, none follows.
func (c *Conn) Frames() <-chan protocol.Frame { return c.frames }

// Done is closed when the connection has ended, by whichever side.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// Recv waits for the next frame; [io.EOF] is the end of the connection.
func (c *Conn) Recv(ctx context.Context) (protocol.Frame, error) {
	select {
	case f := <-c.frames:
		if !c.h.cfg.Codec {
			return f, nil
		}
		data, err := protocol.MarshalFrame(f)
		if err != nil {
			return nil, err
		}
		return protocol.ParseFrame(data)
	case <-c.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the connection and its subscriptions.
func (c *Conn) Close() error {
	c.stop()
	c.mu.Lock()
	subs := c.subs
	c.subs = nil // no subscription is added any more
	c.mu.Unlock()
	c.dropUploads()
	c.notifications.Close()
	c.wg.Wait()
	for _, s := range subs {
		s.end()
	}
	if c.h.audience.Leave(c) {
		c.h.sessions.Leave()
	}
	return nil
}

// Why returns why the host has ended the connection, nil when it has not.
func (c *Conn) Why() *protocol.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// caller names the client and request for the lane.
func (c *Conn) caller(call protocol.Call) lane.Caller {
	return lane.Caller{Client: c.client, Request: call.RequestID, Body: call.Body, OnceOnly: !c.granted().Allows(protocol.GrantControl)}
}

func (c *Conn) granted() protocol.Grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grant
}

// canAnswer reports whether the client can answer what people are asked.
func (c *Conn) canAnswer() bool { return c.interactive && c.granted().Allows(protocol.GrantAnswer) }

func (c *Conn) send(ctx context.Context, f protocol.Frame) error {
	select {
	case c.frames <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
