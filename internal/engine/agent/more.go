package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model"
	"scorel/internal/text/frontmatter"
	"scorel/protocol"
)

// Bounds of the fields of this file.
const (
	MaxSkills  = 10       // that an agent is given at its beginning
	MaxInitial = 64 << 10 // bytes of initialPrompt
)

// Extra is what a definition may have besides its tools, model and prompt.
type Extra struct {
	// Color is one of [Colors], "" for none.
	Color string
	// Effort is how much the model thinks, "" for as much as in the session that starts
	// the agent.
	Effort model.ThinkingLevel
	// Background reports that every call of the agent returns at once.
	Background bool
	// Skills are given to the agent at its beginning.
	Skills []string
	// Initial is what is said to the agent before its first task.
	Initial string
	// Hooks are asked and told in its turns, besides those of the configuration.
	Hooks []config.Hook
	// Servers are its MCP servers.
	Servers Servers
}

// Colors are those that an agent may have.
func Colors() []string {
	return []string{"red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink"}
}

// hookEvents are those of which an agent's hooks are asked or told: the session of an
// agent neither starts nor ends for hooks, and no person writes to it.
func hookEvents() []string {
	return []string{"PreToolUse", "PostToolUse", "SubagentStop", "PreCompact"}
}

// setExtra sets a field of [Extra], and reports whether it is one.
func (d *Definition) setExtra(own string, f frontmatter.Field, wrong func(string, ...any) error) (known bool, err error) {
	text := ""
	switch own {
	case "color", "effort", "initialPrompt":
		if text, err = f.Value.Text(); err != nil {
			return true, err
		}
	}
	switch own {
	case "color":
		if text != "" && !slices.Contains(Colors(), text) {
			return true, wrong("%.40q is not a color of an agent; use %s", text, strings.Join(Colors(), ", "))
		}
		d.Color = text
	case "effort":
		if text != "" && !model.ThinkingLevel(text).Valid() {
			return true, wrong("%.40q is not an effort; it can be %s", text, protocol.ThinkingLevelWords())
		}
		d.Effort = model.ThinkingLevel(text)
	case "background":
		d.Background, err = f.Value.Bool()
	case "initialPrompt":
		if d.Initial = strings.TrimSpace(text); len(d.Initial) > MaxInitial {
			return true, wrong("initialPrompt has %d bytes; at most %d are possible", len(d.Initial), MaxInitial)
		}
	case "skills":
		d.Skills, err = f.Value.List()
		if len(d.Skills) > MaxSkills {
			return true, wrong("skills names %d skills; at most %d are possible", len(d.Skills), MaxSkills)
		}
	case "mcpServers", "requiredMcpServers":
		return true, d.setServers(own, f, wrong)
	case "hooks":
		return true, d.setHooks(f, wrong)
	default:
		return false, nil
	}
	return true, err
}

// setHooks reads hooks, which have the keys of [[hooks]] in config.toml. A project's are
// refused: trust knows the scripts that hooks of its config.toml name, not those of its
// agents.
func (d *Definition) setHooks(f frontmatter.Field, wrong func(string, ...any) error) error {
	if d.Scope == Project {
		return wrong("a project's agent cannot have hooks; those of the project are in .scorel/config.toml, as [[hooks]]")
	}
	data, err := f.Value.JSON()
	if err != nil {
		return err
	}
	var list []map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&list); err != nil {
		return wrong("hooks must be a list, each with event and command, and matcher, timeoutMs and onFailure where they are needed")
	}
	hooks, err := config.HooksOf(list, config.Source{Kind: config.SourceUser, File: d.Path, Line: f.Line})
	if err != nil {
		return wrong("%s", strings.TrimSuffix(err.Error(), "."))
	}
	for _, h := range hooks {
		if !slices.Contains(hookEvents(), h.Event) {
			return wrong("a hook of an agent cannot be one of %s; use %s", h.Event, strings.Join(hookEvents(), ", "))
		}
	}
	d.Hooks = hooks
	return nil
}
