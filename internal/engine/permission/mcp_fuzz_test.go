package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

// FuzzRulesForServers: whatever a rule is called, it covers the tools of an MCP server only
// where it names that server, or the tool itself; that of one server never counts for another.
func FuzzRulesForServers(f *testing.F) {
	for _, s := range [][3]string{
		{"mcp__db", "db", "query"}, {"mcp__db__*", "db", "query"}, {"mcp__db__query", "db", "query"}, {"mcp__*", "db", "query"}, {"mcp__db(*)", "db", "query"},
		{"mcp__git", "git-hub", "push"}, {"mcp__git", "github", "push"}, {"mcp__git_", "git", "_push"}, {"mcp__git__hub", "git", "hub__push"}, {"mcp__", "a", "b"}, {"mcp__a__", "a", "_b"},
		{"mcp__db__q*", "db", "query"}, {"MCP__db", "db", "query"}, {"mcp__db ", "db", "query"}, {"mcp__d\u0131b", "db", "query"}, {"mcp__db__*__x", "db", "x"}, {"*", "db", "query"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, text, server, tool string) {
		if !serverName(server) || tool == "" || !toolName("x"+tool) || strings.Contains(tool, "*") || strings.Contains(tool, ".") {
			t.Skip()
		}
		name := "mcp__" + server + "__" + tool
		for _, denies := range []bool{false, true} {
			r, err := parser{home: "/home", root: "/home/p", denies: denies}.parse(text)
			if err != nil {
				continue
			}
			if again, err := (parser{home: "/home", root: "/home/p", denies: denies}).parse(r.text); err != nil || again.tool != r.tool || again.form != r.form {
				t.Errorf("%q is read again as %+v, %v", text, again, err)
			}
			covers := r.tool == name || r.tool == "mcp__"+server || r.tool == "mcp__"+server+"__*" || denies && r.tool == "mcp__*"
			if got := r.forTools(name, server); got != (covers && r.form == whole) {
				t.Errorf("the rule %q covers %s of %s: %t", text, name, server, got)
			}
		}
		p, err := Compile(Config{Mode: Default, Layers: []Layer{{Allow: []string{text}}}, Home: testHome, Root: testRoot, UID: 1000})
		if err == nil && p.Judge(Action{Tool: name, Server: server, Kind: Exec}).Decision == protocol.DecisionAllow && !strings.Contains(text, "mcp__"+server) {
			t.Errorf("the rule %q allows %s", text, name)
		}
	})
}

// serverName reports whether a server can have a name, as its configuration has it.
func serverName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 64 && !strings.Contains(s, "__") && !strings.HasPrefix(s, "_") && !strings.HasSuffix(s, "_")
}
