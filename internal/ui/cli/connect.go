package cli

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/asides"
	"scorel/internal/host/daemon"
	"scorel/internal/host/failure"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/identity"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// testOnlyCodec makes the embedded connection marshal and parse everything, as a
// wire would. Tests set it.
var testOnlyCodec bool

// link is a connection to a host: one in this process, or one that serves.
type link struct {
	*client.Client
	host    *host.Host // in this process, else nil
	serving bool
	open    func(ctx context.Context, interactive bool) (client.Transport, error)
	id      protocol.ClientID
	temp    string // a folder to remove at the end
	tell    func() // of files that were set aside; nil for nobody
}

// hostOptions are what a command asks of its host.
type hostOptions struct {
	overrides host.Overrides
	noSession bool
	look      bool // change nothing, and work without a usable home
	terminal  bool // the terminal UI is the client
	// notify is told a sentence for the person; nil has it said on stderr.
	notify func(text string)
	soon   string // the folder of a session that a message is about to go to
}

// connect starts an embedded host and a client of it.
func (a *app) connect(ctx context.Context, o hostOptions) (*link, error) {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(home, ".scorel")
	l := &link{}
	cfg := host.Config{Dir: dir, UserHome: home, Environ: a.environ, Overrides: o.overrides, Unattended: true, Terminal: o.terminal, Soon: o.soon,
		Codec: testOnlyCodec, Now: time.Now, Rand: rand.Reader, Demo: a.demoModel, Version: Version}
	var id protocol.ClientID
	if o.look {
		var key *ecdh.PrivateKey
		if key, err = identity.Ephemeral(rand.Reader); err == nil {
			id, cfg.Ephemeral = protocol.ClientIDOf(key.PublicKey().Bytes()), true
		}
	} else {
		if o.notify == nil {
			o.notify = a.notify
		}
		id, err = clientID(dir, o.notify)
		if derr := identity.Check(disk.OS(), filepath.Join(dir, "device.json")); identity.Unusable(derr) {
			o.notify(damagedKey(derr))
		}
	}
	if o.noSession {
		if err != nil { // a home that cannot be written does not matter then
			key, kerr := identity.Ephemeral(rand.Reader)
			if kerr != nil {
				return nil, kerr
			}
			id, err, cfg.Ephemeral = protocol.ClientIDOf(key.PublicKey().Bytes()), nil, true
		}
		if l.temp, err = os.MkdirTemp("", "scorel-session-"); err != nil {
			return nil, fmt.Errorf("make a temporary folder: %w", err)
		}
		cfg.StoreDir = l.temp
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeStorageError, "Cannot use %s: %v. Make it writable, set HOME to a folder that is, or use --no-session.", dir, err)
	}
	if l.host, err = host.New(cfg); err != nil {
		l.Close()
		return nil, err
	}
	l.id = id
	l.open = func(ctx context.Context, interactive bool) (client.Transport, error) {
		return l.host.Connect(ctx, protocol.Hello{ProtocolVersion: protocol.Version, ClientID: l.id, ClientName: "scorel", Interactive: interactive}, protocol.GrantControl)
	}
	conn, err := l.dial(ctx, false)
	if err != nil {
		l.Close()
		return nil, err
	}
	l.Client = client.New(conn)
	if !o.look && !o.terminal {
		l.tell = func() { a.tellAsides(dir) }
		l.tell()
	}
	return l, nil
}

// tellAsides says which files of the user's Scorel folder were damaged and have been set
// aside, once of each.
func (a *app) tellAsides(dir string) {
	for _, text := range asides.Untold(disk.OS(), dir) {
		a.notifyOnce(text)
	}
}

// notifyOnce is notify of what several parts of a command may say.
func (a *app) notifyOnce(text string) {
	if _, said := a.once.LoadOrStore(text, true); !said {
		a.notify(text)
	}
}

// notify says a sentence to the person, on stderr.
func (a *app) notify(text string) { fmt.Fprintln(a.stderr, "scorel: "+display.Line(text)) }

// dial makes a further connection to the host.
func (l *link) dial(ctx context.Context, interactive bool) (client.Transport, error) {
	return l.open(ctx, interactive)
}

// damagedKey is what is said of a damaged key that a command does without.
func damagedKey(err error) string {
	return failure.Sentence(err) + ". Until then each command has one of its own."
}

// clientID returns the id of the local entry, making its key at first use. A damaged key
// stays as it is, and notify is told: the id is only the name of who asks.
func clientID(dir string, notify func(text string)) (protocol.ClientID, error) {
	fs := disk.OS()
	if err := fs.MkdirAll(dir); err != nil {
		return "", err
	}
	key, err := identity.Load(fs, filepath.Join(dir, "client.json"), rand.Reader)
	if identity.Unusable(err) {
		notify(damagedKey(err))
		key, err = identity.Ephemeral(rand.Reader)
	}
	if err != nil {
		return "", err
	}
	return protocol.ClientIDOf(key.PublicKey().Bytes()), nil
}

// Close ends client and host.
func (l *link) Close() {
	if l.Client != nil {
		_ = l.Client.Close()
	}
	if l.host != nil {
		_ = l.host.Close() // what was acknowledged is stored
	}
	if l.temp != "" {
		_ = os.RemoveAll(l.temp)
	}
	if l.tell != nil { // of what was found meanwhile
		l.tell()
	}
}

// with runs a command against a host in this process.
func (a *app) with(ctx context.Context, f func(*link) error) error {
	return a.withHost(ctx, hostOptions{}, f)
}

// withSessions runs a command about sessions: against the host that serves, which has
// those open that run, else against one in this process.
func (a *app) withSessions(ctx context.Context, f func(*link) error) error {
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	if _, live, err := daemon.Find(dir); err != nil || !live {
		return a.with(ctx, f)
	}
	l, err := a.reach(ctx, reachOptions{name: "scorel"})
	if err != nil {
		return err
	}
	defer l.Close()
	return f(l)
}

func (a *app) withHost(ctx context.Context, o hostOptions, f func(*link) error) error {
	l, err := a.connect(ctx, o)
	if err != nil {
		return err
	}
	defer l.Close()
	return f(l)
}

// printJSON prints one value as one line of JSON.
func (a *app) printJSON(v any) error {
	return plain.JSON(a.stdout, v)
}
