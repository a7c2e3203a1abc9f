package host

import (
	"context"
	"crypto/ecdh"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/schedule"
	"scorel/internal/engine/session"
	"scorel/internal/host/audience"
	"scorel/internal/host/clients"
	"scorel/internal/host/dedup"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/failure"
	"scorel/internal/host/guard"
	"scorel/internal/host/pairing"
	"scorel/internal/host/registry"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/host/webpush"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/identity"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Config is what a host is made from, with a field for each thing that a test or an entry
// may set.
type Config struct {
	// Dir is the folder of Scorel, ~/.scorel. UserHome is the user's home.
	Dir, UserHome string
	// StoreDir is where sessions and blobs are kept; empty is Dir.
	StoreDir string
	// Ephemeral keeps no key of the device.
	Ephemeral bool
	FS        disk.FS // nil is the machine's
	// Environ is the environment that keys are looked up in and that children
	// get, less what is not theirs. Settings are read from files only.
	Environ []string
	// Overrides are the caller's settings, above all files.
	Overrides settings.Overrides
	// Unattended denies at once what nobody can be asked for.
	Unattended bool
	// Soon is the folder of a session that the caller is about to send a message to: what its
	// extensions need is made ready beside the rest. Empty is none.
	Soon string
	// Terminal says that the terminal UI is the client, in this process.
	Terminal bool
	// Serving says that the host stays for many clients: idle sessions are kept open
	// for a while, and those with a queue are opened at start.
	Serving bool
	// Addresses returns where the host listens; may be nil.
	Addresses func() []string
	// Web opens addresses for browsers; nil refuses that.
	Web pairing.Listener
	// Stop is told that a client wants the host to end; nil refuses that.
	Stop func(restarting bool)
	// Codec marshals and parses every request and frame on an embedded
	// connection, as a wire would.
	Codec bool
	// Version of Scorel, for the servers that pages are fetched from.
	Version string
	// Demo makes the demo model.
	Demo  func() (model.Model, error)
	HTTP  *http.Client // nil is the default
	Now   func() time.Time
	Clock schedule.Clock // that schedules follow; nil is the device's
	Rand  io.Reader
	Sleep func(ctx context.Context, d time.Duration) error
	Push  webpush.Options // for tests
	// Silence is how long a model may say nothing; 0 is the runtime's default.
	Silence time.Duration
	// Confinement returns what this system can hold of the sandbox; nil asks it.
	Confinement func() sandbox.Status
	// Exit ends the process with a code; nil is [os.Exit]. It is called when a panic has
	// left what all sessions share half changed.
	Exit func(code int)
	// Report is told of everything that goes into a session's diagnostics file;
	// may be nil.
	Report func(what string, detail []byte)
	// Say is told, in a sentence, of what concerns the whole host; may be nil.
	Say func(text string)
}

// Overrides are settings above all files: the caller's for all turns of a host, and
// over those the ones of a single message.
type Overrides = settings.Overrides

// UserHome returns the user's home folder: HOME, or the one of the account.
func UserHome(environ []string) (string, error) { return settings.UserHome(environ) }

// Host owns the sessions of a device. It leads the requests of connections to the rooms
// of this folder, which it has wired.
type Host struct {
	cfg      Config
	identity deviceIdentity
	started  time.Time
	log      *diagnostics.Log
	guard    *guard.Guard
	store    *session.Store
	entries  *clients.Store // those that may come in with their key

	handlers request.Table // of requests; complete, and never changed
	requests dedup.Requests
	sessions *registry.Registry
	audience *audience.Audience
	rooms    rooms

	close closing
}

// deviceIdentity is who the device is.
type deviceIdentity struct {
	id  protocol.DeviceID
	key *ecdh.PrivateKey
}

// closing is the end of a host, which comes once.
type closing struct {
	once sync.Once
	err  error
}

// New makes a host. It reads the device's key, making it at first start. With a damaged key a
// host serves nobody; one that does not serve has another for itself.
func New(cfg Config) (*Host, error) {
	if cfg.FS == nil {
		cfg.FS = disk.OS()
	}
	if cfg.StoreDir == "" {
		cfg.StoreDir = cfg.Dir
	}
	if cfg.Confinement == nil {
		cfg.Confinement = sandbox.Detect
	}
	h := &Host{cfg: cfg, started: cfg.Now()}
	h.log = diagnostics.New(diagnostics.Config{StoreDir: cfg.StoreDir, Now: cfg.Now, Tell: cfg.Report})
	h.guard = guard.New(h.log, cfg.Exit)
	h.requests.Watch(h.guard)
	h.entries = clients.New(cfg.FS, filepath.Join(cfg.Dir, "entries.json"), cfg.Now)
	key, err := h.deviceKey()
	if err != nil {
		return nil, failure.Storage("use "+cfg.Dir, err)
	}
	h.identity = deviceIdentity{protocol.DeviceIDOf(key.PublicKey().Bytes()), key}
	h.store, err = session.OpenStore(session.Config{FS: cfg.FS, Dir: cfg.StoreDir, Now: cfg.Now, Rand: cfg.Rand})
	if err != nil {
		return nil, failure.Storage("use "+cfg.StoreDir, err)
	}
	h.sessions = registry.New(registry.Config{Store: h.store, StoreDir: cfg.StoreDir, FS: cfg.FS, Serving: cfg.Serving, Now: cfg.Now,
		Log: h.log, Guard: h.guard, Owner: owner{h}, Rested: func(id protocol.SessionID, meta protocol.Meta) { h.rooms.notes.ConsolidateIdle(id, meta) }})
	h.audience = audience.New(h.guard)
	h.rooms = newRooms(h)
	h.audience.Watch(h.rooms.pushes)
	if h.handlers, err = h.newHandlers(); err != nil {
		return nil, err
	}
	if cfg.Soon != "" {
		h.rooms.extensions.Prepare(cfg.Soon)
	}
	h.sessions.Start(!cfg.Ephemeral)
	h.rooms.pushes.Start()
	h.rooms.automation.Start()
	h.rooms.jobs.Start()
	return h, nil
}

// Device returns the device's id and the key that it derives from. The key belongs to
// the host; its private half is for proofs only.
func (h *Host) Device() (protocol.DeviceID, *ecdh.PrivateKey) {
	return h.identity.id, h.identity.key
}

func (h *Host) deviceKey() (*ecdh.PrivateKey, error) {
	if h.cfg.Ephemeral {
		return identity.Ephemeral(h.cfg.Rand)
	}
	if err := h.cfg.FS.MkdirAll(h.cfg.Dir); err != nil {
		return nil, err
	}
	key, err := identity.Load(h.cfg.FS, filepath.Join(h.cfg.Dir, "device.json"), h.cfg.Rand)
	if identity.Unusable(err) && !h.cfg.Serving { // nobody from elsewhere asks who this is
		return identity.Ephemeral(h.cfg.Rand)
	}
	return key, err
}

// Close cancels what runs, waits for it, and closes sessions and connections.
func (h *Host) Close() error {
	h.close.once.Do(func() {
		for _, c := range h.shut() {
			_ = c.Close()
		}
		h.close.err = h.closeRooms()
	})
	return h.close.err
}

// shut lets nothing be opened any more and nobody come, and returns who is connected.
func (h *Host) shut() (conns []*Conn) {
	h.sessions.Shut()
	for _, m := range h.audience.Close() {
		conns = append(conns, m.(*Conn))
	}
	return conns
}

// closeRooms closes the sessions, and then what is kept for all.
func (h *Host) closeRooms() error {
	err := h.sessions.Close()
	h.rooms.close()
	return err
}

// EndIdle begins the end of a host that has had nothing to do for d, and reports whether
// it did: no client is connected, no session is in use, no turn, no background
// command and no message that waits for its turn is left, and no schedule is armed. From
// then on nobody comes in, so that no request is taken which the host has no time for.
// [Host.Drain] or [Host.Close] follows.
func (h *Host) EndIdle(d time.Duration) bool {
	return !h.rooms.automation.Waits() && h.sessions.EndIdle(d)
}

// ReapAbandoned ends what hosts that died have left running: in all sessions that
// nobody has, and MCP servers. A session that another process has keeps its children.
// problems are one sentence each.
func (h *Host) ReapAbandoned(ctx context.Context) (problems []string) {
	return append(h.sessions.ReapAbandoned(ctx), h.rooms.servers.ReapAbandoned(ctx)...)
}

// Rescue ends the panic of a goroutine of the host. It is deferred itself, at the root.
func (h *Host) Rescue(what string) {
	if r := recover(); r != nil {
		h.guard.Caught("", what, fault.Caught(r))
	}
}

// Caught is told what a panic of a goroutine was, by who has recovered it and has more to
// do than [Host.Rescue].
func (h *Host) Caught(what string, recovered any) {
	h.guard.Caught("", what, fault.Caught(recovered))
}
