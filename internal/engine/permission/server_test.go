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

func TestARuleForPromptsNamesTheirServer(t *testing.T) {
	a := Action{Tool: "Skill", Kind: Exec, Name: "mcp__git__log", Server: "git"}
	for _, c := range []struct {
		rule            string
		allows, tighten bool
	}{
		{"mcp__git", true, true},
		{"mcp__git__*", true, true},
		{"Skill(mcp__git__log)", true, true},
		{"Skill", false, true},
		{"mcp__git__log", false, true}, // it is one for a tool of that name
		{"Skill(mcp__git__lo)", false, false},
		{"ExecuteSkill(mcp__git__log)", false, false},
		{"mcp__github", false, false},
		{"Bash", false, false},
	} {
		if got := compile(t, Default, Layer{Scope: ScopeUser, Allow: []string{c.rule}}).Judge(a).Decision == protocol.DecisionAllow; got != c.allows {
			t.Errorf("%s allows it: %t", c.rule, got)
		}
		p := compile(t, Default, Layer{Scope: ScopeUser, Deny: []string{c.rule}})
		if got := p.Judge(a).Decision == protocol.DecisionDeny; got != c.tighten || p.RemovesPrompt(a) != c.tighten {
			t.Errorf("%s denies it: %t", c.rule, got)
		}
		p = compile(t, Default, Layer{Scope: ScopeUser, Allow: []string{"mcp__git"}, Ask: []string{c.rule}})
		if got := p.Judge(a).Decision == protocol.DecisionAsk; got != c.tighten {
			t.Errorf("%s asks: %t", c.rule, got)
		}
	}
}
