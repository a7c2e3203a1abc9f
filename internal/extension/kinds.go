package extension

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scorel/protocol"
)

// maxKinds bounds the kinds of custom events of a conversation that are looked at.
const maxKinds = 64

// Kinds returns the kinds of custom events on the active path, without Scorel's own.
func (s *Set) Kinds(ctx context.Context) (kinds []string) {
	if s.cfg.Log == nil {
		return nil
	}
	for e, err := range s.cfg.Log.Controls(ctx, s.cfg.Log.Leaf(), protocol.TypeCustom) {
		b, ok := e.Body.(*protocol.Custom)
		if err != nil || !ok || strings.HasPrefix(b.Kind, protocol.OwnKind) || slices.Contains(kinds, b.Kind) {
			continue
		}
		if kinds = append(kinds, b.Kind); len(kinds) == maxKinds {
			break
		}
	}
	return kinds
}

// Warn tells people, once while the session is loaded, which kinds of custom events in
// its log no loaded extension understands. A JavaScript extension understands those that
// its files name; a program those that it has registered, and all when it has registered
// none.
func (s *Set) Warn(ctx context.Context) {
	kinds := s.Kinds(ctx)
	s.mu.Lock()
	var unknown []string
	for _, k := range kinds {
		known := slices.Contains(s.warned, k) || len(s.warned) >= maxNamed
		for _, m := range s.members {
			known = known || m.understands(k)
		}
		if !known {
			s.warned = append(s.warned, k)
			unknown = append(unknown, clip(k, 60))
		}
	}
	s.mu.Unlock()
	if len(unknown) > 0 {
		s.cfg.Host.Notify("warning", fmt.Sprintf("The session has events of the kinds %s, which no extension understands; they are left alone.", strings.Join(unknown, ", ")))
	}
}

// understands reports whether an extension that is loaded understands entries of a kind. mu
// of the set is held.
func (m *member) understands(kind string) bool {
	if m.State != protocol.ExtensionLoaded {
		return false
	}
	return slices.Contains(m.registered.EntryTypes, kind) || m.Kind == Process && len(m.registered.EntryTypes) == 0
}
