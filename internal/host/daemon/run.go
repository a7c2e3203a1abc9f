package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/config"
	"scorel/internal/engine/session/owner"
	"scorel/internal/host"
	"scorel/internal/host/serve"
	"scorel/internal/platform/disk"
)

const (
	// drainGrace is what a turn has to come to a boundary when the host ends.
	drainGrace = 10 * time.Second
	// idleEnd is how long a host that was started by itself stays without anything
	// to do.
	idleEnd = 10 * time.Minute
	// idleLook is how often it looks.
	idleLook = 15 * time.Second
	// killTime is what the end of what runs may take after a second signal; a third
	// one does not wait at all. What is left then is ended by the next host.
	killTime = 3 * time.Second
	// closeTime is what clients have to take what is on its way.
	closeTime = 5 * time.Second
)

// Config says how a host serves.
type Config struct {
	// Host is what the host is made from; Serving, Addresses and Stop are set here.
	Host host.Config
	// Listen are addresses beside the socket: HOST:PORT, or with ws:// or wss:// in
	// front. What is not on this machine is served with TLS, by the files TLSCert
	// and TLSKey, or by a certificate that the host makes for itself.
	Listen          []string
	TLSCert, TLSKey string
	// TakeOver is how long to wait for a host that is ending; 0 is not at all.
	TakeOver time.Duration
	// UntilIdle ends a host that has had nothing to do for 10 minutes.
	UntilIdle bool
	// Signals: the first ends the host in order, a second one at once.
	Signals <-chan os.Signal
	// Refreshed tells that another token stands in host.header; may be nil.
	Refreshed <-chan os.Signal
	// Ready is told once that clients can come; may be nil.
	Ready func(Info)
	// Echo gets the lines of the log too; may be nil. It may be slow, or never return.
	Echo io.Writer
	// In and Out, when both are set, carry the protocol for the process that has started
	// this one (see [serve.Server.Lines]). The end of In ends the host in order.
	In  io.Reader
	Out io.Writer

	idleEnd, idleLook time.Duration // of tests; 0: the constants
}

// ErrKilled says that a second signal ended the host before what ran came to a
// boundary.
var ErrKilled = errors.New("the host was ended before what ran had finished its step")

// LiveError says that another host runs.
type LiveError struct{ Info Info }

func (e *LiveError) Error() string {
	return fmt.Sprintf("%v runs already; use it (scorel attach), stop it (scorel host stop), or take its place with --replace", e.Info)
}

// unusable says that the folder of Scorel cannot be made or written.
func unusable(dir string, err error) error {
	return fmt.Errorf("cannot use %s: %w; make it writable and free space, or set HOME to a folder that is", dir, err)
}

// Run serves until ctx ends, a client or a signal ends it, or it has long been idle.
// It fails with a *[LiveError] when another host runs.
func Run(ctx context.Context, cfg Config) error {
	dir := cfg.Host.Dir
	if err := disk.OS().MkdirAll(dir); err != nil {
		return unusable(dir, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close %s to others: %w", dir, err)
	}
	d := &daemon{cfg: cfg, dir: dir, owner: owner.Owner{PID: os.Getpid(), StartedAt: cfg.Host.Now().UnixMilli(), Command: "scorel host"}, stop: make(chan bool, 1)}
	lock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // last of all: then another may begin
	echo := newEcho(cfg.Echo)
	defer echo.close()
	if d.log, err = openLog(Log(dir), boundOf(dir), cfg.Host.Now, echo); err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer d.log.close()
	if err := d.serve(ctx); err != nil {
		d.log.line("ended: %v", err)
		return err
	}
	d.log.line("ended")
	return nil
}

// daemon is a host that serves.
type daemon struct {
	cfg    Config
	dir    string
	owner  owner.Owner
	log    *logFile
	host   *host.Host
	killed bool        // it is not waited for what still ends
	stop   chan bool   // a client wants the end; true: another host takes over
	tls    *tls.Config // nil without an address that needs it
	info   Info        // complete before anybody can come, but for what pages adds
}

// lock takes host.lock, waiting for a host that is ending when that was asked for.
func (d *daemon) lock(ctx context.Context) (disk.Unlocker, error) {
	ctx, stop := context.WithTimeout(ctx, d.cfg.TakeOver)
	defer stop()
	tick := time.NewTicker(startInterval)
	defer tick.Stop()
	for {
		l, err := disk.OS().Lock(filepath.Join(d.dir, lockName), d.owner.Text())
		var held *disk.LockedError
		switch {
		case err == nil:
			return l, nil
		case !errors.As(err, &held):
			return nil, unusable(d.dir, err)
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		info, _, _ := Find(d.dir)
		if d.cfg.TakeOver > 0 {
			return nil, fmt.Errorf("%v did not end within %v; end it with scorel host stop --now", info, d.cfg.TakeOver)
		}
		return nil, &LiveError{info}
	}
}

// serve runs between the taking of the lock and its end.
func (d *daemon) serve(ctx context.Context) error {
	if err := os.Remove(filepath.Join(d.dir, infoName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // what a host that died has left would lead clients astray
	}
	file, err := config.Load(filepath.Join(d.dir, "config.toml"))
	if err != nil {
		return PermanentError{ConfigError{err}}
	}
	tokens, replaced, err := newTokens(d.dir, d.cfg.Host.Rand)
	if err != nil {
		return err
	}
	if replaced {
		d.log.line("others could read %s or write it: another token was generated, which clients elsewhere need", Header(d.dir))
	}
	if names, err := foreign(d.dir); err != nil {
		return err
	} else if len(names) > 0 {
		return PermanentError{fmt.Errorf("%s belongs to another user, who could put it there while %s was open to others; look at it, and remove it or make it yours with chown", names[0], d.dir)}
	}
	ends, err := d.listen()
	if err != nil {
		return err
	}
	defer func() {
		for _, e := range ends {
			_ = e.Close() // those that serve are closed already
		}
	}()
	d.info.Version, d.info.PID, d.info.StartedAt = d.cfg.Host.Version, d.owner.PID, d.owner.StartedAt
	d.info.Build = Build()
	d.info.Socket = strings.TrimPrefix(ends[0].url, "unix:")
	for _, e := range ends {
		d.info.Addresses = append(d.info.Addresses, e.url)
	}
	hc := d.cfg.Host
	hc.Environ = withoutManager(hc.Environ)
	hc.Say = func(text string) { d.log.line("%s", text) }
	hc.Serving, hc.Stop = true, func(restarting bool) {
		select {
		case d.stop <- restarting:
		default: // it ends already
		}
	}
	var serving sync.WaitGroup
	browsers := &pages{d: d, serving: &serving, ends: ends, opened: map[bool]*endpoint{}}
	hc.Addresses, hc.Web = browsers.addresses, browsers
	if d.host, err = host.New(hc); err != nil {
		return err
	}
	defer func() {
		if !d.killed {
			_ = d.host.Close()
		}
	}()
	d.info.DeviceID, _ = d.host.Device()
	for _, problem := range d.host.ReapAbandoned(ctx) {
		d.log.line("%s", problem)
	}
	srv := d.server(tokens, file)
	browsers.srv = srv
	for _, e := range ends {
		serving.Go(func() { d.accept(srv, e) }) // ends with Shutdown
	}
	defer func() {
		if !d.killed {
			serving.Wait()
		}
	}()
	defer func() {
		if d.killed {
			return
		}
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer stop()
		_ = srv.Shutdown(late) // who is left is cut off
	}()
	browsers.reopen()
	if err := d.info.write(d.dir); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(d.dir, infoName), err)
	}
	defer func() { _ = os.Remove(filepath.Join(d.dir, infoName)) }()
	d.log.line("version %s listens on %s", d.info.Version, strings.Join(d.info.Addresses, ", "))
	if d.cfg.Ready != nil {
		d.cfg.Ready(d.info)
	}
	notifyManager(d.cfg.Host.Environ, "READY=1")
	parent := d.parent(srv)
	err = d.wait(ctx, srv, parent)
	if parent != nil && !d.killed {
		select { // the parent takes what is on its way
		case <-parent:
		case <-time.After(closeTime):
		}
	}
	return err
}

// parent serves the process that has started this one, if it asks for that. The channel,
// nil if it does not, is closed when that has ended; a parent that does not read can
// hold it up for ever.
func (d *daemon) parent(srv *serve.Server) <-chan struct{} {
	if d.cfg.In == nil || d.cfg.Out == nil {
		return nil
	}
	gone := make(chan struct{})
	go func() { // ends with In, Out or the host
		defer close(gone)
		defer d.host.Rescue("serving the parent process")
		if err := srv.Lines(d.cfg.In, d.cfg.Out); err != nil {
			d.log.line("the connection of the parent process broke: %v", err)
		}
	}()
	return gone
}

// certify has a certificate at hand, and its fingerprint in the info.
func (d *daemon) certify() error {
	if d.tls != nil {
		return nil
	}
	c, err := certificate(d.dir, d.cfg.TLSCert, d.cfg.TLSKey, d.cfg.Host.Rand, d.cfg.Host.Now())
	if err != nil {
		return err
	}
	d.tls = &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}
	d.info.Fingerprint = fingerprint(c)
	return nil
}

// listen opens the socket and the addresses, all or none.
func (d *daemon) listen() (ends []*endpoint, err error) {
	if len(d.cfg.Listen) > maxListen {
		return nil, fmt.Errorf("--listen was given %d times; a host listens on at most %d addresses", len(d.cfg.Listen), maxListen)
	}
	var addresses []address
	for _, text := range d.cfg.Listen {
		a, err := parseAddress(text)
		if err != nil {
			return nil, PermanentError{err}
		}
		addresses = append(addresses, a)
	}
	if d.cfg.TLSCert != "" || d.cfg.TLSKey != "" {
		if err := d.certify(); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			for _, e := range ends {
				_ = e.Close()
			}
		}
	}()
	e, err := socket(d.dir)
	if err != nil {
		return nil, err
	}
	ends = append(ends, e)
	for _, a := range addresses {
		e, err := a.listen(d.certify)
		if err != nil {
			return ends, err
		}
		ends = append(ends, e)
	}
	return ends, nil
}

// wait returns when the host is to end and what ran has ended.
func (d *daemon) wait(ctx context.Context, srv *serve.Server, parent <-chan struct{}) error {
	why, restarting := "", false
	idle := cmp.Or(d.cfg.idleEnd, idleEnd)
	look := time.NewTicker(cmp.Or(d.cfg.idleLook, idleLook))
	defer look.Stop()
	for why == "" {
		select {
		case <-ctx.Done():
			why = "asked to"
		case s := <-d.cfg.Signals:
			why = "signal " + s.String()
		case restarting = <-d.stop:
			why = "a client asked for it"
			if restarting {
				why = "another host takes over"
			}
		case <-parent:
			why = "the parent process has gone"
		case <-d.cfg.Refreshed:
			d.log.line("another token: cut off %d clients", srv.DropTokenClients())
		case <-look.C:
			if d.cfg.UntilIdle && d.host.EndIdle(idle) {
				why = "idle for " + idle.String()
			}
		}
	}
	d.log.line("stopping: %s", why)
	notifyManager(d.cfg.Host.Environ, "STOPPING=1")
	drain, hurry := context.WithCancel(context.WithoutCancel(ctx))
	defer hurry()
	done := make(chan error, 1)
	go func() { done <- d.host.Drain(drain, drainGrace, restarting) }() // ends at the latest when the commands of turns that are cancelled have ended
	select {
	case err := <-done:
		return err
	case s := <-d.cfg.Signals:
		d.log.line("ending at once: signal %s", s)
		hurry()
	}
	late := time.NewTimer(killTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		d.killed = true
	case <-d.cfg.Signals:
		d.killed = true
	}
	return ErrKilled
}
