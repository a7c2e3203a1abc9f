package client

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"scorel/protocol"
)

// eager draws no waits, and all else at random.
type eager struct{}

func (eager) Read(p []byte) (int, error) {
	if len(p) == 8 {
		clear(p)
		return len(p), nil
	}
	return crand.Read(p)
}

// connected makes a client of a real listener.
func connected(t *testing.T, l *listener) *Client {
	t.Helper()
	w := l.unix()
	c := Connect(Config{Dial: w.Dial, Rand: eager{}})
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Connected(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestARequestWhoseConnectionBreaksIsSentAgainAndActsOnce(t *testing.T) {
	acting, reading := &protocol.Steer{}, &protocol.GetStatus{}
	for _, tc := range []struct {
		name   string
		req    protocol.Request
		brk    func(p *peer, c protocol.Call)
		repeat bool
	}{
		{"acting, before the reply", acting, func(p *peer, _ protocol.Call) { p.cut() }, true},
		{"acting, in the middle of the reply", acting, func(p *peer, c protocol.Call) { p.halfReply(c) }, true},
		{"reading, before the reply", reading, func(p *peer, _ protocol.Call) { p.cut() }, false},
		{"reading, in the middle of the reply", reading, func(p *peer, c protocol.Call) { p.halfReply(c) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newListener(t)
			left := 2 // connections that break
			l.call = func(p *peer, c protocol.Call) {
				if left > 0 {
					left--
					tc.brk(p, c)
					return
				}
				if c.Request == nil {
					return
				}
				switch c.Request.(type) {
				case *protocol.Steer:
					p.reply(c, &protocol.Sent{TurnID: "trn_x"})
				default:
					p.reply(c, &protocol.Status{PID: 9})
				}
			}
			c := connected(t, l)
			r, err := Call[protocol.Response](t.Context(), c, one, tc.req)
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := r.(*protocol.Status); ok && s.PID != 9 {
				t.Errorf("the answer: %+v", r)
			}
			var id protocol.RequestID
			for i := range 3 {
				calls := l.callsOf(<-l.joined)
				if len(calls) != 1 {
					t.Fatalf("connection %d saw %d calls", i, len(calls))
				}
				if calls[0].Repeat != (tc.repeat && i > 0) {
					t.Errorf("connection %d: repeat is %v", i, calls[0].Repeat)
				}
				if i > 0 && calls[0].RequestID != id {
					t.Errorf("connection %d: another requestId", i)
				}
				id = calls[0].RequestID
			}
		})
	}
}

func TestARequestThatWasNeverSentIsNoRepeat(t *testing.T) {
	l := newListener(t)
	c := connected(t, l)
	(<-l.joined).cut()
	second := <-l.joined
	if _, err := Call[protocol.Response](t.Context(), c, one, &protocol.Steer{}); err != nil {
		t.Fatal(err)
	}
	if calls := l.callsOf(second); len(calls) != 1 || calls[0].Repeat {
		t.Errorf("the second connection saw %+v", calls)
	}
	// The connection is found broken when the call is handed to it.
	w := newWire()
	refusing := &notSending{wire: newWire()}
	d := Connect(Config{Dial: inTurn(refusing, w), Rand: eager{}})
	defer d.Close()
	if _, err := Call[protocol.Response](t.Context(), d, one, &protocol.Steer{}); err != nil {
		t.Fatal(err)
	}
	if refusing.tried != 1 || len(w.calls) != 1 || w.repeats != 0 {
		t.Errorf("%d tries, then %v with %d repeats", refusing.tried, w.calls, w.repeats)
	}
}

// notSending is a connection that breaks before anything leaves.
type notSending struct {
	*wire
	tried int
}

func (n *notSending) Call(context.Context, protocol.Call) (protocol.Reply, error) {
	n.tried++
	return protocol.Reply{}, fmt.Errorf("broken: %w", ErrNotSent)
}

// inTurn dials one transport after the other; then nothing answers.
func inTurn(ts ...Transport) func(context.Context) (Transport, protocol.Connected, error) {
	var mu sync.Mutex
	return func(context.Context) (Transport, protocol.Connected, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(ts) == 0 {
			return nil, protocol.Connected{}, errors.New("nothing answers")
		}
		t := ts[0]
		ts = ts[1:]
		return t, protocol.Connected{DeviceID: "dev_a", Grant: protocol.GrantControl}, nil
	}
}

func TestWaitsDoubleUpToFifteenSecondsAndAreDrawnFromAllOfTheWindow(t *testing.T) {
	const seeds, tries = 40, 12
	sums := make([]time.Duration, tries)
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			var changes []Change
			var times []time.Time
			c := Connect(Config{Rand: rand.NewChaCha8([32]byte{byte(seed)}), OnState: func(ch Change) { changes = append(changes, ch) },
				Dial: func(ctx context.Context) (Transport, protocol.Connected, error) {
					times = append(times, time.Now())
					if len(times) > tries {
						<-ctx.Done()
					}
					return nil, protocol.Connected{}, errors.New("nothing answers")
				}})
			time.Sleep(5 * time.Minute) // of the bubble's clock
			synctest.Wait()
			if len(times) != tries+1 {
				t.Fatalf("%d tries", len(times))
			}
			for i := range tries {
				limit := min(250*time.Millisecond<<i, 15*time.Second)
				wait := times[i+1].Sub(times[i])
				if wait > limit || wait != changes[i+1].RetryIn {
					t.Errorf("seed %d: wait %d is %v, announced as %v, of at most %v", seed, i, wait, changes[i+1].RetryIn, limit)
				}
				if changes[i+1].State != StateConnecting || changes[i+1].Err == nil {
					t.Errorf("change %d: %+v", i, changes[i+1])
				}
				sums[i] += wait
			}
			_ = c.Close()
			if last := changes[len(changes)-1]; last.State != StateDisconnected || last.Err != nil {
				t.Errorf("the last change: %+v", last)
			}
		})
	}
	for i, s := range sums {
		limit := min(250*time.Millisecond<<i, 15*time.Second)
		if mean := s / seeds; mean < limit/4 || mean > limit*3/4 {
			t.Errorf("wait %d is %v on average, of at most %v: that is no full jitter", i, mean, limit)
		}
	}
}

func TestAHostThatIsReplacedIsFoundSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		var longest time.Duration
		retries := 0
		c := Connect(Config{Dial: inTurn(w), OnState: func(ch Change) {
			if ch.State == StateReconnecting && retries < fastRetries {
				retries++
				longest = max(longest, ch.RetryIn)
			}
		}})
		defer c.Close()
		w.frames <- &protocol.HostStopping{GraceMS: 100, Restarting: true}
		close(w.frames)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if retries != fastRetries || longest > 250*time.Millisecond {
			t.Errorf("%d tries, the longest wait %v", retries, longest)
		}
	})
}

func TestAHostThatRefusesEndsTheClientWithItsReason(t *testing.T) {
	reason := protocol.Errorf(protocol.CodeAuthFailed, "The token is wrong.")
	release := make(chan struct{})
	c := Connect(Config{Dial: func(context.Context) (Transport, protocol.Connected, error) {
		<-release
		return nil, protocol.Connected{}, &PermanentError{reason}
	}})
	defer c.Close()
	errs := make(chan error, 3)
	go func() {
		_, err := Call[protocol.Response](context.Background(), c, "", &protocol.Ping{})
		errs <- err
	}()
	go func() {
		_, err := c.Open(context.Background(), one, 0)
		errs <- err
	}()
	go func() {
		_, err := c.NextDevice(context.Background())
		errs <- err
	}()
	close(release)
	for range 3 {
		var pe *protocol.Error
		if err := <-errs; !errors.As(err, &pe) || pe != reason {
			t.Errorf("it ends with %v", err)
		}
	}
	if _, err := c.Open(t.Context(), one, 0); !errors.Is(err, reason) {
		t.Errorf("behind its end: %v", err)
	}
}

func TestCloseEndsWhateverWaits(t *testing.T) {
	never := func(ctx context.Context) (Transport, protocol.Connected, error) {
		<-ctx.Done()
		return nil, protocol.Connected{}, ctx.Err()
	}
	unwilling := func(context.Context) (Transport, protocol.Connected, error) {
		return nil, protocol.Connected{}, errors.New("nothing answers")
	}
	silent := func(t *testing.T) func(context.Context) (Transport, protocol.Connected, error) {
		l := newListener(t)
		l.call = func(p *peer, c protocol.Call) {
			if _, ok := c.Request.(*protocol.OpenSession); ok {
				p.reply(c, &protocol.SessionOpened{})
			}
		}
		return l.unix().Dial
	}
	for _, tc := range []struct {
		name string
		dial func(t *testing.T) func(context.Context) (Transport, protocol.Connected, error)
		wait func(c *Client, ready func()) error
	}{
		{"a request while it dials", func(*testing.T) func(context.Context) (Transport, protocol.Connected, error) { return never }, func(c *Client, ready func()) error {
			ready()
			_, err := Call[protocol.Response](context.Background(), c, "", &protocol.Ping{})
			return err
		}},
		{"a request while it waits to dial again", func(*testing.T) func(context.Context) (Transport, protocol.Connected, error) { return unwilling }, func(c *Client, ready func()) error {
			ready()
			_, err := Call[protocol.Response](context.Background(), c, "", &protocol.Ping{})
			return err
		}},
		{"a request without an answer", silent, func(c *Client, ready func()) error {
			go ready()
			_, err := Call[protocol.Response](context.Background(), c, "", &protocol.Ping{})
			return err
		}},
		{"Next", silent, func(c *Client, ready func()) error {
			s, err := c.Open(context.Background(), one, 0)
			if err != nil {
				return err
			}
			ready()
			_, err = s.Next(context.Background())
			return err
		}},
		{"Open", func(*testing.T) func(context.Context) (Transport, protocol.Connected, error) { return never }, func(c *Client, ready func()) error {
			ready()
			_, err := c.Open(context.Background(), one, 0)
			return err
		}},
		{"NextDevice", silent, func(c *Client, ready func()) error {
			ready()
			_, err := c.NextDevice(context.Background())
			return err
		}},
		{"Put", silent, func(c *Client, ready func()) error {
			go ready()
			_, err := c.Put(context.Background(), strings.NewReader("x"))
			return err
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Connect(Config{Dial: tc.dial(t)})
			ready := make(chan struct{})
			end := make(chan error)
			go func() { end <- tc.wait(c, func() { close(ready) }) }()
			<-ready
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			var pe *protocol.Error
			if err := <-end; !errors.Is(err, ErrClosed) || !errors.As(err, &pe) || pe.Code != CodeTransportClosed {
				t.Errorf("it ended with %v", err)
			}
			if _, err := Call[protocol.Response](t.Context(), c, "", &protocol.Ping{}); !errors.Is(err, ErrClosed) {
				t.Errorf("behind Close: %v", err)
			}
		})
	}
}

func TestRequestsWithoutAConnectionWaitAndTheirNumberIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan Transport)
		c := Connect(Config{Dial: func(ctx context.Context) (Transport, protocol.Connected, error) {
			select {
			case tr := <-open:
				return tr, protocol.Connected{}, nil
			case <-ctx.Done():
				return nil, protocol.Connected{}, ctx.Err()
			}
		}})
		defer c.Close()
		errs := make(chan error, maxWaiting)
		for range maxWaiting {
			go func() {
				_, err := Call[protocol.Response](context.Background(), c, "", &protocol.Ping{})
				errs <- err
			}()
		}
		synctest.Wait()
		var pe *protocol.Error
		if _, err := Call[protocol.Response](t.Context(), c, "", &protocol.Ping{}); !errors.As(err, &pe) || pe.Code != protocol.CodeRateLimited {
			t.Errorf("one more: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		open <- newWire()
		for range maxWaiting {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if _, err := Call[protocol.Response](ctx, c, "", &protocol.Ping{}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("with the connection there: %v", err)
		}
	})
}

func TestAnUploadWhoseConnectionBreaksBeginsAnew(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 80<<10) // 1.25 MiB: three parts
	l := newListener(t)
	uploads := map[string][]byte{}
	broken := 0
	l.call = func(p *peer, c protocol.Call) {
		r := c.Request.(*protocol.PutBlob)
		if broken < 2 && r.Offset > 0 {
			broken++
			p.cut()
			return
		}
		if int64(len(uploads[r.UploadID])) != r.Offset {
			p.refuse(c, protocol.Errorf(protocol.CodeInvalidRequest, "The part does not follow."))
			return
		}
		uploads[r.UploadID] = append(uploads[r.UploadID], r.Data...)
		if !r.Last {
			p.reply(c, &protocol.BlobRef{})
			return
		}
		p.reply(c, &protocol.BlobRef{SHA256: r.UploadID, Size: r.Offset + int64(len(r.Data))})
	}
	c := connected(t, l)
	ref, err := c.Put(t.Context(), bytes.NewReader(append([]byte("skipped"), want...)[len("skipped"):]))
	if err != nil {
		t.Fatal(err)
	}
	if broken != 2 || !bytes.Equal(uploads[ref.SHA256], want) || ref.Size != int64(len(want)) {
		t.Errorf("after %d breaks %d bytes came of %d", broken, len(uploads[ref.SHA256]), len(want))
	}
	broken = 0
	if _, err := Call[*protocol.BlobRef](t.Context(), c, "", &protocol.PutBlob{UploadID: "u", Offset: 5, Data: []byte("x")}); !errors.Is(err, ErrUploadLost) {
		t.Errorf("a part alone: %v", err)
	}
	l2 := newListener(t)
	l2.call = func(p *peer, _ protocol.Call) { p.cut() }
	c2 := connected(t, l2)
	if _, err := c2.Put(t.Context(), bytes.NewReader(want)); !errors.Is(err, ErrUploadLost) {
		t.Errorf("a connection that always breaks: %v", err)
	}
}

func TestAPayloadIsFetchedOverABrokenConnection(t *testing.T) {
	want := bytes.Repeat([]byte("x0y1z2"), 30<<10)
	l := newListener(t)
	calls := 0
	l.call = func(p *peer, c protocol.Call) {
		r := c.Request.(*protocol.GetBlob)
		if calls++; calls == 2 {
			p.cut()
			return
		}
		p.reply(c, &protocol.BlobPart{Data: want[r.Offset:min(int64(len(want)), r.Offset+int64(r.Length))], Size: int64(len(want))})
	}
	c := connected(t, l)
	var got bytes.Buffer
	sum := sha256.Sum256(want)
	part := protocol.BlobRef{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(want))}
	ref := &protocol.BlobRef{Parts: []protocol.BlobRef{part, part}}
	if err := c.Fetch(t.Context(), one, ref, &got); err != nil || !bytes.Equal(got.Bytes(), append(bytes.Clone(want), want...)) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	l.answer(func(p *peer, c protocol.Call) { p.reply(c, &protocol.BlobPart{}) })
	if err := c.Fetch(t.Context(), one, &protocol.BlobRef{SHA256: "a", Size: 10}, io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a payload that ends early: %v", err)
	}
	l.answer(func(p *peer, c protocol.Call) { p.reply(c, &protocol.BlobPart{Data: []byte("damaged"), Size: 7}) })
	if err := c.Fetch(t.Context(), one, &protocol.BlobRef{SHA256: part.SHA256, Size: 7}, io.Discard); !errors.Is(err, ErrDamaged) {
		t.Errorf("a payload of other content: %v", err)
	}
	l.answer(func(p *peer, c protocol.Call) { p.reply(c, &protocol.BlobPart{Data: []byte("beg"), Size: 7}) })
	if err := c.Fetch(t.Context(), one, &protocol.BlobRef{SHA256: part.SHA256, Size: 3}, io.Discard); err != nil {
		t.Errorf("the beginning of a payload: %v", err)
	}
}

// pipes serves a listener over net.Pipe, so that its time can be a bubble's.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.conns) })
	return nil
}
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "/pipe", Net: "unix"} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	mine, theirs := net.Pipe()
	p.conns <- theirs
	b := &buffered{Conn: mine, out: make(chan []byte, 1000), closed: make(chan struct{})}
	go b.flush()
	return b, nil
}

// buffered takes what is written although nobody reads, as a kernel does.
type buffered struct {
	net.Conn
	out    chan []byte
	closed chan struct{}
	once   sync.Once
}

func (b *buffered) Write(p []byte) (int, error) {
	select {
	case b.out <- bytes.Clone(p):
		return len(p), nil
	case <-b.closed:
		return 0, net.ErrClosed
	}
}

func (b *buffered) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Conn.Close()
}

// flush ends with the connection.
func (b *buffered) flush() {
	for {
		select {
		case p := <-b.out:
			if _, err := b.Conn.Write(p); err != nil {
				return
			}
		case <-b.closed:
			return
		}
	}
}

func TestAHostThatAnswersPingsIsKeptAndASilentOneIsGoneAfterAMinute(t *testing.T) {
	for _, c := range []struct {
		silent bool
		ahead  time.Duration // of the clock while the host was heard last
	}{{false, 0}, {true, 0}, {true, 24 * time.Hour}} {
		silent := c.silent
		synctest.Test(t, func(t *testing.T) {
			l := newListener(t)
			held := make(chan struct{})
			l.call = func(p *peer, c protocol.Call) {
				if silent {
					<-held // a host that is stuck reads nothing, so it answers no ping
				}
				p.reply(c, &protocol.Done{})
			}
			p := &pipes{conns: make(chan net.Conn)}
			l.address = "unix:/pipe"
			go l.server.Serve(p)
			w := l.socket("unix:/pipe")
			w.DialContext = p.dial
			tr := dialled(t, w)
			go func() {
				_, _ = tr.Call(context.Background(), protocol.Call{RequestID: newRequest(), Request: &protocol.Ping{}})
			}()
			synctest.Wait()
			tr.(*socket).heard.Add(int64(c.ahead))
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			_, err := tr.Recv(ctx)
			took := time.Since(begin)
			switch {
			case silent && (took < silence || took > silence+2*pingEvery || !strings.Contains(err.Error(), "silent")):
				t.Errorf("a silent host: gone after %v with %v", took, err)
			case !silent && !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("a host that answers: gone after %v with %v", took, err)
			}
			close(held)
			_ = tr.Close()
			_ = l.server.Close()
			l.cutAll()
			synctest.Wait()
		})
	}
}

func TestDeviceChangesAreCoalescedAndAReconnectSaysWhatWasMissed(t *testing.T) {
	w, next := newWire(), newWire()
	c := Connect(Config{Dial: inTurn(w, next)})
	defer c.Close()
	changed := func(id protocol.SessionID, name string) *protocol.SessionChanged {
		return &protocol.SessionChanged{Summary: protocol.SessionSummary{SessionID: id, FirstPrompt: name}}
	}
	w.frames <- changed(one, "a")
	w.frames <- changed(two, "b")
	w.frames <- changed(one, "c")
	w.frames <- &protocol.ProjectsChanged{}
	w.frames <- &protocol.ClientJoined{ClientInfo: protocol.ClientInfo{ClientID: "cli_x"}}
	w.frames <- &protocol.ClientLeft{ClientInfo: protocol.ClientInfo{ClientID: "cli_x"}}
	w.frames <- &protocol.HostStopping{GraceMS: 5}
	w.frames <- &protocol.ResyncFrame{SessionID: "ses_nobodys"} // what is before it has been noted
	d, err := c.NextDevice(t.Context())
	if err != nil || len(d.Sessions) != 2 || d.Sessions[0].Summary.FirstPrompt != "c" || d.Sessions[1].Summary.FirstPrompt != "b" ||
		!d.Projects || len(d.Clients) != 2 || d.Clients[0].Left || !d.Clients[1].Left || d.Stopping.GraceMS != 5 || d.Missed {
		t.Errorf("%+v %v", d, err)
	}
	w.frames <- changed(one, "lost")
	close(w.frames)
	next.frames <- changed(two, "d")
	next.frames <- &protocol.ResyncFrame{SessionID: "ses_nobodys"}
	if d, err = c.NextDevice(t.Context()); err != nil || !d.Missed || len(d.Sessions) != 1 || d.Sessions[0].Summary.FirstPrompt != "d" {
		t.Errorf("behind a reconnect: %+v %v", d, err)
	}
	for i := range maxNews + 3 {
		next.frames <- changed(protocol.SessionID(fmt.Sprintf("ses_%d", i)), "")
	}
	next.frames <- &protocol.ResyncFrame{SessionID: "ses_nobodys"}
	if d, err = c.NextDevice(t.Context()); err != nil || !d.Missed || len(d.Sessions) > maxNews {
		t.Errorf("too many: missed %v, %d sessions, %v", d.Missed, len(d.Sessions), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.NextDevice(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: %v", err)
	}
}

func TestARetryEndsTheWaitBeforeTheNextTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials, waits := 0, make(chan time.Duration, 64)
		c := Connect(Config{Rand: constant{0xff}, Dial: func(context.Context) (Transport, protocol.Connected, error) {
			dials++
			return nil, protocol.Connected{}, errors.New("nobody answers")
		}, OnState: func(ch Change) {
			if ch.RetryIn > 0 {
				waits <- ch.RetryIn
			}
		}})
		defer c.Close()
		for range 10 { // the waits have become long
			<-waits
		}
		synctest.Wait()
		before, at := dials, time.Now()
		c.Retry()
		synctest.Wait()
		if dials != before+1 || time.Since(at) != 0 {
			t.Errorf("%d more tries after %v", dials-before, time.Since(at))
		}
	})
}

// constant returns the same byte for ever.
type constant struct{ b byte }

func (z constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = z.b
	}
	return len(p), nil
}
