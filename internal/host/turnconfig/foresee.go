package turnconfig

import (
	"context"

	"scorel/internal/engine/tool"
	"scorel/internal/host/extensions"
	"scorel/internal/host/lane"
)

// Foresee returns what the next turn of a session would run with, as far as it is known
// before anybody sends a message, and what makes its instructions: nil when no model is
// known. It reports false when nothing is known, which the turn says when it begins.
func (tc *Maker) Foresee(ctx context.Context, l *lane.Lane) (turn extensions.Turn, instructions func() (string, error), ok bool) {
	id, meta, over := l.ID(), l.Meta(), tc.settings.Overrides
	dir, root, err := tc.settings.SessionWorkspace(meta.WorkDir, over.Wide)
	if err != nil {
		return turn, nil, false
	}
	cfg, err := tc.settings.Load(root)
	if err != nil {
		return turn, nil, false
	}
	turn = extensions.Turn{Config: cfg, Over: over, Thinking: thinking(cfg, over, meta), Tools: tc.foreseenTools(ctx, extensions.Turn{Config: cfg, Over: over}, dir, root)}
	m, _, err := tc.settings.Models(cfg, meta, over)
	if err != nil {
		return turn, nil, true
	}
	turn.Model = m
	return turn, func() (string, error) {
		in, _, err := tc.instructions(id, cfg, dir, root, m.Info(), nil)
		return in.Text, err
	}, true
}

// foreseenTools returns the built-in tools of a turn, none where the turn says why.
func (tc *Maker) foreseenTools(ctx context.Context, t extensions.Turn, dir, root string) []tool.Tool {
	_, search, err := tc.settings.Web(t.Config)
	if err != nil {
		return nil
	}
	skills, _ := tc.SkillSet(ctx, dir, root)
	own, err := tc.tools(t.Config, t.Over, search, tc.noter(tc.settings.Notes(t.Config, dir)) != nil, skills)
	if err != nil {
		return nil
	}
	return own
}
