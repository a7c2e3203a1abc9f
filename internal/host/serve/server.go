package serve

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/serve/metrics"
	"scorel/protocol"
)

// Kind says how a listener is reached.
type Kind string

// The kinds.
const (
	Unix     Kind = "unix"     // a Unix socket; the peer's uid is checked
	Loopback Kind = "loopback" // plain TCP on this machine
	TLS      Kind = "tls"      // TCP from anywhere, with [Config.TLS]
)

// Entries are the clients that come in with a key of their own.
type Entries interface {
	// Lookup gives the X25519 public key and the grant of an entry; ok is false for
	// one that is not on the list, and an error says that the list cannot be read. It may be
	// called concurrently.
	Lookup(id protocol.ClientID) (publicKey []byte, grant protocol.Grant, ok bool, err error)
}

// Config is what a server is made from.
type Config struct {
	Host *host.Host
	// Version of Scorel, told to clients.
	Version string
	// Token gives the host's token; it is asked for at every proof, so that a new
	// one counts at once. While it is empty nobody comes in by token.
	Token func() string
	// Entries are those that prove a key; nil is the host's list.
	Entries Entries
	// Names are further names under which the host is reached over TCP, as "name"
	// (with the listener's port) or "name:port".
	Names []string
	// Origins are further origins of web pages that may connect, as
	// "https://name:port".
	Origins []string
	// Page has the files of the page that browsers are served over TCP: index.html, in
	// which {{nonce}} and {{version}} are filled in, and others, as they are or packed
	// with gzip under their name and ".gz". nil is none.
	Page fs.FS
	// TLS is for listeners of kind [TLS]; see [Server.UseTLS].
	TLS *tls.Config
	// Report is told, without secrets, of what was refused and of what went wrong;
	// may be nil. It is called by one goroutine at a time.
	Report func(string)
	Rand   io.Reader // nil is crypto/rand
}

// Bounds of connections; see docs/limits.md.
const (
	headerTimeout  = 5 * time.Second        // for the header of a request
	idleTimeout    = 2 * time.Minute        // of an HTTP connection between requests
	maxHeader      = 16 << 10               // bytes of a request's header
	maxConnections = 4096                   // of one listener, proven or not
	endGrace       = 100 * time.Millisecond // between looks at what still ends
)

// times are the waits that tests shorten.
type times struct {
	proof   time.Duration // until a connection has proved itself
	penalty time.Duration // before a failed proof is answered
	ping    time.Duration // between pings
	silence time.Duration // after which a client is gone
	stall   time.Duration // that one write may take
	answers time.Duration // for the answers of a host that has ended
}

func defaultTimes() times {
	return times{proof: 5 * time.Second, penalty: 250 * time.Millisecond, ping: 20 * time.Second, silence: 60 * time.Second, stall: 60 * time.Second, answers: time.Second}
}

// ErrClosed says that the server has been shut down.
var ErrClosed = errors.New("the server has been shut down")

// Server lets clients reach a host.
type Server struct {
	cfg      Config
	times    times
	metrics  *metrics.Metrics
	reporter *reporter
	scripts  *scripts
	keyed    sync.Mutex // held while a session is made by a request that has a name

	ctx      context.Context // of calls that act; ends when Shutdown waits no longer
	stop     context.CancelFunc
	stopping chan struct{}  // closed when Shutdown begins
	wg       sync.WaitGroup // requests and connections

	mu           sync.Mutex // guards what follows
	tls          *tls.Config
	listeners    []*listener
	closing      bool
	tokenClients map[*tokenClient]struct{}
}

// New makes a server. It listens nowhere until Serve is called.
func New(cfg Config) *Server {
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Entries == nil {
		cfg.Entries = cfg.Host.Entries()
	}
	if cfg.Token == nil {
		cfg.Token = func() string { return "" }
	}
	s := &Server{cfg: cfg, times: defaultTimes(), metrics: metrics.New(), reporter: newReporter(cfg.Report), stopping: make(chan struct{}), tls: cfg.TLS}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.scripts = &scripts{s: s}
	return s
}

// Serve accepts connections until Shutdown or Close, then returns nil. It takes the
// listener over, also when it fails. Several listeners may be served at once.
func (s *Server) Serve(l net.Listener, kind Kind) error {
	lis, err := s.listener(l, kind)
	if err != nil {
		_ = l.Close()
		return err
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		_ = l.Close()
		return ErrClosed
	}
	s.listeners = append(s.listeners, lis)
	s.mu.Unlock()
	var accept net.Listener = lis
	if kind == TLS {
		accept = tls.NewListener(lis, lis.tls)
	}
	err = lis.http.Serve(accept)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", lis.address, err)
}

// UseTLS sets what listeners of kind [TLS] are served with from now on.
func (s *Server) UseTLS(cfg *tls.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tls = cfg
}

// Forget closes one listener, and cuts off what has come over it. [Server.Serve] then returns
// nil.
func (s *Server) Forget(l net.Listener) {
	s.mu.Lock()
	i := slices.IndexFunc(s.listeners, func(lis *listener) bool { return lis.Listener == l })
	var lis *listener
	if i >= 0 {
		lis = s.listeners[i]
		s.listeners = slices.Delete(s.listeners, i, i+1)
	}
	s.mu.Unlock()
	if lis == nil {
		_ = l.Close()
		return
	}
	lis.unproven.closeAll()
	lis.cut()
}

// newHTTP makes the HTTP server of a listener. HTTP/2 is off: WebSockets need a
// connection of their own, and a stream of events has one.
func (s *Server) newHTTP(lis *listener) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:                      s.handler(lis),
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		Protocols:                    &protocols,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(httpLog{s.reporter}, "", 0),
		ConnContext:                  func(ctx context.Context, c net.Conn) context.Context { return withStream(ctx, c) },
	}
}

// begin counts a request or a connection in; end counts it out. It is false when the
// server is being shut down.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.wg.Add(1)
	return true
}

func (s *Server) end() { s.wg.Done() }

// Shutdown stops listening and ends all connections: calls that are being carried
// out are answered, frames in flight are written, and the client is told with the
// status 1001 (going away). When ctx ends first, what is left is cut off, and the
// error of ctx is given. No goroutine of the server is left when it returns.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closing
	s.closing = true
	listeners := s.listeners
	s.mu.Unlock()
	if first {
		close(s.stopping)
	}
	ended := make(chan struct{})
	go func() { // ends with the last connection
		defer close(ended)
		var wg sync.WaitGroup
		for _, l := range listeners {
			l.unproven.closeAll()
			wg.Go(func() { _ = l.http.Shutdown(context.WithoutCancel(ctx)) })
		}
		wg.Wait()
		s.wg.Wait()
		s.scripts.close()
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = ctx.Err()
		s.stop()
		for _, l := range listeners {
			l.cut()
		}
		<-ended
	}
	s.stop()
	s.reporter.flush()
	return err
}

// Close ends all connections at once.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
