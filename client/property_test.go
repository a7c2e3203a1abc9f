package client

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"scorel/protocol"
)

// simHost lets clients connect to a sim.
type simHost struct {
	mu    sync.Mutex // guards the sim and what follows
	sim   *sim
	links []*simLink
	down  bool
}

// simLink is one connection to it.
type simLink struct {
	host *simHost
	v    *viewer
	gone chan struct{}
	once sync.Once
}

var errDown = errors.New("nothing answers")

func (h *simHost) dial(context.Context) (Transport, protocol.Connected, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		return nil, protocol.Connected{}, errDown
	}
	l := &simLink{host: h, v: h.sim.viewer("a link", 0, 3), gone: make(chan struct{})}
	l.v.more = make(chan struct{}, 1)
	h.links = append(h.links, l)
	return l, protocol.Connected{DeviceID: "dev_sim", Grant: protocol.GrantControl}, nil
}

// cut breaks every connection; h.mu is held.
func (h *simHost) cut() {
	for _, l := range h.links {
		l.end()
	}
	h.links, h.sim.subs = nil, nil
}

func (l *simLink) end() { l.once.Do(func() { close(l.gone) }) }

func (l *simLink) Call(_ context.Context, c protocol.Call) (protocol.Reply, error) {
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	select {
	case <-l.gone:
		return protocol.Reply{}, io.ErrClosedPipe
	default:
	}
	reply := protocol.Reply{RequestID: c.RequestID}
	switch r := c.Request.(type) {
	case *protocol.OpenSession:
		if l.v.open {
			reply.Err = protocol.Errorf(protocol.CodeInvalidRequest, "It is already open on this connection.")
			break
		}
		l.v.joinAt(r.Anchors)
		reply.Data = &protocol.SessionOpened{}
	case *protocol.CloseSession:
		l.v.open, l.v.frames = false, nil
		reply.Data = &protocol.Done{}
	case *protocol.GetPath:
		reply.Data = l.host.sim.page(r)
	}
	return reply, nil
}

func (l *simLink) Recv(ctx context.Context) (protocol.Frame, error) {
	for {
		l.host.mu.Lock()
		select {
		case <-l.gone:
			l.host.mu.Unlock()
			return nil, io.EOF
		default:
		}
		if len(l.v.frames) > 0 {
			data := l.v.frames[0].data
			l.v.frames = l.v.frames[1:]
			l.host.mu.Unlock()
			return protocol.ParseFrame(data)
		}
		l.host.mu.Unlock()
		select {
		case <-l.v.more:
		case <-l.gone:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *simLink) Close() error {
	l.end()
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	l.v.open = false
	return nil
}

// reader follows a session as an entry does, sometimes slowly.
type reader struct {
	s      *Session
	screen *Projection
	got    []protocol.Event // persistent ones after base
	base   protocol.Seq     // of the first state since the last full reload
	fresh  bool             // there was one
	// needless says that it was told to begin again although it held what the log has.
	needless bool
	pause    chan time.Duration
}

func (r *reader) run(ctx context.Context) error {
	for {
		select {
		case d := <-r.pause:
			sleep(ctx, d) // of the bubble's clock
		default:
		}
		u, err := r.s.Next(ctx)
		if err != nil {
			return err
		}
		if u.Resync == protocol.FullReload {
			r.needless = r.needless || r.fresh && (r.base > 0 || len(r.got) > 0)
			r.got, r.fresh = nil, false
		}
		for _, e := range u.Events {
			if !e.IsTransient() && r.fresh {
				r.got = append(r.got, e)
			}
		}
		if u.Fresh && !r.fresh {
			r.fresh, r.base = true, r.s.Live.PersistentLastSeq
		}
		r.screen.Apply(u, &r.s.Live)
	}
}

func TestAClientHoldsTheLogWhateverHappensToItsConnections(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var failed any // in a bubble of its own, from which a failure has to be carried
		synctest.Test(t, func(*testing.T) {
			defer func() { failed = recover() }()
			holdsTheLog(rt)
		})
		if failed != nil {
			panic(failed)
		}
	})
}

// holdsTheLog plays one client over connections that break.
func holdsTheLog(rt *rapid.T) {
	h := &simHost{sim: newSim(rt)}
	c := Connect(Config{Dial: h.dial})
	defer c.Close()
	s, err := c.Open(context.Background(), one, 3)
	if err != nil {
		rt.Fatal(err)
	}
	r := &reader{s: s, screen: NewProjection(), pause: make(chan time.Duration, 1)}
	r.screen.want = 5
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.run(ctx) }()
	for range rapid.IntRange(5, 120).Draw(rt, "steps") {
		h.mu.Lock()
		switch rapid.IntRange(0, 13).Draw(rt, "step") {
		default:
			h.sim.act(rt)
		case 8:
			h.cut()
		case 9:
			h.down = !h.down
		case 10:
			h.cut()
			h.sim.epoch()
		case 11:
			h.sim.overrun(rt)
		case 12:
			select {
			case r.pause <- time.Duration(rapid.IntRange(1, 5000).Draw(rt, "pause")) * time.Millisecond:
			default:
			}
		case 13: // more than a slow reader's buffer takes
			for range frameBuffer + 5 {
				h.sim.user("much")
			}
		}
		h.mu.Unlock()
		switch rapid.IntRange(0, 3).Draw(rt, "time") {
		case 0:
			synctest.Wait()
		case 1:
			time.Sleep(time.Duration(rapid.IntRange(1, 3000).Draw(rt, "passes")) * time.Millisecond)
		}
	}
	h.mu.Lock()
	h.down = false
	h.mu.Unlock()
	time.Sleep(10 * time.Minute) // of the bubble's clock: whatever waits has its time
	synctest.Wait()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		rt.Fatalf("the reader ended with %v", err)
	}
	if err := s.Complete(context.Background(), r.screen); err != nil {
		rt.Fatal(err)
	}
	if a, b := text2(s.Live), text2(h.sim.live); a != b {
		rt.Fatalf("its state is\n%s\nand the host's\n%s", a, b)
	}
	if want := after(h.sim.log, r.base); !slices.EqualFunc(r.got, want, sameEvent) {
		rt.Fatalf("behind %d it was given %d events, and the log has %d", r.base, len(r.got), len(want))
	}
	if r.needless {
		rt.Fatal("it was told to begin anew without need: it asked from a wrong place")
	}
	v := h.sim.viewer("who joins", 5, 2)
	v.settle()
	if a, b := screenText(r.screen.Screen()), screenText(v.screen.Screen()); a != b {
		rt.Fatalf("it shows\n%s\nand who joins\n%s", a, b)
	}
	if err := s.Close(context.Background()); err != nil {
		rt.Fatal(err)
	}
}
