package turnconfig

import (
	"context"
	"slices"

	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// OfCall returns what makes the turns of calls ready that no model makes.
func (tc *Maker) OfCall(log *session.Log) Make {
	return func(ctx context.Context, meta protocol.Meta, _ *protocol.TurnOptions) (*lane.TurnConfig, error) {
		if log.Index().Header().Parent != nil {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The session %s is a sub-agent's, and other programs run no tools in it; use the session that it works for.", log.ID())
		}
		return (&turn{tc: tc, id: log.ID(), meta: meta, foreign: true}).make(ctx)
	}
}

// BuiltinTools returns the tools of a preset that calls which no model makes can have.
func (tc *Maker) BuiltinTools(r *protocol.ListBuiltinTools) (*protocol.BuiltinTools, error) {
	dir, root, err := tc.settings.Workspace(r.WorkDir, tc.settings.Overrides.Wide)
	if err != nil {
		return nil, err
	}
	cfg, err := tc.settings.Load(root)
	if err != nil {
		return nil, err
	}
	_, search, err := tc.settings.Web(cfg)
	if err != nil {
		return nil, err
	}
	tools, err := runnable(tool.Preset(r.Preset), search, tc.noter(tc.settings.Notes(cfg, dir)) != nil)
	if err != nil {
		return nil, err
	}
	out := &protocol.BuiltinTools{Tools: []protocol.BuiltinTool{}}
	for _, t := range tools {
		spec := t.Spec()
		out.Tools = append(out.Tools, protocol.BuiltinTool{ToolInfo: spec.ToolInfo, Description: spec.Description, Schema: spec.Schema})
	}
	return out, nil
}

// runnable returns the tools of a preset that have an effect of their own outside of the
// session, and ask nobody: the others, and those that a model has to search for, are about
// what a model of the session is told.
func runnable(preset tool.Preset, search settings.Search, notes bool) ([]tool.Tool, error) {
	tools, err := tool.Select(string(preset), nil)
	if err != nil {
		return nil, protocol.About("preset", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool {
		spec := t.Spec()
		if spec.Kind == protocol.ToolOwn || spec.Rule == protocol.RuleSkill || spec.Deferred {
			return true
		}
		switch spec.Needs {
		case tool.NeedsSearch:
			return search.Searcher == nil
		case tool.NeedsNotes:
			return !notes
		}
		return spec.Needs != ""
	}), nil
}
