package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/daemon"
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
	interactive bool              // this client can put a question to a person
	onState     func(text string) // told when the connection breaks and comes back; may be nil
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
	ws := client.WebSocket{URL: o.remote.url, Fingerprint: o.remote.fingerprint, ClientName: o.name, Interactive: o.interactive}
	if o.remote.set() {
		if ws.Token, err = o.remote.token(a.environ); err != nil {
			return nil, err
		}
	} else {
		info, err := a.local(ctx, dir, o.start)
		if err != nil {
			return nil, err
		}
		ws.URL, ws.Device = "unix:"+info.Socket, info.DeviceID
		if ws.Token, err = localToken(dir); err != nil {
			return nil, err
		}
	}
	if ws.ClientID, err = clientID(dir); err != nil {
		return nil, protocol.Errorf(protocol.CodeStorageError, "Cannot use %s: %v. Make it writable, or set HOME to a folder that is.", dir, err)
	}
	l := &link{id: ws.ClientID, serving: true}
	l.open = func(ctx context.Context, interactive bool) (client.Transport, error) {
		w := ws
		w.Interactive = interactive
		t, _, err := w.Dial(ctx)
		return t, err
	}
	t, err := l.open(ctx, o.interactive)
	if err != nil {
		return nil, err
	}
	l.Client = client.New(t)
	return l, nil
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

// tellState makes a function that hands on what the state of a connection is, and
// leaves out what nobody takes in time.
func tellState(to chan<- string) func(string) {
	return func(text string) {
		select {
		case to <- text:
		default:
		}
	}
}

// create makes a session.
func (l *link) create(ctx context.Context, project protocol.ProjectID, meta protocol.Meta) (protocol.SessionID, error) {
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	_, err := client.Call[*protocol.SessionSummary](ctx, l.Client, id, &protocol.CreateSession{ProjectID: project, Meta: meta})
	return id, err
}
