package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

const (
	maxAddresses = 8               // of a name, that are tried
	connectTime  = 5 * time.Second // for one address, so that a path that leads nowhere leaves time for the next
)

// refusedError returns why a host is not dialled.
type refusedError struct{ host, why string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("%s is not fetched: it is %s", e.host, e.why)
}

// network is what the guard is on: names and connections. Tests replace it;
// the guard itself is never replaced.
type network struct {
	lookup  func(ctx context.Context, name string) ([]netip.Addr, error)
	connect func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

func machine() network {
	return network{
		lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
			// The dot keeps the search list of the resolver out.
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".")
		},
		connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			d := net.Dialer{Timeout: connectTime}
			return d.DialContext(ctx, "tcp", to.String()) // an address: nothing is resolved again
		},
	}
}

// dial connects to a target. Each address is judged when it is dialled, and what
// is dialled is the address that was judged. This machine is dialled only for a
// target that names it, and such a target leads nowhere else.
func (n network) dial(ctx context.Context, t Target) (net.Conn, error) {
	addrs, err := n.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	if len(addrs) > maxAddresses {
		addrs = addrs[:maxAddresses]
	}
	var failure error
	for _, a := range addrs {
		a = a.Unmap()
		why := refusal(a)
		if t.local {
			why = ""
			if !a.IsLoopback() || a.Zone() != "" {
				why = "said to be this machine and is not"
			}
		}
		if why != "" {
			if failure == nil {
				failure = &refusedError{t.Host(), why}
			}
			continue
		}
		conn, err := n.connect(ctx, netip.AddrPortFrom(a, t.port))
		if err == nil {
			return conn, nil
		}
		failure = err
		if ctx.Err() != nil {
			break
		}
	}
	if failure == nil {
		failure = errors.New("the name has no address")
	}
	return nil, failure
}

func (n network) addresses(ctx context.Context, t Target) ([]netip.Addr, error) {
	switch {
	case t.addr.IsValid():
		return []netip.Addr{t.addr}, nil
	case t.local: // never asked of a resolver (RFC 6761, section 6.3)
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	return n.lookup(ctx, t.name)
}
