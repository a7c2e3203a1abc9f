package jobs

import (
	"context"
	"sync"

	"scorel/internal/engine/command"
	"scorel/internal/engine/session"
	"scorel/internal/host/completion"
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/lane"
	"scorel/internal/host/registry"
	"scorel/internal/host/request"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Sessions opens sessions and runs what goes on beside them.
type Sessions interface {
	Acquire(ctx context.Context, id protocol.SessionID) (*registry.Session, error)
	Share(s *registry.Session) bool
	Release(s *registry.Session)
	Go(what string, job func(context.Context)) bool
}

// Library makes, lists and deletes sessions.
type Library interface {
	CreateSession(ctx context.Context, by lane.Caller, id protocol.SessionID, r *protocol.CreateSession) (*protocol.SessionSummary, error)
	ListSessions(ctx context.Context, r *protocol.ListSessions) (*protocol.SessionList, error)
	DeleteSession(ctx context.Context, id protocol.SessionID) (*protocol.Deleted, error)
}

// Config is what [Jobs] are made from.
type Config struct {
	Settings *settings.Settings
	Asker    *completion.Asker
	Sessions Sessions
	Library  Library
	Log      *diagnostics.Log
}

// Jobs has the jobs of a host.
type Jobs struct {
	settings  *settings.Settings
	asker     *completion.Asker
	sessions  Sessions
	library   Library
	log       *diagnostics.Log
	templates *command.Templates

	mu     sync.Mutex // guards sorted; nothing is called with it held
	sorted map[protocol.SessionID]sorting
}

// New makes the jobs of a host.
func New(cfg Config) *Jobs {
	return &Jobs{settings: cfg.Settings, asker: cfg.Asker, sessions: cfg.Sessions, library: cfg.Library, log: cfg.Log,
		templates: command.NewJobTemplates(cfg.Settings.Dir), sorted: map[protocol.SessionID]sorting{}}
}

// Handle enters the handlers of this package's requests.
func (js *Jobs) Handle(t request.Table) {
	request.On(t, func(ctx context.Context, _ *request.Target, r *protocol.ListJobTemplates) (protocol.Response, error) {
		return js.Templates(ctx, r.WorkDir)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.CreateJob) (protocol.Response, error) {
		return js.Create(ctx, at.By, at.Call.SessionID, r)
	})
}

// maxListed bounds the jobs that are looked through.
const maxListed = 1000

// List returns the newest jobs, at most 1,000.
func (js *Jobs) List(ctx context.Context) ([]protocol.SessionSummary, error) {
	var out []protocol.SessionSummary
	r := &protocol.ListSessions{Jobs: true}
	for {
		page, err := js.library.ListSessions(ctx, r)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Sessions...)
		if !page.More || len(out) >= maxListed {
			return out[:min(len(out), maxListed)], nil
		}
		last := page.Sessions[len(page.Sessions)-1]
		r.Before, r.BeforeTime = last.SessionID, last.UpdatedAt
	}
}

// Reply sends a message to a job: at once, or when the turn that runs has ended.
func (js *Jobs) Reply(ctx context.Context, by lane.Caller, id protocol.SessionID, text string) (*protocol.Sent, error) {
	s, err := js.sessions.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer js.sessions.Release(s)
	return s.Lane().Send(ctx, by, lane.Message{Content: []protocol.Block{protocol.Text(text)}})
}

// hasMessage reports whether anything was said in a session.
func hasMessage(ctx context.Context, index *session.Index) (bool, error) {
	for _, err := range index.OfType(ctx, protocol.TypeMessage) {
		return err == nil, err
	}
	return false, nil
}
