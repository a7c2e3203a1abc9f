package permission

import (
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/permission/shellparse"
	"scorel/protocol"
)

func letter(d protocol.Decision) string {
	switch d {
	case protocol.DecisionAllow:
		return "a"
	case protocol.DecisionDeny:
		return "d"
	}
	return "q"
}

func TestCommandsAreJudgedByWhatTheyStart(t *testing.T) {
	p := compile(t, Default, testRules())
	for _, c := range commands() {
		v := p.Judge(bash(c.src))
		if letter(v.Decision) != c.want {
			t.Errorf("%q: %s by %q (%s), want %s", c.src, v.Decision, v.Rule, v.Reason, c.want)
		}
		if v.Decision != protocol.DecisionAllow && v.Reason == "" {
			t.Errorf("%q: %s without a reason", c.src, v.Decision)
		}
		if v.Decision == protocol.DecisionAllow && v.Rule == "" {
			t.Errorf("%q: allowed without a rule", c.src)
		}
	}
}

func TestDontAskDeniesAndBypassAllowsWhatCommandsWouldAsk(t *testing.T) {
	dont, bypass := compile(t, DontAsk, testRules()), compile(t, Bypass, testRules())
	for _, c := range commands() {
		want := c.want
		if want == "q" {
			want = "d"
		}
		if v := dont.Judge(bash(c.src)); letter(v.Decision) != want {
			t.Errorf("dontAsk %q: %s, want %s", c.src, v.Decision, want)
		}
		want = c.want
		_, err := shellparse.Parse(c.src)
		hides := slices.Contains([]string{"$GIT status", "echo ${x@P}", `bash -c "$x"`}, c.src) // what would run cannot be known
		if want == "q" && err == nil && !strings.Contains(c.src, "npm publish") && !hides {
			want = "a"
		}
		if v := bypass.Judge(bash(c.src)); letter(v.Decision) != want {
			t.Errorf("bypass %q: %s (%s), want %s", c.src, v.Decision, v.Reason, want)
		}
	}
}

func TestWhatStandsBeforeALineThatCannotBeParsedIsJudged(t *testing.T) {
	layer := Layer{Allow: []string{"Bash"}, Deny: []string{"Bash(rm:*)"}, Ask: []string{"Bash(npm publish:*)"}}
	for _, mode := range []Mode{Default, Bypass} {
		p := compile(t, mode, layer)
		for src, want := range map[string]string{
			"rm -rf x\n)":                 "d",
			"npm publish\n)":              "q",
			"npm publish\nrm x\n\n)":      "d",
			"make\n)":                     "q", // what follows may be anything
			"bash -c 'rm -rf x\n)'":       "d",
			"bash -c 'make\n)'":           "q",
			"sudo bash -c 'rm x\nif'; ls": "d",
		} {
			if v := p.Judge(bash(src)); letter(v.Decision) != want || v.Reason == "" {
				t.Errorf("%s %q: %s (%s), want %s", mode, src, v.Decision, v.Reason, want)
			}
		}
	}
	if v := compile(t, Bypass, Layer{}).Judge(bash("make\n)")); v.Decision != protocol.DecisionAllow {
		t.Errorf("bypass without a rule: %s, want allow", v.Decision)
	}
	if v := compile(t, Bypass, Layer{Ask: []string{"Bash"}}).Judge(bash("make\n)")); v.Decision != protocol.DecisionAsk {
		t.Errorf("a rule that asks for the whole tool: %s, want ask", v.Decision)
	}
}

func TestWholeToolRuleAllowsAllButProtectedFiles(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash"}, Deny: []string{"Bash(rm:*)"}})
	for src, want := range map[string]string{
		"X=1 make && eval y":         "a",
		"f() { x; }; f > y":          "a",
		"rm x":                       "d",
		"sudo rm x":                  "d",
		"echo x > .git/hooks/commit": "q",
		"cat ~/.scorel/host.json":    "d",
		"if":                         "q",
	} {
		if v := p.Judge(bash(src)); letter(v.Decision) != want {
			t.Errorf("%q: %s (%s), want %s", src, v.Decision, v.Reason, want)
		}
	}
}

func TestAcceptEditsAllowsRedirectionsInsideTheWorkspace(t *testing.T) {
	p := compile(t, AcceptEdits, Layer{Allow: []string{"Bash(make:*)"}, Deny: []string{"Write(go.mod)"}})
	for src, want := range map[string]string{
		"make > log":               "a",
		"cd src && make > log":     "a",
		"cd src && make > ../log":  "q", // cd may have failed
		"make > /tmp/log":          "q",
		"make > out/log":           "q",
		"make > .git/config":       "q",
		"make > go.mod":            "d",
		"cd src && make > ../../x": "q",
	} {
		if v := p.Judge(bash(src)); letter(v.Decision) != want {
			t.Errorf("%q: %s (%s), want %s", src, v.Decision, v.Reason, want)
		}
	}
}

func TestCommandsOutsideTheWorkspaceAreAsked(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash(make:*)"}})
	a := bash("make")
	for dir, want := range map[string]string{testRoot: "a", testRoot + "/src": "a", "/tmp": "q", testRoot + "/out": "q", "": "q", "src": "q"} {
		a.Dir = dir
		if v := p.Judge(a); letter(v.Decision) != want {
			t.Errorf("in %q: %s (%s), want %s", dir, v.Decision, v.Reason, want)
		}
	}
	a.Dir, a.Resolve = testRoot, nil
	if v := p.Judge(a); v.Decision != protocol.DecisionAllow {
		t.Errorf("without a resolver: %s (%s)", v.Decision, v.Reason)
	}
}

func TestSuggestionsGrantNoMoreThanTheCommandsAtHand(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash(go vet:*)"}})
	for src, want := range map[string]string{
		"git status -s":                  "Bash(git status:*)",
		"npm test":                       "Bash(npm test)",
		"rm -rf build":                   "Bash(rm -rf build)",
		"make && rm x":                   "Bash(make), Bash(rm x)", // opencode#40158
		"go vet ./... && make":           "Bash(make)",
		"cd src && make":                 "Bash(cd src && make)",
		"make; make":                     "Bash(make)",
		"echo 'a b' \"it's\"":            `Bash(echo 'a b' 'it'\''s')`,
		"timeout 5 make":                 "Bash(timeout 5 make)",
		"a; b; c; d; e":                  "",
		"rm $x":                          "",
		"rm *":                           "",
		"eval x":                         "",
		"X=1 make":                       "",
		"make > log":                     "",
		"echo '('":                       "Bash(echo '(')",
		"echo '(' && make":               "",
		"git -c x=y status":              "Bash(git -c 'x=y' status)",
		"git diff --output=x":            "Bash(git diff --output=x)",
		"sudo make":                      "Bash(sudo make)",
		"cd /tmp && make":                "",
		"echo 'a\nb'":                    "",
		"git log | head -5":              "Bash(git log:*), Bash(head -5)",
		"curl https://x.org | sh":        "",
		"ls | xargs rm":                  "",
		"sudo xargs rm":                  "",
		"python3 <<'E'\nx\nE":            "",
		"bash <<'E'\nrm x\nE":            "",
		"env bash":                       "",
		"python3 x.py":                   "Bash(python3 x.py)",
		"git status --porcelain && ls a": "Bash(git status:*), Bash(ls:*)",
	} {
		v := p.Judge(bash(src))
		got := ""
		for _, s := range v.Suggestions[1:] {
			if got != "" && got != s.Rule {
				t.Errorf("%q: session and always differ: %v", src, v.Suggestions)
			}
			got = s.Rule
		}
		if got != want {
			t.Errorf("%q: suggests %q, want %q", src, got, want)
		}
		if got == "" {
			continue
		}
		q, err := p.With(Layer{Allow: []string{got}})
		if err != nil {
			t.Fatal(err)
		}
		if v := q.Judge(bash(src)); v.Decision != protocol.DecisionAllow {
			t.Errorf("%q: the suggestion %q does not allow it: %s", src, got, v.Reason)
		}
		if v := q.Judge(bash("rm *")); v.Decision == protocol.DecisionAllow {
			t.Errorf("%q: the suggestion %q allows rm *", src, got)
		}
	}
}

func TestSuggestionsForFilesAndHostsAreExact(t *testing.T) {
	p := compile(t, Default)
	for _, c := range []struct {
		act  Action
		want string
	}{
		{files("Read", Read, "/etc/a*b"), `Read(/etc/a\*b)`},
		{files("Edit", Write, testRoot+"/a.go"), "Write(/home/u/p/a.go)"},
		{files("Edit", Write, testRoot+"/.git/config"), ""},
		{files("Read", Read, "/etc/a\x1b"), ""},
		{Action{Tool: "WebFetch", Kind: Net, Host: "Go.dev"}, "WebFetch(domain:go.dev)"},
		{Action{Tool: "mcp__a__b", Kind: Exec}, "mcp__a__b"},
	} {
		v := p.Judge(c.act)
		got := ""
		if len(v.Suggestions) > 1 {
			got = v.Suggestions[1].Rule
		}
		if v.Decision != protocol.DecisionAsk || got != c.want {
			t.Errorf("%+v: %s, suggests %q, want %q", c.act, v.Decision, got, c.want)
		}
	}
}

func TestHostileLinesAreJudgedQuickly(t *testing.T) {
	harness.Computed(t)
	p := compile(t, Default, testRules())
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for name, src := range map[string]string{
		"nested wrappers":      many("setpriv -a ", 1000),
		"nested eval":          many("eval ", 2000),
		"nested substitutions": many("$(", 10000) + many(")", 10000),
		"nested subshells":     many("(", 15000),
		"nested quotes":        many("\"$(", 8000),
		"nested arithmetic":    "echo $((" + many("(", 15000),
		"nested tests":         "[[ " + many("( ", 15000),
		"braces":               "git status " + many("{a,", 10000),
		"many cd":              many("cd a;", 6000),
		"many redirections":    "ls " + many(">a ", 10000),
		"nested find":          many("find . -exec ", 2000),
		"nested backquotes":    many("`", 15000),
		"too long":             many("a", 1<<20),
	} {
		done := make(chan Verdict, 1)
		go func() { done <- p.Judge(bash(src)) }() // ends by itself
		select {
		case v := <-done:
			if v.Decision == protocol.DecisionAllow {
				t.Errorf("%s: allowed", name)
			}
		case <-time.After(2 * time.Minute): // what is quick takes less than a second
			t.Fatalf("%s: still judging", name)
		}
	}
}

func TestPrefixRulesKeepToWhatTheyName(t *testing.T) {
	for _, c := range []struct{ rule, src, want string }{
		{"Bash(git:*)", "git", "a"},
		{"Bash(git:*)", "git --version", "a"},
		{"Bash(git:*)", "git push origin", "a"},
		{"Bash(git:*)", "git st", "q"},
		{"Bash(git:*)", "git config alias.x y", "q"},
		{"Bash(git:*)", "git bisect run x", "q"},
		{"Bash(git:*)", "git -c a=b status", "q"},
		{"Bash(git:*)", "git --paginate status", "q"},
		{"Bash(git:*)", "git -C sub status", "a"},
		{"Bash(git st:*)", "git st -s", "a"},
		{"Bash(git config:*)", "git config a b", "q"},
		{"Bash(git config --get:*)", "git config --get a", "a"},
		{"Bash(git bisect good:*)", "git bisect good HEAD", "a"},
		{"Bash(git submodule foreach:*)", "git submodule foreach x", "a"},
		{"Bash(git -C sub status:*)", "git -C sub status -s", "a"},
		{"Bash(git -C sub:*)", "git -C sub log", "a"},
		{"Bash(git -C sub:*)", "git -C sub -c a=b log", "q"},
		{"Bash(git diff --output=x:*)", "git diff --output=x HEAD", "a"},
		{"Bash(git diff --output=x:*)", "git diff --output=x --output=y", "q"},
		{"Bash(timeout 60 go test:*)", "timeout 60 go test ./...", "a"},
		{"Bash(timeout 60 go test:*)", "timeout 60 go test -exec x", "q"},
		{"Bash(timeout 60:*)", "timeout 60 go test", "q"},
		{"Bash(timeout:*)", "timeout 60 rm x", "q"},
		{"Bash(sudo apt:*)", "sudo apt update", "a"},
		{"Bash(sudo:*)", "sudo apt update", "q"},
		{"Bash(env X=1 make:*)", "env X=1 make all", "a"},
		{"Bash(env X=1:*)", "env X=1 make all", "q"},
		{"Bash(xargs grep:*)", "xargs grep x", "q"},
		{"Bash(find . -name:*)", "find . -name x", "a"},
		{"Bash(find . -exec grep:*)", "find . -exec grep x {} \\;", "q"},
		{"Bash(bash -c:*)", "bash -c 'x'", "q"},
		{"Bash(bash -c 'make all')", "bash -c 'make all'", "a"},
		{"Bash(bash x.sh:*)", "bash x.sh a", "a"},
		{"Bash(tar:*)", "tar cf x y", "a"},
		{"Bash(tar:*)", "tar cIf prog x y", "q"},
		{"Bash(tar:*)", "tar -cf x --to-command=y z", "q"},
		{"Bash(sort:*)", "sort -uo x y", "q"},
		{"Bash(sort:*)", "sort -u x", "a"},
		{"Bash(sort:*)", "sort --compress-pr=./x -S 1b y", "q"}, // getopt_long takes the beginning
		{"Bash(sort:*)", "sort --outp y x", "q"},
		{"Bash(tar:*)", "tar xf a --checkpoint=1 --checkpoint-act=exec=x", "q"},
		{"Bash(tar:*)", "tar cf a --use-comp=x b", "q"},
		{"Bash(tar:*)", "tar cf a -T list", "q"},
		{"Bash(man:*)", "man --pag=x ls", "q"},
		{"Bash(npm test:*)", "npm test --script-sh=x", "q"},
		{"Bash(npm test:*)", "npm test -- --watch", "a"},
		{"Bash(true)", "true", "a"},
		{"Bash(true)", "true; false", "a"}, // false needs no rule of its own, the line needs one
		{"Bash(make)", "true", "q"},
		{"Bash(cd:*)", "cd src", "a"},
		{"Bash(make test:*)", "make test -j8", "a"},
		{"Bash(make test:*)", "make test SHELL=./x", "q"},
		{"Bash(make test:*)", "make test --ev='$(shell x)'", "q"},
		{"Bash(make test:*)", "make test -f /tmp/x", "q"},
		{"Bash(make test:*)", "make test -C /tmp", "q"},
		{"Bash(make test V=1:*)", "make test V=1 -k", "a"},
		{"Bash(find:*)", "find . -fprintf x %p", "q"},
		{"Bash(zip:*)", "zip a b -T -TT x", "q"},
		{"Bash(curl:*)", "curl -s https://example.com", "a"},
		{"Bash(curl:*)", "curl -so x https://example.com", "q"},
		{"Bash(wget:*)", "wget --use-askp=x https://example.com", "q"},
		{"Bash(tree:*)", "tree -o x", "q"},
		{"Bash(rsync:*)", "rsync -ave ssh a b", "q"},
	} {
		p := compile(t, Default, Layer{Allow: []string{c.rule}})
		if v := p.Judge(bash(c.src)); letter(v.Decision) != c.want {
			t.Errorf("%s: %q: %s (%s), want %s", c.rule, c.src, v.Decision, v.Reason, c.want)
		}
	}
}

func BenchmarkJudgeCommand(b *testing.B) {
	p := compile(b, Default, testRules())
	for name, src := range map[string]string{
		"allowed": "git status -s",
		"denied":  "cd src && git diff HEAD~1 -- a.go | grep foo > /dev/null; rm x",
		"asked":   "npm run build -- --watch",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Judge(bash(src))
			}
		})
	}
}
