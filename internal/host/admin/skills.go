package admin

import (
	"context"
	"slices"

	"scorel/internal/engine/skill"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// maxSkillTexts bounds the texts that list_skills gives, in bytes.
const maxSkillTexts = 256 << 10

// listSkills returns the skills of a folder; those of one name with the text of the one
// that counts.
func (ad *Admin) listSkills(ctx context.Context, workDir, name string) (*protocol.SkillList, error) {
	dir, err := ad.settings.LookedAt(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, ad.settings.UserHome)
	found := ad.skills.FindSkills(ctx, dir, root)
	set := skill.NewSet(found.Counting(), ad.settings.Dir, func(string) bool { return true }) // nothing is started
	out := &protocol.SkillList{Skills: []protocol.SkillInfo{}, Problems: found.Problems}
	for _, s := range found.Skills {
		if name != "" && s.Name != name {
			continue
		}
		info := s.Info()
		if s.Entry != "" && s.State == skill.OK {
			if _, err := set.Program(s.Name); err != nil {
				info.Problems = append(slices.Clone(info.Problems), failure.Sentence(err)+".")
			}
		}
		out.Skills = append(out.Skills, info)
	}
	if name == "" {
		return out, nil
	}
	if len(out.Skills) == 0 {
		return nil, protocol.About("name", protocol.ReasonSkill, protocol.CodeNotFound, "There is no skill %.100q here.", name)
	}
	for i := range out.Skills {
		s := &out.Skills[i]
		if s.State != skill.OK && s.State != skill.Untrusted {
			continue
		}
		text, err := set.Text(name, "")
		switch {
		case err != nil:
			s.Problems = append(slices.Clone(s.Problems), failure.Sentence(err)+".")
		case len(text) <= maxSkillTexts:
			s.Text = text
		}
	}
	return out, nil
}

// handleSkills enters the handlers of this file's requests.
func (ad *Admin) handleSkills(t request.Table) {
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.ListSkills) (protocol.Response, error) {
		if at.Lane == nil {
			return ad.listSkills(ctx, r.WorkDir, r.Name)
		}
		return ad.listSkills(ctx, at.Lane.Meta().WorkDir, r.Name)
	})
}
