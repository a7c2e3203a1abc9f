package permission

import (
	"testing"

	"pgregory.net/rapid"

	"scorel/protocol"
)

// strictness orders decisions.
func strictness(d protocol.Decision) int {
	switch d {
	case protocol.DecisionAllow:
		return 0
	case protocol.DecisionAsk:
		return 1
	}
	return 2
}

// TestRulesThatTightenNeverLoosenAndTheOtherWayRound adds rules to random
// policies: with one more deny or ask rule nothing becomes easier, with one more
// allow rule nothing becomes harder, and no allow rule undoes a denial.
func TestRulesThatTightenNeverLoosenAndTheOtherWayRound(t *testing.T) {
	texts := []string{"Bash", "Bash(git:*)", "Bash(git status:*)", "Bash(rm:*)", "Bash(make test)", "Bash(sudo rm:*)", "Bash(echo:*)", "Bash(cat:*)", "Read", "Read(/etc/**)",
		"Write(out.txt)", "Edit(**)", "Read(~/.ssh/**)", "WebFetch(domain:example.com)", "mcp__a", "Write",
		"WebFetch", "WebFetch(domain:localhost:3000)", "WebFetch(domain:localhost)", "WebFetch(domain:*.localhost:3000)"}
	rule := rapid.SampledFrom(texts)
	list := rapid.SliceOfN(rule, 0, 4)
	table := commands()
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]Mode{Default, AcceptEdits, Plan, DontAsk, Bypass}).Draw(t, "mode")
		layer := Layer{Scope: ScopeUser, Allow: list.Draw(t, "allow"), Ask: list.Draw(t, "ask"), Deny: list.Draw(t, "deny")}
		p, err := Compile(Config{Mode: mode, Layers: []Layer{layer}, Home: testHome, Root: testRoot, UID: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var act Action
		if rapid.Bool().Draw(t, "command") {
			act = bash(table[rapid.IntRange(0, len(table)-1).Draw(t, "line")].src)
		} else {
			act = rapid.SampledFrom([]Action{
				files("Read", Read, "/etc/hosts"), files("Write", Write, testRoot+"/out.txt"), files("Edit", Write, testRoot+"/.git/config"),
				files("Read", Read, testHome+"/.scorel/host.json"), files("Grep", Read, testRoot), {Tool: "WebFetch", Kind: Net, Host: "example.com"},
				{Tool: "WebFetch", Kind: Net, Host: "localhost:3000", Exact: true}, {Tool: "WebSearch", Kind: Net, Host: "api.tavily.com"},
				{Tool: "mcp__a__b", Kind: Exec}, {Tool: "TodoWrite", Kind: State},
			}).Draw(t, "action")
		}
		before := strictness(p.Judge(act).Decision)
		more := rule.Draw(t, "more")
		for _, l := range []Layer{{Scope: ScopeProject, Deny: []string{more}}, {Scope: ScopeProject, Ask: []string{more}}} {
			q, err := p.With(l)
			if err != nil {
				t.Fatal(err)
			}
			if after := strictness(q.Judge(act).Decision); after < before {
				t.Fatalf("%+v: %+v made it easier: %d to %d", act, l, before, after)
			}
		}
		q, err := p.With(Layer{Scope: ScopeSession, Allow: []string{more}})
		if err != nil {
			t.Fatal(err)
		}
		after := strictness(q.Judge(act).Decision)
		if after > before || (before == 2 && after != 2 && mode != DontAsk && mode != Plan) {
			t.Fatalf("%+v: allowing %s changed %d to %d", act, more, before, after)
		}
		dont, err := p.WithMode(DontAsk, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if dont.Judge(act).Decision == protocol.DecisionAsk {
			t.Fatalf("%+v: dontAsk asks", act)
		}
	})
}
