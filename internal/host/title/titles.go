package title

import (
	"context"

	"scorel/internal/host/completion"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/registry"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Sessions opens sessions.
type Sessions interface {
	Acquire(ctx context.Context, id protocol.SessionID) (*registry.Session, error)
	Share(s *registry.Session) bool
	Release(s *registry.Session)
}

// Jobs runs side jobs of the host.
type Jobs interface {
	Go(what string, job func(context.Context)) bool
}

// Titles names sessions.
type Titles struct {
	settings *settings.Settings
	asker    *completion.Asker
	sessions Sessions
	jobs     Jobs
	log      *diagnostics.Log
}

// New makes titles.
func New(s *settings.Settings, asker *completion.Asker, sessions Sessions, jobs Jobs, log *diagnostics.Log) *Titles {
	return &Titles{settings: s, asker: asker, sessions: sessions, jobs: jobs, log: log}
}
