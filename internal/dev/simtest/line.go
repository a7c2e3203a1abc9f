package simtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// errCut reports that the connection was cut.
var errCut = errors.New("the connection was cut")

// line is an embedded connection that breaks: between any two frames, before a
// request arrives, and before its answer does.
type line struct {
	conn *host.Conn
	net  *network

	mu   sync.Mutex
	r    *rand.Rand
	cut  chan struct{} // closed when it is cut
	over bool
}

// network decides how bad connections are.
type network struct {
	mu    sync.Mutex
	good  bool
	lines map[*line]struct{}
	cuts  int
}

// heal makes all connections good from now on; spoil makes them bad again.
func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.good = true
}

func (n *network) isGood() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.good
}

// count counts a cut.
func (n *network) count() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cuts++
}

func (n *network) spoil() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.good = false
}

// cutAll cuts every connection.
func (n *network) cutAll() {
	n.mu.Lock()
	var all []*line
	for l := range n.lines {
		all = append(all, l)
	}
	n.mu.Unlock()
	for _, l := range all {
		l.abort()
	}
}

func (n *network) lay(conn *host.Conn, r *rand.Rand) *line {
	l := &line{conn: conn, net: n, r: r, cut: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines[l] = struct{}{}
	return l
}

// Chances of one in so many, for each frame and request.
const (
	cutFrame   = 60
	cutRequest = 16
)

// bad draws whether something of a chance of one in n happens, and how long the
// network takes.
func (l *line) bad(n int) (bool, time.Duration) {
	if l.net.isGood() {
		return false, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delay := time.Duration(0)
	switch l.r.IntN(12) {
	case 0:
		delay = time.Duration(l.r.IntN(200)) * time.Millisecond // reads slowly
	case 1, 2, 3:
		delay = time.Duration(l.r.IntN(3)) * time.Millisecond
	}
	return l.r.IntN(n) == 0, delay
}

func (l *line) abort() {
	l.mu.Lock()
	over := l.over
	l.over = true
	l.mu.Unlock()
	if over {
		return
	}
	l.net.mu.Lock()
	delete(l.net.lines, l)
	l.net.cuts++
	l.net.mu.Unlock()
	close(l.cut)
	_ = l.conn.Close()
}

// Call implements [client.Transport]; errCut says that nobody knows what became of it.
func (l *line) Call(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	cut, delay := l.bad(cutRequest)
	if !l.wait(delay) {
		return protocol.Reply{}, errCut
	}
	if cut && delay%2 == 0 { // it never arrived
		l.abort()
		return protocol.Reply{}, errCut
	}
	type answer struct {
		reply protocol.Reply
		err   error
	}
	came := make(chan answer, 1)
	go func() { // ends with the request
		reply, err := l.conn.Call(ctx, call)
		came <- answer{reply, err}
	}()
	if cut {
		if !l.wait(delay) {
			return protocol.Reply{}, errCut
		}
		l.abort() // with the request on its way, or its answer
	}
	select {
	case a := <-came:
		if a.err != nil || cut {
			return protocol.Reply{}, errCut
		}
		return a.reply, nil
	case <-l.cut:
		return protocol.Reply{}, errCut
	}
}

func (l *line) wait(d time.Duration) bool {
	if d > 0 {
		time.Sleep(d)
	}
	select {
	case <-l.cut:
		return false
	default:
		return true
	}
}

// Recv implements [client.Transport].
func (l *line) Recv(ctx context.Context) (protocol.Frame, error) {
	f, err := l.conn.Recv(ctx)
	if err != nil {
		l.abort()
		return nil, errCut
	}
	cut, delay := l.bad(cutFrame)
	if !l.wait(delay) || cut {
		l.abort()
		return nil, errCut
	}
	return f, nil
}

// Close implements [client.Transport].
func (l *line) Close() error {
	l.abort()
	return nil
}
