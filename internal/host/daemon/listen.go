package daemon

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxListen bounds the addresses that a host listens on beside its socket.
const maxListen = 16

// maxSocketPath is how long the path of a socket may be, in bytes: what is in
// sockaddr_un of Linux (108) and macOS (104), less the zero at its end.
const maxSocketPath = 103

// endpoint is one place where a host listens.
type endpoint struct {
	net.Listener
	secure bool   // is served with TLS
	local  bool   // the socket
	url    string // as a client names it
}

// address is what --listen names.
type address struct {
	hostPort      string
	plain, secure bool // asked for by ws:// or wss://
}

// parseAddress reads HOST:PORT, ws://HOST:PORT or wss://HOST:PORT; a port alone is
// one of this machine.
func parseAddress(text string) (address, error) {
	var a address
	rest, plain := cutScheme(text, "ws", "http")
	if plain {
		a.plain = true
	} else if rest, a.secure = cutScheme(text, "wss", "https"); !a.secure && strings.Contains(text, "://") {
		return a, fmt.Errorf("--listen %s: it can begin with ws:// or wss://, or with neither", text)
	}
	rest = strings.TrimSuffix(rest, "/")
	if !strings.Contains(rest, ":") {
		rest = net.JoinHostPort("127.0.0.1", rest)
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return a, fmt.Errorf("--listen %s: give HOST:PORT, such as 127.0.0.1:4444 or 0.0.0.0:4444", text)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return a, fmt.Errorf("--listen %s: %q is not a port; give a number from 0 to 65535", text, port)
	}
	a.hostPort = net.JoinHostPort(host, port)
	return a, nil
}

func cutScheme(text string, schemes ...string) (rest string, ok bool) {
	for _, s := range schemes {
		if rest, ok := strings.CutPrefix(text, s+"://"); ok {
			return rest, true
		}
	}
	return text, false
}

// listen opens the address: plain on loopback, with TLS elsewhere or when it was
// asked for. cert is called when a certificate is needed.
func (a address) listen(cert func() error) (*endpoint, error) {
	if a.plain && !loopback(a.hostPort) {
		return nil, fmt.Errorf("--listen ws://%s: what is not on this machine is served with TLS only; leave ws:// out (the host makes a certificate), or listen on 127.0.0.1 and forward the port with ssh", a.hostPort)
	}
	secure := a.secure || !loopback(a.hostPort)
	if secure {
		if err := cert(); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", a.hostPort)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another port, or 0 for any that is free", a.hostPort, plainError(err))
	}
	bound, ok := l.Addr().(*net.TCPAddr)
	if !ok || (!secure && !bound.IP.IsLoopback()) {
		_ = l.Close() // a name that led somewhere else than it did a moment ago
		return nil, fmt.Errorf("listen on %s: it is not on this machine alone; name 127.0.0.1", a.hostPort)
	}
	e := &endpoint{Listener: l, secure: secure, url: "ws://" + named(bound)}
	if secure {
		e.url = "wss://" + named(bound)
	}
	return e, nil
}

// named returns an address as a client names it; all addresses of the machine go by
// its name.
func named(a *net.TCPAddr) string {
	if name, err := os.Hostname(); a.IP.IsUnspecified() && err == nil && name != "" {
		return net.JoinHostPort(strings.ToLower(name), strconv.Itoa(a.Port))
	}
	return a.String()
}

// loopback reports whether a name leads to this machine alone.
func loopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil || host == "" {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// socket listens on the device's socket (0600). The lock is held, so one that is
// there belongs to a host that died.
func socket(dir string) (*endpoint, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, socketName)
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path of the socket %s is too long for the system (%d bytes, at most %d); move the home to a shorter path, or bind-mount it at one", path, len(path), maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, plainError(err))
	}
	if err := os.Chmod(path, 0o600); err != nil { // the folder is 0700 all the while
		_ = l.Close()
		return nil, err
	}
	return &endpoint{Listener: l, local: true, url: "unix:" + path}, nil
}

// plainError returns the cause inside what package net says.
func plainError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}
