package agent

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/text/frontmatter"
)

// maxServers is how many servers mcpServers and requiredMcpServers may name each.
const maxServers = 20

// Servers are the MCP servers of an agent.
type Servers struct {
	// Named are those whose tools the agent is sent, and for which it waits.
	Named []string
	// Own is a file of servers that start with the agent and end with it, "" for none. Their
	// names are among Named. A project's agent has none.
	Own string
	// Required are patterns of names: of each, a server has to be connected and to have tools.
	Required []string
}

// setServers reads a field about servers.
func (d *Definition) setServers(own string, f frontmatter.Field, wrong func(string, ...any) error) (err error) {
	if own == "requiredMcpServers" {
		if d.Servers.Required, err = f.Value.List(); err != nil {
			return err
		}
		for _, p := range d.Servers.Required {
			if _, err := path.Match(p, ""); err != nil || p == "" || len(p) > 100 {
				return wrong("requiredMcpServers has %.80q, which is not a name of a server, and no pattern with *", p)
			}
		}
		if len(d.Servers.Required) > maxServers {
			return wrong("requiredMcpServers names %d servers; at most %d are possible", len(d.Servers.Required), maxServers)
		}
		return nil
	}
	data, err := f.Value.JSON()
	if err != nil {
		return err
	}
	named, entries, err := serversIn(data)
	if err != nil {
		return wrong("mcpServers %v", err)
	}
	if len(entries) > 0 && d.Scope == Project {
		return wrong("a project's agent can only name servers in mcpServers; put the server into .mcp.json of the project")
	}
	if len(named) > maxServers {
		return wrong("mcpServers names %d servers; at most %d are possible", len(named), maxServers)
	}
	for _, name := range named {
		if err := mcpconfig.CheckName(name); err != nil {
			return wrong("mcpServers: %v", err)
		}
	}
	d.Servers.Named, d.Servers.Own = named, ""
	if len(entries) == 0 {
		return nil
	}
	file, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		return err
	}
	if set := mcpconfig.Merge(mcpconfig.Sources{Session: []mcpconfig.File{{Name: d.Path, Data: file}}}); len(set.Faults) > 0 {
		return wrong("mcpServers: %s", set.Faults[0].Message)
	}
	d.Servers.Own = string(file)
	return nil
}

// serversIn reads names of servers, and servers with what they are: a name, a list of both,
// or an object.
func serversIn(data []byte) (named []string, own map[string]json.RawMessage, err error) {
	var one string
	var list []json.RawMessage
	own = map[string]json.RawMessage{}
	switch {
	case json.Unmarshal(data, &one) == nil:
		if one != "" {
			named = []string{one}
		}
		return named, own, nil
	case json.Unmarshal(data, &list) == nil:
	default:
		list = []json.RawMessage{data}
	}
	for _, item := range list {
		var entries map[string]json.RawMessage
		switch {
		case json.Unmarshal(item, &one) == nil:
			named = append(named, one)
		case json.Unmarshal(item, &entries) == nil:
			for name, entry := range entries {
				named, own[name] = append(named, name), entry
			}
		default:
			return nil, nil, fmt.Errorf("has %.60q, which is neither a name of a server nor an object of servers", strings.TrimSpace(string(item)))
		}
	}
	slices.Sort(named)
	return slices.Compact(named), own, nil
}
