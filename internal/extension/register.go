package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"scorel/internal/engine/permission"
	engine "scorel/internal/engine/tool"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what an extension registers.
const (
	maxTools       = 64
	maxCommands    = 64
	maxDescription = 16 << 10 // bytes
	maxSchema      = 64 << 10 // bytes
	maxNamed       = 64       // hooks, kinds and the like
	maxName        = 64       // bytes
	maxWords       = 500      // bytes of a warning, of the name of an event
)

// register takes what an extension offers from now on. What of it cannot be used is
// left out, with a warning.
func (s *Set) register(m *member, r rpc.Registration) {
	warn := func(format string, args ...any) {
		if len(r.Warnings) < maxNamed {
			r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
		}
	}
	r.Name, r.Version = display.Line(clip(r.Name, 100)), display.Line(clip(r.Version, 100))
	for _, list := range []*[]string{&r.Hooks, &r.Events, &r.Renderers, &r.Entries, &r.EntryTypes, &r.Unsupported, &r.Warnings} {
		if len(*list) > maxNamed {
			*list = (*list)[:maxNamed]
		}
		for i, text := range *list {
			(*list)[i] = display.Line(clip(text, maxWords))
		}
	}
	known := func(what string, asked, names []string) []string {
		return slices.DeleteFunc(slices.Clone(asked), func(name string) bool {
			if slices.Contains(names, name) || what == "event" && name == "*" {
				return false
			}
			warn("There is no %s %.60q%s", what, name, meant(name, names))
			return true
		})
	}
	r.Hooks, r.Events = known("hook", r.Hooks, hookNames), known("event", r.Events, eventsOf(r.API))
	if len(r.Tools) > maxTools {
		warn("It registers %d tools; only the first %d count.", len(r.Tools), maxTools)
		r.Tools = r.Tools[:maxTools]
	}
	var tools []tool
	for _, t := range r.Tools {
		spec, err := specOf(t)
		switch {
		case err != nil:
			warn("The tool %.60q cannot be used: %v.", t.Name, err)
		case slices.ContainsFunc(tools, func(o tool) bool { return o.spec.Name == spec.Name }):
			warn("The tool %s is registered twice; only the first counts.", spec.Name)
		default:
			tools = append(tools, tool{m: m, spec: spec, kind: t.Kind, label: t.Label, renders: t.Renders})
		}
	}
	for _, k := range r.Shortcuts { // which a client presses by running a command
		r.Commands = append(r.Commands, rpc.Command{Name: protocol.ShortcutPrefix + k.Key, Description: k.Description})
	}
	var commands []rpc.Command
	for _, c := range r.Commands {
		key, pressed := strings.CutPrefix(c.Name, protocol.ShortcutPrefix)
		switch {
		case pressed && !shortcut(key):
			warn("The shortcut %.60q cannot be used: a key is written such as ctrl+k, alt+/ or f5, in at most %d bytes.", key, maxName)
		case !pressed && !name(c.Name):
			warn("The command %.60q cannot be used: its name may have letters, digits, dots, dashes, colons, plus signs and underscores, at most %d.", c.Name, maxName)
		case len(commands) == maxCommands:
			warn("It registers more than %d commands; only the first count.", maxCommands)
		case slices.ContainsFunc(commands, func(o rpc.Command) bool { return o.Name == c.Name }):
			warn("The command %s is registered twice; only the first counts.", c.Name)
		default:
			c.Description, c.ArgumentHint = display.Line(clip(c.Description, 1000)), display.Line(clip(c.ArgumentHint, 200))
			commands = append(commands, c)
		}
	}
	r.Commands = commands
	r.Providers = checked(m, r.Providers, warn)
	s.mu.Lock()
	m.registered, m.tools = r, tools
	s.mu.Unlock()
	for _, w := range r.Warnings {
		s.cfg.Report("extension "+m.ID+": "+clip(w, 500), nil)
	}
}

func name(s string) bool {
	ok := s != "" && len(s) <= maxName && s[0] != '-' && s[0] != ':'
	for _, c := range []byte(s) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':' || c == '+')
	}
	return ok
}

// shortcut reports whether a text may be a key; which keys there are, clients know.
func shortcut(key string) bool {
	return key != "" && len(key) <= maxName && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// specOf returns a tool as the runtime sees it.
func specOf(t rpc.Tool) (engine.Spec, error) {
	spec := engine.Spec{ToolInfo: protocol.ToolInfo{Name: t.Name, Kind: permission.Kind(t.Kind)}, Description: t.Description, Schema: t.Parameters, Parallel: t.Parallel}
	if !name(t.Name) || strings.ContainsAny(t.Name, ".:+") { // what all providers take
		return spec, fmt.Errorf("its name may have letters, digits, dashes and underscores, at most %d", maxName)
	}
	if strings.HasPrefix(t.Name, "mcp__") { // the rules of a server would cover it
		return spec, errors.New("its name begins with mcp__, as those of MCP servers do")
	}
	switch spec.Kind {
	case "":
		spec.Kind = permission.Exec
	case permission.Read, permission.Write, permission.Exec, permission.Net:
	default:
		return spec, fmt.Errorf("its kind is %.40q; the kinds are read, write, exec and net", t.Kind)
	}
	spec.Parallel = spec.Parallel && (spec.Kind == permission.Read || spec.Kind == permission.Net)
	if extra := append([]string{t.Snippet}, t.Guidelines...); strings.TrimSpace(strings.Join(extra, "")) != "" {
		spec.Description = strings.TrimSpace(spec.Description + "\n\n" + strings.Join(slices.DeleteFunc(extra, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n"))
	}
	if len(spec.Description) > maxDescription {
		return spec, fmt.Errorf("its description has more than %d bytes", maxDescription)
	}
	if len(spec.Schema) == 0 || string(spec.Schema) == "null" {
		spec.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if len(spec.Schema) > maxSchema {
		return spec, fmt.Errorf("its schema has more than %d bytes", maxSchema)
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(spec.Schema, &kind) != nil || kind.Type != "object" {
		return spec, fmt.Errorf("its parameters are no JSON Schema of the type object")
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(spec.Schema, &schema); err != nil {
		return spec, fmt.Errorf("its parameters are no JSON Schema: %w", err)
	}
	if _, err := schema.Resolve(nil); err != nil {
		return spec, fmt.Errorf("its parameters are no JSON Schema: %w", err)
	}
	return spec, nil
}

// hooks reports whether an extension has a hook. mu of the set is held.
func (m *member) hooks(name string) bool { return slices.Contains(m.registered.Hooks, name) }

// wants reports whether an extension is told of an event. mu of the set is held.
func (m *member) wants(event string) bool {
	return slices.Contains(m.registered.Events, event) || slices.Contains(m.registered.Events, "*")
}
