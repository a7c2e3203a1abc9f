package extensions

import (
	"context"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/session"
	"scorel/internal/host/completion"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/guard"
	"scorel/internal/host/lane"
	"scorel/internal/host/registry"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// Sessions opens sessions.
type Sessions interface {
	Acquire(ctx context.Context, id protocol.SessionID) (*registry.Session, error)
	Release(s *registry.Session)
}

// Upper is what extensions need of those who know turns and commands.
type Upper interface {
	// UpdateInfo changes what a session is like.
	UpdateInfo(ctx context.Context, l *lane.Lane, by lane.Caller, changes protocol.MetaChanges) error
	// Foresee returns what the next turn of a session would run with, as far as that is
	// known, and what makes its instructions; nil when no model is known. false: nothing
	// is known.
	Foresee(ctx context.Context, l *lane.Lane) (turn Turn, instructions func() (string, error), ok bool)
	// TextCommands returns the templates and skills that are commands of a session.
	TextCommands(ctx context.Context, l *lane.Lane) []protocol.CommandInfo
	// CreateSession makes an empty session.
	CreateSession(ctx context.Context, by lane.Caller, meta protocol.Meta) (protocol.SessionID, error)
	// CloneSession copies a session up to an event, and asks its hooks first. Notices say what
	// the copy lacks.
	CloneSession(ctx context.Context, by lane.Caller, from protocol.SessionID, to protocol.EventID) (id protocol.SessionID, notices []string, err error)
	// CarryMode sets the permission mode of a session in one that was made of it, or returns
	// what is said of one that is left out.
	CarryMode(ctx context.Context, by lane.Caller, mode permission.Mode, to protocol.SessionID) (left string, err error)
	// HasSession returns why a session cannot be opened.
	HasSession(ctx context.Context, id protocol.SessionID) error
}

// Config is what [Extensions] are made from.
type Config struct {
	Settings *settings.Settings
	Asker    *completion.Asker
	Sessions Sessions
	Upper    Upper
	Blobs    *session.Blobs
	Log      *diagnostics.Log
	Guard    *guard.Guard
}

// Extensions has the extensions of the open sessions of a host.
type Extensions struct {
	settings *settings.Settings
	asker    *completion.Asker
	sessions Sessions
	upper    Upper
	blobs    *session.Blobs
	log      *diagnostics.Log
	guard    *guard.Guard

	mu    fault.Shared // guards what follows; nothing is called with it held
	open  map[protocol.SessionID]*Session
	spare *spare // for the next session that starts extensions; nil for none
}

// New makes the extensions of a host. No session has any yet.
func New(cfg Config) *Extensions {
	xs := &Extensions{settings: cfg.Settings, asker: cfg.Asker, sessions: cfg.Sessions, upper: cfg.Upper, blobs: cfg.Blobs, log: cfg.Log, guard: cfg.Guard,
		open: map[protocol.SessionID]*Session{}}
	cfg.Guard.Watch(&xs.mu)
	return xs
}

// Handle enters the handlers of this package's requests.
func (xs *Extensions) Handle(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.ListExtensions) (protocol.Response, error) {
		return xs.listExtensions(ctx, at.Call.SessionID, r.WorkDir)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.RenderEntry) (protocol.Response, error) {
		return xs.Of(at.Lane.ID()).render(ctx, r)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.CompleteInput) (protocol.Response, error) {
		return xs.Of(at.Lane.ID()).completeInput(ctx, r)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.EditorInput) (protocol.Response, error) {
		return xs.Of(at.Lane.ID()).editorInput(ctx, at.By.Client, r)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.CheckExtension) (protocol.Response, error) {
		return xs.checkExtension(ctx, r.Path)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.EnableExtension) (protocol.Response, error) {
		return &protocol.Done{}, xs.enableExtension(r)
	})
}
