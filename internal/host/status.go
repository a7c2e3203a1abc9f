package host

import (
	"cmp"
	"context"
	"os"
	"slices"

	"scorel/internal/host/request"
	"scorel/protocol"
)

// getStatus returns what the host is doing.
func (h *Host) getStatus() *protocol.Status {
	s := &protocol.Status{DeviceID: h.identity.id, Version: h.cfg.Version, PID: os.Getpid(), StartedAt: h.started.UnixMilli(),
		Clients: []protocol.ClientInfo{}, Sessions: []protocol.SessionState{}}
	if h.cfg.Addresses != nil {
		s.Addresses = h.cfg.Addresses()
	}
	for _, c := range h.audience.Members("") {
		s.Clients = append(s.Clients, c.Info())
	}
	slices.SortFunc(s.Clients, func(a, b protocol.ClientInfo) int {
		return cmp.Or(cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.ClientName, b.ClientName))
	})
	s.Stopping = h.sessions.Ending()
	s.Sessions = append(s.Sessions, h.sessions.States()...)
	slices.SortFunc(s.Sessions, func(a, b protocol.SessionState) int { return cmp.Compare(a.SessionID, b.SessionID) })
	return s
}

// handleStatus registers the handlers of this file's requests.
func (h *Host) handleStatus(t request.Table) {
	request.On(t, func(_ context.Context, _ *request.Target, _ *protocol.Ping) (protocol.Response, error) {
		return &protocol.Done{}, nil
	})
	request.On(t, func(_ context.Context, _ *request.Target, _ *protocol.GetStatus) (protocol.Response, error) {
		return h.getStatus(), nil
	})
}
