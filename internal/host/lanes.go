package host

import (
	"context"
	"sync/atomic"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane"
	"scorel/internal/host/partial"
	"scorel/internal/host/registry"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// owner makes what runs in open sessions. It implements [registry.Owner].
type owner struct{ h *Host }

// Lane implements [registry.Owner].
func (o owner) Lane(ctx context.Context, s *registry.Session, log *session.Log) (*lane.Lane, error) {
	h, id := o.h, log.ID()
	told := func(what string) { h.log.Report(id, what, nil) }
	kept := partial.NewReports(told)
	var lost []partial.Lost
	if readOnly, _ := log.ReadOnly(); !readOnly {
		lost = partial.Lose(h.cfg.FS, h.sessions.PendingDir(), id, kept)
	}
	var made atomic.Pointer[lane.Lane]
	panicked := func(r any) {
		if l := made.Load(); l != nil {
			l.Panicked(r)
			return
		}
		h.Caught("making a session ready", r)
	}
	report, own := s.Report(), laneHost{h, s, log, kept}
	var schedules lane.Schedules
	if h.cfg.Serving {
		schedules = h.rooms.automation
	}
	l, err := lane.New(ctx, lane.Config{Device: h.identity.id, Log: log, Blobs: h.store.Blobs(), Damage: report.Summary(), Passing: report.Passing(),
		Turns: own, Host: own, Owner: own, Schedules: schedules, Limits: h.rooms.automation,
		Kept: lane.Kept{Pending: s.Pending(), Turn: partial.NewTurn(h.cfg.FS, h.sessions.PendingDir(), id, sandbox.BootID(), kept),
			Step: partial.NewStep(h.cfg.FS, h.sessions.PendingDir(), id, kept), Outputs: own, Unkept: kept.Unkept, Lost: lost},
		Unattended: h.cfg.Unattended, OwnMode: h.cfg.Overrides.Mode != "", Now: h.cfg.Now, Rand: h.cfg.Rand, Sleep: h.cfg.Sleep, Silence: h.cfg.Silence,
		Processes: h.processes(id, panicked),
		Report:    func(what string, detail []byte) { h.log.Report(id, what, detail) }})
	if err != nil {
		return nil, err
	}
	made.Store(l)
	h.rooms.extensions.Open(l)
	return l, nil
}

// Quiet implements [registry.Owner].
func (o owner) Quiet(id protocol.SessionID) {
	o.h.rooms.channels.Close(id)
	o.h.rooms.extensions.Close(id)
}

// Forget implements [registry.Owner].
func (o owner) Forget(id protocol.SessionID) {
	o.h.rooms.channels.Close(id)
	o.h.rooms.extensions.Close(id)
	o.h.rooms.servers.Close(id)
	o.h.rooms.boxes.Close(id)
}
