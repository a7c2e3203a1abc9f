package mcpservers

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/oauth"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/platform/disk"
)

const (
	// signInTime is how long a person has to sign in.
	signInTime = 5 * time.Minute
	// callbackPath is where a browser comes back to.
	callbackPath = "/callback"
	// maxForeign is how many requests that do not belong to a sign-in its listener answers.
	maxForeign = 100
)

// Login is how somebody signs in to a server.
type Login struct {
	name    string
	server  oauth.Server
	client  *oauth.Client
	store   oauth.Store
	session *oauth.Session
}

// clientSecret is the id of the answer as which the secret of a configured client is kept.
const clientSecret = "client secret"

// secrets is the name under which it is kept. The answers of an entry have another one, so no
// file can ask for it as ${input:ID}.
func (l *Login) secrets() string { return l.store.Name + " client" }

// NewLogin makes that of a server that has an address, nil for a server that nobody signs in
// to: it has no HTTP, or a token of its own among its headers. file is the credentials file.
func NewLogin(e mcpconfig.Entry, r Reached, fsys disk.FS, file, version string) (*Login, error) {
	if r.Target.Command != "" || r.Entry.Type != mcpconfig.TypeHTTP && r.Entry.Type != mcpconfig.TypeSSE || r.Target.Headers.Get("Authorization") != "" {
		return nil, nil
	}
	l := &Login{name: e.Name, server: oauth.Server{URL: r.Target.URL}, store: oauth.Store{FS: fsys, File: file, Name: e.Name + " " + e.Hash()}}
	if o := r.Entry.OAuth; o != nil {
		l.server.ClientID, l.server.Scopes, l.server.MetadataURL, l.server.CallbackPort = o.ClientID, o.Scopes, o.AuthServerMetadataURL, o.CallbackPort
		l.server.ClientMetadataURL = o.ClientMetadataURL
	}
	var err error
	if l.client, err = oauth.NewClient(l.server, version); err != nil {
		return nil, err
	}
	l.session, err = oauth.NewSession(l.client, l.store, l.server.URL)
	return l, err
}

// Session returns the tokens to connections.
func (l *Login) Session() *oauth.Session { return l.session }

// SignedIn reports whether there are tokens. Whether the server still takes them is not asked.
func (l *Login) SignedIn() (bool, error) {
	g, err := l.store.Load()
	return err == nil && g != nil && (g.Access != "" || g.Refresh != ""), err
}

// ErrNoClient is that a secret is given for a client that the entry does not name.
var ErrNoClient = errors.New("a client secret belongs to a client: its entry needs oauth.clientId (scorel mcp add --client-id ID)")

// KeepSecret keeps the secret of the client that the entry names, for the next sign-in.
func (l *Login) KeepSecret(secret string) error {
	if l.server.ClientID == "" {
		return ErrNoClient
	}
	if err := l.store.FS.MkdirAll(filepath.Dir(l.store.File)); err != nil {
		return err
	}
	return credentials.SetInput(l.store.FS, l.store.File, l.secrets(), clientSecret, &credentials.Input{Value: secret, Secret: true})
}

// ForgetSecret forgets it.
func (l *Login) ForgetSecret() error {
	return credentials.ForgetInputs(l.store.FS, l.store.File, l.secrets())
}

// Forget forgets the tokens, and reports whether there were some.
func (l *Login) Forget() (bool, error) {
	g, err := l.store.Load()
	if g == nil || err != nil {
		return false, err
	}
	return g.Access != "" || g.Refresh != "", l.store.Keep(nil)
}

// SignIn waits until a person has signed in, at most 5 minutes, and keeps the tokens. show
// is given the address at which they agree, and its host. The browser comes back to a
// listener on 127.0.0.1, which takes one answer; a person whose browser is on another
// machine pastes the address that it was led to, which comes over pasted (nil for nobody).
// foreign is told that what was pasted does not belong to the sign-in.
func (l *Login) SignIn(ctx context.Context, show func(at, host string), pasted <-chan string, foreign func(error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, signInTime, fmt.Errorf("nobody has signed in within %v", signInTime))
	defer cancel()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.server.CallbackPort)))
	if err != nil {
		if l.server.CallbackPort != 0 {
			return fmt.Errorf("the port %d, to which the sign-in returns, is not free", l.server.CallbackPort)
		}
		return fmt.Errorf("nothing can be listened on for the sign-in: %w", err)
	}
	defer listener.Close()
	server := l.server
	keys, err := credentials.Load(l.store.FS, l.store.File)
	if err != nil {
		return err
	}
	server.ClientSecret = keys.Inputs(l.secrets())[clientSecret].Value
	var wanted []string
	if g, err := l.store.Load(); err != nil {
		return err
	} else if g != nil {
		wanted = g.Wanted
	}
	x, err := l.client.Begin(ctx, server, "http://"+listener.Addr().String()+callbackPath, wanted)
	if err != nil {
		return over(ctx, err)
	}
	done := make(chan error, 1)
	finish := func(back url.Values) error {
		g, err := x.Finish(ctx, back)
		if err == nil {
			err = l.store.Keep(g)
		}
		if !errors.Is(err, oauth.ErrForeign) {
			select {
			case done <- err:
			default: // it has ended
			}
		}
		return err
	}
	back := &http.Server{Handler: &callback{host: listener.Addr().String(), name: l.name, finish: finish, left: make(chan struct{}, maxForeign)},
		ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 32 << 10}
	go func() { _ = back.Serve(listener) }() // ends with Shutdown
	defer func() {
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // for the answer to the browser
		defer cancel()
		_ = back.Shutdown(wait)
		_ = back.Close()
	}()
	show(x.URL(), x.Host())
	for {
		select {
		case err := <-done:
			return err
		case text, ok := <-pasted:
			if !ok {
				pasted = nil
				continue
			}
			if err := finish(pastedQuery(text)); errors.Is(err, oauth.ErrForeign) && foreign != nil {
				foreign(err)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// over returns the reason why ctx has ended, if it has, else err.
func over(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// pastedQuery reads what a person pastes: the whole address, or its query.
func pastedQuery(text string) url.Values {
	text = strings.TrimSpace(text)
	if u, err := url.Parse(text); err == nil && u.RawQuery != "" {
		return u.Query()
	}
	q, err := url.ParseQuery(strings.TrimPrefix(text, "?"))
	if err != nil {
		return nil
	}
	return q
}

// callback answers the browser that comes back.
type callback struct {
	host, name string
	finish     func(url.Values) error // whether or not the browser waits for it
	left       chan struct{}          // holds one for each foreign request
}

func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	_, port, _ := net.SplitHostPort(c.host)
	if r.URL.Path != callbackPath || r.Method != http.MethodGet || r.Host != c.host && r.Host != "localhost:"+port {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	err := errors.New("too many requests came that do not belong to the sign-in")
	select {
	case c.left <- struct{}{}:
		err = c.finish(r.URL.Query())
	default:
	}
	text := "You are signed in to " + c.name + ". You can close this window."
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		text = "The sign-in to " + c.name + " has failed: " + err.Error() + "."
	}
	fmt.Fprintf(w, "<!doctype html><title>Scorel</title><p>%s</p>\n", html.EscapeString(text))
}
