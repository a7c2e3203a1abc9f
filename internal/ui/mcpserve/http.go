package mcpserve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server is reached by HTTP.
const Path = "/mcp"

// Bounds of the server over HTTP.
const (
	maxBody     = 4 << 20  // bytes of a request
	maxHeaders  = 32 << 10 // bytes of its headers
	maxRequests = 256      // at once, with those that wait or stream
	headerTime  = 10 * time.Second
	idleTime    = 2 * time.Minute // of a connection without a request
	endTime     = 2 * time.Second // that requests have to end when the server does
)

// CheckAddress returns the address to listen on, host and port. Without open it must be of
// this machine; with open its host must be named, because an empty one is every network.
func CheckAddress(addr string, open bool) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return "", fmt.Errorf("%q is not an address; it is HOST:PORT, such as 127.0.0.1:8765", addr)
	}
	switch {
	case loopback(host):
	case host == "" && !open:
		host = "127.0.0.1"
	case host == "":
		return "", fmt.Errorf("say the address to listen on by name, such as 0.0.0.0:%s for every network", port)
	case !open:
		return "", fmt.Errorf("%s can be reached by other machines; add --listen if that is meant, or use 127.0.0.1:%s", host, port)
	}
	return net.JoinHostPort(host, port), nil
}

// loopback reports whether a host is this machine by an address that no other one reaches.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// HTTP serves clients that have the token until ctx ends, which is no failure. It closes the
// listener.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	ending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	server := &http.Server{Handler: s.Handler(token), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		BaseContext: func(net.Listener) context.Context { return ending }}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }() // ends with the server
	select {
	case err := <-done:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop() // what waits ends
	s.stop()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	err := server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-done
	return err
}

// Handler returns the handler of [Server.HTTP].
func (s *Server) Handler(token string) http.Handler {
	streamable := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp },
		&mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true})
	places := make(chan struct{}, maxRequests)
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := foreignOrigin(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		if !authorized(r, want) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the request needs the header \"Authorization: Bearer TOKEN\" with the token of this server", http.StatusUnauthorized)
			return
		}
		if r.URL.Path != Path {
			http.NotFound(w, r)
			return
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, fmt.Sprintf("%d requests are open already", maxRequests), http.StatusServiceUnavailable)
			return
		}
		streamable.ServeHTTP(w, r)
	})
}

// foreignOrigin returns why the page of a request may not come in, "" when it may: pages of
// this machine may, and programs, which say no origin.
func foreignOrigin(r *http.Request) string {
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !loopback(u.Hostname()) {
			return "pages of other origins may not use this server"
		}
	}
	return ""
}

// authorized reports whether a request has the token, in a time that tells nothing of it.
func authorized(r *http.Request, want [sha256.Size]byte) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && ok && strings.EqualFold(scheme, "Bearer")
}
