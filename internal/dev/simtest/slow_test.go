package simtest

import (
	"context"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/client"
	"scorel/internal/engine/model"
	"scorel/internal/host"
	"scorel/internal/host/serve"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
	"scorel/protocol/fold"
)

// Of the answers in the tests of slow clients: with what stands around it such an
// answer is an event of nearly 3 MiB: a longer one is kept apart from its line.
const (
	slowAnswer = 3<<20 - 64<<10 // bytes
	slowPieces = 1000
)

// slowHeap is by how many bytes the process may grow in the course of answers that a
// client does not read: the ring and the queue of the publisher, and what the clients,
// which are in the same process, hold of one answer. All answers together are more than
// twice that, but for those with the race detector.
const slowHeap = 24 << 20

// reciter is a model whose every answer has slowPieces pieces, pace apart.
type reciter struct{ pace time.Duration }

func (reciter) Info() model.Info {
	return model.Info{Ref: "demo", Provider: "demo", ID: "reciter", API: model.APIDemo, ContextWindow: 1 << 24, MaxTokens: 1 << 22}
}

func (m reciter) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		piece := strings.Repeat("to be or not ", slowAnswer/slowPieces/13)
		if !yield(model.BlockStart{Type: protocol.BlockText}, nil) {
			return
		}
		for range slowPieces {
			rest(ctx, m.pace)
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !yield(model.TextDelta{Text: piece}, nil) {
				return
			}
		}
		_ = yield(model.BlockEnd{Block: protocol.Text(strings.Repeat(piece, slowPieces))}, nil) &&
			yield(model.Done{StopReason: protocol.StopEndTurn}, nil)
	}
}

// stopped is a connection whose reader stands still while the gate is shut.
type stopped struct {
	net.Conn
	gate *gate
	ctx  context.Context // ends when it is closed
	stop context.CancelFunc
}

func (c *stopped) Read(p []byte) (int, error) {
	if err := c.gate.pass(c.ctx); err != nil {
		return 0, net.ErrClosed
	}
	return c.Conn.Read(p)
}

func (c *stopped) Close() error {
	c.stop()
	return c.Conn.Close()
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestAClientThatDoesNotReadSlowsNobodyAndCatchesUp has two clients: one reads, the
// other stops in the middle of the first answer. CI runs it with few answers under the
// race detector, and with all of them without it.
func TestAClientThatDoesNotReadSlowsNobodyAndCatchesUp(t *testing.T) {
	for name, c := range map[string]struct {
		pace  time.Duration // 13 answers take at least as long as the client stops
		stops time.Duration
		again bool // it has to connect again
	}{
		"30 s on the same connection":   {3 * time.Millisecond, 30 * time.Second, false},
		"5 minutes, and a reconnection": {25 * time.Millisecond, 5 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { slowly(t, dir, c.pace, c.stops, c.again) })
		})
	}
}

func slowly(t *testing.T, dir string, pace, stops time.Duration, again bool) {
	project := filepath.Join(dir, "project")
	for _, d := range []string{filepath.Join(dir, ".scorel"), project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(1, project)
	h, err := host.New(host.Config{Dir: filepath.Join(dir, ".scorel"), UserHome: dir, Environ: []string{"PATH=/nowhere"}, FS: disk.OS(), Serving: true,
		Overrides: host.Overrides{Model: "demo", Preset: "none"}, Version: "trial", Now: time.Now, Rand: w,
		Demo:        func() (model.Model, error) { return reciter{pace}, nil },
		Confinement: func() sandbox.Status { return sandbox.Status{} }})
	if err != nil {
		t.Fatal(err)
	}
	w.net.heal()
	wires := newWires(w.net)
	server := serve.New(serve.Config{Host: h, Version: "trial", Token: func() string { return token }, Rand: w})
	served := make(chan error, 1)
	go func() { served <- server.Serve(wires, serve.Loopback) }() // ends with the server
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()

	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	fast, err := h.Connect(ctx, protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf([]byte("fast"))}, protocol.GrantControl)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = fast.Close() }()
	ask := func(id protocol.SessionID, r protocol.Request) protocol.Response {
		t.Helper()
		reply, err := fast.Call(ctx, protocol.Call{RequestID: protocol.NewRequestID(w), SessionID: id, Request: r})
		if err != nil || reply.Err != nil {
			t.Fatalf("%s: %v %v", r.Spec().Name, err, reply.Err)
		}
		return reply.Data
	}
	id := protocol.NewSessionID(time.Now(), w)
	p := ask("", &protocol.RegisterProject{WorkDir: project}).(*protocol.Project)
	ask(id, &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: project}})
	ask(id, &protocol.OpenSession{})

	// The slow one follows with the client library.
	road, dials := newGate(), 0
	slow := client.Connect(client.Config{Rand: w, Dial: (&client.WebSocket{URL: "ws://" + wireAddress, Token: token, ClientID: protocol.ClientIDOf([]byte("slow")), Rand: w,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dials++
			c, err := wires.dial(ctx, w.rand(2))
			if err != nil {
				return nil, err
			}
			s := &stopped{Conn: c, gate: road}
			s.ctx, s.stop = context.WithCancel(context.Background())
			return s, nil
		}}).Dial})
	defer func() { _ = slow.Close() }()
	session, err := slow.Open(ctx, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var held holding
	following, faults := make(chan struct{}), make(chan error, 1)
	caughtUp := make(chan protocol.Live, 1)
	go func() { // ends when it has everything
		defer close(following)
		for !isEnd(&held) {
			u, err := session.Next(ctx)
			if err == nil && u.Resync != "" {
				err = held.resync(u.Resync)
			}
			if err == nil {
				err = held.take(u.Events, func(string) bool { return true })
			}
			if err == nil && u.Fresh {
				err = held.fresh(session.Live)
			}
			if err != nil {
				faults <- err
				return
			}
		}
		caughtUp <- session.Live.Clone()
	}()

	// next takes frames for the fast client, up to the end of a turn, and keeps nothing.
	var live protocol.Live
	next := func() {
		t.Helper()
		for {
			f, err := fast.Recv(ctx)
			if err != nil {
				t.Fatal(err)
			}
			switch f := f.(type) {
			case *protocol.LiveFrame:
				live = f.Live
			case *protocol.EventsFrame:
				for _, e := range f.Events {
					fold.Apply(&live, e)
					if e.Type == protocol.TypeRuntimeEnd {
						return
					}
				}
			}
		}
	}
	before := heap()
	var begun time.Time
	for n := range slowAnswers {
		if n > 0 { // so that the conversation is short, however long the log
			ask(id, &protocol.RewindTo{})
		}
		if n == slowAnswers-1 {
			if grown := heap() - before; grown > slowHeap {
				t.Errorf("with %d MB told to nobody the process has grown by %d MB; at most %d MB", n*slowAnswer>>20, grown>>20, slowHeap>>20)
			} else {
				t.Logf("grown by %.1f MB behind %d MB that one client did not read", float64(grown)/1e6, n*slowAnswer>>20)
			}
		}
		at := time.Now()
		ask(id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text(fmt.Sprintf("again %d%s", n, lastIf(n == slowAnswers-1)))}})
		next()
		if took, want := time.Since(at), slowPieces*pace; took < want || took > want+want/100 {
			t.Errorf("answer %d took %v; with nobody slow it takes %v", n+1, took, want)
		}
		if n == 0 {
			begun = time.Now()
			road.shut()
		}
	}
	if d := stops - time.Since(begun); d > 0 {
		rest(ctx, d)
	}
	road.lift()
	at := time.Now()
	select {
	case <-following:
	case <-ctx.Done():
		t.Fatal("the slow client never catches up")
	}
	select {
	case err := <-faults:
		t.Fatal(err)
	default:
	}
	slowLive := <-caughtUp
	if err := sameLive(slowLive, live); err != nil {
		t.Error(err)
	}
	if again != (dials > 1) {
		t.Errorf("the slow client connected %d times", dials)
	}
	data, err := os.ReadFile(filepath.Join(dir, ".scorel", "sessions", string(id)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	log, damaged := logOf(data)
	if err := held.agrees(log); err != nil || damaged > 0 {
		t.Errorf("%v, %d damaged lines", err, damaged)
	}
	if len(data) < slowAnswers*slowAnswer/10*9 {
		t.Errorf("the log has %d bytes", len(data))
	}
	t.Logf("caught up with %d events within %v, in %d connections", len(held.events), time.Since(at), dials)
}

const lastMark = " (the last)"

func lastIf(last bool) string {
	if last {
		return lastMark
	}
	return ""
}

// isEnd reports whether the answer after the last message has come, and its turn is
// over.
func isEnd(h *holding) bool {
	n := len(h.events)
	if n < 2 || h.mode != "" || h.live.Running {
		return false
	}
	m, ok := h.events[n-2].Message()
	return ok && strings.HasSuffix(m.PlainText(), lastMark)
}
