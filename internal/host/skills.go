package host

import (
	"context"
	"os"
	"slices"
	"sync"

	"scorel/internal/engine/discovery"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/trust"
	"scorel/internal/extension"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// placesOf gives where skills or commands of a session stand, those that count most
// first. Warning says why nothing of the project is looked at, "" when it is.
func (h *Host) placesOf(kind, dir, root string, others ...string) (list []discovery.Place, warning string) {
	return discovery.Find(discovery.Config{WorkDir: dir, Root: root, Home: h.cfg.UserHome, Dir: h.cfg.Dir, UID: os.Getuid()}, kind, others...)
}

// findSkills looks for the skills of a folder in the project at root.
func (h *Host) findSkills(ctx context.Context, dir, root string) *skill.Found {
	list, warning := h.placesOf("skills", dir, root, ".claude", ".agents")
	list = append(list, h.extensionSkills(ctx, root)...)
	report := sync.OnceValue(func() *trust.Report { // one look for all of them
		r, err := h.trust.Status(ctx, root)
		if err != nil {
			return &trust.Report{}
		}
		return r
	})
	found := h.skills.Find(ctx, list, func(name string) bool { return trustsSkill(report(), name) })
	if warning != "" {
		found.Problems = append([]string{warning}, found.Problems...)
	}
	return found
}

// extensionSkills gives the folders of skills that extensions bring along. Those of a
// project's count like other text of it: their programs do not run.
func (h *Host) extensionSkills(ctx context.Context, root string) (list []discovery.Place) {
	for _, e := range h.findExtensions(ctx, root).Extensions {
		if e.State != protocol.ExtensionFound {
			continue
		}
		for _, dir := range e.Skills {
			p := discovery.Place{Dir: dir, Scope: discovery.Extension, Label: "extension " + e.ID}
			if e.Scope == extension.Project {
				p.Scope, p.Root = discovery.Project, root
			}
			list = append(list, p)
		}
	}
	return list
}

func trustsSkill(r *trust.Report, name string) bool {
	it := r.Find(trust.KindSkill, name)
	return it != nil && it.Status == trust.StatusTrusted && it.Problem == ""
}

// skillSet gives the skills of a turn, and the index of them.
func (h *Host) skillSet(ctx context.Context, dir, root string) (*skill.Set, []protocol.Skill) {
	counting := h.findSkills(ctx, dir, root).Counting()
	set := skill.NewSet(counting, h.cfg.Dir, func(name string) bool {
		r, err := h.trust.Status(context.Background(), root)
		return err == nil && trustsSkill(r, name)
	})
	return set, skill.Entries(counting)
}

// skillItems gives what the model is told of skills, when it can read them.
func skillItems(skills *skill.Set, tools []tool.Tool, window int) []protocol.Item {
	has := func(need tool.Need) bool {
		return slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Spec().Needs == need })
	}
	if !has(tool.NeedsSkills) && len(skills.All()) > 0 {
		return nil
	}
	return []protocol.Item{skill.Listing(skills.All(), window, has(tool.NeedsPrograms))} // without content it takes back what was told
}

// maxSkillTexts bounds the texts that list_skills gives, in bytes.
const maxSkillTexts = 256 << 10

// listSkills gives the skills of a folder; those of one name with the text of the one
// that counts.
func (h *Host) listSkills(ctx context.Context, workDir, name string) (*protocol.SkillList, error) {
	dir, err := h.lookedAt(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	found := h.findSkills(ctx, dir, root)
	set := skill.NewSet(found.Counting(), h.cfg.Dir, func(string) bool { return true }) // nothing is started
	out := &protocol.SkillList{Skills: []protocol.SkillInfo{}, Problems: found.Problems}
	for _, s := range found.Skills {
		if name != "" && s.Name != name {
			continue
		}
		info := s.Info()
		if s.Entry != "" && s.State == skill.OK {
			if _, err := set.Program(s.Name); err != nil {
				info.Problems = append(slices.Clone(info.Problems), sentence(err)+".")
			}
		}
		out.Skills = append(out.Skills, info)
	}
	if name == "" {
		return out, nil
	}
	if len(out.Skills) == 0 {
		return nil, protocol.About("name", protocol.ReasonSkill, protocol.CodeInvalidRequest, "There is no skill %.100q here.", name)
	}
	for i := range out.Skills {
		s := &out.Skills[i]
		if s.State != skill.OK && s.State != skill.Untrusted {
			continue
		}
		text, err := set.Text(name, "")
		switch {
		case err != nil:
			s.Problems = append(slices.Clone(s.Problems), sentence(err)+".")
		case len(text) <= maxSkillTexts:
			s.Text = text
		}
	}
	return out, nil
}

// handleSkills registers the handlers of this file's requests.
func (h *Host) handleSkills(t handlers) {
	inSession(t, func(ctx context.Context, at *target, r *protocol.ListSkills) (protocol.Response, error) {
		if at.lane == nil {
			return h.listSkills(ctx, r.WorkDir, r.Name)
		}
		return h.listSkills(ctx, at.lane.Meta().WorkDir, r.Name)
	})
}
