package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// load loads an extension into a process. An error stands in the member too.
func (s *Set) load(ctx context.Context, c *child, m *member) error {
	return s.beginLoad(ctx, c, m, s.now(ctx)).wait(ctx)
}

// loading is an extension that a process was told to load.
type loading struct {
	c   *child
	m   *member
	a   *asked
	err error // why it was not told
}

// loadFacts are what extensions that are loaded together are told alike.
type loadFacts struct {
	settings func(Extension) json.RawMessage // nil for none
	kinds    []string
}

func (s *Set) now(ctx context.Context) loadFacts {
	facts := loadFacts{kinds: s.Kinds(ctx)}
	if s.cfg.Settings != nil {
		facts.settings = s.cfg.Settings()
	}
	return facts
}

// beginLoad tells a process to load an extension. Who calls it waits for what it returns, in
// the order of the calls, in which the process runs the extensions too.
func (s *Set) beginLoad(ctx context.Context, c *child, m *member, now loadFacts) *loading {
	s.mu.Lock()
	m.loading = true
	reason := "startup"
	if m.again {
		reason = "reload"
	}
	s.mu.Unlock()
	load := rpc.Load{Ext: m.ID, Path: m.Path, Scope: string(m.Scope), Root: m.Root, Files: m.Files, Cache: s.cfg.Cache, Reason: reason, Check: s.cfg.Check}
	if now.settings != nil {
		load.Config = now.settings(m.who())
	}
	load.Kinds = now.kinds
	a, err := c.begin(s.outlive(ctx), rpc.MethodLoad, func() (any, error) {
		s.mu.Lock()
		c.slots = append(c.slots, m)
		s.mu.Unlock()
		return load, nil
	})
	return &loading{c, m, a, err}
}

// wait waits until the extension is loaded.
func (l *loading) wait(ctx context.Context) error {
	c, m, s := l.c, l.m, l.c.set
	s.mu.Lock()
	c.loading = m
	s.mu.Unlock()
	ctx, cancel := m.clock.within(s.outlive(ctx), loadTime)
	defer cancel()
	defer s.await("The session waits for the extension "+m.ID+", which is being loaded.", m.Kind)()
	var r rpc.Registration
	var answer json.RawMessage
	err := l.err
	if err == nil {
		answer, err = l.a.wait(ctx)
	}
	if err == nil && string(answer) != "null" {
		if err = json.Unmarshal(answer, &r); err != nil {
			err = fmt.Errorf("what it registers is not valid: %w", err)
		}
	}
	if errors.Is(err, errGone) {
		<-c.ended // who was to blame is known then
		s.mu.Lock()
		m.loading = false
		s.mu.Unlock()
		return err
	}
	s.mu.Lock()
	c.loading, m.loading = nil, false
	s.mu.Unlock()
	if err != nil {
		s.fail(m, sentence(err))
		if c.kind == Process || m.apart {
			c.shutdown(ctx, "quit")
		}
		return err
	}
	s.mu.Lock()
	runs := slices.Contains(s.children, c)
	if runs {
		m.child, m.State, m.Problem = c, protocol.ExtensionLoaded, ""
	}
	s.mu.Unlock()
	if !runs { // another one has ended the process since the answer
		return errGone
	}
	s.register(m, r)
	s.mu.Lock()
	restarted := m.begun // else it is told when all are loaded
	s.mu.Unlock()
	if restarted {
		s.beginOne(ctx, c, m)
	}
	return nil
}

// ensureAll starts and loads all that do not run. Those that share a process are made ready
// there side by side, and run in load order. starting is held.
func (s *Set) ensureAll(ctx context.Context) {
	for _, m := range s.all() {
		if ctx.Err() != nil {
			return
		}
		if s.loadTogether(ctx, m) {
			continue
		}
		c, err := s.ensure(ctx, m)
		if err == nil && c.kind == JavaScript {
			s.loadRest(ctx, c)
		}
	}
}

// loadTogether has the process that extensions share load m with all others that belong
// there, when that was not done. It reports whether m is not to be tried again now: it has
// failed, or has ended the process. Who was lost with it is loaded by [Set.ensure].
func (s *Set) loadTogether(ctx context.Context, m *member) (done bool) {
	s.mu.Lock()
	kills := m.kills
	c, its := s.shared, !s.closed && m.Kind == JavaScript && !m.apart && m.child == nil && m.State == protocol.ExtensionFound && !m.again
	s.mu.Unlock()
	if !its {
		return false
	}
	if c == nil {
		var err error
		if c, err = s.start(ctx, JavaScript, nil); err != nil {
			s.fail(m, sentence(err))
			return true
		}
	}
	s.loadRest(ctx, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.State == protocol.ExtensionFailed || m.kills > kills
}

// loadRest has the process that extensions share load all that were found and belong there.
func (s *Set) loadRest(ctx context.Context, c *child) {
	var all []*loading
	now := s.now(ctx)
	for _, m := range s.all() {
		s.mu.Lock()
		its := s.shared == c && m.Kind == JavaScript && !m.apart && m.child == nil && m.State == protocol.ExtensionFound
		s.mu.Unlock()
		if its {
			all = append(all, s.beginLoad(ctx, c, m, now))
		}
	}
	for _, l := range all {
		_ = l.wait(ctx) // it stands in the member, or another process is started for it
	}
}
