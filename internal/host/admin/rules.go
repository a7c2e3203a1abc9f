package admin

import (
	"context"
	"maps"
	"slices"

	"scorel/internal/engine/permission/rules"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// listRules returns the rules that people have allowed for good, project by project.
func (ad *Admin) listRules() (*protocol.RuleList, error) {
	have, err := rules.Load(ad.settings.RulesFile(), ad.settings.ReadRules)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	out := &protocol.RuleList{File: ad.settings.RulesFile(), Projects: []protocol.ProjectRules{}}
	for _, root := range slices.Sorted(maps.Keys(have.Projects)) {
		if p := have.Projects[root]; p != nil && len(p.Allow) > 0 {
			out.Projects = append(out.Projects, protocol.ProjectRules{Root: root, Allow: p.Allow})
		}
	}
	return out, nil
}

// foreignRules returns the rules that allow of Claude Code's settings, as they would be in
// a project.
func (ad *Admin) foreignRules(workDir string) (*protocol.ForeignRules, error) {
	dir, err := ad.settings.WorkDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, ad.settings.UserHome)
	have, err := rules.Load(ad.settings.RulesFile(), ad.settings.ReadRules)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	mine := have.Layer("", root).Allow
	out := &protocol.ForeignRules{Root: root, Rules: []protocol.ForeignRule{}}
	for _, f := range ad.settings.Claude(root) {
		if f.Problem != "" {
			out.Notices = append(out.Notices, f.Problem)
		}
		for _, r := range f.Settings.Allow {
			rule := protocol.ForeignRule{Rule: r.From, File: f.Name, As: r.As, Problem: r.Note, Have: len(r.As) > 0}
			for _, as := range r.As {
				rule.Have = rule.Have && slices.Contains(mine, as)
			}
			out.Rules = append(out.Rules, rule)
		}
	}
	return out, nil
}

// importRules allows some of these rules in the project, all of them or none.
func (ad *Admin) importRules(r *protocol.ImportRules) (*protocol.RulesImported, error) {
	there, err := ad.foreignRules(r.WorkDir)
	if err != nil {
		return nil, err
	}
	added := 0
	for _, want := range r.Rules {
		at := slices.IndexFunc(there.Rules, func(f protocol.ForeignRule) bool { return slices.Contains(f.As, want) })
		if at < 0 {
			return nil, protocol.Errorf(protocol.CodeConflict, "The rule %.200q is not, or no more, in the settings that rules are taken from; look at them again.", want)
		}
		if !there.Rules[at].Have {
			added++
		}
	}
	if err := ad.settings.AllowIn(there.Root, r.Rules); err != nil {
		return nil, failure.Storage("keep the rules", err)
	}
	return &protocol.RulesImported{Added: added}, nil
}

// handleRules registers the handlers of this file's requests.
func (ad *Admin) handleRules(t request.Table) {
	request.On(t, func(_ context.Context, _ *request.Target, _ *protocol.ListRules) (protocol.Response, error) {
		return ad.listRules()
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.ListForeignRules) (protocol.Response, error) {
		return ad.foreignRules(r.WorkDir)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.ImportRules) (protocol.Response, error) {
		return ad.importRules(r)
	})
}
