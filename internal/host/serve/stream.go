package serve

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// writePiece is how many bytes must get through within the time that a write may
// stall: a slow line is no dead one.
const writePiece = 64 << 10

// stream is an accepted connection below TLS and HTTP. It remembers when it heard
// of the client, and fails a write that gets stuck.
type stream struct {
	net.Conn
	l       *listener
	address string // the group of remote addresses that it counts for
	stall   time.Duration
	now     func() time.Time
	began   time.Time
	heard   atomic.Int64 // by clock, of the newest bytes
	armed   atomic.Int64 // by clock, of the write deadline that Write has set; 0: none
	fixed   atomic.Bool  // the write deadline is somebody else's
	once    sync.Once
	gone    chan struct{} // closed by Close
}

// newStream makes the stream of a connection that has just come.
func newStream(c net.Conn, now func() time.Time) *stream {
	return &stream{Conn: c, now: now, began: now(), gone: make(chan struct{})}
}

// clock returns how many nanoseconds the connection is old. It does not follow the wall clock,
// which somebody may set: a client would be cut off, or never be.
func (s *stream) clock() int64 { return int64(s.now().Sub(s.began)) }

// Read reads what the client sends.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.heard.Store(s.clock())
	}
	return n, err
}

// Write writes in pieces, each of which may take as long as a write may stall.
func (s *stream) Write(p []byte) (int, error) {
	done := 0
	for {
		piece := p[done:min(len(p), done+writePiece)]
		// Moving the deadline costs more than a look at the clock: a second more or
		// less is nothing to it.
		if now := s.now(); !s.fixed.Load() && s.armed.Load() < int64(now.Sub(s.began)+s.stall) {
			until := now.Add(s.stall + min(time.Second, s.stall/4))
			if err := s.Conn.SetWriteDeadline(until); err != nil {
				return done, err
			}
			s.armed.Store(int64(until.Sub(s.began)))
		}
		n, err := s.Conn.Write(piece)
		done += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.l.s.metrics.Stalled()
		}
		if err != nil || done == len(p) {
			return done, err
		}
	}
}

// SetWriteDeadline sets a deadline that Write leaves alone, until the zero time lifts
// it: TLS gives its last words 5 s.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.fixed.Store(!t.IsZero())
	s.armed.Store(0)
	return s.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both deadlines.
func (s *stream) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// Close closes the connection and takes it off the server's lists.
func (s *stream) Close() error {
	err := net.ErrClosed
	s.once.Do(func() {
		close(s.gone)
		err = s.Conn.Close()
		s.l.forget(s)
	})
	return err
}

// silent says how long nothing came from the client.
func (s *stream) silent() time.Duration {
	return time.Duration(s.clock() - s.heard.Load())
}

type streamKey struct{}

// withStream keeps the stream below a connection of the HTTP server.
func withStream(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	return context.WithValue(ctx, streamKey{}, c)
}

func streamOf(ctx context.Context) *stream { return ctx.Value(streamKey{}).(*stream) }
