package config

import (
	"strings"
	"testing"
)

func TestAFaultyMCPServerLeavesTheRestOfTheConfiguration(t *testing.T) {
	c, _, err := Parse(user("prompt = 'x'\n[[mcp.servers]]\nname = 'a'\ncommand = 'a-mcp'\n[[mcp.servers]]\nname = 'b'\ntype = 'telepathy'\n[[mcp.servers]]\nname = 'c__d'\ncommand = 'x'\n[[mcp.servers]]\ncommand = 'nameless'\n"), File{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Prompt != "x" || len(c.MCP.Servers) != 1 || c.MCP.Servers[0].Name != "a" || c.MCP.Servers[0].Source.Line != 2 {
		t.Errorf("%+v", c.MCP)
	}
	var got []string
	for _, f := range c.MCP.Faults {
		got = append(got, f.Error())
	}
	want := `MCP server "b": the type "telepathy" is unknown; there are stdio, http, sse and ws (/u/config.toml:7)
MCP server "c__d": the name "c__d" contains __, which separates server and tool (/u/config.toml:8)
the name is empty (/u/config.toml:11)`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestAFaultyMCPPolicyIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"mcp.denied = [{ serverName = 'a', serverUrl = 'https://b/' }]": "mcp.denied: a rule has exactly one of serverName, serverCommand and serverUrl (/u/config.toml:1)",
		"mcp.denied = ['a']":                          "the config key mcp.denied must be tables such as",
		"mcp.allowed = [{ name = 'a' }]":              "Unsupported config key: mcp.allowed.name (/u/config.toml:1)",
		"mcp.allowed = [{ serverUrl = 'b.example' }]": "serverUrl has no ://",
		"mcp.servers = 3":                             "the config key mcp.servers must be at most 500 tables",
	} {
		if _, _, err := Parse(user(text), File{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestAProjectDeniesMCPServersAndAllowsNone(t *testing.T) {
	c, notices, err := Parse(File{}, project("[mcp]\nallowed = []\ndenied = [{ serverName = 'db' }]\n[[mcp.servers]]\nname = 'x'\ncommand = 'x'\n"), nil)
	if err != nil || len(notices) != 2 {
		t.Fatal(err, notices)
	}
	if p := c.MCP.Policies(); len(c.MCP.Servers) != 0 || len(p) != 1 || p[0].Limited || len(p[0].Denied) != 1 {
		t.Errorf("%+v", c.MCP)
	}
}

func TestValuesOfMCPServersAreNotShown(t *testing.T) {
	c, _, err := Parse(user("[[mcp.servers]]\nname = 'x'\ncommand = 'x'\nenv = { T = 'marker' }\n"), File{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range c.Settings(nil) {
		found = found || s.Key == "mcp.servers" && s.Value == "[redacted]"
		if strings.Contains(s.Value, "marker") {
			t.Errorf("%+v", s)
		}
	}
	if !found {
		t.Error("mcp.servers is not among the settings")
	}
	for _, key := range []string{"mcp.servers", "mcp.allowed", "mcp.denied"} {
		if _, err := Edit(user(""), key, "[]"); err == nil {
			t.Errorf("%s can be set from outside", key)
		}
	}
}
