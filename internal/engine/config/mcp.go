package config

import (
	"fmt"

	mcp "scorel/internal/engine/mcp/config"
)

// maxMCP bounds each list of the table [mcp].
const maxMCP = 500

// MCP is the table [mcp].
type MCP struct {
	Servers []mcp.Entry // of [[mcp.servers]], unless they are faulty
	Faults  []mcp.Fault // of those
	// User and Project are what the two files allow and deny. A project allows nothing.
	User, Project mcp.Policy
}

// Policies returns what the files allow and deny.
func (m MCP) Policies() mcp.Policies {
	var out mcp.Policies
	for _, p := range []mcp.Policy{m.User, m.Project} {
		if p.Limited || len(p.Denied) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// mcpServers takes the entries of [[mcp.servers]]. A faulty one does not keep the rest
// of the configuration from counting.
func mcpServers(c *Config, e entry) error {
	tables := e.tables()
	if list, ok := e.value.([]any); !ok || len(list) != len(tables) || len(tables) > maxMCP {
		return wrong(e, fmt.Sprintf("at most %d tables, each under [[mcp.servers]]", maxMCP))
	}
	for i, t := range tables {
		table, _ := t.(map[string]any)
		server, faults := mcp.FromTOML(e.source.File, table, func(key string) int { return e.lineOf(i, key) })
		c.MCP.Faults = append(c.MCP.Faults, faults...)
		if server != nil {
			c.MCP.Servers = append(c.MCP.Servers, *server)
		}
	}
	return nil
}

func mcpAllowed(c *Config, e entry) (err error) {
	c.MCP.User.Layer, c.MCP.User.Limited = e.source.place(), true
	c.MCP.User.Allowed, err = mcpRules(e)
	return err
}

func mcpDenied(c *Config, e entry) (err error) {
	p := &c.MCP.User
	if e.source.Kind == SourceProject {
		p = &c.MCP.Project
	}
	if p.Denied, err = mcpRules(e); len(p.Denied) > 0 && p.Layer == "" {
		p.Layer = e.source.place()
	}
	return err
}

// mcpRules takes a list of tables that name servers. A faulty rule is an error: left out
// it would not do what somebody relies on.
func mcpRules(e entry) ([]mcp.Rule, error) {
	const want = `tables such as { serverName = "db" }, { serverCommand = ["npx", "-y", "pkg"] } or { serverUrl = "https://*.example.com/*" }`
	values, ok := e.value.([]any)
	if !ok || len(values) > maxMCP {
		return nil, wrong(e, want)
	}
	var out []mcp.Rule
	for i, v := range values {
		table, ok := v.(map[string]any)
		if !ok {
			return nil, wrong(e, want)
		}
		var name, address string
		var command []string
		for key, value := range table {
			sub := entry{path: append(append([]string{}, e.path...), key), value: value, source: e.source}
			sub.source.Line = e.lineOf(i, key)
			var err error
			switch key {
			case "serverName":
				err = str(&name, sub)
			case "serverUrl":
				err = str(&address, sub)
			case "serverCommand":
				command, err = list(sub, "the command and its arguments")
			default:
				return nil, fmt.Errorf("%s", unsupported(sub))
			}
			if err != nil {
				return nil, err
			}
		}
		rule, err := mcp.RuleOf(name, command, address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w (%s)", e.name(), err, e.source.place())
		}
		out = append(out, rule)
	}
	return out, nil
}
