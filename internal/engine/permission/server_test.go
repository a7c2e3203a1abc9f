package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestARuleForOneServerCountsForNoOther(t *testing.T) {
	long := strings.Repeat("a", 49)
	for _, c := range []struct {
		rule, tool, server string
		covers             bool
	}{
		{"mcp__git", "mcp__git__log", "git", true},
		{"mcp__git__*", "mcp__git__log", "git", true},
		{"mcp__git__log", "mcp__git__log", "git", true},
		{"mcp__*", "mcp__git__log", "git", true},
		{"mcp__*", "mcp__a__b", "", true},
		{"mcp__*", "Bash", "", false},
		{"mcp__git", "mcp__github__log", "github", false},
		{"mcp__git", "mcp__git_hub__log", "git_hub", false},
		{"mcp__git__log", "mcp__git__logs", "git", false},
		// The name of a tool is cut at 64: it may look like one of another server.
		{"mcp__" + long, "mcp__" + long + "__0a1b2c3d", long + "_other_and_longer", false},
		{"mcp__" + long + "_other_and_longer", "mcp__" + long + "__0a1b2c3d", long + "_other_and_longer", true},
	} {
		p := compile(t, Default, Layer{Scope: ScopeUser, Deny: []string{c.rule}})
		a := Action{Tool: c.tool, Kind: Exec, Server: c.server}
		if got := p.Judge(a).Decision == protocol.DecisionDeny; got != c.covers || p.Removes(c.tool, c.server) != c.covers {
			t.Errorf("the rule %s covers %s of the server %s: %t", c.rule, c.tool, c.server, got)
		}
	}
}
