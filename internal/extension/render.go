package extension

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// renderTime is how long an extension may take to draw a call or a message: who waits for it
// shows it as it looks without.
const renderTime = 2 * time.Second

// Render has the extension that draws a call of a tool, a message or an entry, draw it; tool is the
// name that the model knows. source is the extension, "" where none that runs draws it. It
// starts nothing.
func (s *Set) Render(ctx context.Context, tool string, p rpc.Render) (source string, out rpc.Rendered, err error) {
	m := s.renderer(tool, &p)
	if m == nil {
		return "", out, nil
	}
	return s.render(ctx, m, p)
}

// RenderPlace has an extension draw its header or footer. It starts nothing.
func (s *Set) RenderPlace(ctx context.Context, id string, p rpc.Render) (source string, out rpc.Rendered, err error) {
	m := s.find(id)
	s.mu.Lock()
	runs := m != nil && m.State == protocol.ExtensionLoaded && m.child != nil && m.begun
	s.mu.Unlock()
	if !runs {
		return "", out, nil
	}
	return s.render(ctx, m, p)
}

func (s *Set) render(ctx context.Context, m *member, p rpc.Render) (source string, out rpc.Rendered, err error) {
	p.Ext = m.ID
	answer, err := m.ask(ctx, rpc.MethodRender, renderTime, func(now *member) bool { return now.draws(&p) }, just(p))
	if errors.Is(err, errSlow) {
		return m.ID, out, nil
	}
	if err == nil && len(answer) > 0 && string(answer) != "null" {
		err = json.Unmarshal(answer, &out)
	}
	return m.ID, out, err
}

// renderer returns the extension that draws a tool or a message, nil for none, and puts the
// name of the tool as it is registered into p.
func (s *Set) renderer(tool string, p *rpc.Render) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.members {
		if m.State != protocol.ExtensionLoaded || m.child == nil || !m.begun {
			continue
		}
		for _, t := range m.tools {
			if name, _, why := t.place(); tool != "" && why == "" && name == tool && t.renders {
				p.Tool = t.spec.Name
				return m
			}
		}
		if (p.Message != nil || p.Entry != nil) && m.draws(p) {
			return m
		}
	}
	return nil
}

// draws reports whether an extension draws what is asked for. mu of the set is held.
func (m *member) draws(p *rpc.Render) bool {
	if p.Place != "" {
		return true
	}
	if p.Entry != nil {
		return slices.Contains(m.registered.Entries, p.Entry.CustomType)
	}
	if p.Message != nil {
		return slices.Contains(m.registered.Renderers, p.Message.CustomType)
	}
	return slices.ContainsFunc(m.tools, func(t tool) bool { return t.spec.Name == p.Tool && t.renders })
}
