package lane

import (
	"context"
	"os"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/session"
	"scorel/protocol"
)

// rights are what people have allowed in a session. The journal's lock guards them.
type rights struct {
	mode      permission.Mode // that people set; "" is the configuration's
	modeSeq   protocol.Seq    // of the event that set it in this lane
	unplanned permission.Mode // the last of them that is not plan mode
	granted   []string        // rules for the session
}

// foldRights returns the rights that are in a log. What came with an import does not count:
// nobody on this device set it. ownMode leaves the mode out.
func foldRights(ctx context.Context, index *session.Index, ownMode bool) (r rights, err error) {
	if r.granted, err = foldGrants(ctx, index); err != nil || ownMode {
		return r, err
	}
	r.mode, r.unplanned, err = foldMode(ctx, index)
	return r, err
}

// foldGrants returns the rules that people granted for the session.
func foldGrants(ctx context.Context, index *session.Index) ([]string, error) {
	var rules []string
	for e, err := range index.OfType(ctx, protocol.TypePermissionDecision) {
		if err != nil {
			return nil, err
		}
		if index.Imported(e.Seq) {
			continue
		}
		if b, ok := e.Body.(*protocol.PermissionDecision); ok && b.Scope == "session" && b.Decision == protocol.DecisionAllow {
			rules = append(rules, b.Rule)
		}
	}
	return rules, nil
}

// StoredMode returns the permission mode that people have set in a session, "" for none.
func StoredMode(ctx context.Context, index *session.Index) (permission.Mode, error) {
	mode, _, err := foldMode(ctx, index)
	return mode, err
}

// foldMode returns the permission mode that was set last, and the last one that is not plan
// mode.
func foldMode(ctx context.Context, index *session.Index) (mode, unplanned permission.Mode, err error) {
	for e, err := range index.OfType(ctx, protocol.TypeSessionInfo) {
		if err != nil {
			return "", "", err
		}
		if b, ok := e.Body.(*protocol.SessionInfo); ok && b.Mode != "" && !index.Imported(e.Seq) {
			if mode = permission.Mode(b.Mode); mode != permission.Plan {
				unplanned = mode
			}
		}
	}
	return mode, unplanned, nil
}

// SetMode sets the permission mode of the next calls. It is durable, and counts, on
// return; calls that are judged before are judged under the old one.
func (l *Lane) SetMode(ctx context.Context, c Caller, mode permission.Mode) error {
	e, err := l.j.Store(ctx, &protocol.SessionInfo{Mode: string(mode)}, c.Author())
	if err != nil {
		return err
	}
	l.j.Lock()
	defer l.j.Unlock()
	if e.Seq > l.rights.modeSeq { // of two that are set at once the later counts
		l.rights.mode, l.rights.modeSeq = mode, e.Seq
		if mode != permission.Plan {
			l.rights.unplanned = mode
		}
	}
	return nil
}

// Mode is the permission mode that people have set in this session, "" for none.
func (l *Lane) Mode() permission.Mode {
	mode, _, _ := l.now()
	return mode
}

// now returns the mode and the rules that people have set, and which change of the mode was
// the last.
func (l *Lane) now() (mode permission.Mode, granted []string, seq protocol.Seq) {
	l.j.Lock()
	defer l.j.Unlock()
	return l.rights.mode, append([]string(nil), l.rights.granted...), l.rights.modeSeq
}

// grant adds a rule of the session.
func (l *Lane) grant(rule string) {
	l.j.Lock()
	defer l.j.Unlock()
	l.rights.granted = append(l.rights.granted, rule)
}

// policy is the turn's with the session's own mode and rules. The journal is not locked.
func (h *turnHost) policy() (*permission.Policy, error) {
	mode, granted, seq := h.l.now()
	if o := h.t.options; o != nil && o.Mode != "" && seq == h.t.mode.seq {
		mode = "" // the message's, until somebody sets another
	} else if h.t.mode.ceiling != "" {
		mode = tickMode(mode, h.t.mode.ceiling)
	}
	if a := h.t.config.Above; a != nil {
		allowed, more := a.now()
		mode, granted = permission.Tighter(mode, allowed), append(more, granted...)
	}
	return sessionPolicy(h.t.config.Policy, mode, granted)
}

// sessionPolicy is a policy with the mode that people set, "" for none, and with the
// rules that they granted for the session.
func sessionPolicy(p *permission.Policy, mode permission.Mode, granted []string) (*permission.Policy, error) {
	var err error
	if mode != "" {
		if p, err = p.WithMode(mode, os.Getuid()); err != nil {
			return nil, err
		}
	}
	if len(granted) > 0 {
		return p.With(permission.Layer{Name: "session", Scope: permission.ScopeSession, Allow: granted})
	}
	return p, nil
}

// Judge decides about an action outside of a turn as a call of a turn with these
// options, which may be nil, would be decided about: by the policy of a configuration with
// the session's mode and rules.
func (l *Lane) Judge(config *TurnConfig, options *protocol.TurnOptions, a permission.Action) (permission.Verdict, error) {
	mode, granted, _ := l.now()
	if options != nil && options.Mode != "" {
		mode = "" // the configuration has theirs
	}
	p, err := sessionPolicy(config.Policy, mode, granted)
	if err != nil {
		return permission.Verdict{}, err
	}
	return p.Judge(a), nil
}
