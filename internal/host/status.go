package host

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"scorel/protocol"
)

// getStatus says what the host is doing.
func (h *Host) getStatus() *protocol.Status {
	s := &protocol.Status{DeviceID: h.device, Version: h.cfg.Version, PID: os.Getpid(), StartedAt: h.started.UnixMilli(),
		Clients: []protocol.ClientInfo{}, Sessions: []protocol.SessionState{}}
	if h.cfg.Addresses != nil {
		s.Addresses = h.cfg.Addresses()
	}
	for _, c := range h.connections(func(*Conn) bool { return true }) {
		s.Clients = append(s.Clients, c.info())
	}
	slices.SortFunc(s.Clients, func(a, b protocol.ClientInfo) int {
		return cmp.Or(cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.ClientName, b.ClientName))
	})
	h.mu.Lock()
	s.Stopping = h.stopping || h.closed
	open := make([]*slot, 0, len(h.lanes))
	for _, sl := range h.lanes {
		open = append(open, sl)
	}
	h.mu.Unlock()
	for _, sl := range open {
		if st := sl.state(); st != nil {
			s.Sessions = append(s.Sessions, *st)
		}
	}
	slices.SortFunc(s.Sessions, func(a, b protocol.SessionState) int { return cmp.Compare(a.SessionID, b.SessionID) })
	return s
}

// opened gives the lane when the session is open, without waiting.
func (s *slot) opened() bool {
	select {
	case <-s.ready:
		return s.lane != nil
	default:
		return false
	}
}

// state says what goes on in the session, nil while it is not open.
func (s *slot) state() *protocol.SessionState {
	if !s.opened() {
		return nil
	}
	st := s.lane.Publisher().Status()
	return &protocol.SessionState{SessionID: s.lane.ID(), Name: s.lane.Log().Index().Meta().Name, Title: s.title(), Running: st.Running || s.lane.Working(), Asking: st.Asking,
		Queued: st.Queued, Tasks: s.lane.RunningTasks(), Clients: st.Cursors}
}

// title is what the session is called: the first prompt does not change, so it is
// looked for until it is there.
func (s *slot) title() string {
	index := s.lane.Log().Index()
	name := index.Meta().Name
	if name != "" {
		return protocol.Title(name, "")
	}
	return protocol.Title("", s.firstPrompt())
}

// firstPrompt gives the text of the first prompt, "" before there is one.
func (s *slot) firstPrompt() string {
	if p := s.prompt.Load(); p != nil {
		return *p
	}
	text, err := s.lane.Log().Index().FirstPrompt(context.Background())
	if err == nil && text != "" {
		s.prompt.Store(&text)
	}
	return text
}

// stateOf says what goes on in a session, nil when this host does not have it open.
func (h *Host) stateOf(id protocol.SessionID) *protocol.SessionState {
	h.mu.Lock()
	s := h.lanes[id]
	h.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.state()
}

// summary describes an open session as a list of sessions does.
func (h *Host) summary(s *slot) protocol.SessionSummary {
	index := s.lane.Log().Index()
	sum := summaryOf(index)
	sum.State = s.state()
	s.toldTasks.Store(int32(sum.State.Tasks))
	if info, err := h.cfg.FS.Stat(filepath.Join(h.cfg.StoreDir, "sessions", string(sum.SessionID)+".jsonl")); err == nil {
		sum.UpdatedAt = info.ModTime().UnixMilli()
	}
	sum.FirstPrompt = s.firstPrompt()
	return sum
}

// sessionChanged tells all clients what an open session is like now. It is called on
// the writer of the session's publisher, too, and waits for nobody.
func (h *Host) sessionChanged(s *slot) {
	if !s.opened() || len(h.connections(func(*Conn) bool { return true })) == 0 {
		return
	}
	s.telling.Lock() // so that no older summary comes behind a newer one
	defer s.telling.Unlock()
	h.broadcast(&protocol.SessionChanged{Summary: h.summary(s)})
}

// sessionMade tells all clients of a session that is not open.
func (h *Host) sessionMade(sum protocol.SessionSummary) {
	h.broadcast(&protocol.SessionChanged{Summary: sum})
}

// sessionDeleted tells all clients that a session has gone.
func (h *Host) sessionDeleted(id protocol.SessionID) {
	h.broadcast(&protocol.SessionChanged{Summary: protocol.SessionSummary{SessionID: id}, Deleted: true})
}

// handleStatus registers the handlers of this file's requests.
func (h *Host) handleStatus(t handlers) {
	on(t, func(_ context.Context, _ *target, _ *protocol.Ping) (protocol.Response, error) {
		return &protocol.Done{}, nil
	})
	on(t, func(_ context.Context, _ *target, _ *protocol.GetStatus) (protocol.Response, error) {
		return h.getStatus(), nil
	})
}
