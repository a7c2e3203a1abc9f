package serve

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Bounds of connections that have not proved themselves, a listener.
const (
	maxUnproven        = 256
	maxUnprovenAddress = 32 // of one remote address, over TLS
)

// unproven are the connections of a listener that have not proved themselves,
// oldest first. When there are too many, the oldest gives way, not the newest:
// whoever can prove himself does so within milliseconds and is through before 256
// others have come, while a flood that holds its connections open would keep
// everybody out for as long as it lasts. Those that have said nothing yet and those that
// have sent a request give way as two groups, the larger one first: whatever a flood does,
// it is most of one of them. In the second, one that was sent a file and asks for nothing
// now goes before others. Over TLS a flood from one address first displaces its own. Each
// listener has a list of its own, so that what is done to a port cannot be felt on the
// socket.
type unproven struct {
	perAddress int // 0: no bound

	mu     sync.Mutex // guards what follows
	oldest []*waiting
	count  map[string]int // by address
	closed bool
}

type waiting struct {
	st     *stream
	timer  *time.Timer
	spoke  bool // it has sent a whole request
	serves bool // a file is being sent to it
	served bool // it was sent one; a browser keeps the connection for its next request
}

func newUnproven(kind Kind) *unproven {
	u := &unproven{count: map[string]int{}}
	if kind == TLS { // on this machine all addresses are one
		u.perAddress = maxUnprovenAddress
	}
	return u
}

// add takes a connection in, with the timer that ends it, and returns the one that has
// to go for it, if any.
func (u *unproven) add(st *stream, timer *time.Timer) *stream {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		timer.Stop()
		return st
	}
	var victim *stream
	switch {
	case u.perAddress > 0 && u.count[st.address] >= u.perAddress:
		victim = u.first(st.address)
	case len(u.oldest) >= maxUnproven:
		victim = u.first(u.largest())
	}
	if victim != nil {
		u.drop(victim)
	}
	u.oldest = append(u.oldest, &waiting{st: st, timer: timer})
	u.count[st.address]++
	return victim
}

// first returns the connection of an address that has to go first.
func (u *unproven) first(address string) *stream {
	var silent, spoke, idle *stream // the oldest of each
	more := 0                       // of those that have sent a request than of the others
	note := func(oldest **stream, st *stream) {
		if *oldest == nil {
			*oldest = st
		}
	}
	for _, w := range u.oldest {
		switch {
		case w.st.address != address:
		case !w.spoke:
			note(&silent, w.st)
			more--
		default:
			note(&spoke, w.st)
			if w.served && !w.serves {
				note(&idle, w.st)
			}
			more++
		}
	}
	switch {
	case more < 0:
		return silent
	case idle != nil:
		return idle
	case spoke != nil:
		return spoke
	}
	return silent
}

// spoke notes that a connection has sent a whole request.
func (u *unproven) spoke(st *stream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, w := range u.oldest {
		if w.st == st {
			w.spoke = true
		}
	}
}

// serve notes that a file of the page is being sent to a connection that need not prove itself
// for it, until the function is called that serve returns. Its time does not run out before, and
// runs anew then: on a slow line, or a busy machine, the page takes longer to come than a proof.
func (u *unproven) serve(st *stream, proof time.Duration) (done func()) {
	u.serves(st, true)
	return func() {
		if w := u.serves(st, false); w != nil {
			w.timer.Reset(proof)
		}
	}
}

func (u *unproven) serves(st *stream, now bool) *waiting {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, w := range u.oldest {
		if w.st == st {
			w.spoke, w.serves, w.served = true, now, true
			return w
		}
	}
	return nil
}

// expire takes a connection off the list whose time is over, unless a file is being sent to it,
// and reports whether it is to be closed, and whether it has used its time for nothing.
func (u *unproven) expire(st *stream) (closed, late bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, w := range u.oldest {
		if w.st == st && !w.serves {
			return u.drop(st), !w.served
		}
	}
	return false, false
}

// largest returns the address that has the most connections.
func (u *unproven) largest() string {
	var address string
	for a, n := range u.count {
		if n > u.count[address] {
			address = a
		}
	}
	return address
}

// drop takes a connection off the list. mu is held.
func (u *unproven) drop(st *stream) bool {
	for i, w := range u.oldest {
		if w.st != st {
			continue
		}
		w.timer.Stop()
		u.oldest = append(u.oldest[:i], u.oldest[i+1:]...)
		if u.count[st.address]--; u.count[st.address] == 0 {
			delete(u.count, st.address)
		}
		return true
	}
	return false
}

// remove takes a connection off the list: it has proved itself, or is closed. It is
// false when it was not on it.
func (u *unproven) remove(st *stream) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.drop(st)
}

// closeAll closes all of them, and those that still come.
func (u *unproven) closeAll() {
	u.mu.Lock()
	u.closed = true
	all := u.oldest
	u.oldest, u.count = nil, map[string]int{}
	u.mu.Unlock()
	for _, w := range all {
		w.timer.Stop()
		_ = w.st.Close()
	}
}

// addressGroup returns what a remote address counts for: an IPv6 customer has at least
// 64 bits for himself.
func addressGroup(a net.Addr) string {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return ""
	}
	ip, ok := netip.AddrFromSlice(t.IP)
	if !ok {
		return ""
	}
	if ip = ip.Unmap(); ip.Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}
