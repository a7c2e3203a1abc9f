package component

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"scorel/protocol"
)

// Bounds of components.
const (
	maxOpen    = 16               // that are open at once in a session
	maxName    = 64               // bytes of the name that an extension gives one
	frameEvery = time.Second / 30 // of each that is sent of one, on average
	frameBurst = 4                // frames that may be sent at once: keys come at no even pace
)

// Viewer is a connection that can show a component. Its methods wait for nobody.
type Viewer interface {
	// Info describes the client.
	Info() protocol.ClientInfo
	// Notify has a frame go to the client.
	Notify(f protocol.Frame)
}

// Questions shows people that a component is there.
type Questions interface {
	// Component shows a dialog of kind custom until somebody closes it, it is not wanted any
	// more, or its time is over; it reports false where it was not shown. opened is called when
	// it is shown.
	Component(ctx context.Context, id string, d protocol.Dialog, timeout time.Duration, opened func()) bool
	// SetOwner tells people who has the component now; owner is asked under a lock that orders
	// the answers.
	SetOwner(id string, owner func() *protocol.UIOwner)
}

// Input is what reaches the extension of a component.
type Input struct {
	Rev           int64
	Width, Height int
	Data          []string
}

// Frame is what an extension has drawn, as it sent it.
type Frame struct {
	Rev    int64
	Width  int
	Lines  []string
	Cursor *protocol.UICursor
}

// Config is what [Components] need.
type Config struct {
	Session   protocol.SessionID
	Questions Questions
	// Requester returns the client of whose message the turn that runs began, "" for none.
	Requester func() protocol.ClientID
	Rand      io.Reader
	// Panicked is told of a panic in a goroutine of this package.
	Panicked func(any)
}

// Components are those of one session.
type Components struct {
	cfg Config

	mu      sync.Mutex // guards all below
	viewers []*viewer  // in the order in which they came
	acts    int64
	open    []*component
}

// viewer is a connection that could show components.
type viewer struct {
	Viewer
	acted int64 // when it made a request last: a counter
}

// New returns the components of a session, of which none is open.
func New(cfg Config) *Components { return &Components{cfg: cfg} }

// Attach says that a client with somebody at it watches the session, and detach, which is
// called once, that it no longer does: what it had is free then.
func (cs *Components) Attach(v Viewer) (detach func()) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.viewers = append(cs.viewers, &viewer{Viewer: v})
	return func() { cs.detach(v) }
}

func (cs *Components) detach(v Viewer) {
	cs.mu.Lock()
	cs.viewers = slices.DeleteFunc(cs.viewers, func(o *viewer) bool { return o.Viewer == v })
	var freed []*component
	for _, c := range cs.open {
		if c.owner == v {
			c.setOwner(nil)
			freed = append(freed, c)
		}
	}
	cs.mu.Unlock()
	for _, c := range freed {
		cs.tellOwner(c)
	}
}

// Acted notes that a connection has asked for something in the session: of those of one
// client, the one that asked last is meant.
func (cs *Components) Acted(v Viewer) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, o := range cs.viewers {
		if o.Viewer == v {
			cs.acts++
			o.acted = cs.acts
		}
	}
}

// requesterKey is the key of the client for whose request something is done.
type requesterKey struct{}

// WithRequester returns a context of what is done for a client's request: a component that
// is shown for it is that client's.
func WithRequester(ctx context.Context, client protocol.ClientID) context.Context {
	return context.WithValue(ctx, requesterKey{}, client)
}

// Show shows a component of an extension, which names it; input takes what is for it, and
// must not wait. It returns when the component is closed, for whatever reason, or at once
// where nobody is there who could look at it, which shown reports. The error is a sentence for
// the extension.
func (cs *Components) Show(ctx context.Context, d protocol.Dialog, name string, timeout time.Duration, input func(Input) error) (shown bool, err error) {
	if name == "" || len(name) > maxName {
		return false, fmt.Errorf("the id of a component is 1 to %d bytes long", maxName)
	}
	requester, _ := ctx.Value(requesterKey{}).(protocol.ClientID)
	if requester == "" {
		requester = cs.cfg.Requester()
	}
	c := &component{cs: cs, id: protocol.NewUIID(cs.cfg.Rand), source: d.Source, name: name, input: input}
	if err := cs.add(c, requester); err != nil {
		return false, err
	}
	defer cs.remove(c)
	first := cs.ownerOf(c)
	d.Owner = first
	return cs.cfg.Questions.Component(ctx, c.id, d, timeout, func() {
		if now := cs.ownerOf(c); (now == nil) != (first == nil) || now != nil && *now != *first {
			cs.tellOwner(c) // it left meanwhile
		}
		if v := cs.viewerOf(c); v != nil {
			v.Notify(&protocol.UIFrame{SessionID: cs.cfg.Session, UIID: c.id, State: protocol.FrameGiven})
		}
	}), nil
}

// add opens a component and chooses who has it.
func (cs *Components) add(c *component, requester protocol.ClientID) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.open) >= maxOpen {
		return fmt.Errorf("%d components are open already", maxOpen)
	}
	if slices.ContainsFunc(cs.open, func(o *component) bool { return o.source == c.source && o.name == c.name }) {
		return fmt.Errorf("the component %q is open already", c.name)
	}
	var chosen *viewer
	for _, v := range cs.viewers {
		asked := requester != "" && v.Info().ClientID == requester
		if chosen == nil || asked && (chosen.Info().ClientID != requester || v.acted > chosen.acted) {
			chosen = v
		}
	}
	if chosen != nil {
		c.owner = chosen.Viewer
	}
	cs.open = append(cs.open, c)
	return nil
}

func (cs *Components) remove(c *component) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.open = slices.DeleteFunc(cs.open, func(o *component) bool { return o == c })
	c.close()
}

// viewerOf returns the connection that has a component, nil for none.
func (cs *Components) viewerOf(c *component) Viewer {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return c.owner
}

// ownerOf is viewerOf for people.
func (cs *Components) ownerOf(c *component) *protocol.UIOwner {
	v := cs.viewerOf(c)
	if v == nil {
		return nil
	}
	info := v.Info()
	return &protocol.UIOwner{ClientID: info.ClientID, ClientName: info.ClientName}
}

func (cs *Components) tellOwner(c *component) {
	cs.cfg.Questions.SetOwner(c.id, func() *protocol.UIOwner { return cs.ownerOf(c) })
}

// Take makes a connection the one that has a component.
func (cs *Components) Take(v Viewer, r *protocol.TakeUI) (*protocol.UITaken, error) {
	c, before, in, err := cs.take(v, r)
	if err != nil {
		return nil, err
	}
	if before != v {
		if before != nil {
			before.Notify(&protocol.UIFrame{SessionID: cs.cfg.Session, UIID: c.id, State: protocol.FrameTaken})
		}
		cs.tellOwner(c)
	}
	return &protocol.UITaken{Rev: in.Rev}, nil
}

func (cs *Components) take(v Viewer, r *protocol.TakeUI) (c *component, before Viewer, in Input, err error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if !slices.ContainsFunc(cs.viewers, func(o *viewer) bool { return o.Viewer == v }) {
		return nil, nil, in, protocol.Errorf(protocol.CodeInvalidRequest, "What an extension draws is for a person; open the session on an interactive connection first.")
	}
	if c = cs.find(r.UIID); c == nil {
		return nil, nil, in, errClosed()
	}
	before = c.owner
	c.setOwner(v)
	c.width, c.height = max(1, r.Width), max(1, r.Height)
	in = Input{Rev: c.rev, Width: c.width, Height: c.height}
	if err := c.input(in); err != nil {
		return nil, nil, in, err
	}
	return c, before, in, nil
}

// Input brings keys, or another size, to a component that the connection has.
func (cs *Components) Input(v Viewer, r *protocol.UIInput) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.find(r.UIID)
	switch {
	case c == nil:
		return errClosed()
	case c.owner != v || c.width == 0:
		return protocol.Errorf(protocol.CodeConflict, "What the extension draws is not open on this connection; take it with take_ui.")
	case r.Rev <= c.rev:
		return nil // a repeat
	}
	width, height := c.width, c.height
	if r.Width > 0 {
		width = r.Width
	}
	if r.Height > 0 {
		height = r.Height
	}
	if err := c.input(Input{Rev: r.Rev, Width: width, Height: height, Data: r.Data}); err != nil {
		return err
	}
	c.rev, c.width, c.height = r.Rev, width, height
	return nil
}

func errClosed() error {
	return protocol.Errorf(protocol.CodeConflict, "What the extension has drawn is closed.")
}

// find returns an open component, nil for none. mu is held.
func (cs *Components) find(id string) *component {
	for _, c := range cs.open {
		if c.id == id {
			return c
		}
	}
	return nil
}

// Draw takes a frame of an extension for a component that it has named. It waits for nobody:
// of frames that come faster than people see them only the newest is shown. What is for no
// open component, or for one that nobody has, is dropped.
func (cs *Components) Draw(source, name string, f Frame) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.open {
		if c.source == source && c.name == name {
			c.draw(f)
		}
	}
}
