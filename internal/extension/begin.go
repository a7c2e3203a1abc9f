package extension

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"scorel/internal/extension/rpc"
)

// servedKey is the key of a context in which something is carried out for an extension.
type servedKey struct{}

// begin tells the extensions that are loaded, and were not told yet, that the session
// starts, one after the other in load order. What each does then has ended when the next
// is told, or startTime is over. What an extension asks for meanwhile waits for none of
// it, which would be for itself.
func (s *Set) begin(ctx context.Context) error {
	if ctx.Value(servedKey{}) != nil {
		return nil
	}
	release, err := take(ctx, s.beginning)
	if err != nil {
		return err
	}
	defer release()
	ready := false
	for _, m := range s.all() {
		s.mu.Lock()
		c, begun, again := m.child, m.begun, m.again
		s.mu.Unlock()
		if c == nil || begun {
			continue
		}
		if !ready && s.cfg.Ready != nil {
			s.cfg.Ready(ctx)
		}
		ready = true
		late := time.NewTimer(startTime)
		select {
		case <-s.beginOne(ctx, c, m):
		case <-late.C:
		case <-ctx.Done():
		}
		late.Stop()
		s.discover(ctx, m, again)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// discover asks an extension that has been told of the start which skills and commands it
// brings along.
func (s *Set) discover(ctx context.Context, m *member, again bool) {
	s.mu.Lock()
	has := m.hooks("resources_discover")
	s.mu.Unlock()
	if !has || s.cfg.Resources == nil || ctx.Err() != nil {
		return
	}
	reason := "startup"
	if again {
		reason = "reload"
	}
	var a rpc.ResourcesAnswer
	_, err := m.call(ctx, "resources_discover", startTime, just(rpc.ResourcesData{Cwd: s.cfg.Session.Cwd, Reason: reason}), &a)
	var remote *RemoteError
	switch {
	case errors.As(err, &remote):
		s.tellFailure(m, "resources_discover", remote.Message+remote.place())
	case err != nil && ctx.Err() == nil:
		s.tellFailure(m, "resources_discover", err.Error())
	}
	s.cfg.Resources(m.who(), a)
}

// beginOne tells a loaded extension that the session starts for it, before anything that
// it is asked later. What it gives is closed when that has been dealt with.
func (s *Set) beginOne(ctx context.Context, c *child, m *member) <-chan struct{} {
	model := s.cfg.Host.State().Model
	s.mu.Lock()
	m.model = model
	reason := "startup"
	switch {
	case m.again:
		reason = "reload"
	case s.cfg.Reason != "":
		reason = s.cfg.Reason
	}
	m.again, m.begun = true, true
	asks, wants := m.hooks("session_start"), m.wants("session_start")
	s.mu.Unlock()
	done := make(chan struct{})
	failed := func(err error) {
		s.cfg.Report("extension "+m.ID+": session_start: "+err.Error(), nil)
	}
	data, err := json.Marshal(map[string]string{"type": "session_start", "sessionId": string(s.cfg.Session.ID), "reason": reason})
	if err == nil && wants && !asks {
		err = c.tell(ctx, rpc.EventNote{Ext: m.ID, Type: "session_start", Event: data}, false)
	}
	if err != nil {
		failed(err)
	}
	if err != nil || !asks {
		close(done)
		return done
	}
	a, err := c.begin(ctx, rpc.MethodHook, func() (any, error) {
		return rpc.HookCall{Ext: m.ID, Hook: "session_start", Data: data}, nil
	})
	if err != nil {
		failed(err)
		close(done)
		return done
	}
	s.spawn(func() { // ends with the answer, or the process
		defer close(done)
		var remote *RemoteError
		switch _, err := a.wait(context.Background()); {
		case errors.As(err, &remote):
			s.tellFailure(m, "session_start", remote.Message+remote.place())
		case err != nil && !errors.Is(err, errGone):
			failed(err)
		}
	})
	return done
}
