package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/protocol"
)

// remoteOptions are the flags that name a host elsewhere.
type remoteOptions struct {
	url         string
	tokenEnv    string
	fingerprint string
}

func (o *remoteOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.url, "remote", "", "the host at this address: wss://HOST:PORT, or ws://127.0.0.1:PORT through a tunnel")
	f.StringVar(&o.tokenEnv, "token-env", "", "with --remote: the environment variable that holds the token of that host")
	f.StringVar(&o.fingerprint, "fingerprint", "", "with --remote: the SHA-256 of its certificate, as scorel host status shows it there")
}

func (o remoteOptions) set() bool { return o.url != "" }

// token returns the token of a remote host.
func (o remoteOptions) token(environ []string) (string, error) {
	if o.tokenEnv == "" {
		return "", exit.Usagef("--remote needs --token-env NAME: the variable that holds what scorel host token prints there; the token itself is not an argument, because others see those")
	}
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], o.tokenEnv+"="); ok && strings.TrimSpace(v) != "" {
			return strings.TrimSpace(v), nil
		}
	}
	return "", exit.Usagef("the environment variable that --token-env names is not set; set it to what scorel host token prints on the host")
}

// reachOptions say which host a command talks to.
type reachOptions struct {
	remote      remoteOptions
	start       bool // start one in the background when none runs
	name        string
	interactive bool // this client can put a question to a person
	// lasting connects again when the connection is gone, for as long as the command
	// runs, and tells onState of it. Others fail.
	lasting bool
	onState func(client.Change)
	// onOther is told once of each host of this machine that another build serves, and of a
	// damaged key; nil has it said on stderr, and so is which damaged files were set aside.
	onOther func(text string)
	// restart reports whether a host that has ended is to be started again; nil is never.
	restart func() bool
}

// scorelDir returns the folder of Scorel.
func (a *app) scorelDir() (string, error) {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".scorel"), nil
}

// reach connects to a serving host.
func (a *app) reach(ctx context.Context, o reachOptions) (*link, error) {
	dir, err := a.scorelDir()
	if err != nil {
		return nil, err
	}
	if !o.remote.set() && (o.remote.tokenEnv != "" || o.remote.fingerprint != "") {
		return nil, exit.Usagef("--token-env and --fingerprint belong to --remote URL")
	}
	d := &dialer{app: a, dir: dir, o: o}
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	l := &link{id: d.id, serving: true}
	l.open = func(ctx context.Context, interactive bool) (client.Transport, error) {
		t, _, err := d.dial(ctx, interactive)
		return t, err
	}
	first, connected, err := d.first(ctx) // what is wrong from the beginning is told at once
	if err != nil {
		return nil, err
	}
	if o.onOther == nil && !o.remote.set() {
		l.tell = func() { a.tellAsides(dir) }
		l.tell()
	}
	if !o.lasting {
		l.Client = client.New(first)
		return l, nil
	}
	l.Client = client.Connect(client.Config{OnState: o.onState, Dial: func(ctx context.Context) (client.Transport, protocol.Connected, error) {
		if t := first; t != nil {
			first = nil
			return t, connected, nil
		}
		return d.dial(ctx, o.interactive)
	}})
	return l, nil
}

// endTimeout is how long a command that would start a host waits for the end of one
// that lets nobody in.
const endTimeout = 5 * time.Second

// ending reports whether an error is what a host returns that is about to end: one that is
// idle for long ends by itself, also while somebody is on the way to it.
func ending(err error) bool {
	var refused *protocol.Error
	if errors.As(err, &refused) {
		return refused.Code == protocol.CodeInternalError
	}
	return !errors.As(err, new(*client.PermanentError))
}

// prepare finds what is needed to connect, and starts a host where one is to be started.
func (d *dialer) prepare(ctx context.Context) (err error) {
	if d.o.remote.set() {
		if d.token, err = d.o.remote.token(d.app.environ); err != nil {
			return err
		}
	} else if _, err := d.app.local(ctx, d.dir, d.o.start); err != nil {
		return err
	}
	notify := d.o.onOther
	if notify == nil {
		notify = d.app.notify
	}
	if d.id, err = clientID(d.dir, notify); err != nil {
		return protocol.Errorf(protocol.CodeStorageError, "Cannot use %s: %v. Make it writable, or set HOME to a folder that is.", d.dir, err)
	}
	return nil
}

// first connects for the first time. A host that ends just now is waited for, and another
// one started where one is to be started.
func (d *dialer) first(ctx context.Context) (client.Transport, protocol.Connected, error) {
	t, connected, err := d.dial(ctx, d.o.interactive)
	if err == nil || !d.o.start || d.o.remote.set() || !ending(err) {
		return t, connected, err
	}
	ended, stop := context.WithTimeout(ctx, endTimeout)
	_ = daemon.AwaitEnd(ended, d.dir) // if it does not end, the next try says what is wrong
	stop()
	if _, err := d.app.local(ctx, d.dir, true); err != nil {
		return nil, connected, err
	}
	return d.dial(ctx, d.o.interactive)
}

// dialer connects to one host, which may have become another process with another
// token since the last time.
type dialer struct {
	app   *app
	dir   string
	o     reachOptions
	id    protocol.ClientID
	token string       // of a remote host
	told  atomic.Value // of a host that another build serves
}

// notifyOther reports a host that another build serves, once of each.
func (d *dialer) notifyOther(host daemon.Info) {
	text := host.Differs()
	if text == "" || d.told.Swap(text) == any(text) {
		return
	}
	if d.o.onOther != nil {
		d.o.onOther(text)
		return
	}
	d.app.notify(text)
}

func (d *dialer) dial(ctx context.Context, interactive bool) (client.Transport, protocol.Connected, error) {
	w := client.WebSocket{URL: d.o.remote.url, Token: d.token, Fingerprint: d.o.remote.fingerprint, ClientID: d.id, ClientName: d.o.name, Interactive: interactive}
	if d.o.remote.set() {
		return w.Dial(ctx)
	}
	info, err := d.app.local(ctx, d.dir, d.o.restart != nil && d.o.restart())
	if err == nil {
		w.URL, w.Device = "unix:"+info.Socket, info.DeviceID
		w.Token, err = localToken(d.dir)
	}
	if err != nil {
		return nil, protocol.Connected{}, err
	}
	t, connected, err := w.Dial(ctx)
	if err == nil {
		d.notifyOther(info)
	}
	var refused *protocol.Error
	if errors.As(err, &refused) && refused.Code == protocol.CodeAuthFailed {
		if now, terr := localToken(d.dir); terr == nil && now != w.Token { // it was refreshed meanwhile
			w.Token = now
			return w.Dial(ctx)
		}
	}
	return t, connected, err
}

// local returns the serving host of this machine.
func (a *app) local(ctx context.Context, dir string, start bool) (daemon.Info, error) {
	if start {
		return daemon.Ensure(ctx, dir, serveArgs("--until-idle"))
	}
	info, live, err := daemon.Find(dir)
	switch {
	case err != nil:
		return info, err
	case !live:
		return info, follow.ErrNoHost
	case !info.Ready():
		return info, fmt.Errorf("%v is starting or stopping; try again in a moment", info)
	}
	return info, nil
}

// localToken returns the token of this machine's host.
func localToken(dir string) (string, error) {
	token, err := daemon.ReadToken(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is missing, so no client can connect; scorel host token --refresh makes another", daemon.Header(dir))
	}
	return token, err
}

// create makes a session.
func (l *link) create(ctx context.Context, project protocol.ProjectID, meta protocol.Meta) (protocol.SessionID, error) {
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	_, err := client.Call[*protocol.SessionSummary](ctx, l.Client, id, &protocol.CreateSession{ProjectID: project, Meta: meta})
	return id, err
}
