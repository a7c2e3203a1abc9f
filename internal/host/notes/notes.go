package notes

import (
	"context"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/completion"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/lane"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Views reads sessions, open or not.
type Views interface {
	View(ctx context.Context, id protocol.SessionID) (index *session.Index, report health.Report, done func(), err error)
}

// Host knows what goes on in the host.
type Host interface {
	// Lanes returns the lanes of the sessions that are open.
	Lanes() []*lane.Lane
	// Go runs a side job.
	Go(what string, job func(context.Context)) bool
}

// Notes has the notes of projects.
type Notes struct {
	settings *settings.Settings
	asker    *completion.Asker
	views    Views
	host     Host
	log      *diagnostics.Log
}

// New makes notes.
func New(s *settings.Settings, asker *completion.Asker, views Views, host Host, log *diagnostics.Log) *Notes {
	return &Notes{settings: s, asker: asker, views: views, host: host, log: log}
}
