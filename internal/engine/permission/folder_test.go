package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

// ignoredTest ignores what lies in a node_modules.
func ignoredTest(dir string) bool { return strings.Contains(dir+"/", "/node_modules/") }

func TestRulesCountInTheirFolder(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash(make test)", "Bash(npm test:*)", "Bash(cd web && npm run build)", "Bash(cd node_modules/known && make:*)",
		"Bash(./run.sh:*)", "Bash(cd 'a b' && ./run.sh)", "Bash(cd ~/p/home && make all)", "Bash(ls:*)"}})
	for _, c := range []struct{ dir, src, want string }{
		{"", "make test", "a"},
		{"", "cd node_modules/evil && make test", "q"},
		{"", "cd sub && make test", "q"},
		{"sub", "make test", "q"},
		{"sub", "cd .. && make test", "a"},
		{"sub", "cd " + testRoot + " && make test", "a"},
		{"", "cd sub && cd .. && make test", "a"},
		{"", "cd sub || cd .. ; make test", "q"},
		{"", "cd sub; make test", "q"},
		{"", "cd . ; make test", "a"},
		{"", "! cd sub && make test", "q"},
		{"", "cd sub && (cd .. && make test)", "a"},
		{"", "cd sub && (cd ..; make test)", "q"}, // the cd may fail
		{"", "cd . && { cd sub; make test; }", "q"},
		{"", "(cd sub && ls) && make test", "q"}, // of a subshell nothing is certain
		{"", "cd out && make test", "q"},
		{"", "npm test -- -v", "a"},
		{"", "cd sub && npm test", "a"},
		{"sub/deep", "npm test", "a"},
		{"", "cd node_modules/evil && npm test", "q"},
		{"node_modules/evil", "npm test", "q"},
		{"", "cd sub; cd node_modules; npm test", "q"},
		{"", "cd node_modules && cd .. && npm test", "a"},
		{"", "cd web && npm run build", "a"},
		{"web", "npm run build", "a"},
		{"", "npm run build", "q"},
		{"web", "cd web && npm run build", "q"},
		{"", "cd node_modules/known && make -k", "a"},
		{"", "cd node_modules/known && cd .. && make -k", "q"},
		{"", "make -k", "q"},
		{"", "./run.sh -x", "a"},
		{"", "cd sub && ./run.sh -x", "q"},
		{"", "cd sub && cd .. && ./run.sh -x", "a"},
		{"", "cd 'a b' && ./run.sh", "a"},
		{"", "cd home && make all", "a"},
	} {
		a := bash(c.src)
		a.Dir, a.Ignored = testRoot, ignoredTest
		if c.dir != "" {
			a.Dir += "/" + c.dir
		}
		v := p.Judge(a)
		if letter(v.Decision) != c.want {
			t.Errorf("in %q %q: %s by %q (%s), want %s", c.dir, c.src, v.Decision, v.Rule, v.Reason, c.want)
		}
	}
}

func TestARuleThatIsOfferedAllowsTheSameCommandThenAndThereOnly(t *testing.T) {
	for _, c := range []struct{ dir, src, rule string }{
		{"", "make test", "Bash(make test)"},
		{"", "cd web && make test", "Bash(cd web && make test)"},
		{"web", "make test", "Bash(cd web && make test)"},
		{"web/deep", "cd .. && make test && make lint", "Bash(cd web && make test), Bash(cd web && make lint)"},
		{"", "cd 'a b' && make", "Bash(cd 'a b' && make)"},
		{"", "cd node_modules/x && ls -l", "Bash(cd node_modules/x && ls -l)"},
		{"", "cd sub && ls -l", "Bash(ls:*)"},
		{"", "cd sub; make", ""},
	} {
		a := bash(c.src)
		a.Dir, a.Ignored = testRoot, ignoredTest
		if c.dir != "" {
			a.Dir += "/" + c.dir
		}
		p := compile(t, Default)
		v := p.Judge(a)
		if c.rule == "" {
			if len(v.Suggestions) != 1 {
				t.Errorf("%q: %+v", c.src, v.Suggestions)
			}
			continue
		}
		if len(v.Suggestions) != 3 || v.Suggestions[2].Rule != c.rule {
			t.Errorf("in %q %q: offered %+v, want %s", c.dir, c.src, v.Suggestions, c.rule)
			continue
		}
		q, err := p.With(Layer{Allow: []string{c.rule}})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Judge(a); got.Decision != protocol.DecisionAllow {
			t.Errorf("in %q %q: %s", c.dir, c.src, got.Reason)
		}
		elsewhere := a
		elsewhere.Dir = testRoot + "/node_modules/evil"
		if got := q.Judge(elsewhere); got.Decision == protocol.DecisionAllow {
			t.Errorf("%q is allowed in %s too", c.src, elsewhere.Dir)
		}
	}
}

func TestARuleThatDeniesInAFolderDeniesThereAndWhereThatIsNotCertain(t *testing.T) {
	p := compile(t, Bypass, Layer{Deny: []string{"Bash(cd web && make:*)"}})
	for src, want := range map[string]string{"make": "a", "cd web && make": "d", "cd web; make": "d", "cd $x; make": "d", "cd sub && make": "a", "cd web && ls": "a"} {
		if v := p.Judge(bash(src)); letter(v.Decision) != want {
			t.Errorf("%q: %s, want %s", src, v.Decision, want)
		}
	}
}

func TestAFolderOfARuleIsOneOfTheSystemsOrBelowTheWorkspace(t *testing.T) {
	for text, want := range map[string]string{"Bash(cd web && make)": testRoot + "/web", "Bash(cd /x/../y && make)": "/y", "Bash(cd ~/z && make:*)": testHome + "/z", "Bash(cd 'a && b' && make)": testRoot + "/a && b"} {
		r, err := parser{home: testHome, root: testRoot}.parse(text)
		if err != nil || r.dir != want {
			t.Errorf("%s: %q, %v", text, r.dir, err)
		}
	}
	for _, text := range []string{"Bash(cd web &&)", "Bash(cd web && cd x && make)", "Bash(cd $x && make)", "Bash(cd && make)"} {
		if _, err := (parser{home: testHome, root: testRoot}).parse(text); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
