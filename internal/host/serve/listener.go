package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// listener is one place where the server is reached.
type listener struct {
	net.Listener
	s        *Server
	kind     Kind
	address  string // of the transcript, for a Unix socket: "unix:" and its path
	port     string // of TCP
	hostname string // of the machine, in lower case
	tls      *tls.Config
	leaves   []*x509.Certificate // the names in them are the host's own
	http     *http.Server
	unproven *unproven

	refusing atomic.Int32 // connections that are told why they were refused

	mu      sync.Mutex // guards streams
	streams map[*stream]struct{}
}

// listener checks that a listener is what its kind says.
func (s *Server) listener(l net.Listener, kind Kind) (*listener, error) {
	lis := &listener{Listener: l, s: s, kind: kind, unproven: newUnproven(kind), streams: map[*stream]struct{}{}}
	lis.http = s.newHTTP(lis)
	switch kind {
	case Unix:
		addr, ok := l.Addr().(*net.UnixAddr)
		if !ok {
			return nil, fmt.Errorf("%s is not a Unix socket", l.Addr())
		}
		path, err := socketPath(addr.Name)
		if err != nil {
			return nil, err
		}
		lis.address = "unix:" + path
		return lis, nil
	case Loopback, TLS:
	default:
		return nil, fmt.Errorf("%q is not a kind of listener", kind)
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%s is not a TCP address", l.Addr())
	}
	lis.address = addr.String()
	_, lis.port, _ = net.SplitHostPort(lis.address)
	if kind == Loopback {
		if !addr.IP.IsLoopback() {
			return nil, fmt.Errorf("%s is reached from other machines, where plain TCP is refused; listen on 127.0.0.1, or with TLS", addr)
		}
		return lis, nil
	}
	s.mu.Lock()
	config := s.tls
	s.mu.Unlock()
	if config == nil {
		return nil, errors.New("a TLS listener needs a certificate")
	}
	lis.tls = config.Clone()
	lis.tls.NextProtos = []string{"http/1.1"}
	lis.tls.MinVersion = max(lis.tls.MinVersion, tls.VersionTLS12)
	for _, c := range lis.tls.Certificates {
		leaf := c.Leaf
		if leaf == nil && len(c.Certificate) > 0 {
			var err error
			if leaf, err = x509.ParseCertificate(c.Certificate[0]); err != nil {
				return nil, fmt.Errorf("read the certificate: %w", err)
			}
		}
		if leaf != nil {
			lis.leaves = append(lis.leaves, leaf)
		}
	}
	if name, err := os.Hostname(); err == nil {
		lis.hostname = strings.ToLower(name)
	}
	return lis, nil
}

// socketPath returns the path of a socket with the symlinks of its folder resolved,
// which is how client and host name it alike.
func socketPath(name string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("the folder of the socket %s: %w", name, err)
	}
	return filepath.Join(dir, filepath.Base(name)), nil
}

// Accept returns the next connection that may try to prove itself.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if why := l.checkPeer(c); why != nil {
			l.turnAwayRaw(c, why)
			continue
		}
		st := newStream(c, time.Now)
		st.l, st.address, st.stall = l, addressGroup(c.RemoteAddr()), l.s.times.stall
		if !l.add(st) {
			why := refuse(reasonFull, "The host has %d connections, which is all it takes; close one and try again.", maxConnections)
			l.turnAwayRaw(c, why)
			continue
		}
		l.admit(st)
		return st, nil
	}
}

// admit gives a connection its time to prove itself.
func (l *listener) admit(st *stream) {
	dropped := l.unproven.add(st, time.AfterFunc(l.s.times.proof, func() {
		closed, late := l.unproven.expire(st)
		if late {
			l.s.refused(refuse(reasonProofTimeout, "A connection did not prove itself in %s.", l.s.times.proof), peerName(l.kind, st.Conn))
		}
		if closed {
			_ = st.Close()
		}
	}))
	if dropped != nil {
		l.s.refused(refuse(reasonDropped, "A connection that had not proved itself gave way to a newer one."), peerName(l.kind, dropped.Conn))
		_ = dropped.Close()
	}
}

// checkPeer says why a peer may not even try.
func (l *listener) checkPeer(c net.Conn) *refusal {
	switch l.kind {
	case Unix:
		uid, err := peerUID(c)
		if err != nil {
			return refuse(reasonPeer, "The host cannot see which user connects.")
		}
		if uid != 0 && uid != uint32(os.Geteuid()) {
			return refuse(reasonPeer, "The host belongs to another user; start your own.")
		}
	case Loopback:
		if !isLoopback(c.RemoteAddr()) || !isLoopback(c.LocalAddr()) {
			return refuse(reasonPlain, "Plain TCP is for this machine only; use TLS.")
		}
	}
	return nil
}

func isLoopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}

func (l *listener) add(st *stream) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.streams) >= maxConnections {
		return false
	}
	l.streams[st] = struct{}{}
	return true
}

// forget takes a connection that is closed off the lists.
func (l *listener) forget(st *stream) {
	l.unproven.remove(st)
	l.mu.Lock()
	delete(l.streams, st)
	l.mu.Unlock()
}

// cut closes all connections at once.
func (l *listener) cut() {
	_ = l.http.Close()
	l.mu.Lock()
	var all []*stream
	for st := range l.streams {
		all = append(all, st)
	}
	l.mu.Unlock()
	for _, st := range all {
		_ = st.Close()
	}
}
