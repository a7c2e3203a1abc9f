package pairing

import (
	"errors"
	"fmt"
	"io"
	"time"

	"scorel/internal/host/clients"
	"scorel/internal/host/failure"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Bounds of codes; see docs/limits.md.
const (
	// CodeTime is how long a code counts.
	CodeTime = time.Minute
	maxOpen  = 8  // codes that count at once
	maxEnded = 64 // codes whose end is remembered, so that who comes late learns why
)

// Listener is where browsers reach the host.
type Listener interface {
	// OpenWeb opens the addresses for this machine, or for the network, and keeps in mind
	// that they are open.
	OpenWeb(lan bool) (*protocol.WebOpened, error)
	// CloseWeb closes them.
	CloseWeb() error
	// WebAddresses returns those that are open.
	WebAddresses(lan bool) []string
}

// Watcher is told that the list of clients has changed.
type Watcher interface {
	EntriesChanged()
	// SetGrantOf changes what the open connections of a client may do.
	SetGrantOf(id protocol.ClientID, grant protocol.Grant)
}

// Guard knows the locks that all sessions share.
type Guard interface {
	Watch(mu *fault.Shared)
}

// Config is what a [Pairings] is made from. Listener may be nil: then browsers cannot come.
type Config struct {
	Entries  *clients.Store
	Listener Listener
	Watcher  Watcher
	Guard    Guard
	Now      func() time.Time
	Rand     io.Reader
}

// Pairings are the codes of a host.
type Pairings struct {
	cfg Config

	mu    fault.Shared // guards what follows
	codes map[protocol.PairingID]*code
	order []protocol.PairingID // of codes that have ended, oldest first
	shut  bool
}

// code is one code. It has ended when its outcome is set.
type code struct {
	secret  string
	grant   protocol.Grant
	lan     bool
	ends    time.Time
	timer   *time.Timer // ends the code for who waits for it
	outcome protocol.PairingOutcome
	entry   *clients.Entry
	done    chan struct{} // closed when it has ended
}

// New makes a host's codes.
func New(cfg Config) *Pairings {
	p := &Pairings{cfg: cfg, codes: map[protocol.PairingID]*code{}}
	cfg.Guard.Watch(&p.mu)
	return p
}

// Close ends all codes. None can be made afterwards.
func (p *Pairings) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	for id, c := range p.codes {
		p.end(id, c, protocol.PairingCancelled)
	}
}

// RefusedError says why a code is refused, in one sentence.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

func refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Secret returns the secret of a code that counts. local says that the client is on this
// machine. The error of a code that does not count, or not from there, is a
// [*RefusedError].
func (p *Pairings) Secret(id protocol.PairingID, local bool) (secret string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := p.counting(id)
	if err != nil {
		return "", err
	}
	if !local && !c.lan {
		return "", refused("This code is for a browser on the machine of the host; over the network use one of scorel web --lan.")
	}
	return c.secret, nil
}

// Fail ends a code that somebody has tried with a wrong proof.
func (p *Pairings) Fail(id protocol.PairingID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, err := p.counting(id); err == nil {
		p.end(id, c, protocol.PairingFailed)
	}
}

// Redeem lets in the client that has proved a code and the key, and returns what it may do.
// address is where it came from over the network, "" for this machine. The error of a code
// that counts no longer, or of a full list, is a [*RefusedError].
func (p *Pairings) Redeem(id protocol.PairingID, publicKey []byte, label, address string) (protocol.Grant, error) {
	c, err := p.take(id)
	if err != nil {
		return "", err
	}
	e, err := p.cfg.Entries.Pair(publicKey, label, c.grant, address)
	if err != nil {
		p.finish(id, c, protocol.PairingFailed, nil)
		if errors.Is(err, clients.ErrFull) || errors.Is(err, clients.ErrCrowded) {
			return "", refused("The host cannot let this client in: %v.", err)
		}
		return "", failure.Storage("keep the list of clients", err)
	}
	p.finish(id, c, protocol.PairingRedeemed, &e)
	p.cfg.Watcher.SetGrantOf(e.ClientID, e.Granted())
	p.cfg.Watcher.EntriesChanged()
	return e.Granted(), nil
}

// take has a code count no longer: one client alone redeems it. Who waits for it is told
// by finish.
func (p *Pairings) take(id protocol.PairingID) (*code, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := p.counting(id)
	if err != nil {
		return nil, err
	}
	c.outcome, c.secret = protocol.PairingRedeemed, ""
	return c, nil
}

func (p *Pairings) finish(id protocol.PairingID, c *code, outcome protocol.PairingOutcome, e *clients.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.entry = e
	p.end(id, c, outcome)
}

// counting returns a code that counts. mu is held.
func (p *Pairings) counting(id protocol.PairingID) (*code, error) {
	c := p.codes[id]
	if c != nil && c.outcome == "" && !p.cfg.Now().Before(c.ends) {
		p.end(id, c, protocol.PairingExpired)
	}
	const again = "ask for a new one on its machine, with scorel web"
	switch {
	case c == nil:
		return nil, refused("This host has made no such code, or no longer knows it; %s.", again)
	case c.outcome == "":
		return c, nil
	case c.outcome == protocol.PairingExpired:
		return nil, refused("This code has expired: it counts for %d s; %s.", int(CodeTime.Seconds()), again)
	case c.outcome == protocol.PairingRedeemed:
		return nil, refused("This code has been used already; %s.", again)
	case c.outcome == protocol.PairingFailed:
		return nil, refused("This code counts no longer, because it was tried with a wrong proof; %s.", again)
	}
	return nil, refused("This code was cancelled; %s.", again)
}

// end ends a code. mu is held.
func (p *Pairings) end(id protocol.PairingID, c *code, outcome protocol.PairingOutcome) {
	select {
	case <-c.done:
		return
	default:
	}
	c.outcome, c.secret = outcome, ""
	c.timer.Stop()
	close(c.done)
	p.order = append(p.order, id)
	if len(p.order) > maxEnded {
		delete(p.codes, p.order[0])
		p.order = p.order[1:]
	}
}

// open returns how many codes count. mu is held.
func (p *Pairings) open() (n int) {
	for id := range p.codes {
		if _, err := p.counting(id); err == nil {
			n++
		}
	}
	return n
}
