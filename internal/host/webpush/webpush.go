package webpush

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/host/clients"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/guard"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/identity"
	"scorel/protocol"
)

// Sessions knows what goes on in open sessions.
type Sessions interface {
	// State returns what goes on in a session, nil when it is not open.
	State(id protocol.SessionID) *protocol.SessionState
	// States returns what goes on in the sessions that are open.
	States() []protocol.SessionState
}

// Watcher is told that what the list of clients shows has changed.
type Watcher interface {
	EntriesChanged()
}

// Pace is how fast pushes are sent. Zero values are those of docs/limits.md.
type Pace struct {
	Settle   time.Duration // that a session waits before anybody is woken
	Watched  time.Duration // the same, while a client has the session open
	Interval time.Duration // between two pushes to one client
	Retry    time.Duration // before the second try; each further one waits four times as long
	Timeout  time.Duration // of one request
}

// The usual pace.
const (
	settle   = 2 * time.Second
	watched  = 15 * time.Second
	interval = 30 * time.Second
	retry    = 10 * time.Second
	timeout  = 20 * time.Second
)

func (p Pace) orUsual() Pace {
	or := func(d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		}
	}
	or(&p.Settle, settle)
	or(&p.Watched, watched)
	or(&p.Interval, interval)
	or(&p.Retry, retry)
	or(&p.Timeout, timeout)
	return p
}

// Options are what tests set.
type Options struct {
	Pace Pace
	// Transport makes the requests; nil is the guarded one of the host.
	Transport http.RoundTripper
}

// Config is what [Pushes] are made from.
type Config struct {
	Dir string // ~/.scorel
	FS  disk.FS
	// Serving says that the host stays: others push nothing.
	Serving  bool
	Entries  *clients.Store
	Sessions Sessions
	Watcher  Watcher
	Log      *diagnostics.Log
	Guard    *guard.Guard
	Now      func() time.Time
	Rand     io.Reader
	Pace     Pace
	// Services returns the origins of push services that the user has named, which may be in
	// a private network.
	Services func() []string
	// Transport makes one request, to an address that it has judged; it follows no redirect.
	Transport func() (http.RoundTripper, error)
}

// Pushes are the push subscriptions of a host and what waits to be pushed.
type Pushes struct {
	cfg   Config
	store store

	changing sync.Mutex // held while a subscription is stored and then taken over; mu may be taken under it
	key      *ecdsa.PrivateKey

	wake chan struct{} // the loop looks again
	stop context.CancelFunc
	done sync.WaitGroup

	mu      fault.Shared // guards what follows; nothing is called with it held
	targets map[protocol.ClientID]*target
	waits   map[protocol.SessionID]*waiting
	broken  error // why the file of subscriptions cannot be read
	sending int
}

// New makes the pushes of a host. Start begins them.
func New(cfg Config) *Pushes {
	cfg.Pace = cfg.Pace.orUsual()
	p := &Pushes{cfg: cfg, store: store{cfg.FS, filepath.Join(cfg.Dir, "push.json")}, wake: make(chan struct{}, 1), stop: func() {},
		targets: map[protocol.ClientID]*target{}, waits: map[protocol.SessionID]*waiting{}}
	cfg.Guard.Watch(&p.mu)
	return p
}

// Start reads the subscriptions and begins to push, on a host that stays. Close ends it.
func (p *Pushes) Start() {
	if !p.cfg.Serving {
		return
	}
	if err := p.load(); err != nil {
		p.cfg.Log.Note("no push is sent: "+err.Error(), nil)
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.done.Go(func() {
		defer p.cfg.Guard.Rescue("pushing")
		p.loop(ctx)
	})
}

// Close ends what is being sent and waits for it.
func (p *Pushes) Close() {
	p.stop()
	p.done.Wait()
}

// load takes over what is stored: of clients that are on the list, under the key of the host.
// Without a subscription no key is made.
func (p *Pushes) load() error {
	stored, err := p.store.read()
	var key *ecdsa.PrivateKey
	if err == nil && len(stored) > 0 {
		key, err = p.signingKey()
	}
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.broken = err
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sub := range stored {
		if sub.Key != publicKey(key) { // the key was lost; the page subscribes again
			continue
		}
		p.targets[sub.ClientID] = &target{subscription: sub, told: map[protocol.SessionID]bool{}}
	}
	return nil
}

// signingKey returns the key of the host, making it at first use.
func (p *Pushes) signingKey() (*ecdsa.PrivateKey, error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.key != nil {
		return p.key, nil
	}
	if err := p.cfg.FS.MkdirAll(p.cfg.Dir); err != nil {
		return nil, err
	}
	key, err := identity.LoadSigning(p.cfg.FS, filepath.Join(p.cfg.Dir, "push-key.json"), p.cfg.Rand)
	if err != nil {
		return nil, err
	}
	p.key = key
	return key, nil
}

// Of returns how the subscription of a client stands, "" without one.
func (p *Pushes) Of(id protocol.ClientID) protocol.PushState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.targets[id]; t != nil {
		return t.State
	}
	return ""
}

// Check returns how many subscriptions are stored, and why nothing is pushed to them, if so.
func (p *Pushes) Check() (stored int, err error) {
	all, err := p.store.read()
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		err = p.broken
	}
	return len(all), err
}

// Forget removes the subscription of a client that was taken off the list.
func (p *Pushes) Forget(id protocol.ClientID) {
	if p.Of(id) == "" {
		return
	}
	if err := p.remove(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.cfg.Log.Note("remove a push subscription: "+err.Error(), nil)
		p.drop(id) // what is left on disk counts no longer: its client has gone
	}
}

// remove forgets a subscription, on disk and then here. After an error it stays, so that the
// next try removes it.
func (p *Pushes) remove(id protocol.ClientID) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if err := p.store.change(id, nil, func(*subscription) *subscription { return nil }); err != nil {
		return err
	}
	p.drop(id)
	return nil
}

func (p *Pushes) drop(id protocol.ClientID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.targets, id)
}

// look has the loop look again. It waits for nobody.
func (p *Pushes) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
