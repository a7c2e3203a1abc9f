package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func skillPolicy(t *testing.T, mode Mode, l Layer) *Policy {
	t.Helper()
	l.Scope = ScopeUser
	p, err := Compile(Config{Mode: mode, Layers: []Layer{l}, Home: "/home/u", Root: "/work", Readable: []string{"/home/u/.scorel/skills/a"}, UID: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheProgramOfASkillIsAskedForLikeACommand(t *testing.T) {
	run := Action{Tool: "ExecuteSkill", Kind: Exec, Name: "deploy", Dir: "/work/.scorel/skills/deploy"}
	text := Action{Tool: "Skill", Kind: State, Name: "deploy"}
	for _, c := range []struct {
		mode  Mode
		layer Layer
		a     Action
		want  protocol.Decision
	}{
		{Default, Layer{}, run, protocol.DecisionAsk},
		{AcceptEdits, Layer{}, run, protocol.DecisionAsk},
		{Plan, Layer{Allow: []string{"ExecuteSkill"}}, run, protocol.DecisionDeny},
		{DontAsk, Layer{}, run, protocol.DecisionDeny},
		{Bypass, Layer{}, run, protocol.DecisionAllow},
		{Default, Layer{Allow: []string{"ExecuteSkill(deploy)"}}, run, protocol.DecisionAllow},
		{Default, Layer{Allow: []string{"ExecuteSkill(other)", "Skill(deploy)"}}, run, protocol.DecisionAsk},
		{Default, Layer{Allow: []string{"ExecuteSkill"}}, run, protocol.DecisionAllow},
		{Default, Layer{Allow: []string{"Bash"}}, run, protocol.DecisionAllow},
		{Default, Layer{Allow: []string{"Bash(ls:*)"}}, run, protocol.DecisionAsk},
		{Bypass, Layer{Deny: []string{"Bash"}}, run, protocol.DecisionDeny},
		{Bypass, Layer{Ask: []string{"Bash"}}, run, protocol.DecisionAsk},
		{Bypass, Layer{Ask: []string{"ExecuteSkill(deploy)"}}, run, protocol.DecisionAsk},
		{Default, Layer{Allow: []string{"ExecuteSkill"}, Deny: []string{"ExecuteSkill(deploy)"}}, run, protocol.DecisionDeny},
		{Default, Layer{}, text, protocol.DecisionAllow},
		{Plan, Layer{}, text, protocol.DecisionAllow},
		{Default, Layer{Deny: []string{"Skill(deploy)"}}, text, protocol.DecisionDeny},
		{Default, Layer{Deny: []string{"Bash"}}, text, protocol.DecisionAllow},
		{Default, Layer{Ask: []string{"Skill(deploy)"}}, text, protocol.DecisionAsk},
	} {
		if v := skillPolicy(t, c.mode, c.layer).Judge(c.a); v.Decision != c.want {
			t.Errorf("%s in %s with %+v: %s, want %s", c.a.Tool, c.mode, c.layer, v.Decision, c.want)
		}
	}
	v := skillPolicy(t, Default, Layer{}).Judge(run)
	if len(v.Suggestions) != 3 || v.Suggestions[1].Rule != "ExecuteSkill(deploy)" || !strings.Contains(v.Reason, "the program of the skill deploy") {
		t.Errorf("the question: %+v", v)
	}
	for _, bad := range []string{"ExecuteSkill()", "ExecuteSkill(a b)", "ExecuteSkill(a*)", "Skill(a/b)", "executeskill(a)"} {
		if _, err := Compile(Config{Layers: []Layer{{Scope: ScopeUser, Allow: []string{bad}}}}); err == nil {
			t.Errorf("the rule %s is taken", bad)
		}
	}
}

func TestTheFoldersOfSkillsAreReadAndNeverWritten(t *testing.T) {
	p := skillPolicy(t, Default, Layer{Allow: []string{"Bash(cat:*)", "Write"}})
	resolve := func(abs string) Path {
		in := strings.HasPrefix(abs, "/home/u/.scorel/skills/a/")
		return Path{Abs: abs, Inside: strings.HasPrefix(abs, "/work"), OutOfReach: strings.HasPrefix(abs, "/home/u/.scorel"), Skill: in}
	}
	command := func(text string) Action {
		return Action{Tool: "Bash", Kind: Exec, Command: text, Dir: "/work", Resolve: resolve}
	}
	for _, c := range []struct {
		a    Action
		want protocol.Decision
	}{
		{Action{Tool: "Read", Kind: Read, Paths: []Path{resolve("/home/u/.scorel/skills/a/x")}}, protocol.DecisionAllow},
		{Action{Tool: "Read", Kind: Read, Paths: []Path{resolve("/home/u/.scorel/skills/b/x")}}, protocol.DecisionDeny},
		{Action{Tool: "Write", Kind: Write, Paths: []Path{resolve("/home/u/.scorel/skills/a/x")}}, protocol.DecisionDeny},
		{command("cat ~/.scorel/skills/a/x"), protocol.DecisionAllow},
		{command("cat ~/.scorel/skills/ab/x"), protocol.DecisionDeny},
		{command("cat ~/.scorel/skills/a/../../host.token"), protocol.DecisionDeny},
		{command("cat x > ~/.scorel/skills/a/x"), protocol.DecisionDeny},
		{command("bash ~/.scorel/skills/a/run.sh"), protocol.DecisionAsk},
	} {
		if v := p.Judge(c.a); v.Decision != c.want {
			t.Errorf("%s %q %+v: %s (%s), want %s", c.a.Tool, c.a.Command, c.a.Paths, v.Decision, v.Reason, c.want)
		}
	}
}
