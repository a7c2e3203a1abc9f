// Package mcpservers has the MCP servers that sessions use: which are configured and count,
// their connections, which sessions of one workspace share, and the tools that they add to
// a turn.
//
// The servers of a session are begun with its first turn, which does not wait for them. An
// [Offer] has their tools as they are known. Which of them the model is sent is decided
// once, see [Offer.Decide], and stays the same to the end of the session: a server that goes
// leaves its tools, whose calls then fail with a sentence, because a changed list of tools
// would cost the model's cache.
package mcpservers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"scorel/internal/engine/config"
	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/mcp/oauth"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/model"
	"scorel/internal/extension"
	"scorel/internal/host/confinement"
	"scorel/internal/host/guard"
	"scorel/internal/host/settings"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// People are told what becomes of the servers of a session.
type People interface {
	// Notify shows the people of a session a sentence.
	Notify(id protocol.SessionID, level, text string)
	// Ask puts a dialog to the people of a session, at most for timeout (0: no limit), and is
	// false where nobody answers it.
	Ask(ctx context.Context, id protocol.SessionID, d protocol.Dialog, timeout time.Duration) (json.RawMessage, bool)
}

// Blobs keeps payloads; those of the sessions are one.
type Blobs interface {
	Put(ctx context.Context, r io.Reader) (sha string, size int64, err error)
}

// payloads are Blobs as tools use them.
type payloads struct{ Blobs }

// PutBlob implements [tool.Blobs].
func (p payloads) PutBlob(ctx context.Context, r io.Reader) (string, error) {
	sha, _, err := p.Put(ctx, r)
	return sha, err
}

// Config is what [Servers] are made from.
type Config struct {
	Settings *settings.Settings
	Blobs    Blobs
	People   People
	// Announcer tells all clients of the device something.
	Announcer Announcer
	Pusher    Pusher
	Guard     *guard.Guard
	// Extensions looks for the extensions of a workspace; nil is none.
	Extensions func(ctx context.Context, root string) extension.Found
	// Asker asks models for servers.
	Asker Asker
}

// Asker asks models beside conversations; [completion.Asker] is one.
type Asker interface {
	Model(ref string) (model.Model, error)
	CompleteWith(ctx context.Context, id protocol.SessionID, m model.Model, req model.Request) (protocol.Message, error)
}

// Announcer sends frames of the device.
type Announcer interface{ Broadcast(f protocol.Frame) }

// Servers are those of all open sessions. They may be used concurrently.
type Servers struct {
	cfg    Config
	pool   *pool.Pool
	logins logins
	older  *older

	recordOnce sync.Once
	record     string // where process groups are recorded
	recordLock disk.Unlocker
	recordErr  error

	mu   fault.Shared // guards open; nothing is called with it held
	open map[protocol.SessionID]*session
}

// New makes the servers of a host. Nothing is started.
func New(cfg Config) *Servers {
	st := cfg.Settings
	s := &Servers{cfg: cfg, pool: pool.New(cfg.Guard), open: map[protocol.SessionID]*session{},
		older: &older{fs: st.FS, file: filepath.Join(st.Dir, "cache", "mcp-older.json"), now: st.Now}}
	cfg.Guard.Watch(&s.mu)
	return s
}

// of returns the session of an id.
func (s *Servers) of(id protocol.SessionID) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(id)
}

// find is of with mu held.
func (s *Servers) find(id protocol.SessionID) *session {
	x := s.open[id]
	if x == nil {
		x = newSession()
		s.open[id] = x
	}
	return x
}

// acquire begins or shares the connection to a server.
func (s *Servers) acquire(id protocol.SessionID, root string, cfg config.Config, over settings.Overrides, e mcpconfig.Entry, policy mcpconfig.Policies, changed func(), updated func(uri string)) (*pool.Lease, error) {
	in := Surroundings{Environ: s.cfg.Settings.ChildEnviron(cfg), Root: root, Trust: s.cfg.Settings.Trust, Answers: s.answers(),
		Profile: func() (*sandbox.Profile, error) { return confinement.ForServer(s.cfg.Settings, cfg, over, root) }}
	reached, err := Reach(e, policy, s.vars(root, cfg), in)
	if err != nil {
		return nil, err
	}
	key := pool.Key{Entry: reached.Entry.Name + " " + reached.Entry.Hash(), Root: root}
	if p := reached.Target.Profile; p != nil { // sessions that confine otherwise do not share it
		key.Entry += fmt.Sprint(" ", p.Mode, p.Network, p.Roots)
	}
	if e.PerSession {
		key.Session = string(id)
	}
	login, err := NewLogin(e, reached, s.cfg.Settings.FS, s.cfg.Settings.CredentialsFile(), s.cfg.Settings.Version)
	if err != nil {
		return nil, err
	}
	var signedIn func() bool
	if login != nil {
		auth := &remembering{Session: login.Session()}
		reached.Target.Auth, signedIn = auth, auth.another
	}
	options := connect.Options{Version: s.cfg.Settings.Version, Root: root, Asks: true, Samples: e.Sampling}
	options.Caught = func(what string, p *fault.Panic) { s.cfg.Guard.Caught("", what, p) }
	options.Lost = func(why string) { s.cfg.Pusher.Lost(key, why) }
	options.Pushed = func(method string, params json.RawMessage) { s.cfg.Pusher.Pushed(key, method, params) }
	return s.pool.Acquire(pool.Spec{Key: key, Owner: string(id), Remote: reached.Target.Command == "", Brief: e.Scope == mcpconfig.ScopeSession, Held: true, Open: func(ctx context.Context, h pool.Hears) (pool.Server, error) {
		options := options
		options.ToolsChanged, options.ListsChanged, options.Updated, options.Crowded = h.Tools, h.Lists, h.Updated, h.Crowded
		if why, err := in.Check(e); err != nil || why != "" { // its files may have changed since
			return nil, cmp.Or(err, errors.New(why))
		}
		t := reached.Target
		var err error
		if t.Record, err = s.recorded(); err != nil {
			return nil, err
		}
		if t.Command == "" && e.Type != mcpconfig.TypeWS {
			return connect.Open(ctx, t, options)
		}
		named := e.Name + " " + e.Hash() // as it is written: without values
		t.Older = s.older.has(named)
		server, err := connect.Open(ctx, t, options)
		if ctx.Err() == nil {
			s.older.note(named, err == nil && server.Older())
		}
		if err != nil {
			return nil, err
		}
		return server, nil
	}, Updated: updated, SignedIn: signedIn}, changed)
}

// remembering knows the token that was sent last.
type remembering struct {
	*oauth.Session
	last atomic.Value // string
}

// Token implements [connect.Auth].
func (r *remembering) Token(ctx context.Context) (string, error) {
	token, err := r.Session.Token(ctx)
	r.last.Store(token)
	return token, err
}

// another reports whether there is a token that has not been sent.
func (r *remembering) another() bool {
	last, _ := r.last.Load().(string)
	return r.Has(last)
}

// vars is what the values of entries may refer to.
func (s *Servers) vars(root string, cfg config.Config) mcpconfig.Vars {
	v := Vars(s.cfg.Settings.Environ, s.cfg.Settings.UserHome, root)
	v.Secret = s.cfg.Settings.SecretNames(cfg)
	return v
}

// Hold says that a turn of a session begins or runs, until release, which may be called more
// than once.
func (s *Servers) Hold(id protocol.SessionID) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.find(id)
	x.held++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		x.held--
		over := x.held == 0 && x.ends && s.open[id] == x
		if over {
			delete(s.open, id)
		}
		s.mu.Unlock()
		if over {
			x.close()
		}
	})
}

// CloseIdle is [Servers.Close] when no turn of the session holds them, at once or later.
func (s *Servers) CloseIdle(id protocol.SessionID) {
	s.mu.Lock()
	x := s.open[id]
	held := x != nil && x.held > 0
	if held {
		x.ends = true
	} else {
		delete(s.open, id)
	}
	s.mu.Unlock()
	if x != nil && !held {
		x.close()
	}
}

// Close ends what a session uses.
func (s *Servers) Close(id protocol.SessionID) {
	s.mu.Lock()
	x := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if x != nil {
		x.close()
	}
}

func (x *session) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, u := range x.used {
		u.lease.Release()
	}
}

// Shut ends all connections and sign-ins.
func (s *Servers) Shut() {
	s.logins.close()
	s.pool.Close()
	s.recordOnce.Do(func() { s.recordErr = pool.ErrClosed }) // nothing is recorded any more
	if s.recordLock != nil {
		removeRunDir(s.cfg.Settings.FS, s.record, s.recordLock)
	}
}

// stamp names the files of servers of the project at root that are trusted as they are, with
// their bytes.
func (s *Servers) stamp(root string) string {
	h := sha256.New()
	for _, f := range ProjectFiles(s.cfg.Settings.Trust, root) {
		fmt.Fprintf(h, "%s %d\n%s", f.Name, len(f.Data), f.Data)
	}
	dir := extension.Source{Dir: filepath.Join(root, ".scorel", "extensions")}
	if s.cfg.Extensions != nil && dir.Exists() {
		for _, x := range OfExtensions(s.cfg.Extensions(context.Background(), root)) {
			if x.OfProject {
				fmt.Fprintf(h, "%s %d\n%s", x.File, len(x.Servers), x.Servers)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Configured returns the servers that are configured for a workspace, and for a session whose
// settings are over. Those of the project itself count when it is trusted.
func (s *Servers) Configured(root string, cfg config.Config, over settings.Overrides) mcpconfig.Set {
	all := mcpconfig.Sources{
		Root:     root,
		Managed:  mcpconfig.ReadFile(mcpconfig.ManagedFile()),
		User:     mcpconfig.ReadFile(mcpconfig.UserFile(s.cfg.Settings.Dir)),
		UserTOML: cfg.MCP.Servers,
		Project:  ProjectFiles(s.cfg.Settings.Trust, root),
		Faults:   cfg.MCP.Faults,
		Policies: cfg.MCP.Policies(),
		Vars:     s.vars(root, cfg),
		Session:  SessionFiles(over.MCPConfig),
		Presets:  mcpconfig.Presets(),
	}
	if s.cfg.Extensions != nil && !over.StrictMCP {
		all.Extensions = OfExtensions(s.cfg.Extensions(context.Background(), root)) // a look at files, which is bounded
	}
	if over.StrictMCP {
		all = all.Strict()
	}
	return mcpconfig.Merge(all)
}

// SessionFiles returns texts of servers that a session brings as files.
func SessionFiles(texts []string) (files []mcpconfig.File) {
	for i, text := range texts {
		name := "--mcp-config"
		if len(texts) > 1 {
			name += fmt.Sprintf(" %d", i+1)
		}
		files = append(files, mcpconfig.File{Name: name, Data: []byte(text)})
	}
	return files
}
