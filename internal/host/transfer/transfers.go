package transfer

import (
	"context"

	"scorel/internal/engine/session"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/registry"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Sessions opens sessions.
type Sessions interface {
	Acquire(ctx context.Context, id protocol.SessionID) (*registry.Session, error)
	Release(s *registry.Session)
}

// Announcer tells all clients of sessions.
type Announcer interface {
	SessionMade(sum protocol.SessionSummary)
}

// Projects knows the projects.
type Projects interface {
	Register(ctx context.Context, workDir string, wide bool) (*protocol.Project, error)
}

// Config is what [Transfers] are made from.
type Config struct {
	Settings  *settings.Settings
	Store     *session.Store
	Device    protocol.DeviceID
	Sessions  Sessions
	Announcer Announcer
	Projects  Projects
	Log       *diagnostics.Log
}

// Transfers takes sessions out and in.
type Transfers struct {
	settings  *settings.Settings
	store     *session.Store
	device    protocol.DeviceID
	sessions  Sessions
	announcer Announcer
	projects  Projects
	log       *diagnostics.Log
	shelf     shelf
}

// New makes transfers; none is on its way.
func New(cfg Config) *Transfers {
	return &Transfers{settings: cfg.Settings, store: cfg.Store, device: cfg.Device, sessions: cfg.Sessions, announcer: cfg.Announcer, projects: cfg.Projects, log: cfg.Log}
}

// Close drops all that is on its way.
func (ts *Transfers) Close() { ts.shelf.close() }

// Bytes returns how many bytes are on their way or being written.
func (ts *Transfers) Bytes() int64 {
	ts.shelf.mu.Lock()
	defer ts.shelf.mu.Unlock()
	return ts.shelf.bytes
}
