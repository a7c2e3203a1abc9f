package host

import (
	"context"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/extensions"
	"scorel/internal/host/lane"
	"scorel/internal/host/partial"
	"scorel/internal/host/registry"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// laneHost is the host as one lane sees it. It implements [lane.Turns], [lane.Host],
// [lane.Owner] and [tasks.Outputs], and may be used by any number of goroutines at once.
type laneHost struct {
	h    *Host
	s    *registry.Session
	log  *session.Log
	kept *partial.Reports // of what is kept beside the log
}

// TurnConfig implements [lane.Turns].
func (o laneHost) TurnConfig(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.TurnConfig, error) {
	return o.h.rooms.turns.Of(o.log)(ctx, meta, options)
}

// CallConfig implements [lane.Turns].
func (o laneHost) CallConfig(ctx context.Context, meta protocol.Meta) (*lane.TurnConfig, error) {
	return o.h.rooms.turns.OfCall(o.log)(ctx, meta, nil)
}

// Hooks implements [lane.Turns].
func (o laneHost) Hooks(ctx context.Context, meta protocol.Meta) (*hook.Chain, error) {
	return o.h.rooms.turns.LaneHooks(o.log.ID())(ctx, meta)
}

// OpenFiles implements [lane.Turns].
func (o laneHost) OpenFiles(meta protocol.Meta) (*files.Files, error) {
	return o.h.rooms.turns.Files(meta)
}

// FreeSpace implements [lane.Host].
func (o laneHost) FreeSpace() (uint64, error) { return o.h.cfg.FS.Free(o.h.cfg.StoreDir) }

// RememberRule implements [lane.Host].
func (o laneHost) RememberRule(meta protocol.Meta, rule string) error {
	return o.h.rooms.settings.Remember(meta, rule)
}

// RunAgent implements [lane.Host].
func (o laneHost) RunAgent(ctx context.Context, order lane.Order) (tool.Result, error) {
	return o.h.rooms.subagents.Run(ctx, order)
}

// Idle implements [lane.Owner].
func (o laneHost) Idle() {
	if o.s.TasksChanged() {
		o.h.audience.SessionChanged(o.s)
	}
	o.h.rooms.titles.AfterTurn(o.s)
	o.h.rooms.jobs.AfterTurn(o.s)
	o.h.rooms.automation.Idle(o.log.ID())
	o.h.sessions.CloseIdle(o.s)
}

// Changed implements [lane.Owner].
func (o laneHost) Changed() { o.h.audience.SessionChanged(o.s) }

// Broke implements [lane.Owner].
func (o laneHost) Broke(p *fault.Panic) { o.h.sessions.Broke(o.s, o.log.ID(), p) }

// Output implements [tasks.Outputs].
func (o laneHost) Output(c partial.Command) *partial.Output {
	return partial.NewOutput(o.h.cfg.FS, o.h.sessions.PendingDir(), c, o.kept)
}

// upper is what extensions need of those who know turns and commands. It implements
// [extensions.Upper].
type upper struct{ h *Host }

// UpdateInfo implements [extensions.Upper].
func (u upper) UpdateInfo(ctx context.Context, l *lane.Lane, by lane.Caller, changes protocol.MetaChanges) error {
	return u.h.rooms.library.UpdateInfo(ctx, l, by, changes)
}

// Foresee implements [extensions.Upper].
func (u upper) Foresee(ctx context.Context, l *lane.Lane) (extensions.Turn, func() (string, error), bool) {
	return u.h.rooms.turns.Foresee(ctx, l)
}

// TextCommands implements [extensions.Upper].
func (u upper) TextCommands(ctx context.Context, l *lane.Lane) []protocol.CommandInfo {
	return u.h.rooms.commands.TextCommands(ctx, l)
}

// CreateSession implements [extensions.Upper].
func (u upper) CreateSession(ctx context.Context, by lane.Caller, meta protocol.Meta) (protocol.SessionID, error) {
	id := u.newID()
	_, err := u.h.rooms.library.CreateSession(ctx, by, id, &protocol.CreateSession{ProjectID: meta.ProjectID, Meta: meta})
	return id, err
}

// CloneSession implements [extensions.Upper].
func (u upper) CloneSession(ctx context.Context, by lane.Caller, from protocol.SessionID, to protocol.EventID) (protocol.SessionID, []string, error) {
	id := u.newID()
	sum, err := u.h.rooms.library.CloneSession(ctx, by, id, &protocol.CloneSession{FromSessionID: from, FromEventID: to})
	if err != nil {
		return "", nil, err
	}
	return id, sum.Notices, nil
}

// CarryMode implements [extensions.Upper].
func (u upper) CarryMode(ctx context.Context, by lane.Caller, mode permission.Mode, to protocol.SessionID) (string, error) {
	return u.h.rooms.library.CarryMode(ctx, by, mode, to)
}

// HasSession implements [extensions.Upper].
func (u upper) HasSession(ctx context.Context, id protocol.SessionID) error {
	_, _, done, err := u.h.rooms.library.View(ctx, id)
	if err == nil {
		done()
	}
	return err
}

func (u upper) newID() protocol.SessionID {
	return protocol.NewSessionID(u.h.rooms.settings.Now(), u.h.rooms.settings.Rand)
}
