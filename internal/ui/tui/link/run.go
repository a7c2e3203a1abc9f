package link

import (
	"context"
	"sync"
	"time"

	"scorel/client"
	"scorel/internal/ui/tui/loop"
	"scorel/protocol"
)

// worker is the side of a link that belongs to the goroutine of [Link.Run].
type worker struct {
	*Link
	client  *client.Client
	project *protocol.Project
	err     error // why there is no client, or no project; the next job tries again
	device  sync.WaitGroup

	started bool // what the command line says of the first session was done
	next    Next // how the next session begins
	missed  int  // counts the sessions that were asked for and could not be opened
	opened  int  // counts the sessions that were opened

	subscription               // to the open session, to which requests go
	under        *subscription // to the one that it is shown over; nil mostly
}

// subscription is a session that updates come of.
type subscription struct {
	id       protocol.SessionID // "" while there is none
	gen      int
	channels []string // those of the session
	servers  []string // as TurnOptions.MCPConfig, of the session
	session  *client.Session
	stop     context.CancelFunc // ends its reader
	ended    chan struct{}      // closed when that has ended
}

// end ends the subscription; the session goes on.
func (s *subscription) end() {
	if s.session == nil {
		return
	}
	s.stop()
	<-s.ended
	done, cancel := context.WithTimeout(context.Background(), time.Second)
	_ = s.session.Close(done) // it ends with the connection at the latest
	cancel()
	*s = subscription{}
}

// job is a request in the order of what was typed. It returns what the UI does with the
// outcome, nil for nothing.
type job func(ctx context.Context, w *worker) loop.Then

func (l *Link) worker() *worker { return &worker{Link: l, next: l.first()} }

// Run connects and does requests until the program ends. It closes what it opened.
func (l *Link) Run() {
	defer loop.Rescue(l.cfg.Send)
	w := l.worker()
	ctx := l.ctx
	defer w.device.Wait()
	defer func() {
		if w.client != nil {
			_ = w.client.Close()
		}
	}()
	w.connect(ctx)
	close(l.ready)
	for {
		select {
		case j := <-l.jobs:
			if w.err != nil {
				w.connect(ctx)
			}
			if f := j(ctx, w); f != nil {
				l.cfg.Send(f)
			}
		case <-ctx.Done():
			w.close()
			return
		}
	}
}

// connect reaches the host and makes the folder known there, as far as that was not done.
func (w *worker) connect(ctx context.Context) {
	defer func() {
		if before := w.reached.Swap(&reached{w.client, w.err}); before == nil || w.err == nil { // else the job reports it
			w.cfg.Send(Linked{w.project, w.err})
		}
	}()
	if w.client == nil {
		if w.dial(ctx); w.err != nil {
			return
		}
		w.device.Go(func() { w.watchDevice(ctx) }) // ends with ctx or the client
	}
	if w.cfg.WorkDir != "" {
		w.project, w.err = client.Call[*protocol.Project](ctx, w.client, "", &protocol.RegisterProject{WorkDir: w.cfg.WorkDir})
	}
}

func (w *worker) dial(ctx context.Context) {
	w.client, w.err = w.cfg.Connect(ctx, func(c client.Change) { w.cfg.Send(StateChanged{c}) },
		func(text string) { w.cfg.Send(OtherBuild{text}) }, func() bool { return !w.stopped.Load() })
}

func (w *worker) watchDevice(ctx context.Context) {
	defer loop.Rescue(w.cfg.Send)
	for {
		c, err := w.client.NextDevice(ctx)
		if err != nil {
			return
		}
		w.cfg.Send(DeviceChanged{c})
	}
}
