package lane

import (
	"context"

	"scorel/internal/engine/skill"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// indexSkills notes in the log how the skills of a config differ from the index there:
// the whole at first, then what has changed, and nothing when nothing has. The journal is locked.
func (l *Lane) indexSkills(ctx context.Context, found []protocol.Skill) error {
	var was []protocol.Skill
	known := false
	for e, err := range l.j.Index().OfType(ctx, protocol.TypeSkillIndexSnapshot, protocol.TypeSkillIndexDelta) {
		if err != nil {
			return err
		}
		was, known = skill.Fold(was, e.Body), true
	}
	if change := skill.Change(was, found, known); change != nil {
		_, _, err := l.j.Append(ctx, change, journal.ByHost())
		return err
	}
	return nil
}
