package extensions

import (
	"cmp"
	"context"
	"slices"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/engine/tool"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/settings"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Turn is what a turn runs with, as extensions are told of it.
type Turn struct {
	Config   config.Config
	Over     settings.Overrides
	Model    model.Model // nil: not known yet
	Thinking model.ThinkingLevel
	Tools    []tool.Tool // without those of extensions
}

// ForTurn returns the tools of a turn with those of the extensions, which are loaded;
// they stay the same while it runs.
func (xs *Extensions) ForTurn(ctx context.Context, id protocol.SessionID, turn Turn) []tool.Tool {
	x := xs.Of(id)
	if x == nil || !x.set.Loaded() {
		return turn.Tools
	}
	return x.follow(ctx, turn)
}

// follow notes a turn, and returns its tools with those of the extensions.
func (x *Session) follow(ctx context.Context, turn Turn) []tool.Tool {
	x.noteTrust(x.projectTrusted(ctx))
	turn.Tools = x.withTools(turn)
	return x.note(ctx, turn)
}

func (x *Session) noteTrust(trusted bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn.trusted = trusted
}

// withTools returns the tools of a turn with those of the extensions. People are told once
// of tools that are left out.
func (x *Session) withTools(turn Turn) []tool.Tool {
	own, over := turn.Tools, turn.Over
	list := over.ToolList()
	if list == nil && over.Preset != "" && over.Preset != "coding" && over.Preset != "all" {
		return own
	}
	tools, problems := x.set.Tools(own)
	for _, p := range problems {
		x.tellOnce(p)
	}
	preset := turn.Config.Tools.Preset
	return slices.DeleteFunc(tools, func(t tool.Tool) bool {
		spec := t.Spec()
		builtin := slices.ContainsFunc(own, func(o tool.Tool) bool { return o.Spec().Name == spec.Name })
		return !builtin && (list != nil && !slices.Contains(list, spec.Name) || list == nil && (preset == "readonly" || preset == "none"))
	})
}

// projectTrusted reports whether something of the project is trusted.
func (x *Session) projectTrusted(ctx context.Context) bool {
	root, _ := workspace.Root(x.lane.Meta().WorkDir, x.exts.settings.UserHome)
	r, err := x.exts.settings.Trust.Status(ctx, root)
	return err == nil && !r.TrustedAt.IsZero()
}

// note keeps what extensions are told of a turn, and returns the tools that they have
// left active.
func (x *Session) note(ctx context.Context, turn Turn) []tool.Tool {
	others, ref := x.otherCommands(ctx), x.lane.Meta().Model
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn.model, x.turn.thinking, x.turn.mode = nil, string(turn.Thinking), cmp.Or(turn.Over.Mode, turn.Config.Permissions.Mode)
	if turn.Model != nil {
		x.turn.model = modelOf(turn.Model.Info())
	}
	x.turn.modelRef = ref
	x.turn.tools, x.turn.names, x.turn.others = nil, nil, others
	active := x.turn.active
	out := make([]tool.Tool, 0, len(turn.Tools))
	for _, t := range turn.Tools {
		s := t.Spec()
		x.turn.tools = append(x.turn.tools, rpc.Tool{Name: s.Name, Description: s.Description})
		if active == nil || slices.Contains(active, s.Name) {
			x.turn.names = append(x.turn.names, s.Name)
			out = append(out, t)
		}
	}
	return out
}
