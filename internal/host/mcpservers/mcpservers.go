// Package mcpservers has the MCP servers that sessions use: which are configured and count,
// their connections, which sessions of one workspace share, and the tools that they add to
// a turn.
//
// The tools of a session are decided with its first turn, which waits for the servers whose
// entries say alwaysLoad, and stay the same to its end: a server that goes leaves its tools,
// whose calls then fail with a sentence, because a changed list of tools would cost the
// model's cache. Other servers are not used yet.
package mcpservers

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/config"
	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/mcptool"
	"scorel/internal/engine/tool"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// People are told what becomes of the servers of a session.
type People interface {
	// Notify shows the people of a session a sentence.
	Notify(id protocol.SessionID, level, text string)
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
}

// Servers are those of all open sessions. They may be used concurrently.
type Servers struct {
	cfg  Config
	pool *pool.Pool

	mu   sync.Mutex
	open map[protocol.SessionID]*session
}

// session is what a session uses.
type session struct {
	one    chan struct{} // held while the tools are being decided
	mu     sync.Mutex
	chosen bool
	closed bool
	tools  []tool.Tool
	leases []*pool.Lease
}

// New makes the servers of a host. Nothing is started.
func New(cfg Config) *Servers {
	return &Servers{cfg: cfg, pool: pool.New(), open: map[protocol.SessionID]*session{}}
}

// Tools returns the tools that servers add to the turns of a session whose workspace is
// root. The first call waits for the servers, each at most half a minute; what is wrong
// with one is told to people. An error is that ctx has ended before.
func (s *Servers) Tools(ctx context.Context, id protocol.SessionID, root string, cfg config.Config) ([]tool.Tool, error) {
	x := s.of(id)
	select {
	case x.one <- struct{}{}:
		defer func() { <-x.one }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	x.mu.Lock()
	tools, chosen := x.tools, x.chosen || x.closed
	x.mu.Unlock()
	if chosen {
		return tools, nil
	}
	return s.choose(ctx, id, x, root, cfg)
}

// of returns the session of an id.
func (s *Servers) of(id protocol.SessionID) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.open[id]
	if x == nil {
		x = &session{one: make(chan struct{}, 1)}
		s.open[id] = x
	}
	return x
}

// used is a server that a session uses.
type used struct {
	entry mcpconfig.Entry
	lease *pool.Lease
}

// choose decides the tools of a session.
func (s *Servers) choose(ctx context.Context, id protocol.SessionID, x *session, root string, cfg config.Config) (tools []tool.Tool, err error) {
	warn := func(format string, args ...any) {
		s.cfg.People.Notify(id, "warning", fmt.Sprintf(format, args...))
	}
	var all []used
	defer func() {
		if err != nil {
			release(all)
		}
	}()
	set := s.Configured(root, cfg)
	for _, f := range set.Faults {
		if f.Dropped {
			warn("%v.", f)
		}
	}
	for _, e := range set.Entries {
		if e.Disabled || !e.AlwaysLoad {
			continue
		}
		l, err := s.acquire(id, root, cfg, e, set.Policy)
		if err != nil {
			warn("The MCP server %s is not used: %v.", e.Name, err)
			continue
		}
		all = append(all, used{e, l})
	}
	for _, u := range all {
		if err := u.lease.Settled(ctx); err != nil {
			return nil, err
		}
		status := u.lease.Status()
		for _, f := range status.Faults {
			warn("The MCP server %s: %s.", u.entry.Name, f)
		}
		switch status.State {
		case pool.NeedsAuth:
			warn("The MCP server %s wants a sign-in, which Scorel does not have yet: give its entry a header with a token.", u.entry.Name)
		case pool.Failed, pool.Pending:
			warn("The MCP server %s cannot be used: %s.", u.entry.Name, status.Problem)
		default:
			tools = append(tools, s.toolsOf(u, status)...)
		}
	}
	slices.SortFunc(tools, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		release(all)
		return nil, nil
	}
	x.chosen, x.tools = true, tools
	for _, u := range all {
		x.leases = append(x.leases, u.lease)
	}
	return tools, nil
}

func release(all []used) {
	for _, u := range all {
		u.lease.Release()
	}
}

// toolsOf makes the tools of a server that its entry lets through.
func (s *Servers) toolsOf(u used, status pool.Status) (tools []tool.Tool) {
	for _, t := range status.Tools {
		if u.entry.Takes(t.Own) {
			tools = append(tools, mcptool.New(u.entry.Name, t, u.lease, payloads{s.cfg.Blobs}))
		}
	}
	return tools
}

// acquire begins or shares the connection to a server.
func (s *Servers) acquire(id protocol.SessionID, root string, cfg config.Config, e mcpconfig.Entry, policy mcpconfig.Policies) (*pool.Lease, error) {
	reached, err := Reach(e, policy, s.vars(root), Surroundings{Environ: s.cfg.Settings.ChildEnviron(cfg), Root: root})
	if err != nil {
		return nil, err
	}
	key := pool.Key{Entry: reached.Entry.Name + " " + reached.Entry.Hash(), Root: root}
	if e.PerSession {
		key.Session = string(id)
	}
	options := connect.Options{Version: s.cfg.Settings.Version, CallTime: time.Duration(e.TimeoutMS) * time.Millisecond, Root: root}
	return s.pool.Acquire(pool.Spec{Key: key, Remote: reached.Target.Command == "", Open: func(ctx context.Context, changed func()) (pool.Server, error) {
		options.Changed = changed
		return connect.Open(ctx, reached.Target, options)
	}}, nil)
}

// vars is what the values of entries may refer to.
func (s *Servers) vars(root string) mcpconfig.Vars {
	return Vars(s.cfg.Settings.Environ, s.cfg.Settings.UserHome, root)
}

// Close ends what a session uses.
func (s *Servers) Close(id protocol.SessionID) {
	s.mu.Lock()
	x := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, l := range x.leases {
		l.Release()
	}
}

// Shut ends all connections.
func (s *Servers) Shut() { s.pool.Close() }

// Configured returns the servers that are configured for a workspace. What belongs to the
// project itself does not count yet: nothing of it may start before it is trusted.
func (s *Servers) Configured(root string, cfg config.Config) mcpconfig.Set {
	return mcpconfig.Merge(mcpconfig.Sources{
		Root:     root,
		Managed:  mcpconfig.ReadFile(mcpconfig.ManagedFile()),
		User:     mcpconfig.ReadFile(mcpconfig.UserFile(s.cfg.Settings.Dir)),
		UserTOML: cfg.MCP.Servers,
		Faults:   cfg.MCP.Faults,
		Policies: cfg.MCP.Policies(),
		Vars:     s.vars(root),
	})
}
