package turnconfig

import (
	"context"
	"slices"
	"sync"

	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/trust"
	"scorel/protocol"
)

// FindSkills looks for the skills of a folder in the project at root.
func (tc *Maker) FindSkills(ctx context.Context, dir, root string) *skill.Found {
	list, warning := tc.settings.Places("skills", dir, root, ".claude", ".agents")
	list = append(list, tc.extensions.SkillPlaces(ctx, root)...)
	report := sync.OnceValue(func() *trust.Report { // one look for all of them
		r, err := tc.settings.Trust.Status(ctx, root)
		if err != nil {
			return &trust.Report{}
		}
		return r
	})
	found := tc.finder.Find(ctx, list, func(name string) bool { return trustsSkill(report(), name) })
	if warning != "" {
		found.Problems = append([]string{warning}, found.Problems...)
	}
	return found
}

func trustsSkill(r *trust.Report, name string) bool {
	it := r.Find(trust.KindSkill, name)
	return it != nil && it.Status == trust.StatusTrusted && it.Problem == ""
}

// SkillSet returns the skills of a turn, and the index of them.
func (tc *Maker) SkillSet(ctx context.Context, dir, root string) (*skill.Set, []protocol.Skill) {
	counting := tc.FindSkills(ctx, dir, root).Counting()
	set := skill.NewSet(counting, tc.settings.Dir, func(name string) bool {
		r, err := tc.settings.Trust.Status(context.Background(), root)
		return err == nil && trustsSkill(r, name)
	})
	return set, skill.Entries(counting)
}

// skillItems returns what the model is told of skills, when it can read them.
func skillItems(skills *skill.Set, tools []tool.Tool, window int) []protocol.Item {
	has := func(need tool.Need) bool {
		return slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Spec().Needs == need })
	}
	if !has(tool.NeedsSkills) && len(skills.All()) > 0 {
		return nil
	}
	return []protocol.Item{skill.Listing(skills.All(), window, has(tool.NeedsPrograms))} // without content it takes back what was told
}
