package hostinfo

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/protocol"
)

// Model returns the description of the model of the session; false when it is not known.
// Every frame asks, and there are thousands of models, so the last one is kept.
func (x *Info) Model() (protocol.ModelInfo, bool) {
	if name := x.ModelName(); x.described == nil || x.described.name != name {
		x.described = &described{name: name, at: slices.IndexFunc(x.models, func(m protocol.ModelInfo) bool {
			provider, ok := strings.CutSuffix(m.Ref, name)
			return ok && (provider == "" || strings.HasSuffix(provider, "/"))
		})}
	}
	if x.described.at < 0 {
		return protocol.ModelInfo{}, false
	}
	return x.models[x.described.at], true
}

// ModelName names the model that answers: the session's, else the one that answered
// last, else the configured one.
func (x *Info) ModelName() string {
	if name := x.session.Live().Meta.Model; name != "" {
		return name
	}
	if name := x.start.Model; name != "" && x.session.ID() == "" {
		return name
	}
	if name := x.session.Answered(); name != "" {
		return name
	}
	return x.Setting("model.name")
}

// Callable reports whether a model other than the demo's can be called, as far as it is
// known.
func (x *Info) Callable() bool {
	return slices.ContainsFunc(x.models, func(m protocol.ModelInfo) bool { return m.HasKey })
}

// ModelHint says how to have a model where none is chosen.
func (x *Info) ModelHint() string {
	switch {
	case x.models == nil || x.config == nil:
		return ""
	case x.Callable():
		return "No model is chosen yet. Type /model to choose one; until then the demo model answers."
	}
	return "No model is set up yet. Type /login to add an API key."
}

// Levels returns the thinking levels of the model.
func (x *Info) Levels() []string {
	if m, ok := x.Model(); ok && len(m.ThinkingLevels) > 0 {
		return m.ThinkingLevels
	}
	return protocol.ThinkingLevels()
}

// Thinking is the thinking level in force.
func (x *Info) Thinking() string {
	if level := x.session.Live().Meta.ThinkingLevel; level != "" {
		return level
	}
	if level := x.start.Thinking; level != "" && x.session.ID() == "" {
		return level
	}
	return x.Setting("model.thinking")
}

// Mode is the permission mode in force.
func (x *Info) Mode() string {
	if mode := x.session.Live().Mode; mode != "" {
		return mode
	}
	if mode := x.start.Mode; mode != "" && x.session.ID() == "" {
		return mode
	}
	if mode := x.Setting("permissions.mode"); mode != "" {
		return mode
	}
	return "default"
}

// WantedMode is the permission mode that was asked for last, else the one in force.
func (x *Info) WantedMode() string { return cmp.Or(x.nextMode, x.Mode()) }

// Begins takes how the next session begins, now that none is open.
func (x *Info) Begins(next link.Next) {
	x.start = Start{Model: next.Model, Thinking: next.Thinking, Mode: next.Mode}
}

// HasModel reports whether the session has a model of its own, or, where none is open, the
// next one begins with one.
func (x *Info) HasModel() bool {
	return x.session.Live().Meta.Model != "" || x.session.ID() == "" && x.start.Model != ""
}

// SetMode sets a permission mode that there is: of the session, or where none is open yet
// of the next one, which is not made for that.
func (x *Info) SetMode(mode string, failed func(error)) tea.Cmd {
	x.nextMode = mode
	return x.link.SetMode(mode, func(err error) tea.Cmd {
		if x.nextMode == mode {
			x.nextMode = ""
		}
		if err != nil {
			failed(err)
		} else if x.session.ID() == "" {
			x.start.Mode = mode
		}
		return nil
	})
}
