package library

import (
	"context"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/lane"
	"scorel/internal/host/registry"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Opener opens sessions.
type Opener interface {
	Acquire(ctx context.Context, id protocol.SessionID) (*registry.Session, error)
	Create(ctx context.Context, header protocol.Header) (*registry.Session, error)
	Release(s *registry.Session)
}

// Lanes finds the lane of an open session, nil for any other.
type Lanes interface {
	Lane(id protocol.SessionID) *lane.Lane
}

// Reader reads sessions, open or not.
type Reader interface {
	View(ctx context.Context, id protocol.SessionID) (index *session.Index, report health.Report, done func(), err error)
	State(id protocol.SessionID) *protocol.SessionState
	Has(id protocol.SessionID) bool
}

// Keeper has what is kept of sessions beside their logs.
type Keeper interface {
	Free(ctx context.Context, id protocol.SessionID, do, done string) error
	DropPending(id protocol.SessionID) error
	PendingDir() string
}

// Announcer tells all clients of sessions.
type Announcer interface {
	SessionChanged(s *registry.Session)
	SessionMade(sum protocol.SessionSummary)
	SessionDeleted(id protocol.SessionID)
}

// Turns makes turns ready: a session that no turn could run in is not made.
type Turns interface {
	// MayBeProvided reports whether the model of a session that is not open may be one that an
	// extension registers when the session starts.
	MayBeProvided(ctx context.Context, id protocol.SessionID, meta protocol.Meta) bool
	// Check returns why no turn could run in a session that is described so.
	Check(ctx context.Context, id protocol.SessionID, meta protocol.Meta) error
}

// Config is what a [Library] is made from.
type Config struct {
	Settings  *settings.Settings
	Store     *session.Store
	Device    protocol.DeviceID
	Opener    Opener
	Lanes     Lanes
	Reader    Reader
	Keeper    Keeper
	Announcer Announcer
	Turns     Turns
	Log       *diagnostics.Log
}

// Library has the stored sessions of a host.
type Library struct {
	settings  *settings.Settings
	store     *session.Store
	device    protocol.DeviceID
	sessions  Opener
	lanes     Lanes
	reader    Reader
	keeper    Keeper
	announcer Announcer
	turns     Turns
	log       *diagnostics.Log
}

// New makes a library.
func New(cfg Config) *Library {
	return &Library{settings: cfg.Settings, store: cfg.Store, device: cfg.Device, sessions: cfg.Opener, lanes: cfg.Lanes, reader: cfg.Reader, keeper: cfg.Keeper,
		announcer: cfg.Announcer, turns: cfg.Turns, log: cfg.Log}
}

// Handle enters the handlers of this package's requests.
func (lib *Library) Handle(t request.Table) {
	lib.handleSessions(t)
	lib.handleDelete(t)
	lib.handleSearch(t)
	lib.handleProcesses(t)
	lib.handleUsage(t)
	lib.handleChanges(t)
}

// View returns a session for reading; done ends that.
func (lib *Library) View(ctx context.Context, id protocol.SessionID) (index *session.Index, report health.Report, done func(), err error) {
	return lib.reader.View(ctx, id)
}
