package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

// repositories are those of a workspace with a submodule, a worktree, a foreign one and a
// bare one below docs.
func repositories(dir string) Repository {
	below := func(name string) bool {
		return dir == testRoot+"/"+name || strings.HasPrefix(dir, testRoot+"/"+name+"/")
	}
	switch {
	case below("docs/api"), below("nested"):
		return Repository{Foreign: "Git would use the repository " + dir}
	case below("libs/sub"), below("tree"):
		return Repository{}
	}
	return Repository{Fixed: dir == testRoot}
}

func TestRulesAboutGitCountOnlyWhereGitUsesTheWorkspacesOwnRepository(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash(git status:*)", "Bash(git -C docs/api log:*)", "Bash(git -C src log:*)", "Bash(git -C src/../docs/api log:*)",
		"Bash(git --git-dir=docs/api log:*)", "Bash(timeout 5 git status:*)", "Bash(cp:*)", "Bash(ln:*)", "Bash(ls:*)", "Bash(echo:*)"}})
	for _, c := range []struct{ src, want string }{
		{"git status", "a"},
		{"cd src && git status --short", "a"},
		{"cd docs/api && git status --short", "q"},
		{"cd docs && cd api && git status", "q"},
		{"cd docs/api/refs; git status", "q"},
		{"(cd nested && git status)", "q"},
		{"true || cd nested; git status", "q"}, // it may have moved there
		{"cd nested && timeout 5 git status", "q"},
		{"timeout 5 git status", "a"},
		{"cd libs/sub && git status", "a"},
		{"cd tree && git status", "a"},
		{"git -C docs/api log", "q"},
		{"git -C src log", "a"},
		{"cd libs/sub && git -C src log", "a"},
		{"git -C src/../docs/api log", "q"},
		{"git --git-dir=docs/api log", "q"},
		// What the line itself puts there was not judged.
		{"cp -r x libs/sub; cd libs/sub && git status", "q"},
		{"cd libs/sub && git status & cp -r x .", "q"},
		{"cd libs/sub && echo x > y && git status", "q"},
		{"cp -r x/.git src; cd src && git status", "q"},
		{"ln -sfn docs/api src && cd src && git status", "q"},
		{"cd src && ls && git status", "a"},
		{"cd libs/sub && ls && git status", "a"},
		{"cp -r x y && git status", "a"},
		{"cd nested && ls", "a"},
	} {
		a := bash(c.src)
		a.Repository = repositories
		v := p.Judge(a)
		if letter(v.Decision) != c.want {
			t.Errorf("%q: %s (%s), want %s", c.src, v.Decision, v.Reason, c.want)
		}
		if v.Git != (c.want == "a" && strings.Contains(c.src, "git")) {
			t.Errorf("%q: Git is %v", c.src, v.Git)
		}
		if strings.Contains(c.src, "docs/api &&") && !strings.Contains(v.Reason, testRoot+"/docs/api") {
			t.Errorf("%q: the question does not name the repository: %s", c.src, v.Reason)
		}
		for _, s := range v.Suggestions {
			if v.Decision == protocol.DecisionAsk && s.Scope != "once" && strings.Contains(c.src, "nested") {
				t.Errorf("%q: offered what would not allow it: %+v", c.src, s)
			}
		}
	}
	a := bash("cd docs/api && git status")
	a.Repository = repositories
	if v := compile(t, Default, Layer{Allow: []string{"Bash"}}).Judge(a); v.Decision != protocol.DecisionAllow || v.Git {
		t.Errorf("a rule for all of Bash: %+v", v)
	}
	if v := compile(t, Bypass).Judge(a); v.Decision != protocol.DecisionAllow || v.Git {
		t.Errorf("bypass: %+v", v)
	}
}
