package turnconfig

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/internal/extension"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

func (tc *Maker) tools(cfg config.Config, over settings.Overrides, search settings.Search, notes bool, skills *skill.Set) ([]tool.Tool, error) {
	// Overrides name a preset or a list of tools.
	preset, list := cmp.Or(over.Preset, cfg.Tools.Preset), over.ToolList()
	if list != nil {
		preset = "none"
	}
	list, _ = builtinNames(list)
	tools, err := tool.Select(preset, list)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return useful(tools, list, search, notes, skills, tc.settings.Serving)
}

// useful leaves out the tools for what a session has not. What was asked for by name is an
// error then; tools for skills stay.
func useful(tools []tool.Tool, named []string, search settings.Search, notes bool, skills *skill.Set, stays bool) ([]tool.Tool, error) {
	var problem error
	tools = slices.DeleteFunc(tools, func(t tool.Tool) bool {
		spec := t.Spec()
		asked := slices.Contains(named, spec.Name)
		switch spec.Needs {
		case tool.NeedsSearch:
			if asked && search.Searcher == nil {
				problem = protocol.Errorf(protocol.CodeInvalidRequest, "%s", search.Missing())
			}
			return search.Searcher == nil
		case tool.NeedsNotes:
			if asked && !notes {
				problem = protocol.Errorf(protocol.CodeInvalidRequest, "%s needs memory.enabled in config.toml, and a session that is kept.", spec.Name)
			}
			return !notes
		case tool.NeedsSkills:
			return len(skills.All()) == 0 && !asked
		case tool.NeedsManySkills:
			return len(skills.All()) <= tool.ManySkills && !asked
		case tool.NeedsSchedules:
			if asked && !stays {
				problem = protocol.Errorf(protocol.CodeInvalidRequest, "%s needs a host that stays; start one with scorel host serve, or leave the tool out.", spec.Name)
			}
			return !stays
		case tool.NeedsPrograms:
			return !skills.Programs() && !asked
		}
		return false
	})
	return tools, problem
}

// builtinNames parts the names of built-in tools from those that only an extension can
// have.
func builtinNames(list []string) (builtin, others []string) {
	all := tool.Names(tool.Named())
	for _, name := range list {
		if slices.Contains(all, name) {
			builtin = append(builtin, name)
		} else {
			others = append(others, name)
		}
	}
	return builtin, others
}

// mayExtend reports whether a session of a project could have extensions: they are loaded
// only when it is open.
func (tc *Maker) mayExtend(ctx context.Context, root string) bool {
	return slices.ContainsFunc(tc.extensions.Find(ctx, root).Extensions, func(e extension.Extension) bool { return e.State == protocol.ExtensionFound })
}

// missingTool says which tool of a list nobody has, if so. Those of extensions are
// among tools.
func missingTool(list []string, tools []tool.Tool) error {
	_, others := builtinNames(list)
	for _, name := range others {
		if !slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == name }) {
			return protocol.Errorf(protocol.CodeInvalidRequest, "There is no tool %.80q, and no extension here has one of that name: there are %s.", name, strings.Join(tool.Names(tool.Named()), ", "))
		}
	}
	return nil
}
