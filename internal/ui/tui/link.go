package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/protocol"
)

// Bounds of what goes between the model and the host.
const (
	maxJobs  = 64 // requests in order that wait for those before them
	openTail = client.DefaultWindow
)

// link is the line to the host: it carries out requests in the order they were given,
// makes the session when one is first needed, and brings what comes of it. Its state
// belongs to the goroutine of [link.run]; what the model may call says so.
type link struct {
	cfg  *Config
	send func(tea.Msg)
	jobs chan job
	news *news

	// stopped says that somebody has stopped the host: it is started again when something
	// is to be done.
	stopped atomic.Bool

	client  *client.Client
	project *protocol.Project
	err     error // why there is no client, or no project; the next job tries again
	device  sync.WaitGroup

	ready   chan struct{} // closed when reached says what came of the first try
	reached atomic.Pointer[reached]

	started bool   // what the command line says of the first session was done
	mode    string // of permissions, that a new session begins with; "" is the configured one
	missed  int    // counts the sessions that were asked for and could not be opened
	known   int    // of these, what the model knows; it is the model's

	id      protocol.SessionID // of the open session, "" while there is none
	gen     int                // counts the sessions that were opened
	session *client.Session
	stop    context.CancelFunc // of its reader
	readers sync.WaitGroup
}

// reached is what others than the link may know of its line to the host. There may be a
// client though err is set.
type reached struct {
	client *client.Client
	err    error
}

// job is a request in the order of what was typed. It gives what the model does with
// the outcome.
type job func(ctx context.Context, l *link) then

// then is what the model does when a request has ended.
type then func(m *Model) tea.Cmd

// Messages of the link to the model.
type (
	// stateChanged says how the connection stands.
	stateChanged struct{ change client.Change }
	// linked says that the host was reached, or why it cannot be.
	linked struct {
		project *protocol.Project
		err     error
	}
	// opened says that another session is shown from here on.
	opened struct {
		id    protocol.SessionID
		gen   int
		said  protocol.SessionOpened
		fresh bool // it was made just now
	}
	// arrived says that [news] holds something.
	arrived struct{}
	// deviceChanged says what happened on the device.
	deviceChanged struct{ changes client.DeviceChanges }
)

func newLink(cfg *Config, send func(tea.Msg)) *link {
	return &link{cfg: cfg, send: send, mode: cfg.Start.Mode, jobs: make(chan job, maxJobs), ready: make(chan struct{}), news: newNews(send)}
}

// run connects and carries out jobs until ctx ends. It closes what it opened.
func (l *link) run(ctx context.Context) {
	defer rescue(l.send)
	defer l.device.Wait()
	defer func() {
		if l.client != nil {
			_ = l.client.Close()
		}
	}()
	l.connect(ctx)
	close(l.ready)
	for {
		select {
		case j := <-l.jobs:
			if l.err != nil {
				l.connect(ctx)
			}
			if f := j(ctx, l); f != nil {
				l.send(f)
			}
		case <-ctx.Done():
			l.close()
			return
		}
	}
}

// connect reaches the host and makes the folder known there, as far as that was not done.
func (l *link) connect(ctx context.Context) {
	defer func() {
		if before := l.reached.Swap(&reached{l.client, l.err}); before == nil || l.err == nil { // else the job tells
			l.send(linked{l.project, l.err})
		}
	}()
	if l.client == nil {
		if l.dial(ctx); l.err != nil {
			return
		}
		l.device.Go(func() { l.watchDevice(ctx) }) // ends with ctx or the client
	}
	if l.cfg.WorkDir != "" {
		l.project, l.err = client.Call[*protocol.Project](ctx, l.client, "", &protocol.RegisterProject{WorkDir: l.cfg.WorkDir})
	}
}

func (l *link) dial(ctx context.Context) {
	l.client, l.err = l.cfg.Connect(ctx, func(c client.Change) { l.send(stateChanged{c}) }, l.otherBuild, func() bool { return !l.stopped.Load() })
}

// host gives the client of the host, when the first try to reach that is over. Anybody may
// call it.
func (l *link) host(ctx context.Context) (*client.Client, error) {
	select {
	case <-l.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := l.reached.Load()
	return r.client, r.err
}

// otherBuild tells that the host is of another build than this program.
func (l *link) otherBuild(text string) {
	l.send(then(func(m *Model) tea.Cmd { m.toast(levelWarning, text); return nil }))
}

func (l *link) watchDevice(ctx context.Context) {
	defer rescue(l.send)
	for {
		c, err := l.client.NextDevice(ctx)
		if err != nil {
			return
		}
		l.send(deviceChanged{c})
	}
}

// do gives a job to be carried out behind those before it; false when too many wait.
// The model calls it.
func (l *link) do(j job) bool {
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

// need makes a session where none is open.
func (l *link) need(ctx context.Context) error {
	switch {
	case l.err != nil:
		return l.err
	case l.id != "":
		return nil
	case l.project == nil:
		return errors.New("no project is open; pick a session with /resume")
	}
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	meta := protocol.Meta{WorkDir: l.cfg.WorkDir, Model: l.cfg.Start.Model, ThinkingLevel: l.cfg.Start.Thinking}
	if _, err := client.Call[*protocol.SessionSummary](ctx, l.client, id, &protocol.CreateSession{ProjectID: l.project.ProjectID, Meta: meta}); err != nil {
		return err
	}
	return l.open(ctx, id, true)
}

// open shows another session. When it cannot be opened the one before stays.
func (l *link) open(ctx context.Context, id protocol.SessionID, fresh bool) error {
	switch {
	case l.err != nil:
		return l.err
	case id == l.id:
		return nil
	}
	s, err := l.client.Open(ctx, id, openTail)
	if err != nil {
		return err
	}
	l.close()
	l.id, l.session = id, s
	l.gen++
	gen := l.gen
	if err := l.begin(ctx, fresh); err != nil {
		l.send(then(func(m *Model) tea.Cmd { m.fail(err); return nil }))
	}
	reading, stop := context.WithCancel(ctx)
	l.stop = stop
	l.news.begin(gen)
	l.send(opened{id, gen, s.Opened, fresh})
	l.readers.Go(func() { l.read(reading, s, gen) }) // ends with stop or the session
	return nil
}

// begin sets in the first session what the command line says, before anything is sent to
// it, and in one that was made just now, which has all else, the mode.
func (l *link) begin(ctx context.Context, fresh bool) error {
	if l.started && !fresh {
		return nil
	}
	l.started = true
	start := &l.cfg.Start // but for its prompt, which is the model's
	var changes protocol.MetaChanges
	if start.Model != "" {
		changes.Model = &start.Model
	}
	if start.Thinking != "" {
		changes.ThinkingLevel = &start.Thinking
	}
	if !fresh && changes != (protocol.MetaChanges{}) {
		if _, err := client.Call[*protocol.Done](ctx, l.client, l.id, &protocol.UpdateInfo{Changes: changes}); err != nil {
			return err
		}
	}
	if l.mode == "" {
		return nil
	}
	return l.setMode(ctx, l.mode)
}

// setMode sets the permission mode of the session, or of the next one where none is open.
func (l *link) setMode(ctx context.Context, mode string) error {
	if l.id == "" {
		l.mode = mode
		return nil
	}
	_, err := client.Call[*protocol.Done](ctx, l.client, l.id, &protocol.SetMode{Mode: mode})
	return err
}

// miss notes that the session that was asked for is not shown. What was typed behind that
// is sent to no other, until the model knows, which it does with the function.
func (l *link) miss() (tell func()) {
	l.missed++
	n := l.missed
	return func() { l.known = n }
}

// close ends the subscription; the session goes on.
func (l *link) close() {
	if l.session == nil {
		return
	}
	l.stop()
	l.readers.Wait()
	done, cancel := context.WithTimeout(context.Background(), time.Second)
	_ = l.session.Close(done) // it ends with the connection at the latest
	cancel()
	l.session, l.id = nil, ""
}

// read takes updates until the session or ctx ends.
func (l *link) read(ctx context.Context, s *client.Session, gen int) {
	defer rescue(l.send)
	for {
		u, err := s.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		n := update{gen: gen, Update: u, err: err}
		if u.Fresh {
			n.live = s.Live.Clone()
		}
		if !l.news.put(ctx, n) || err != nil {
			return
		}
	}
}

// ask carries out a request beside the order of the jobs, as soon as there is a host.
// Session "" is none.
func ask[R protocol.Response](m *Model, session protocol.SessionID, req protocol.Request, f func(m *Model, answer R, err error) tea.Cmd) tea.Cmd {
	l, ctx := m.link, m.ctx
	return func() tea.Msg {
		var answer R
		c, err := l.host(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			answer, err = client.Call[R](ctx, c, session, req)
		}
		return then(func(m *Model) tea.Cmd { return f(m, answer, err) })
	}
}
