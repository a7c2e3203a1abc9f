package simtest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// wireAddress is what the host listens on; nothing of it leaves the bubble.
const wireAddress = "127.0.0.1:4711"

// wires is the listener of a host, and the way to it.
type wires struct {
	net    *network
	accept chan net.Conn
	once   sync.Once
	closed chan struct{}

	mu   sync.Mutex
	open map[*wire]struct{}
}

func newWires(n *network) *wires {
	return &wires{net: n, accept: make(chan net.Conn), closed: make(chan struct{}), open: map[*wire]struct{}{}}
}

// Accept implements [net.Listener].
func (l *wires) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *wires) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *wires) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711} }

// dial lays a wire to the listener, whose far end the host gets.
func (l *wires) dial(ctx context.Context, r *rand.Rand) (net.Conn, error) {
	near, far := net.Pipe()
	w := &wire{Conn: near, l: l, r: r, left: 1 << 40, gone: make(chan struct{})}
	if !l.net.isGood() {
		switch r.IntN(3) {
		case 0:
			w.left = 1 + r.IntN(1<<(4+r.IntN(12))) // the cut may fall into any byte, also of the handshake
		case 1:
			w.writes = 1 + r.IntN(40) // at the boundary of what the host writes at once
		}
	}
	l.mu.Lock()
	l.open[w] = struct{}{}
	l.mu.Unlock()
	select {
	case l.accept <- &farEnd{Conn: far, w: w}:
		select {
		case <-l.closed: // at the same moment
		default:
			return w, nil
		}
	case <-l.closed:
	case <-ctx.Done():
	}
	w.cut()
	return nil, errors.New("no host listens")
}

// cutAll cuts every wire.
func (l *wires) cutAll() {
	l.mu.Lock()
	var all []*wire
	for w := range l.open {
		all = append(all, w)
	}
	l.mu.Unlock()
	for _, w := range all {
		w.cut()
	}
}

// wire is a client's end of a connection, which breaks somewhere.
type wire struct {
	net.Conn
	l *wires

	gone   chan struct{} // closed when it is cut
	mu     sync.Mutex
	r      *rand.Rand
	left   int // bytes in both directions until it breaks
	writes int // of the host until it breaks; 0: that is not what breaks it
}

func (w *wire) cut() {
	w.l.mu.Lock()
	_, open := w.l.open[w]
	delete(w.l.open, w)
	w.l.mu.Unlock()
	if open {
		close(w.gone)
		w.l.net.count()
	}
	_ = w.Conn.Close()
}

// take draws how much of n bytes pass, and how long they take.
func (w *wire) take(n int) (int, time.Duration) {
	if w.l.net.isGood() {
		return n, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delay := time.Duration(0)
	switch w.r.IntN(24) {
	case 0:
		delay = time.Duration(w.r.IntN(200)) * time.Millisecond // reads slowly
	case 1, 2:
		delay = time.Duration(w.r.IntN(3)) * time.Millisecond
	}
	n = min(n, w.left)
	w.left -= n
	return n, delay
}

// wait waits, unless the wire is cut: a reader or writer must not outlast that.
func (w *wire) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.gone:
	}
}

// Read implements [net.Conn].
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	passed, delay := w.take(n)
	w.wait(delay)
	if passed < n {
		w.cut()
		return passed, io.ErrUnexpectedEOF
	}
	return n, err
}

// Write implements [net.Conn].
func (w *wire) Write(p []byte) (int, error) {
	passed, delay := w.take(len(p))
	w.wait(delay)
	n, err := w.Conn.Write(p[:passed])
	if err == nil && passed < len(p) {
		w.cut()
		err = net.ErrClosed
	}
	return n, err
}

// Close implements [net.Conn].
func (w *wire) Close() error {
	w.cut()
	return nil
}

// farEnd is the host's end.
type farEnd struct {
	net.Conn
	w *wire
}

// Write implements [net.Conn].
func (f *farEnd) Write(p []byte) (int, error) {
	n, err := f.Conn.Write(p)
	f.w.mu.Lock()
	over := f.w.writes == 1
	f.w.writes = max(0, f.w.writes-1)
	f.w.mu.Unlock()
	if over && !f.w.l.net.isGood() {
		f.w.cut()
	}
	return n, err
}

// RemoteAddr implements [net.Conn].
func (f *farEnd) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50_000} }

// LocalAddr implements [net.Conn].
func (f *farEnd) LocalAddr() net.Addr { return f.w.l.Addr() }
