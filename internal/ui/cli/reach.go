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
	"scorel/protocol"
	"scorel/protocol/display"
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

// token gives the token of a remote host.
func (o remoteOptions) token(environ []string) (string, error) {
	if o.tokenEnv == "" {
		return "", usagef("--remote needs --token-env NAME: the variable that holds what scorel host token prints there; the token itself is no argument, because others see those")
	}
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], o.tokenEnv+"="); ok && strings.TrimSpace(v) != "" {
			return strings.TrimSpace(v), nil
		}
	}
	return "", usagef("the environment variable that --token-env names is not set; set it to what scorel host token prints on the host")
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
	// onOther is told once of each host of this machine that another build serves; nil
	// has it said on stderr.
	onOther func(text string)
	// restart says whether a host that has ended is to be started again; nil is never.
	restart func() bool
}

// errNoHost says that no host runs on this machine.
var errNoHost = errors.New("no host runs here; scorel host serve --detach starts one")

// scorelDir gives the folder of Scorel.
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
		return nil, usagef("--token-env and --fingerprint belong to --remote URL")
	}
	d := &dialer{app: a, dir: dir, o: o}
	if o.remote.set() {
		if d.token, err = o.remote.token(a.environ); err != nil {
			return nil, err
		}
	} else if _, err := a.local(ctx, dir, o.start); err != nil {
		return nil, err
	}
	if d.id, err = clientID(dir); err != nil {
		return nil, protocol.Errorf(protocol.CodeStorageError, "Cannot use %s: %v. Make it writable, or set HOME to a folder that is.", dir, err)
	}
	l := &link{id: d.id, serving: true}
	l.open = func(ctx context.Context, interactive bool) (client.Transport, error) {
		t, _, err := d.dial(ctx, interactive)
		return t, err
	}
	first, connected, err := d.dial(ctx, o.interactive) // what is wrong from the beginning is told at once
	if err != nil && o.start && !o.remote.set() && ending(err) {
		ended, stop := context.WithTimeout(ctx, endPatience)
		_ = daemon.AwaitEnd(ended, dir) // if it does not end, the next try says what is wrong
		stop()
		if _, err = a.local(ctx, dir, true); err == nil {
			first, connected, err = d.dial(ctx, o.interactive)
		}
	}
	if err != nil {
		return nil, err
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

// endPatience is how long a command that would start a host waits for the end of one
// that lets nobody in.
const endPatience = 5 * time.Second

// ending says whether an error is what a host gives that is about to end: one that is
// idle for long ends by itself, also while somebody is on the way to it.
func ending(err error) bool {
	var refused *protocol.Error
	if errors.As(err, &refused) {
		return refused.Code == protocol.CodeInternalError
	}
	return !errors.As(err, new(*client.PermanentError))
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

// tellOther tells of a host that another build serves, once of each.
func (d *dialer) tellOther(host daemon.Info) {
	text := host.Differs()
	if text == "" || d.told.Swap(text) == any(text) {
		return
	}
	if d.o.onOther != nil {
		d.o.onOther(text)
		return
	}
	fmt.Fprintln(d.app.stderr, "scorel: "+display.Line(text))
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
		d.tellOther(info)
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

// local gives the serving host of this machine.
func (a *app) local(ctx context.Context, dir string, start bool) (daemon.Info, error) {
	if start {
		return daemon.Ensure(ctx, dir, serveArgs("--until-idle"))
	}
	info, live, err := daemon.Find(dir)
	switch {
	case err != nil:
		return info, err
	case !live:
		return info, errNoHost
	case !info.Ready():
		return info, fmt.Errorf("%v begins or ends just now; try again in a moment", info)
	}
	return info, nil
}

// localToken gives the token of this machine's host.
func localToken(dir string) (string, error) {
	token, err := daemon.ReadToken(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is missing, so nobody can come in; scorel host token --refresh makes another", daemon.Header(dir))
	}
	return token, err
}

// create makes a session.
func (l *link) create(ctx context.Context, project protocol.ProjectID, meta protocol.Meta) (protocol.SessionID, error) {
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	_, err := client.Call[*protocol.SessionSummary](ctx, l.Client, id, &protocol.CreateSession{ProjectID: project, Meta: meta})
	return id, err
}
