package lane

import (
	"context"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/skill"
	"scorel/protocol"
)

// indexSkills notes in the log how the skills of a setup differ from the index there:
// the whole at first, then what has changed, and nothing when nothing has. mu is held.
func (l *Lane) indexSkills(ctx context.Context, found []protocol.Skill) error {
	var was []protocol.Skill
	known := false
	for e, err := range l.cfg.Log.Index().OfType(ctx, protocol.TypeSkillIndexSnapshot, protocol.TypeSkillIndexDelta) {
		if err != nil {
			return err
		}
		was, known = skill.Fold(was, e.Body), true
	}
	if change := skill.Change(was, found, known); change != nil {
		_, _, err := l.append(ctx, change, byHost())
		return err
	}
	return nil
}

// Judge decides about an action outside of a turn as a call of a turn with these
// options, which may be nil, would be decided about: by the policy of a setup with the
// session's mode and rules.
func (l *Lane) Judge(setup *Setup, options *protocol.TurnOptions, a permission.Action) (permission.Verdict, error) {
	l.mu.Lock()
	mode, granted := l.mode, append([]string(nil), l.granted...)
	l.mu.Unlock()
	if options != nil && options.Mode != "" {
		mode = "" // the setup has theirs
	}
	p, err := sessionPolicy(setup.Policy, mode, granted)
	if err != nil {
		return permission.Verdict{}, err
	}
	return p.Judge(a), nil
}
