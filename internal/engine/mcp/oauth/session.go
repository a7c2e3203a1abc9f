package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"scorel/internal/engine/model/credentials"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
)

const (
	// early is how long before its end a token is renewed; of a short one a tenth of its life.
	early = 5 * time.Minute
	// lockStep is how long is waited between two looks at whether another process renews.
	lockStep = 50 * time.Millisecond
	// grantRoom is how much longer a renewed grant may be, in bytes.
	grantRoom = 16 << 10
)

// Store says where the grant of a server is kept.
type Store struct {
	FS   disk.FS
	File string // of the credentials
	Name string // of the grant: of the entry and its hash, so that a changed one gets none
}

// Load returns the grant, nil for none.
func (s Store) Load() (*credentials.Grant, error) {
	keys, err := credentials.Load(s.FS, s.File)
	if err != nil {
		return nil, err
	}
	g, ok := keys.Grant(s.Name)
	if !ok {
		return nil, nil
	}
	return &g, nil
}

// Keep keeps a grant; nil forgets it.
func (s Store) Keep(g *credentials.Grant) error {
	if err := s.FS.MkdirAll(filepath.Dir(s.File)); err != nil {
		return err
	}
	return credentials.SetGrant(s.FS, s.File, s.Name, func(*credentials.Grant) (*credentials.Grant, error) { return g, nil })
}

// room reports why a file as large as that of the credentials cannot be written now.
func (s Store) room() error {
	info, err := s.FS.Stat(s.File)
	if err != nil {
		return err
	}
	probe := s.File + ".room"
	if err := disk.WriteFile(s.FS, probe, make([]byte, info.Size()+grantRoom)); err != nil {
		return err
	}
	return s.FS.Remove(probe)
}

// Session gives the token of a server to its connections, and renews it. Several processes
// may have one for the same server: only one renews at a time, and the others take what it
// got. It may be used concurrently.
type Session struct {
	client *Client
	store  Store
	at     *url.URL

	mu sync.Mutex // held while the token is renewed
}

// NewSession makes the session of the server at an address.
func NewSession(c *Client, s Store, at string) (*Session, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, errors.New("its url is not an address")
	}
	return &Session{client: c, store: s, at: u}, nil
}

// load returns the grant that is for the server's address, nil for none: the address may
// have been made with variables that have changed.
func (s *Session) load() (*credentials.Grant, error) {
	g, err := s.store.Load()
	if g == nil || err != nil || !covers(g.Resource, s.at) {
		return nil, err
	}
	return g, nil
}

// Has reports whether there is a token other than this one.
func (s *Session) Has(other string) bool {
	g, err := s.load()
	return err == nil && g != nil && g.Access != "" && g.Access != other
}

// Token returns the token to send, "" for none. One that ends soon is renewed before, and
// while that fails, it is used to its end. An error is that the file cannot be read, that
// ctx has ended, or that an ended token could not be renewed now.
func (s *Session) Token(ctx context.Context) (string, error) {
	g, err := s.load()
	if g == nil || err != nil {
		return "", err
	}
	if !due(g) || g.Refresh == "" {
		return g.Access, nil
	}
	renewed, err := s.renew(ctx, g.Access)
	switch {
	case err == nil && renewed == nil:
		return "", nil
	case err == nil:
		return renewed.Access, nil
	case ctx.Err() == nil && time.Now().Before(g.Expires):
		return g.Access, nil
	}
	return "", err
}

// due reports whether a token is to be renewed.
func due(g *credentials.Grant) bool {
	if g.Expires.IsZero() {
		return false
	}
	return time.Now().After(g.Expires.Add(-min(early, g.Expires.Sub(g.Granted)/10)))
}

// Refused is told that a server refused a request with this token, and reports whether
// there is another one, to be tried once. Where the token's scopes are too few, it is
// remembered which are wanted, for the next sign-in.
func (s *Session) Refused(ctx context.Context, token string, status int, h http.Header) bool {
	_, scopes, tooFew := challenged(h)
	if status == http.StatusForbidden {
		if tooFew && token != "" {
			_ = credentials.SetGrant(s.store.FS, s.store.File, s.store.Name, func(g *credentials.Grant) (*credentials.Grant, error) {
				if g != nil && g.Access == token {
					g.Wanted = union(g.Scopes, scopes)
				}
				return g, nil
			}) // the server says it again
		}
		return false
	}
	if token == "" {
		return false
	}
	g, err := s.renew(ctx, token)
	return err == nil && g != nil && g.Access != "" && g.Access != token
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out[:min(len(out), maxScopes)]
}

// renew replaces a token, where nobody else has. It returns the grant, nil where there is
// none any more: a token that its server does not renew is forgotten. When ctx ends, nobody
// waits, and the renewal goes on: once the server has answered, the token before is worth nothing.
func (s *Session) renew(ctx context.Context, token string) (*credentials.Grant, error) {
	type renewal struct {
		grant  *credentials.Grant
		err    error
		caught *fault.Panic
	}
	done := make(chan renewal, 1)
	go func() { // ends with the request, whose client has a time-out
		var r renewal
		r.caught = fault.Attempt(func() { r.grant, r.err = s.replace(ctx, token) })
		done <- r
	}()
	select {
	case r := <-done:
		if r.caught != nil {
			panic(r.caught) // it is part of the request
		}
		return r.grant, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// replace is renew, which ctx ends only before the server is asked.
func (s *Session) replace(ctx context.Context, token string) (*credentials.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	g, err := s.load()
	if g == nil || err != nil || g.Access != token {
		return g, err
	}
	if g.Refresh == "" {
		return g, nil
	}
	if err := s.store.room(); err != nil { // the server would end a token, and the next one would be lost
		return nil, err
	}
	fresh := *g
	err = s.client.tokens(context.WithoutCancel(ctx), &fresh, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}})
	var refused *RefusedError
	switch {
	case errors.As(err, &refused) && (refused.Code == "invalid_grant" || refused.Code == "invalid_client" || refused.Code == "unauthorized_client"):
		g.Access, g.Refresh, g.Wanted = "", "", union(g.Scopes, g.Wanted) // the scopes are asked for again
		return nil, s.store.Keep(g)
	case err != nil:
		return nil, err
	}
	fresh.Wanted = g.Wanted
	return &fresh, s.store.Keep(&fresh)
}

// lock waits until no other process renews the grant, or ctx ends.
func (s *Session) lock(ctx context.Context) (disk.Unlocker, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*stepTime)
	defer cancel()
	for {
		l, err := s.store.FS.Lock(s.store.File+".renew.lock", []byte("renews a token"))
		var held *disk.LockedError
		if err == nil || !errors.As(err, &held) {
			return l, err
		}
		select {
		case <-time.After(lockStep):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
