package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestAHooksAllowSkipsTheQuestionOfWhatNothingAllowsAndNoOther(t *testing.T) {
	const allow, ask, deny = protocol.DecisionAllow, protocol.DecisionAsk, protocol.DecisionDeny
	bash := func(command string) Action { return Action{Tool: "Bash", Kind: Exec, Command: command, Dir: "/p"} }
	write := func(path string, protected bool) Action {
		return Action{Tool: "Write", Kind: Write, Paths: []Path{{Abs: path, Inside: true, Protected: protected}}}
	}
	rules := Layer{Name: "user", Scope: ScopeUser, Ask: []string{"Bash(git push:*)", "WebFetch"}, Deny: []string{"Bash(rm:*)"}}
	for _, c := range []struct {
		name   string
		mode   Mode
		action Action
		says   protocol.Decision
		want   protocol.Decision
	}{
		{"a command that nothing allows", Default, bash("make test"), allow, allow},
		{"a command that an ask rule asks for", Default, bash("git push"), allow, ask},
		{"a command in which an ask rule asks for a part", Default, bash("make && git push origin"), allow, ask},
		{"a command that is denied", Default, bash("rm -rf x"), allow, deny},
		{"a command that cannot be taken apart", Default, bash("echo 'x"), allow, ask},
		{"a file", Default, write("/p/a.go", false), allow, allow},
		{"a protected file", Default, write("/p/.git/config", true), allow, ask},
		{"a tool that an ask rule asks for", Default, Action{Tool: "WebFetch", Kind: Net, Host: "example.com"}, allow, ask},
		{"where nobody is asked", DontAsk, bash("make test"), allow, allow},
		{"an ask rule where nobody is asked", DontAsk, bash("git push"), allow, deny},
		{"plan mode", Plan, bash("make test"), allow, deny},
		{"an ask where nothing is asked", Bypass, bash("make test"), ask, ask},
		{"an ask of what is allowed", AcceptEdits, write("/p/a.go", false), ask, ask},
		{"an ask of what is asked anyway", Default, bash("make test"), ask, ask},
		{"an ask of what is denied", Default, bash("rm -rf x"), ask, deny},
		{"an ask where nobody is asked", DontAsk, Action{Tool: "TodoWrite", Kind: State}, ask, deny},
		{"nothing", Default, bash("make test"), "", ask},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Compile(Config{Mode: c.mode, Layers: []Layer{rules}, Home: "/home/x", Root: "/p", UID: 1000})
			if err != nil {
				t.Fatal(err)
			}
			v := p.JudgeHooked(c.action, c.says, "a hook asks")
			if v.Decision != c.want {
				t.Errorf("%s (%s), want %s", v.Decision, v.Reason, c.want)
			}
			if v.Decision == ask && c.says == ask && !strings.Contains(v.Reason, "a hook asks") {
				t.Errorf("the question does not say what the hook does: %s", v.Reason)
			}
			if v.Decision == ask && len(v.Suggestions) == 0 {
				t.Error("the question offers nothing")
			}
		})
	}
}
