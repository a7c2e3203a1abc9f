package client

import (
	"context"
	"slices"

	"scorel/protocol"
)

// Bounds of what a projection holds of a path: events, and bytes of their lines. It
// always holds one. Older ones are asked for again when they are wanted.
const (
	// DefaultWindow is how many of the newest events of the path a projection shows
	// unless it is asked for more.
	DefaultWindow  = 200
	maxWindow      = 2000
	maxWindowBytes = 32 << 20
)

// Projection is what a person sees of a session, folded from the updates of a
// subscription: the newest events of the active path, and what is running. Two
// projections that are at the same place show the same, whatever way their
// updates took, once nothing is [Projection.Missing].
//
// It does no I/O. It belongs to one goroutine.
type Projection struct {
	want     int
	live     protocol.Live
	path     []protocol.Event // the end of the active path, oldest first
	bytes    int              // of their lines
	complete bool             // the path begins with its first event
	heavy    bool             // older ones would be more than maxWindowBytes
}

// Screen is what a [Projection] shows.
type Screen struct {
	// Events are the newest of the active path, oldest first; More says that older
	// ones exist.
	Events []protocol.Event `json:"events"`
	More   bool             `json:"more"`
	// Todos is the todo list as of the newest of these events that changed it; none
	// when all is done.
	Todos []Todo `json:"todos,omitempty"`
	// Labels are the names of these events.
	Labels map[protocol.EventID]string `json:"labels,omitempty"`
	// Live is all else: the running turn with its messages, tools and questions,
	// queues, meta and usage.
	Live protocol.Live `json:"live"`
}

// Todo is one entry of the todo list. Status is pending, in_progress or completed.
type Todo = protocol.Todo

// NewProjection makes a projection that shows nothing yet.
func NewProjection() *Projection { return &Projection{want: DefaultWindow} }

// Apply takes in an update; live is the state of the session after it, as in
// [Session.Live], of which nothing is kept.
func (p *Projection) Apply(u Update, live *protocol.Live) {
	if u.Resync == protocol.FullReload {
		*p = Projection{want: p.want}
	}
	if u.Fresh {
		u.Live = live
	}
	u.Fold(&p.live, p.event)
	if u.Fresh {
		p.seek(p.live.LeafID)
	}
}

// event takes in one event, which is newer than all before and is in the state.
func (p *Projection) event(e protocol.Event) {
	if _, moves := e.Leaf(); moves {
		p.seek(p.live.LeafID)
		return
	}
	if e.Class() != protocol.Conversation {
		return
	}
	p.seek(e.ParentID)
	p.path = append(p.path, e)
	p.bytes += size(e)
	p.trim()
}

// seek cuts the path after an event; when that is not held, nothing is.
func (p *Projection) seek(leaf protocol.EventID) {
	if n := len(p.path); n > 0 && p.path[n-1].ID == leaf {
		return
	}
	i := slices.IndexFunc(p.path, func(e protocol.Event) bool { return e.ID == leaf })
	for _, e := range p.path[i+1:] {
		p.bytes -= size(e)
	}
	clear(p.path[i+1:])
	p.path, p.heavy = p.path[:i+1], false
	if i < 0 {
		p.complete = leaf == ""
	}
}

// trim drops the oldest events that are too many.
func (p *Projection) trim() {
	n := max(0, len(p.path)-p.want)
	drop := func(e protocol.Event) { p.bytes -= size(e) }
	for _, e := range p.path[:n] {
		drop(e)
	}
	for ; n < len(p.path)-1 && p.bytes > maxWindowBytes; n++ {
		drop(p.path[n])
		p.heavy = true
	}
	if n > 0 {
		p.path, p.complete = slices.Delete(p.path, 0, n), false
	}
}

// size is what an event counts as.
func size(e protocol.Event) int { return len(e.Raw()) }

// Missing returns the request for events of the path that belong on the screen and
// are not held, nil when there are none: after a branch to events that the client
// never saw, when more are wanted, or after a gap in a damaged log.
func (p *Projection) Missing() *protocol.GetPath {
	switch n := len(p.path); {
	case p.complete || p.heavy || n >= p.want:
		return nil
	case n > 0:
		return &protocol.GetPath{BeforeID: p.path[0].ID, Limit: p.want - n}
	case p.live.LeafID != "":
		return &protocol.GetPath{LeafID: p.live.LeafID, Limit: p.want}
	}
	return nil
}

// Fill takes in the answer to what was [Projection.Missing]. One that is no longer
// missing is dropped. A page that cannot be had is filled with an empty one, which
// is the beginning of the path then.
func (p *Projection) Fill(asked *protocol.GetPath, page *protocol.Events) {
	switch {
	case p.complete:
		return
	case asked.BeforeID != "" && (len(p.path) == 0 || p.path[0].ID != asked.BeforeID):
		return
	case asked.BeforeID == "" && (len(p.path) > 0 || p.live.LeafID != asked.LeafID):
		return
	}
	older := slices.Clone(page.Events)
	slices.Reverse(older)
	for _, e := range older {
		p.bytes += size(e)
	}
	p.path = append(older, p.path...)
	p.complete = !page.More
	p.trim()
}

// Older wants n more events of the path on the screen, at most 2,000 in all. They
// are Missing then, as far as there are any.
func (p *Projection) Older(n int) { p.want = min(p.want+max(0, n), maxWindow) }

// Live is what is running, and all else of [Screen.Live]. It changes with the
// projection and is not to be changed.
func (p *Projection) Live() *protocol.Live { return &p.live }

// Path is the newest events of the active path that are held, oldest first, as
// [Screen.Events]. It changes with the projection and is not to be changed.
func (p *Projection) Path() []protocol.Event { return p.path }

// More reports that older events of the path exist than are held, as [Screen.More].
func (p *Projection) More() bool { return !p.complete && p.live.LeafID != "" }

// Screen returns what is to be seen. It shares nothing that changes, and so copies all of
// it: who draws often takes [Projection.Live] and [Projection.Path].
func (p *Projection) Screen() Screen {
	s := Screen{Events: slices.Clone(p.path), More: p.More(), Live: p.live.Clone()}
	if s.Events == nil {
		s.Events = []protocol.Event{}
	}
	for _, l := range p.live.Labels {
		if slices.ContainsFunc(s.Events, func(e protocol.Event) bool { return e.ID == l.TargetEventID }) {
			if s.Labels == nil {
				s.Labels = map[protocol.EventID]string{}
			}
			s.Labels[l.TargetEventID] = l.Label
		}
	}
	for _, e := range slices.Backward(p.path) {
		if b, ok := e.Body.(*protocol.MessageBody); ok {
			if todos, ok := protocol.TodosOf(b.Message); ok {
				s.Todos = todos
				break
			}
		}
	}
	return s
}

// Complete asks for what is missing on a projection of the session until nothing
// is.
func (s *Session) Complete(ctx context.Context, p *Projection) error {
	for asked := p.Missing(); asked != nil; asked = p.Missing() {
		page, err := Call[*protocol.Events](ctx, s.c, s.id, asked)
		if err != nil {
			return err
		}
		p.Fill(asked, page)
	}
	return nil
}
