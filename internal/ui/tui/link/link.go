package link

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
)

// maxJobs bounds the requests in order that wait for those before them.
const maxJobs = 64

// Config is what a link needs.
type Config struct {
	// Connect reaches the host, starting one where none runs, and returns a client that
	// connects again by itself. onState is called with the state of the connection, onOther
	// with a sentence when the host is of another build than this program; restart reports
	// whether a host that has ended is to be started again.
	Connect func(ctx context.Context, onState func(client.Change), onOther func(text string), restart func() bool) (*client.Client, error)
	Send    func(tea.Msg) // to the loop of the UI, from any goroutine
	WorkDir string        // of new sessions; "" with a host elsewhere
	// Model, Thinking and Mode (of permissions) are set in the first session; "" leaves
	// them.
	Model, Thinking, Mode string
	// Channels are MCP servers that may push events into the first session, and into those
	// that are made, as TurnOptions names them; so is MCPConfig.
	Channels, MCPConfig []string
}

// Link is the line to the host. Its methods are for the goroutine of the UI unless they
// say otherwise.
type Link struct {
	cfg           Config
	ctx           context.Context // ends with the program
	jobs          chan job
	notifications *notifications

	// stopped reports that somebody has stopped the host: it is started again when
	// something is to be done.
	stopped atomic.Bool
	ready   chan struct{} // closed when reached has the result of the first try
	reached atomic.Pointer[reached]
	// known counts the sessions that were asked for and could not be opened, as far as the
	// UI knows of them.
	known int
	state client.Change // of the connection, as far as the UI knows it
}

// reached is the result of the last try to reach the host. There may be a client though
// err is set.
type reached struct {
	client *client.Client
	err    error
}

// Messages of a link to the loop, beside those of package loop.
type (
	// StateChanged has the state of the connection.
	StateChanged struct{ Change client.Change }
	// Linked reports that the host was reached, or why it cannot be.
	Linked struct {
		Project *protocol.Project
		Err     error
	}
	// Opened reports that another session is open from here on.
	Opened struct {
		ID     protocol.SessionID
		Gen    int // counts the sessions that were opened
		Opened protocol.SessionOpened
		Fresh  bool // it was made just now
		Over   int  // the Gen of the session that it is shown over; 0 for none
		Next   Next // how the next session begins, where ID is ""
	}
	// Next is how the session begins that is made with the next request. ProjectID is the
	// one of the folder that the UI runs in, where it is ""; Mode is of permissions; what is
	// "" is the configuration's.
	Next struct {
		ProjectID                      protocol.ProjectID
		WorkDir, Model, Thinking, Mode string
	}
	// Returned reports that the session below is the open one again.
	Returned struct{ Gen int }
	// Arrived reports that [Link.Updates] has something.
	Arrived struct{}
	// DeviceChanged has what happened on the device.
	DeviceChanged struct{ Changes client.DeviceChanges }
	// OtherBuild reports that the host is of another build than this program.
	OtherBuild struct{ Text string }
	// Failed has an error that belongs to no request of the UI.
	Failed struct{ Err error }
)

// New returns a link that does nothing until [Link.Run]. ctx ends with the program.
func New(ctx context.Context, cfg Config) *Link {
	return &Link{cfg: cfg, ctx: ctx, jobs: make(chan job, maxJobs), ready: make(chan struct{}), notifications: newNotifications(cfg.Send)}
}

// Updates returns all that came of the open session since it was called last.
func (l *Link) Updates() []Update { return l.notifications.take() }

// State is that of the connection as the UI knows it; nothing before the first try has come
// to an end.
func (l *Link) State() client.Change { return l.state }

// SetState takes the state of the connection, which [StateChanged] and [Linked] have.
func (l *Link) SetState(c client.Change) { l.state = c }

// HostStopped notes that somebody has stopped the host: it is not started again before
// there is something to be done.
func (l *Link) HostStopped() { l.stopped.Store(true) }

// WhenReady calls f in the loop when the host was reached or cannot be: [Linked] came
// before.
func (l *Link) WhenReady(f loop.Then) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-l.ready:
			return f
		case <-l.ctx.Done():
			return nil
		}
	}
}

// Host returns the client of the host, when the first try to reach that is over. Any
// goroutine may call it.
func (l *Link) Host(ctx context.Context) (*client.Client, error) {
	select {
	case <-l.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := l.reached.Load()
	return r.client, r.err
}

// do has a job carried out after those before it; false when too many wait.
func (l *Link) do(j job) bool {
	l.stopped.Store(false)
	if r := l.reached.Load(); r != nil && r.client != nil {
		r.client.Retry()
	}
	select {
	case l.jobs <- j:
		return true
	default:
		return false
	}
}

// Ask sends a request beside the order of what was typed, as soon as there is a host.
// Session "" is none.
func Ask[R protocol.Response](l *Link, session protocol.SessionID, req protocol.Request, f func(answer R, err error) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		var answer R
		c, err := l.Host(l.ctx)
		if l.ctx.Err() != nil {
			return nil
		}
		if err == nil {
			answer, err = client.Call[R](l.ctx, c, session, req)
		}
		return loop.Then(func() tea.Cmd { return f(answer, err) })
	}
}

// Target is where an ordered request goes.
type Target struct {
	Client  *client.Client
	Session protocol.SessionID
	// Channels and MCPConfig are what the command line names for the session, see
	// [protocol.TurnOptions].
	Channels, MCPConfig []string
}

// errMissed is the error of a request that was meant for a session that is not shown.
var errMissed = errors.New("the session that was asked for could not be opened, so this went to no other")

// Ordered has a request of the session carried out in the order of what was typed, making
// the session where there is none.
func Ordered[R any](l *Link, call func(ctx context.Context, to Target) (R, error), f func(r R, err error) tea.Cmd) tea.Cmd {
	return inOrder(l, func(ctx context.Context, w *worker) (r R, err error) {
		if err = w.need(ctx); err == nil {
			r, err = call(ctx, Target{w.client, w.id, w.channels, w.servers})
		}
		return r, err
	}, f)
}

// inOrder is Ordered for what needs no session.
func inOrder[R any](l *Link, call func(ctx context.Context, w *worker) (R, error), f func(r R, err error) tea.Cmd) tea.Cmd {
	known := l.known
	ok := l.do(func(ctx context.Context, w *worker) loop.Then {
		var r R
		err := w.err
		if w.missed != known {
			err = errMissed
		}
		if err == nil {
			r, err = call(ctx, w)
		}
		return func() tea.Cmd { return f(r, err) }
	})
	if !ok {
		var r R
		return f(r, fmt.Errorf("%d requests wait already; try again when the host has answered", maxJobs))
	}
	return nil
}
