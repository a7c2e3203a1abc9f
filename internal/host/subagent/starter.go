package subagent

import (
	"context"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/registry"
	"scorel/internal/host/settings"
	"scorel/internal/host/turnconfig"
	"scorel/protocol"
)

// Sessions opens sessions.
type Sessions interface {
	Acquire(ctx context.Context, id protocol.SessionID) (*registry.Session, error)
	Create(ctx context.Context, header protocol.Header) (*registry.Session, error)
	Release(s *registry.Session)
}

// Views reads sessions, open or not.
type Views interface {
	View(ctx context.Context, id protocol.SessionID) (index *session.Index, report health.Report, done func(), err error)
}

// Announcer tells all clients of sessions.
type Announcer interface {
	SessionChanged(s *registry.Session)
}

// Texts reads the whole of what a log has cut.
type Texts interface {
	CutText(ctx context.Context, lost *session.Lost) func(sha string) ([]byte, error)
}

// Config is what a [Starter] is made from.
type Config struct {
	Settings  *settings.Settings
	Turns     *turnconfig.Maker
	Device    protocol.DeviceID
	Sessions  Sessions
	Views     Views
	Announcer Announcer
	Texts     Texts
	Life      context.Context // ends with the host
}

// Starter starts sub-agents.
type Starter struct {
	settings  *settings.Settings
	turns     *turnconfig.Maker
	device    protocol.DeviceID
	sessions  Sessions
	views     Views
	announcer Announcer
	texts     Texts
	life      context.Context
}

// New makes a starter.
func New(cfg Config) *Starter {
	return &Starter{settings: cfg.Settings, turns: cfg.Turns, device: cfg.Device, sessions: cfg.Sessions, views: cfg.Views,
		announcer: cfg.Announcer, texts: cfg.Texts, life: cfg.Life}
}
